package server

import (
	"context"
	"encoding/json"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// Roots asks the client for the folders and files that the server may work in.
// It asks every call anew, so that what it returns is up to date. See [Elicit]
// for the key and the errors.
func Roots(ctx context.Context, c *Call, key string) ([]mcp.Root, error) {
	var result mcp.ListRootsResult
	err := c.ask(ctx, key, mcp.RootsInput(), func(raw json.RawMessage) error {
		if err := ijson.Unmarshal(raw, &result); err != nil {
			return err
		}
		return has(raw, "roots")
	})
	if err != nil {
		return nil, err
	}
	return result.Roots, nil
}
