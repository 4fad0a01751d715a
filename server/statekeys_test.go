package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// vault is a server whose tools, prompt and resource hand out a state, and open
// for those who come with it.
func vault(t *testing.T, name string, keys ...[]byte) *server.Server {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{StateKeys: keys, StateTTL: time.Minute})
	t.Cleanup(func() { _ = srv.Close() })
	open := func(c *server.Call, opened any) (any, error) {
		state, err := c.RequestState()
		if err != nil {
			return nil, err
		}
		if state == "" {
			return mcp.InputRequired(nil, "role=guest"), nil
		}
		if state != "role=guest" {
			t.Errorf("the handler got the state %q", state)
		}
		return opened, nil
	}
	for _, name := range []string{"open", "other"} {
		srv.AddRawTool(mcp.Tool{Name: name}, func(_ context.Context, c *server.Call) (any, error) { return open(c, &mcp.CallToolResult{}) })
	}
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			if c.Method == mcp.MethodPromptsGet {
				return open(c, &mcp.GetPromptResult{})
			}
			return next(ctx, c)
		}
	})
	return srv
}

// serveAs serves one request of a principal; state is added when it is not empty.
func serveAs(t *testing.T, srv *server.Server, principal, method, params, state string) *server.Response {
	t.Helper()
	if state != "" {
		quoted, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		params += `,"requestState":` + string(quoted)
	}
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + allCapabilities + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rq, err := srv.Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	rq.Principal = principal
	return srv.Serve(t.Context(), rq, nil)
}

// stateOf returns the state of a response that asks for input.
func stateOf(t *testing.T, r *server.Response) string {
	t.Helper()
	required, ok := r.Result.(*mcp.InputRequiredResult)
	if !ok || required.RequestState == nil {
		t.Fatalf("got %+v, %v, want a state", r.Result, r.Error)
	}
	return *required.RequestState
}

const openParams = `"name":"open","arguments":{"door":1}`

// TestStolenStates tries to use a state for what it was not made for.
func TestStolenStates(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATE-INTEGRITY", "MRTR-STATE-UNTRUSTED", "MRTR-STATE-REPLAY", "ELICIT-SEC-BIND-IDENTITY")
	key := bytes.Repeat([]byte{7}, 32)
	bank := func() *server.Server { return vault(t, "bank", key) }
	tests := []struct {
		name              string
		srv               *server.Server
		principal, method string
		params            string
		want              bool
	}{
		{"the same request", bank(), "ada", mcp.MethodToolsCall, openParams, true},
		{"written otherwise", bank(), "ada", mcp.MethodToolsCall, `"arguments":{ "door" : 1 }, "name":"open"`, true},
		{"another principal", bank(), "eve", mcp.MethodToolsCall, openParams, false},
		{"nobody", bank(), "", mcp.MethodToolsCall, openParams, false},
		{"another tool", bank(), "ada", mcp.MethodToolsCall, `"name":"other","arguments":{"door":1}`, false},
		{"another method", bank(), "ada", mcp.MethodPromptsGet, openParams, false},
		{"other arguments", bank(), "ada", mcp.MethodToolsCall, `"name":"open","arguments":{"door":2}`, false},
		{"other type", bank(), "ada", mcp.MethodToolsCall, `"name":"open","arguments":{"door":"1"}`, false},
		{"more arguments", bank(), "ada", mcp.MethodToolsCall, `"name":"open","arguments":{"door":1,"all":true}`, false},
		{"no arguments", bank(), "ada", mcp.MethodToolsCall, `"name":"open"`, false},
		{"another server with the key", vault(t, "kiosk", key), "ada", mcp.MethodToolsCall, openParams, false},
		{"another key", vault(t, "bank", bytes.Repeat([]byte{8}, 32)), "ada", mcp.MethodToolsCall, openParams, false},
		{"a key of its own", vault(t, "bank"), "ada", mcp.MethodToolsCall, openParams, false},
	}
	state := stateOf(t, serveAs(t, bank(), "ada", mcp.MethodToolsCall, openParams, ""))
	if strings.Contains(state, "guest") {
		t.Errorf("the state can be read: %s", state)
	}
	for _, tt := range tests {
		r := serveAs(t, tt.srv, tt.principal, tt.method, tt.params, state)
		if tt.want && r.Error != nil || !tt.want && (r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams) {
			t.Errorf("%s: got error %v, want the state taken: %v", tt.name, r.Error, tt.want)
		}
	}
}

// TestForgedStates changes a state in every way that a client can. All of them
// are refused with the same words.
func TestForgedStates(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATE-INTEGRITY", "MRTR-STATE-UNTRUSTED")
	srv := vault(t, "bank")
	state := stateOf(t, serveAs(t, srv, "ada", mcp.MethodToolsCall, openParams, ""))
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	written := func(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
	forged := map[string]string{
		"padded":        state + "=",
		"a line":        state + "\n",
		"lines":         state[:8] + "\r\n" + state[8:],
		"twice":         state + state,
		"long":          strings.Repeat("A", 2<<20),
		"not sealed":    written([]byte("\x01" + `{"e":99999999999,"s":"role=admin"}`)),
		"version alone": written(raw[:1]),
	}
	for _, version := range []byte{0, 2, 255} {
		forged[fmt.Sprint("version ", version)] = written(append([]byte{version}, raw[1:]...))
	}
	for i := range 8 * len(raw) {
		flipped := slices.Clone(raw)
		flipped[i/8] ^= 1 << (i % 8)
		forged[fmt.Sprint("bit ", i)] = written(flipped)
	}
	for n := 1; n < len(state); n++ {
		forged[fmt.Sprint("cut ", n)] = state[:n]
	}
	const refusal = "params of tools/call: requestState is not from this server or not for this request; call again without it"
	for name, forgery := range forged {
		r := serveAs(t, srv, "ada", mcp.MethodToolsCall, openParams, forgery)
		if r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams || r.Error.Message != refusal {
			t.Errorf("%s: got %v, %v", name, r.Result, r.Error)
		}
	}
	if r := serveAs(t, srv, "ada", mcp.MethodToolsCall, openParams, state); r.Error != nil {
		t.Errorf("the true one: %v", r.Error)
	}
}

// TestReplayedState uses a state again: that is possible for the principal it
// was made for, until it expires, and that is said where states are made.
func TestReplayedState(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATE-REPLAY")
	synctest.Test(t, func(t *testing.T) {
		srv := vault(t, "bank")
		state := stateOf(t, serveAs(t, srv, "ada", mcp.MethodToolsCall, openParams, ""))
		for _, tt := range []struct {
			wait time.Duration
			want bool
		}{{0, true}, {0, true}, {59 * time.Second, true}, {2 * time.Second, false}, {time.Hour, false}} {
			time.Sleep(tt.wait)
			if r := serveAs(t, srv, "ada", mcp.MethodToolsCall, openParams, state); (r.Error == nil) != tt.want {
				t.Errorf("after %v more: got error %v, want the state taken: %v", tt.wait, r.Error, tt.want)
			}
		}
	})
}
