package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestViews(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "COMPL-MAX-100", "COMPL-SEC-DISCLOSURE", "COMPL-SEC-ACCESS", "TOOL-SEC-ACCESS-CONTROL", "RES-SEC-ACCESS")
	hidden := &server.View{
		Tool:     func(t mcp.Tool) bool { return t.Name != "add" },
		Prompt:   func(p mcp.Prompt) bool { return p.Name != "p" },
		Template: func(mcp.ResourceTemplate) bool { return false },
		Resource: func(uri string) bool { return uri != "r:1" },
	}
	srv := newServer(t, &server.Options{
		View: func(_ context.Context, c *server.Call) *server.View {
			if c.ClientInfo().Name == "guest" {
				return hidden
			}
			return &server.View{} // another for each call
		},
		Complete: func(context.Context, *server.Call, *mcp.CompleteParams) (*mcp.Completion, error) {
			return &mcp.Completion{Values: make([]string, 150)}, nil
		},
	})
	srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "t:{id}", Name: "t"}, contents(""))
	d := talk(t, srv)
	guest := strings.Replace(modernMeta, `{"io`, `{"io.modelcontextprotocol/clientInfo":{"name":"guest","version":"1"},"io`, 1)
	tests := []struct{ method, params string }{
		{"tools/call", `"name":"add","arguments":{"a":1,"b":2}`},
		{"prompts/get", `"name":"p"`},
		{"resources/read", `"uri":"r:1"`},
		{"resources/read", `"uri":"t:1"`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"t:{id}"},"argument":{"name":"id","value":""}`},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"r:1"},"argument":{"name":"id","value":""}`},
	}
	for _, tt := range tests {
		if m := d.askModern(tt.method, tt.params); m.Error != nil {
			t.Errorf("%s %s: %v", tt.method, tt.params, m.Error)
		}
		code(t, d.ask(tt.method, tt.params+","+guest), jsonrpc.CodeInvalidParams)
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		all, some := d.askModern(method, ""), d.ask(method, guest)
		for _, name := range []string{`"add"`, `"p"`, `"r"`, `"t"`} {
			if strings.Contains(string(some.Result), name) {
				t.Errorf("%s shows %s: %s", method, name, some.Result)
			}
		}
		if len(all.Result) <= len(some.Result) {
			t.Errorf("%s: %s is not more than %s", method, all.Result, some.Result)
		}
	}
	m := d.askModern("completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`)
	if r := result[mcp.CompleteResult](t, m); len(r.Completion.Values) != 100 || !r.Completion.HasMore {
		t.Errorf("%d values, more: %v", len(r.Completion.Values), r.Completion.HasMore)
	}
	code(t, d.askModern("completion/complete", `"ref":{"type":"x"}`), jsonrpc.CodeInvalidParams)
	code(t, d.askModern("completion/complete", `"ref":7`), jsonrpc.CodeInvalidParams)
	d.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["r:1","t:1","r:2"]},` + guest + `}}`)
	d.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}}}`)
	for range 200 { // views that are not shared do not pile up
		d.askModern("tools/list", "")
	}
}

// A change of what a client cannot see is none for it.
func TestViewsOfChanges(t *testing.T) {
	t.Parallel()
	half := &server.View{Tool: func(t mcp.Tool) bool { return !strings.HasPrefix(t.Name, "hidden") }}
	srv := newServer(t, &server.Options{View: func(context.Context, *server.Call) *server.View { return half }})
	d := talk(t, srv)
	d.open("2025-11-25")
	d.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	d.read() // the acknowledgement
	addTool(srv, "hidden-1")
	srv.RemoveTools("hidden-1")
	d.askModern("tools/list", "") // the next message is the answer
	told := func() {
		t.Helper()
		for range 2 { // the session and the subscription
			if m := d.read(); m.Method != mcp.NotificationToolsListChanged {
				t.Errorf("got %s, want %s", m.Method, mcp.NotificationToolsListChanged)
			}
		}
	}
	addTool(srv, "shown")
	told()
	srv.RemoveTools("hidden-1", "shown")
	told()
}
