package client

import (
	stdjson "encoding/json"

	"github.com/ferrymcp/ferry/internal/json"
)

// decodeResult decodes the result of a method, which must have one of the
// members named: a result without any is not the one that was asked for.
func decodeResult(method string, raw stdjson.RawMessage, v any, members ...string) error {
	if err := json.Read(raw, v); err != nil {
		return malformed(method, "%v", err)
	}
	for _, name := range members {
		if value, ok := json.Member(raw, name); ok && string(value) != "null" {
			return nil
		}
	}
	if len(members) > 0 {
		return malformed(method, "result has no %q", members[0])
	}
	return nil
}
