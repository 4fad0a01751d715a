package server_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// hinted are the requests whose results say how long they are fresh.
var hinted = map[string]string{
	"server/discover": "", "tools/list": "", "prompts/list": "", "resources/list": "",
	"resources/templates/list": "", "resources/read": `"uri":"r:1"`,
}

// wantHints checks what a result says of its being fresh.
func wantHints(t *testing.T, raw json.RawMessage, ttl int64, scope string) {
	t.Helper()
	var got mcp.Cache
	if err := json.Unmarshal(raw, &got); err != nil || got.TTLMs == nil || *got.TTLMs != ttl || got.CacheScope != scope {
		t.Errorf("got %s, %v; want ttlMs %d and cacheScope %s", raw, err, ttl, scope)
	}
}

func TestCacheHints(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-HINTS-REQUIRED", "CACHE-SCOPE-VALUES", "CACHE-TTL-NONNEGATIVE", "CACHE-SCOPE-CORRECT", "DISC-RESULT-SHAPE")
	everybody := func(context.Context, *server.Call) *server.View { return nil }
	tests := []struct {
		name        string
		opts        *server.Options
		ttl         int64
		lists, read string
	}{
		{"defaults", nil, 0, mcp.CachePrivate, mcp.CachePrivate},
		{"negative", &server.Options{TTL: -time.Second}, 0, mcp.CachePrivate, mcp.CachePrivate},
		{"private", &server.Options{TTL: time.Minute, CacheScope: mcp.CachePrivate}, 60_000, mcp.CachePrivate, mcp.CachePrivate},
		{"public", &server.Options{TTL: 1500 * time.Millisecond, CacheScope: mcp.CachePublic}, 1500, mcp.CachePublic, mcp.CachePrivate},
		{"public with a view", &server.Options{TTL: time.Minute, CacheScope: mcp.CachePublic, View: everybody}, 60_000, mcp.CachePrivate, mcp.CachePrivate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, tt.opts)
			srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
			srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
			d := talk(t, srv)
			for method, params := range hinted {
				scope := tt.lists
				if method == "resources/read" {
					scope = tt.read
				}
				wantHints(t, d.askModern(method, params).Result, tt.ttl, scope)
			}
		})
	}
	panics(t, "cache scope", func() { server.New(mcp.Implementation{Name: "a", Version: "1"}, &server.Options{CacheScope: "all"}) })
}

// A handler says for itself how long its result is fresh, within the rules.
func TestCacheHintsOfHandlers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-SCOPE-VALUES", "CACHE-TTL-NONNEGATIVE", "CACHE-NO-HINTS-INTERIM")
	srv := newServer(t, &server.Options{TTL: time.Minute})
	add := func(uri string, c mcp.Cache) {
		srv.AddResource(mcp.Resource{URI: uri, Name: "r"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Cache: c}, nil
		})
	}
	add("r:own", mcp.Cache{TTLMs: mcp.Ptr[int64](5), CacheScope: mcp.CachePublic})
	add("r:wrong", mcp.Cache{TTLMs: mcp.Ptr[int64](-5), CacheScope: "all"})
	d := talk(t, srv)
	wantHints(t, d.askModern("resources/read", `"uri":"r:own"`).Result, 5, mcp.CachePublic)
	wantHints(t, d.askModern("resources/read", `"uri":"r:wrong"`).Result, 0, mcp.CachePrivate)

	srv.Handle("resources/read", func(_ context.Context, c *server.Call) (any, error) {
		if c.Name == "r:asks" {
			return mcp.InputRequired(nil, "state"), nil
		}
		return json.RawMessage(`{"contents":[]}`), nil
	})
	wantHints(t, d.askModern("resources/read", `"uri":"r:raw"`).Result, 0, mcp.CachePrivate)
	var interim map[string]json.RawMessage
	raw := d.askModern("resources/read", `"uri":"r:asks"`).Result
	if err := json.Unmarshal(raw, &interim); err != nil || interim["ttlMs"] != nil || interim["cacheScope"] != nil {
		t.Errorf("a result that asks for input says how long it is fresh: %s", raw)
	}
}

// Middleware can say how long each page is fresh, for itself.
func TestPagesHaveTheirOwnTTL(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-PAGE-TTL-DIFFERS")
	srv := newServer(t, &server.Options{PageSize: 2})
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			r, err := next(ctx, c)
			list, ok := r.(*mcp.ListToolsResult)
			if !ok || list.NextCursor == nil {
				return r, err
			}
			page := *list
			page.TTLMs = mcp.Ptr[int64](70)
			return &page, err
		}
	})
	d := talk(t, srv)
	first := d.askModern("tools/list", "").Result
	wantHints(t, first, 70, mcp.CachePrivate)
	page := result[mcp.ListToolsResult](t, jsonrpc.Message{Result: first})
	wantHints(t, d.askModern("tools/list", `"cursor":"`+*page.NextCursor+`"`).Result, 0, mcp.CachePrivate)
}

func TestPagesHaveOneScope(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CACHE-PAGE-SAME-SCOPE")
	srv := newServer(t, &server.Options{PageSize: 1, CacheScope: mcp.CachePublic})
	addTool(srv, "one")
	addTool(srv, "two")
	d := talk(t, srv)
	for params := ""; ; {
		raw := d.askModern("tools/list", params).Result
		wantHints(t, raw, 0, mcp.CachePublic)
		var page mcp.ListToolsResult
		if err := json.Unmarshal(raw, &page); err != nil || page.NextCursor == nil {
			break
		}
		params = `"cursor":"` + *page.NextCursor + `"`
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-EXT-ID-FORMAT", "VER-EXT-EMPTY-SETTINGS")
	const id = "com.example/sails"
	caps := mcp.ServerCapabilities{
		Extensions:   map[string]json.RawMessage{id: json.RawMessage(`{"area":3}`)},
		Experimental: map[string]json.RawMessage{"keel": json.RawMessage(`{}`)},
	}
	srv := newServer(t, &server.Options{Capabilities: caps})
	srv.Handle("x/extension", func(_ context.Context, c *server.Call) (any, error) {
		settings, declared := c.ClientExtension(id)
		if declared != (settings != nil) {
			t.Errorf("settings %s, declared %v", settings, declared)
		}
		return map[string]any{"settings": settings, "keel": c.ClientCapabilities().Experimental["keel"]}, nil
	})
	d := talk(t, srv)
	discovered := result[mcp.DiscoverResult](t, d.askModern("server/discover", ""))
	if got := string(discovered.Capabilities.Extensions[id]); got != `{"area":3}` {
		t.Errorf("the server declares %q", got)
	}
	if got := string(discovered.Capabilities.Experimental["keel"]); got != `{}` {
		t.Errorf("the server declares %q as experimental", got)
	}
	for declared, want := range map[string]string{
		`{}`:                `null`,
		`{"extensions":{}}`: `null`,
		`{"extensions":{"com.example/other":{}}}`: `null`,
		`{"extensions":{"` + id + `":{}}}`:        `{}`,
		`{"extensions":{"` + id + `":{"a":1}}}`:   `{"a":1}`,
	} {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + declared + `}`
		got := result[map[string]json.RawMessage](t, d.ask("x/extension", meta))
		if string(got["settings"]) != want {
			t.Errorf("declared %s: settings %s, want %s", declared, got["settings"], want)
		}
	}
	d2 := talk(t, srv)
	srv.Extend("com.example/oars", nil)
	if got := result[mcp.DiscoverResult](t, d2.askModern("server/discover", "")).Capabilities.Extensions; len(got) != 2 {
		t.Errorf("the server declares %v, want two extensions", got)
	}
	panics(t, "identifier", func() { srv.Extend("oars", nil) })
	panics(t, "object", func() { srv.Extend("com.example/oars", 1) })
	for _, bad := range []string{"sails", "com.example/", "com.example/sails"} {
		caps := mcp.ServerCapabilities{Extensions: map[string]json.RawMessage{bad: json.RawMessage(`1`)}}
		panics(t, "extension", func() { server.New(mcp.Implementation{Name: "a", Version: "1"}, &server.Options{Capabilities: caps}) })
	}
}
