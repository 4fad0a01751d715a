package server

import (
	"context"
	"fmt"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// Once does something that must not happen again when the handler runs again
// with the answers to its questions, such as opening a ticket before asking
// about it. The first run calls fn; later runs of the same call get what it
// returned then. An error is not remembered.
//
// The result is encoded as JSON and, for stateless clients, travels through the
// client sealed, so it should be small. The key is a name of its own within
// the handler. A client that calls twice from the same round gets the rest of the
// handler done twice: what must never happen twice needs a record of its own.
func Once[T any](ctx context.Context, c *Call, key string, fn func(ctx context.Context) (T, error)) (T, error) {
	var result T
	r, err := c.inputs()
	if err != nil {
		return result, err
	}
	if raw, ok := r.done(key); ok {
		if err := ijson.Unmarshal(raw, &result); err != nil {
			return result, fmt.Errorf("read what %q has returned: %w", key, err)
		}
		return result, nil
	}
	if result, err = fn(ctx); err != nil {
		return result, err
	}
	raw, err := ijson.Marshal(result)
	if err != nil {
		return result, fmt.Errorf("remember what %q has returned: %w", key, err)
	}
	r.record(key, raw)
	return result, nil
}
