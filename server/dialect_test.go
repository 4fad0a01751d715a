package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// A form in a dialect of JSON Schema that nobody knows is not sent.
func TestFormsHaveKnownDialects(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "JSONS-ELICIT-DIALECT")
	for dialect, known := range map[string]bool{
		"": true, "https://json-schema.org/draft/2020-12/schema": true, "http://json-schema.org/draft-07/schema#": true,
		"https://example.com/dialect": false,
	} {
		srv := newServer(t, nil)
		failed := make(chan error, 2)
		server.AddTool(srv, mcp.Tool{Name: "ask"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
			_, err := server.ElicitForm(ctx, c, "q", "?", &mcp.FormSchema{Dialect: dialect})
			failed <- err
			return "", err
		})
		talk(t, srv).asker(modern, allCapabilities, func(mcp.InputRequest) string {
			return `{"action":"decline"}`
		}).call("ask")
		err := <-failed
		if asked := err == nil || !strings.Contains(err.Error(), "is not supported"); asked != known {
			t.Errorf("dialect %q: got %v", dialect, err)
		}
	}
}
