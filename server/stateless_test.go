package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// saying is the metadata of a stateless request with more members.
func saying(capabilities, more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + more + `}`
}

// TestRequestsStandAlone sends requests of very different clients over one
// connection: none knows of what another has said.
func TestRequestsStandAlone(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-STATELESS-NO-PRIOR", "BASE-META-CAP-NO-RELY", "BASE-META-CAP-MISSING-ERROR", "VER-EXT-FALLBACK", "EXT-FALLBACK", "BASE-SERVER-NO-REQUESTS")
	const extension = "com.example/sails"
	srv := newServer(t, nil)
	srv.AddRawTool(mcp.Tool{Name: "look"}, func(ctx context.Context, c *server.Call) (any, error) {
		if err := c.Log(ctx, mcp.LevelError, "", "said"); err != nil {
			return nil, err
		}
		_, sails := c.ClientExtension(extension)
		return map[string]any{"name": c.ClientInfo().Name, "sampling": c.ClientCapabilities().Sampling != nil, "sails": sails}, nil
	})
	srv.AddRawTool(mcp.Tool{Name: "need"}, func(_ context.Context, c *server.Call) (any, error) {
		if _, ok := c.ClientExtension(extension); !ok {
			return nil, &mcp.MissingCapabilityError{Required: mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{extension: json.RawMessage(`{}`)}}}
		}
		return nil, nil
	})
	srv.AddRawTool(mcp.Tool{Name: "ask"}, func(ctx context.Context, c *server.Call) (any, error) {
		_, err := server.Sample(ctx, c, "q", &mcp.CreateMessageParams{MaxTokens: 1, Messages: []mcp.SamplingMessage{}})
		return nil, err
	})
	d := talk(t, srv)
	rich := saying(`{"sampling":{},"extensions":{"`+extension+`":{}}}`,
		`,"io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"},"io.modelcontextprotocol/logLevel":"debug"`)
	poor := saying(`{}`, ``)

	d.send(`{"jsonrpc":"2.0","id":"ask","method":"tools/call","params":{"name":"look",` + rich + `}}`)
	if m := d.read(); m.Method != mcp.NotificationMessage {
		t.Errorf("got %+v, want the log message that was asked for", m)
	}
	if m := d.read(); !strings.Contains(string(m.Result), `"name":"ann"`) || strings.Contains(string(m.Result), "false") {
		t.Errorf("got %s", m.Result)
	}
	if m := d.ask("tools/call", `"name":"look",`+poor); !strings.Contains(string(m.Result), `"name":""`) || strings.Contains(string(m.Result), "true") {
		t.Errorf("the second request knows of the first: %s", m.Result)
	}
	if m := d.ask("tools/call", `"name":"need",`+rich); m.Error != nil {
		t.Error(m.Error)
	}
	m := d.ask("tools/call", `"name":"need",`+poor)
	code(t, m, mcp.CodeMissingClientCapability)
	if m.Error != nil && !strings.Contains(string(m.Error.Data), `"requiredCapabilities":{"extensions":{"`+extension+`":{}}}`) {
		t.Errorf("the error has the data %s", m.Error.Data)
	}
	// Input is asked for with a result, and only if the client can give it.
	if got := result[mcp.Result](t, d.ask("tools/call", `"name":"ask",`+rich)); got.ResultType != mcp.ResultInputRequired {
		t.Errorf("a result of type %q, want one that asks for input", got.ResultType)
	}
	code(t, d.ask("tools/call", `"name":"ask",`+poor), mcp.CodeMissingClientCapability)
}

// TestNotificationsAreNotAnswered sends notifications that are wrong in all ways.
func TestNotificationsAreNotAnswered(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-NOTIF-NO-RESPONSE")
	srv := newServer(t, nil)
	srv.Handle("notifications/fails", func(context.Context, *server.Call) (any, error) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "no")
	})
	stateless, legacy := talk(t, srv), talk(t, srv)
	legacy.open("2025-11-25")
	for _, d := range []*dialog{stateless, legacy} {
		for _, params := range []string{`{}`, `[]`, `{"_meta":1}`, `{` + saying(`{}`, ``) + `}`, `{` + saying(`1`, ``) + `}`} {
			for _, method := range []string{"notifications/unknown", "notifications/fails", "notifications/cancelled", "tools/list", "no/such"} {
				d.send(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
			}
		}
	}
	// Each of these reads the next message, which must be its own answer.
	stateless.askModern("tools/list", "")
	legacy.ask("tools/list", "")
}

// TestViewsCountForPublicResults has a resource that its handler calls public and
// a view hides: what was said of caching opens no door.
func TestViewsCountForPublicResults(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-ACCESS-CONTROL")
	srv := newServer(t, &server.Options{View: func(_ context.Context, c *server.Call) *server.View {
		return &server.View{Resource: func(string) bool { return c.ClientInfo().Name == "ann" }}
	}})
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Cache: mcp.Cache{CacheScope: mcp.CachePublic}}, nil
	})
	d := talk(t, srv)
	as := func(name string) string {
		return `"uri":"r:1",` + saying(`{}`, `,"io.modelcontextprotocol/clientInfo":{"name":"`+name+`","version":"1"}`)
	}
	wantHints(t, d.ask("resources/read", as("ann")).Result, 0, mcp.CachePublic)
	code(t, d.ask("resources/read", as("bob")), jsonrpc.CodeInvalidParams)
}
