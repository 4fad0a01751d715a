package server_test

import (
	"context"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// What is not declared is not there; what was declared stays so.
func TestOnlyWhatIsDeclaredIsServed(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-UNSUPPORTED-32601", "TOOL-LIST-RESPOND", "PROMPT-RESPECT-CAPABILITIES")
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	t.Cleanup(func() { _ = srv.Close() })
	d := talk(t, srv)
	d.open("2025-11-25")
	each := func(check func(m jsonrpc.Message)) {
		for _, list := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			check(d.ask(list, ""))
			check(d.askModern(list, ""))
		}
	}
	each(func(m jsonrpc.Message) { code(t, m, jsonrpc.CodeMethodNotFound) })
	code(t, d.askModern("tools/call", `"name":"x"`), jsonrpc.CodeMethodNotFound)
	code(t, d.ask("resources/subscribe", `"uri":"x:1"`), jsonrpc.CodeMethodNotFound)

	addTool(srv, "t")
	srv.AddRawPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call) (any, error) { return nil, nil })
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
	srv.RemoveTools("t")
	srv.RemovePrompts("p")
	srv.RemoveResources("r:1")
	d = talk(t, srv) // without the notifications of the changes
	d.open("2025-11-25")
	each(func(m jsonrpc.Message) {
		if m.Error != nil {
			t.Errorf("a list that has become empty: %v", m.Error)
		}
	})
	caps := result[mcp.DiscoverResult](t, d.askModern("server/discover", "")).Capabilities
	if caps.Tools == nil || caps.Prompts == nil || caps.Resources == nil {
		t.Errorf("no longer declared: %+v", caps)
	}
}
