package server_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestIDsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-ID-STRING-OR-INT", "BASE-RESP-SAME-ID", "BASE-RESULT-SAME-ID", "BASE-ERR-SAME-ID", "PROG-TOKEN-TYPE")
	srv := newServer(t, nil)
	for _, revision := range append([]string{""}, revisions...) {
		d := talk(t, srv)
		meta := modernMeta
		if revision != "" {
			d.open(revision)
			meta = `"_meta":{}`
		}
		for _, id := range []string{`1`, `"1"`, `0`, `""`, `-5`, `9007199254740993`, `"é\n\""`, `"0x1"`} {
			token := meta[:len(meta)-1] + `,"progressToken":` + id + `}`
			if meta == `"_meta":{}` {
				token = `"_meta":{"progressToken":` + id + `}`
			}
			d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"count",` + token + `}}`)
			for range 3 {
				m := d.read()
				if m.Method != mcp.NotificationProgress || !sameMember(t, m.Params, "progressToken", id) {
					t.Errorf("%s: token %s came back in %s", revision, id, m.Params)
				}
			}
			if m := d.read(); !sameJSON([]byte(m.ID.String()), []byte(id)) || m.Error != nil {
				t.Errorf("%s: id %s came back as %s, error %v", revision, id, m.ID, m.Error)
			}
			d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"nope","params":{` + meta + `}}`)
			if m := d.read(); !sameJSON([]byte(m.ID.String()), []byte(id)) || m.Error == nil {
				t.Errorf("%s: id %s of a failed request came back as %s", revision, id, m.ID)
			}
		}
	}
}

// sameMember reports whether an object has that value under that name.
func sameMember(t *testing.T, object []byte, name, want string) bool {
	t.Helper()
	members := result[map[string]rawValue](t, jsonrpc.Message{Result: object})
	return sameJSON(members[name], []byte(want)) && (members[name][0] == '"') == (want[0] == '"')
}

// A rawValue is JSON kept as it is.
type rawValue []byte

func (v *rawValue) UnmarshalJSON(data []byte) error { *v = append(rawValue{}, data...); return nil }

// TestUnofferedFeatures has servers that lack one kind of feature: its methods
// are unknown, and no capability speaks of it.
func TestUnofferedFeatures(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ARCH-TOOLS-NEED-CAPABILITY", "ARCH-ADVERTISE-SERVER-FEATURES", "ARCH-SUBSCRIBE-NEEDS-CAPABILITY",
		"TOOL-UNSUPPORTED-32601", "COMPL-ERR-32601")
	methods := map[string][]string{
		"tools":       {"tools/list", "tools/call"},
		"prompts":     {"prompts/list", "prompts/get"},
		"resources":   {"resources/list", "resources/read", "resources/templates/list", "resources/subscribe", "resources/unsubscribe"},
		"completions": {"completion/complete"},
	}
	add := map[string]func(*server.Server){
		"tools": func(srv *server.Server) { addTool(srv, "t") },
		"prompts": func(srv *server.Server) {
			srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
		},
		"resources": func(srv *server.Server) { srv.AddResource(mcp.Resource{URI: "a:b", Name: "n"}, contents("")) },
	}
	const params = `"name":"t","uri":"a:b","ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`
	for offered, f := range add {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
		t.Cleanup(func() { _ = srv.Close() })
		f(srv)
		modern, legacy := talk(t, srv), talk(t, srv)
		discovered := result[mcp.DiscoverResult](t, modern.askModern("server/discover", "")).Capabilities
		if r := discovered.Resources; r != nil && !r.Subscribe {
			t.Error("resources can be subscribed to, and that is not declared")
		}
		legacy.open("2025-11-25")
		for kind, names := range methods {
			declared := map[string]bool{
				"tools": discovered.Tools != nil, "prompts": discovered.Prompts != nil,
				"resources": discovered.Resources != nil, "completions": discovered.Completions != nil,
			}[kind]
			if declared != (kind == offered) {
				t.Errorf("a server with %s: %s is declared: %v", offered, kind, declared)
			}
			for _, method := range names {
				for era, m := range map[string]jsonrpc.Message{"modern": modern.askModern(method, params), "legacy": legacy.ask(method, params)} {
					unknown := m.Error != nil && m.Error.Code == jsonrpc.CodeMethodNotFound
					gone := era == "modern" && (method == "resources/subscribe" || method == "resources/unsubscribe")
					if unknown != (kind != offered || gone) {
						t.Errorf("a server with %s, %s: %s was answered with %s, %v", offered, era, method, m.Result, m.Error)
					}
				}
			}
		}
	}
}

// TestEmptyLists has a server that declares what it has none of yet.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-LIST-RESPOND", "PROMPT-LIST-RESPOND", "RES-LIST-RESPOND")
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{Capabilities: mcp.ServerCapabilities{
		Tools: &mcp.ToolsCapability{}, Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
	}})
	t.Cleanup(func() { _ = srv.Close() })
	d := talk(t, srv)
	for method, list := range map[string]string{
		"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
	} {
		if m := d.askModern(method, ""); m.Error != nil || !sameMember(t, m.Result, list, "[]") {
			t.Errorf("%s: got %s, %v, want an empty list", method, m.Result, m.Error)
		}
	}
}

// TestRequestsAreJudgedAlone has requests that say less than those before them.
func TestRequestsAreJudgedAlone(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-STATELESS-NO-PRIOR", "META-CAPS-NO-INFERENCE", "BASE-META-CAP-NO-RELY", "ARCH-STATELESS")
	srv := newServer(t, nil)
	srv.Handle("x/who", func(_ context.Context, c *server.Call) (any, error) {
		caps := c.ClientCapabilities()
		return map[string]any{"who": fmt.Sprint(c.ClientInfo().Name, " ", caps.Sampling != nil, caps.Roots != nil, " ", c.Revision(), " ", c.Session() != nil)}, nil
	})
	d := talk(t, srv)
	const full = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"roots":{}}}`
	ask := func(meta, want string) {
		t.Helper()
		if m := d.ask("x/who", meta); !sameMember(t, m.Result, "who", `"`+want+`"`) {
			t.Errorf("got %s %v, want %s", m.Result, m.Error, want)
		}
	}
	for range 3 {
		ask(full, "c true true 2026-07-28 false")
		ask(modernMeta, " false false 2026-07-28 false")
	}
	d.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"old","version":"1"}}}`)
	d.read()
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for range 3 {
		ask(`"a":1`, "old false true 2025-06-18 true")
		ask(modernMeta, " false false 2026-07-28 false")
		ask(full, "c true true 2026-07-28 false")
	}
}

func TestOddURIs(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "RES-SEC-VALIDATE-URI")
	srv := newServer(t, nil)
	srv.AddResource(mcp.Resource{URI: "a:b", Name: "n"}, contents(""))
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "file:///{name}", Name: "files"}, contents(""))
	d := talk(t, srv)
	for _, uri := range []string{
		"", " ", "a:b ", "A:B", "a:b\\u0000", "//a:b", "a:b#", "a:b/../b", "file:///../etc/passwd", "file:///a/b",
		"file:///..%2f\\u0000", "file:////", "javascript:alert(1)", "\\ud83d\\ude00",
	} {
		m := d.askModern("resources/read", `"uri":"`+uri+`"`)
		if uri == "" && m.Error == nil {
			t.Errorf("an empty URI was read: %s", m.Result)
		}
		if m.Error == nil && uri != "file:///..%2f\\u0000" {
			t.Errorf("%q was read: %s", uri, m.Result)
		}
	}
}
