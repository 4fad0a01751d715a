package mcptest_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
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

// Calls get through on every carrier,
// whether the client has seen the tool before or not.
func TestArgumentsInHeaders(t *testing.T) {
	mcptest.Proves(t, "HTTP-XMCP-CLIENT", "HTTP-PARAM-VALIDATE")
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

// talkative returns a server with a tool that logs on two levels and tells the
// metadata and the extensions of its caller.
func talkative() *server.Server {
	srv := server.New(testInfo, nil)
	server.AddTool(srv, mcp.Tool{Name: "talk"}, func(ctx context.Context, c *server.Call, _ struct{}) (map[string]any, error) {
		for _, level := range []mcp.LoggingLevel{mcp.LevelDebug, mcp.LevelError} {
			if err := c.Log(ctx, level, "", level); err != nil {
				return nil, err
			}
		}
		_, sails := c.ClientExtension("com.example/sails")
		meta := c.Meta()
		return map[string]any{"traceparent": meta["traceparent"], "baggage": meta["baggage"], "mine": meta["com.example/mine"], "sails": sails}, nil
	})
	return srv
}

// Log messages come only with the calls that ask for them, from the level on that
// they ask for.
func TestLogLevelOfACall(t *testing.T) {
	mcptest.Proves(t, "BASE-META-LOG-LEVEL", "LOG-PER-REQUEST-EMIT")
	var mu sync.Mutex
	var heard []string
	grid := mcptest.Grid{Server: talkative, Revisions: []string{"2026-07-28"}, Client: func() *client.Options {
		return &client.Options{OnNotification: func(method string, params json.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, method+string(params))
		}}
	}}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		// The end of the last call's messages is told by those of another.
		for _, level := range []mcp.LoggingLevel{"", mcp.LevelError, mcp.LevelDebug} {
			_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "talk"}, &client.CallOptions{LogLevel: level})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := sess.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		want := []string{
			`notifications/message{"level":"error","data":"error"}`,
			`notifications/message{"level":"debug","data":"debug"}`,
			`notifications/message{"level":"error","data":"error"}`,
		}
		if !slices.Equal(heard, want) {
			t.Errorf("heard %q\nwant %q", heard, want)
		}
		heard = nil
	})
}

// The context of a trace reaches the handler unchanged and so do the
// client's extensions, in every revision.
func TestMetadataOfACall(t *testing.T) {
	mcptest.Proves(t, "EXT-ADVERTISE")
	grid := mcptest.Grid{Server: talkative, Client: func() *client.Options {
		extensions := map[string]json.RawMessage{"com.example/sails": json.RawMessage(`{}`)}
		return &client.Options{Capabilities: mcp.ClientCapabilities{Extensions: extensions}}
	}}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		opts := &client.CallOptions{Meta: mcp.Meta{
			"traceparent": json.RawMessage(`"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`),
			"baggage":     json.RawMessage(`"a=1,b=2"`),
		}}
		params := &mcp.CallToolParams{Name: "talk", Meta: mcp.Meta{"baggage": json.RawMessage(`"c=3"`), "com.example/mine": json.RawMessage(`[1]`)}}
		result, err := sess.CallTool(t.Context(), params, opts)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"baggage":"a=1,b=2","mine":[1],"sails":true,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`
		if got := text(t, result); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if len(params.Meta) != 2 || len(opts.Meta) != 2 {
			t.Errorf("the call has changed its parameters: %v %v", params.Meta, opts.Meta)
		}
	})
}
