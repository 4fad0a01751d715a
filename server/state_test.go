package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// addTicket adds a tool that opens a ticket and asks before it goes on, and
// returns how many were opened.
func addTicket(srv *server.Server) *atomic.Int32 {
	var opened atomic.Int32
	srv.AddRawTool(mcp.Tool{Name: "ticket"}, func(ctx context.Context, c *server.Call) (any, error) {
		id, err := server.Once(ctx, c, "open", func(context.Context) (int32, error) { return opened.Add(1), nil })
		if err != nil {
			return nil, err
		}
		answer, err := server.Elicit[struct{}](ctx, c, "sure", "Sure?")
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(fmt.Sprintf("%d %s", id, answer.Action))}}, nil
	})
	return &opened
}

// first makes the first round of a call to ticket and returns the state.
func (a *asker) first(arguments string) string {
	a.t.Helper()
	a.request("tools/call", `"name":"ticket","arguments":`+arguments)
	r := result[mcp.InputRequiredResult](a.t, a.read())
	if r.RequestState == nil {
		a.t.Fatal("no state")
	}
	return *r.RequestState
}

// second makes the second round.
func (a *asker) second(arguments, state string) jsonrpc.Message {
	a.t.Helper()
	a.request("tools/call", `"name":"ticket","arguments":`+arguments+
		`,"inputResponses":{"sure":{"action":"accept"}},"requestState":"`+state+`"`)
	return a.read()
}

func TestOnce(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", modern} {
		srv := newServer(t, nil)
		opened := addTicket(srv)
		a := talk(t, srv).asker(revision, allCapabilities, replies)
		if got := text(t, a.call("ticket")); got != "1 accept" || opened.Load() != 1 {
			t.Errorf("%s: got %q, %d tickets", revision, got, opened.Load())
		}
	}
}

// TestOnceRemembersSuccessOnly wants what failed to be tried again.
func TestOnceRemembersSuccessOnly(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	var tries int
	tool(srv, "try", func(ctx context.Context, c *server.Call) (string, error) {
		try := func(context.Context) (string, error) {
			if tries++; tries == 1 {
				return "", fmt.Errorf("not now")
			}
			return "done", nil
		}
		_, _ = server.Once(ctx, c, "try", try)
		return server.Once(ctx, c, "try", try)
	})
	for revision, want := range map[string]int{"2024-11-05": 2, modern: 2} {
		tries = 0
		if got := text(t, talk(t, srv).asker(revision, `{}`, nil).call("try")); got != "done" || tries != want {
			t.Errorf("%s: got %q in %d tries, want %d", revision, got, tries, want)
		}
	}
}

// TestStateIsBound wants a state to be good for its own request only.
func TestStateIsBound(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATE-INTEGRITY", "MRTR-STATE-UNTRUSTED")
	srv := newServer(t, nil)
	addTicket(srv)
	a := talk(t, srv).asker(modern, allCapabilities, nil)
	state := a.first(`{"a":1,"b":[9007199254740993]}`)
	if got := text(t, a.second(`{ "b" : [9007199254740993], "a": 1}`, state)); got != "1 accept" {
		t.Errorf("the same request, written otherwise: %s", got)
	}
	other := newServer(t, nil)
	addTicket(other)
	tests := map[string]jsonrpc.Message{
		"other arguments": a.second(`{"a":1,"b":[9007199254740992]}`, state),
		"tampered":        a.second(`{"a":1,"b":[9007199254740993]}`, state+"-TAMPERED"),
		"cut":             a.second(`{"a":1,"b":[9007199254740993]}`, state[:len(state)-4]),
		"changed":         a.second(`{"a":1,"b":[9007199254740993]}`, state[:9]+flip(state[9])+state[10:]),
		"empty":           a.second(`{"a":1,"b":[9007199254740993]}`, ""),
		"of somebody":     a.second(`{"a":1,"b":[9007199254740993]}`, "e30"),
		"other process":   talk(t, other).asker(modern, allCapabilities, nil).second(`{"a":1,"b":[9007199254740993]}`, state),
	}
	for name, m := range tests {
		if m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidParams || !strings.Contains(m.Error.Message, "requestState is not from this server") {
			t.Errorf("%s: got %s %v", name, m.Result, m.Error)
		}
	}
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// TestStateOfPrincipal wants nobody to use the state of another one.
func TestStateOfPrincipal(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	addTicket(srv)
	serve := func(principal, params string) *server.Response {
		t.Helper()
		m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ticket",` + params +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + allCapabilities + `}}}`))
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
	required, ok := serve("ada", "").Result.(*mcp.InputRequiredResult)
	if !ok || required.RequestState == nil {
		t.Fatal("no state")
	}
	params := `"inputResponses":{"sure":{"action":"accept"}},"requestState":"` + *required.RequestState + `",`
	for principal, want := range map[string]bool{"ada": true, "eve": false, "": false} {
		if r := serve(principal, params); (r.Error == nil) != want {
			t.Errorf("principal %q: error %v", principal, r.Error)
		}
	}
}

func TestStateExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, &server.Options{StateTTL: time.Minute})
		addTicket(srv)
		a := talk(t, srv).asker(modern, allCapabilities, nil)
		state := a.first(`{}`)
		time.Sleep(59 * time.Second)
		if got := text(t, a.second(`{}`, state)); got != "1 accept" {
			t.Errorf("before it expires: %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := text(t, a.second(`{}`, state)); !strings.HasPrefix(got, "error -32602:") || !strings.Contains(got, "expired") {
			t.Errorf("after it expired: %s", got)
		}
	})
}

// TestStateKeys changes the keys of two servers behind one address in turn.
func TestStateKeys(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-STATELESS-RETRY")
	old, next := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 40)
	reach := func(keys ...[]byte) *asker {
		srv := newServer(t, &server.Options{StateKeys: keys})
		addTicket(srv)
		return talk(t, srv).asker(modern, allCapabilities, nil)
	}
	before, between, after := reach(old), reach(next, old), reach(next)
	for _, tt := range []struct {
		name     string
		from, to *asker
		want     bool
	}{
		{"old to both", before, between, true},
		{"both to new", between, after, true},
		{"both to old", between, before, false},
		{"old to new", before, after, false},
	} {
		if m := tt.to.second(`{}`, tt.from.first(`{}`)); (m.Error == nil) != tt.want {
			t.Errorf("%s: error %v, want success %v", tt.name, m.Error, tt.want)
		}
	}
	panics(t, "state key 1 has 15 bytes", func() {
		server.New(mcp.Implementation{Name: "n", Version: "1"}, &server.Options{StateKeys: [][]byte{old, old[:15]}})
	})
}

// TestInputRequiredResults wants handlers that return such results themselves to
// work for sessions too.
func TestInputRequiredResults(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	srv.AddRawTool(mcp.Tool{Name: "steps"}, func(_ context.Context, c *server.Call) (any, error) {
		state, err := c.RequestState()
		if err != nil {
			return nil, err
		}
		given, err := c.InputResponses()
		if err != nil {
			return nil, err
		}
		var roots mcp.ListRootsResult
		if ok, err := given.Get("roots", &roots); !ok || err != nil || len(state) < 2 {
			return *mcp.InputRequired(map[string]mcp.InputRequest{"roots": mcp.RootsInput()}, state+"x"), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(state + " " + roots.Roots[0].URI)}}, nil
	})
	for revision, rounds := range map[string]int{"2024-11-05": 1, modern: 3} {
		a := talk(t, srv).asker(revision, allCapabilities, replies)
		if got, want := text(t, a.call("steps")), "xx file:///work"; got != want || a.rounds != rounds || len(a.asked) != 2 {
			t.Errorf("%s: got %q in %d rounds after %q, want %q in %d", revision, got, a.rounds, a.asked, want, rounds)
		}
		code(t, talk(t, srv).asker(revision, `{"sampling":{}}`, nil).call("steps"), map[string]int{
			"2024-11-05": jsonrpc.CodeInvalidRequest, modern: mcp.CodeMissingClientCapability,
		}[revision])
	}
}

// TestPageWithoutID sends the client of a session to a web page that a handler has
// not named: unlike the stateless revision, that one must have an id for it.
func TestPageWithoutID(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	page := &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "Pay", URL: "https://example.com/pay"}
	srv.AddRawTool(mcp.Tool{Name: "pay"}, func(_ context.Context, c *server.Call) (any, error) {
		given, err := c.InputResponses()
		if err != nil {
			return nil, err
		}
		if given == nil {
			return mcp.InputRequired(map[string]mcp.InputRequest{"page": mcp.ElicitInput(page)}, ""), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("paid")}}, nil
	})
	for revision, named := range map[string]bool{"2025-11-25": true, modern: false} {
		a := talk(t, srv).asker(revision, allCapabilities, func(in mcp.InputRequest) string {
			if (in.Elicit.ElicitationID != "") != named {
				t.Errorf("%s: got the id %q, want one: %t", revision, in.Elicit.ElicitationID, named)
			}
			return `{"action":"accept"}`
		})
		if got, want := text(t, a.call("pay")), "paid"; got != want {
			t.Errorf("%s: got %q, want %q", revision, got, want)
		}
	}
	if page.ElicitationID != "" {
		t.Errorf("the handler's own question has got the id %q", page.ElicitationID)
	}
}

// TestBadInput sends responses and states that are none.
func TestBadInput(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-AT-LEAST-ONE", "MRTR-SERVER-EXTRA-IGNORE", "MRTR-SERVER-REASK",
		"MRTR-SERVER-VALIDATE", "MRTR-NO-ASSUME-RETRY")
	srv := newServer(t, nil)
	tool(srv, "roots", func(ctx context.Context, c *server.Call) (string, error) {
		roots, err := server.Roots(ctx, c, "roots")
		return fmt.Sprint(len(roots)), err
	})
	tool(srv, "careless", func(_ context.Context, c *server.Call) (string, error) {
		_, _ = c.RequestState()
		return "done", nil
	})
	srv.AddRawTool(mcp.Tool{Name: "nothing"}, func(context.Context, *server.Call) (any, error) { return mcp.InputRequired(nil, ""), nil })
	srv.Handle("custom", func(ctx context.Context, c *server.Call) (any, error) {
		roots, err := server.Roots(ctx, c, "roots")
		return map[string]int{"roots": len(roots)}, err
	})
	tests := []struct{ method, params, want string }{
		{"tools/call", `"name":"roots","inputResponses":null`, "asks"},
		{"tools/call", `"name":"roots","inputResponses":{"root":{"roots":[]}}`, "asks"},
		{"tools/call", `"name":"roots","inputResponses":{"roots":null}`, "asks"},
		{"tools/call", `"name":"roots","inputResponses":{"roots":{"roots":[]},"more":5}`, "0"},
		{"tools/call", `"name":"roots","inputResponses":{"roots":{"roots":[]}},"requestState":null`, "0"},
		{"tools/call", `"name":"roots","inputResponses":{"roots":12345}`, "error -32602"},
		{"tools/call", `"name":"roots","inputResponses":[]`, "error -32602"},
		{"tools/call", `"name":"roots","requestState":5`, "error -32602"},
		{"tools/call", `"name":"careless","requestState":"x"`, "error -32602"},
		{"tools/call", `"name":"nothing"`, "error -32603"},
		{"custom", `"inputResponses":{"roots":{"roots":[]}}`, "error -32603"},
		{"tools/list", `"inputResponses":5,"requestState":5`, "complete"},
	}
	for _, tt := range tests {
		a := talk(t, srv).asker(modern, allCapabilities, nil)
		a.request(tt.method, tt.params)
		m := a.read()
		var got string
		var r mcp.CallToolResult
		switch {
		case m.Error != nil:
			got = fmt.Sprintf("error %d", m.Error.Code)
		case json.Unmarshal(m.Result, &r) == nil && r.ResultType == mcp.ResultInputRequired:
			got = "asks"
		case len(r.Content) > 0:
			got = r.Content[0].Text
		default:
			got = r.ResultType
		}
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q (%s %v)", tt.method, tt.params, got, tt.want, m.Result, m.Error)
		}
	}
	a := talk(t, srv).asker("2025-11-25", allCapabilities, replies)
	if m := a.ask("custom", `"x":1`); string(m.Result) != `{"roots":1}` {
		t.Errorf("a method of our own in a session: got %s %v", m.Result, m.Error)
	}
}

// FuzzRequestState wants no state to do more than fail its request.
func FuzzRequestState(f *testing.F) {
	srv := server.New(mcp.Implementation{Name: "n", Version: "1"}, nil)
	addTicket(srv)
	f.Add("AQ")
	f.Add("AVCj1oG2cPFyEgTXcEA_Eq3Na0GS5lR8OEr6Ht-Yqk08es_w_F2c7FSV_9iclaEneIi9fsk")
	f.Fuzz(func(t *testing.T, state string) {
		quoted, err := json.Marshal(state)
		if err != nil {
			t.Skip()
		}
		m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ticket","requestState":` + string(quoted) +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + allCapabilities + `}}}`))
		if err != nil {
			t.Skip()
		}
		rq, err := srv.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if r := srv.Serve(t.Context(), rq, nil); r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams {
			t.Fatalf("state %q: got %v, %v", state, r.Result, r.Error)
		}
	})
}
