package mcptest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

var testInfo = mcp.Implementation{Name: "test", Version: "1.0.0"}

// routed returns a server with a tool whose arguments are repeated in headers
// where there are some.
func routed() *server.Server {
	srv := server.New(testInfo, nil)
	server.AddTool(srv, mcp.Tool{Name: "route", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"at":{"type":"object","properties":{"zone":{"type":"integer","x-mcp-header":"Zone"}}}}}`)},
		func(_ context.Context, c *server.Call, _ map[string]any) (string, error) {
			return string(c.Arguments()), nil
		})
	return srv
}

// HTTP-XMCP-CLIENT, HTTP-PARAM-VALIDATE: calls get through on every carrier,
// whether the client has seen the tool before or not.
func TestArgumentsInHeaders(t *testing.T) {
	mcptest.Matrix(t, routed, func(t *testing.T, sess *client.Session) {
		for _, arguments := range []string{
			`{"region":"eu","at":{"zone":7}}`, `{"region":" 世界\n"}`, `{"region":"=?base64?x?="}`, `{"region":""}`, `{"at":{"zone":42.0}}`, `{}`,
		} {
			if got := text(t, call(t, sess, "route", arguments)); got != arguments {
				t.Errorf("arguments %s arrived as %s", arguments, got)
			}
		}
	})
}
