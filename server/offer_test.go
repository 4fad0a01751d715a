package server_test

import (
	"bytes"
	"context"
	"strings"
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

// A list depends neither on the connection nor on what was asked before.
func TestListsAreTheSameForAll(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-LIST-STABLE-ORDER", "TOOL-LIST-NO-CONN-VARIANCE", "PROMPT-LIST-NO-CONN-VARIANCE", "RES-LIST-NO-CONN-VARIANCE",
		"TOOL-NAME-CASE", "TOOL-NAME-UNIQUE")
	srv := newServer(t, nil)
	for _, name := range []string{"getuser", "getUser", "a", "Z", "a"} {
		addTool(srv, name)
		srv.AddRawPrompt(mcp.Prompt{Name: name}, func(context.Context, *server.Call) (any, error) { return nil, nil })
		srv.AddResource(mcp.Resource{URI: "r:" + name, Name: name}, contents(""))
	}
	one, two := talk(t, srv), talk(t, srv)
	for _, list := range []string{"tools/list", "prompts/list", "resources/list"} {
		want := one.askModern(list, "").Result
		one.askModern("tools/call", `"name":"getUser","arguments":{}`)
		for _, d := range []*dialog{one, two} {
			if got := d.askModern(list, "").Result; !bytes.Equal(got, want) {
				t.Errorf("%s: got %s, want %s", list, got, want)
			}
		}
	}
	tools := result[mcp.ListToolsResult](t, two.askModern("tools/list", "")).Tools
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	if got := strings.Join(names, " "); got != "Z a add count fail getUser getuser panic" {
		t.Errorf("got %q, want each name once, in order, capital or not", got)
	}
}
