package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// rooted returns a server with a tool that asks for roots, and says why it ended.
func rooted(t *testing.T, opts *server.Options) (*server.Server, chan error) {
	t.Helper()
	srv, ended := newServer(t, opts), make(chan error, 100)
	tool(srv, "roots", func(ctx context.Context, c *server.Call) (string, error) {
		roots, err := server.Roots(ctx, c, "roots")
		ended <- err
		return fmt.Sprint(len(roots)), err
	})
	return srv, ended
}

// begin calls the tool and returns the question.
func (a *asker) begin(id string) jsonrpc.Message {
	a.t.Helper()
	a.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"roots"}}`)
	m := a.read()
	if m.Kind() != jsonrpc.Request || m.Method != mcp.MethodRootsList {
		a.t.Fatalf("got %+v, want a question", m)
	}
	return m
}

func TestAnswersFindTheirQuestion(t *testing.T) {
	t.Parallel()
	srv, _ := rooted(t, nil)
	a := talk(t, srv).asker("2025-03-26", allCapabilities, nil)
	first, second := a.begin("1"), a.begin("2")
	if first.ID == second.ID {
		t.Fatalf("two questions with the id %s", first.ID)
	}
	answer := func(id jsonrpc.ID, roots string) string {
		return `{"jsonrpc":"2.0","id":` + id.String() + `,"result":{"roots":[` + roots + `]}}`
	}
	a.send(answer(jsonrpc.IntID(99), ``))     // unknown
	a.send(answer(jsonrpc.StringID("1"), ``)) // another id than 1
	a.send(`[` + answer(second.ID, ``) + `]`) // in a batch
	a.want(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"0"}]}}`)
	a.send(answer(second.ID, `{"uri":"file:///"}`)) // once more
	a.send(answer(first.ID, `{"uri":"file:///"}`))
	a.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}]}}`)
}

// TestCancelledQuestions wants the client to hear that no answer is needed.
func TestCancelledQuestions(t *testing.T) {
	t.Parallel()
	srv, ended := rooted(t, nil)
	a := talk(t, srv).asker("2025-11-25", allCapabilities, nil)
	q := a.begin("1")
	a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	m := a.read()
	var p mcp.CancelledParams
	if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != mcp.NotificationCancelled || p.RequestID != q.ID {
		t.Errorf("got %s %s, want the question %s to be cancelled", m.Method, m.Params, q.ID)
	}
	if _, ok := errors.AsType[*server.CancelledError](<-ended); !ok {
		t.Error("the handler did not learn that it was cancelled")
	}
}

// TestNobodyAnswers wants handlers to end when no answer can come.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, ended := rooted(t, &server.Options{AnswerTimeout: time.Minute})
		a := talk(t, srv).asker("2025-11-25", allCapabilities, nil)
		a.begin("1")
		began := time.Now()
		if m := a.read(); m.Method != mcp.NotificationCancelled {
			t.Errorf("got %+v, want the question to be cancelled", m)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "has not answered within 1m0s") || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		a.read()
		a.begin("2")
		_ = a.conn.Close()
		began = time.Now()
		if err := <-ended; err == nil || time.Since(began) > 0 {
			t.Errorf("after %v: %v, want an error at once, because the client has gone", time.Since(began), err)
		}
	})
}

func TestTooManyQuestions(t *testing.T) {
	t.Parallel()
	srv, ended := rooted(t, nil)
	a := talk(t, srv).asker("2025-11-25", allCapabilities, nil)
	for i := range 64 {
		a.begin(fmt.Sprint(i))
	}
	a.send(`{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"roots"}}`)
	if got := text(t, a.read()); !strings.Contains(got, "64 questions of this session have not been answered") {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err == nil {
		t.Error("got no error")
	}
}

// TestNoWayToAsk wants carriers without a way to the client not to wait.
func TestNoWayToAsk(t *testing.T) {
	t.Parallel()
	srv, ended := rooted(t, nil)
	sess := srv.NewSession(nil)
	defer sess.Close()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"roots"}}`,
	} {
		m, err := jsonrpc.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		rq, err := srv.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		sess.Serve(t.Context(), rq, nil)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "nothing can be asked now") {
		t.Errorf("got %v", err)
	}
}

// TestPagesToVisit fails calls for which the user has to visit a page first.
func TestPagesToVisit(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-32042-RETURN", "ELICIT-32042-DATA", "ELICIT-32042-ONLY-WHEN-REQUIRED", "ELICIT-32042-NO-EMIT")
	srv := newServer(t, nil)
	page := func() error {
		return &mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitParams{{Message: "Sign in", URL: "https://example.com/in", ElicitationID: "e1"}}}
	}
	visited := map[string]bool{}
	tool(srv, "page", func(_ context.Context, c *server.Call) (string, error) {
		if visited[c.Revision()] {
			return "in", nil
		}
		return "", page()
	})
	srv.AddPrompt(mcp.Prompt{Name: "page"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, page()
	})
	legible := "the user must visit a web page first\nSign in: https://example.com/in"
	for revision, want := range map[string]string{
		"2025-11-25": "error -32042: the user must visit a web page first",
		"2025-06-18": "tool error: " + legible,
		"2024-11-05": "tool error: " + legible,
	} {
		a := talk(t, srv).asker(revision, allCapabilities, nil)
		m := a.call("page")
		if got := text(t, m); got != want {
			t.Errorf("%s: got %q, want %q", revision, got, want)
		}
		const data = `{"elicitations":[{"mode":"url","message":"Sign in","url":"https://example.com/in","elicitationId":"e1"}]}`
		if m.Error != nil && string(m.Error.Data) != data {
			t.Errorf("%s: got data %s, want %s", revision, m.Error.Data, data)
		}
	}
	if got, want := text(t, talk(t, srv).asker("2025-11-25", `{"elicitation":{}}`, nil).call("page")), "tool error: "+legible; got != want {
		t.Errorf("a client without pages: got %q, want %q", got, want)
	}
	if got, want := talk(t, srv).asker("2025-06-18", allCapabilities, nil).ask("prompts/get", `"name":"page"`), "visit a web page"; got.Error == nil ||
		got.Error.Code != jsonrpc.CodeInvalidRequest || !strings.Contains(got.Error.Message, want) {
		t.Errorf("a prompt: got %v, want %q", got.Error, want)
	}
	a := talk(t, srv).asker(modern, allCapabilities, func(mcp.InputRequest) string {
		visited[modern] = true
		return `{"action":"accept"}`
	})
	if got := text(t, a.call("page")); got != "in" || len(a.asked) != 1 ||
		a.asked[0] != `elicitation/create{"mode":"url","message":"Sign in","url":"https://example.com/in"}` {
		t.Errorf("got %q after %q", got, a.asked)
	}
	code(t, talk(t, srv).asker("2024-11-05", `{}`, nil).ask("prompts/get", `"name":"page"`), jsonrpc.CodeInvalidRequest)
}

// TestElicitURL asks with a page, and tells when the user is done with it.
func TestElicitURL(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-URL-PARAMS-2025-11", "ELICIT-URL-PARAMS-2026-07", "ELICIT-URL-VALID", "ELICIT-COMPLETE-NOTIFY")
	srv := newServer(t, nil)
	tool(srv, "pay", func(ctx context.Context, c *server.Call) (string, error) {
		r, err := server.ElicitURL(ctx, c, "pay", &mcp.ElicitParams{Message: "Pay", URL: "https://example.com/pay", ElicitationID: "p1"})
		if err != nil {
			return "", err
		}
		return r.Action + string(r.Content), c.Session().ElicitationComplete("p1")
	})
	tool(srv, "nowhere", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.ElicitURL(ctx, c, "pay", &mcp.ElicitParams{Message: "Pay", URL: "pay"})
		return "", err
	})
	for revision, asked := range map[string]string{
		"2025-11-25": `elicitation/create{"mode":"url","message":"Pay","url":"https://example.com/pay","elicitationId":"p1"}`,
		modern:       `elicitation/create{"mode":"url","message":"Pay","url":"https://example.com/pay"}`,
	} {
		a := talk(t, srv).asker(revision, allCapabilities, func(mcp.InputRequest) string { return `{"action":"accept","content":{"a":1}}` })
		if got := text(t, a.call("pay")); got != "accept" || len(a.asked) != 1 || a.asked[0] != asked {
			t.Errorf("%s: got %q after %q, want %q", revision, got, a.asked, asked)
		}
		if got := text(t, a.call("nowhere")); got != `tool error: send the user to "pay": that is no URL` {
			t.Errorf("%s: got %q", revision, got)
		}
	}
	a := talk(t, srv).asker("2025-11-25", allCapabilities, nil)
	a.request("tools/call", `"name":"pay"`)
	q := a.read()
	a.send(`{"jsonrpc":"2.0","id":` + q.ID.String() + `,"result":{"action":"accept"}}`)
	a.want(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"p1"}}`)
	a.read()
}

// TestSampleParams wants nothing to be asked that the protocol forbids, or that
// the client has not declared.
func TestSampleParams(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SAMP-REQ-REQUIRED", "SAMP-BLOCKS-2024", "SAMP-CONTEXT-AVOID", "SAMP-SEC-VALIDATE")
	srv := newServer(t, nil)
	message := func(blocks ...mcp.Content) []mcp.SamplingMessage {
		return []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: blocks}}
	}
	for name, p := range map[string]*mcp.CreateMessageParams{
		"none":    nil,
		"tokens":  {Messages: message(mcp.Text("x"))},
		"audio":   {MaxTokens: 1, Messages: message(mcp.Audio(nil, "audio/wav"))},
		"context": {MaxTokens: 1, Messages: message(mcp.Text("x")), IncludeContext: mcp.IncludeContextThisServer},
	} {
		tool(srv, name, func(ctx context.Context, c *server.Call) (string, error) {
			_, err := server.Sample(ctx, c, "k", p)
			return "said", err
		})
	}
	const said, context = "said", `"includeContext":"thisServer"`
	for _, tt := range []struct{ revision, capabilities, tool, want, asked string }{
		{modern, allCapabilities, "none", "there are no parameters", ""},
		{modern, allCapabilities, "tokens", "maxTokens is 0", ""},
		{modern, allCapabilities, "audio", said, `"type":"audio"`},
		{"2025-03-26", allCapabilities, "audio", said, `"type":"audio"`},
		{"2024-11-05", allCapabilities, "audio", "messages cannot be sound", ""},
		{modern, allCapabilities, "context", said, `"maxTokens":1`},
		{modern, `{"sampling":{"context":{}}}`, "context", said, context},
		{"2025-11-25", `{"sampling":{}}`, "context", said, `"maxTokens":1`},
		{"2024-11-05", `{"sampling":{}}`, "context", said, context},
	} {
		a := talk(t, srv).asker(tt.revision, tt.capabilities, replies)
		got := text(t, a.call(tt.tool))
		asked := strings.Join(a.asked, "\n")
		if !strings.Contains(got, tt.want) || !strings.Contains(asked, tt.asked) || tt.asked == "" && asked != "" ||
			tt.asked != context && strings.Contains(asked, context) {
			t.Errorf("%s %s %s: got %q after %s, want %q after %s", tt.revision, tt.capabilities, tt.tool, got, asked, tt.want, tt.asked)
		}
	}
}

// TestNotificationsAsk has the handler of a notification ask: the answer is read
// although the messages after the notification wait for it.
func TestNotificationsAsk(t *testing.T) {
	t.Parallel()
	const changed = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	for name, frame := range map[string]string{"alone": changed, "in a batch": `[` + changed + `,` + changed + `]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, answered := newServer(t, nil), make(chan error, 2)
			srv.Handle(mcp.NotificationRootsListChanged, func(ctx context.Context, c *server.Call) (any, error) {
				_, err := server.Roots(ctx, c, "roots")
				answered <- err
				return nil, err
			})
			a := talk(t, srv).asker("2025-03-26", allCapabilities, nil)
			a.send(frame)
			for range strings.Count(frame, changed) {
				m := a.read()
				if m.Method != mcp.MethodRootsList {
					t.Fatalf("got %+v, want a question", m)
				}
				a.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
				a.want(`{"jsonrpc":"2.0","id":7,"result":{}}`)
				a.send(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"roots":[]}}`)
				if err := <-answered; err != nil {
					t.Errorf("Roots: %v", err)
				}
			}
		})
	}
}

// TestNotificationThatIgnoresItsContext wants a connection to end in spite of a
// handler that does not.
func TestNotificationThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, let := newServer(t, nil), make(chan struct{})
		defer close(let)
		srv.Handle(mcp.NotificationRootsListChanged, func(context.Context, *server.Call) (any, error) {
			<-let
			return nil, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		near, far := transport.Pipe()
		done := make(chan error, 1)
		go func() { done <- srv.ServeConn(ctx, far) }()
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		} {
			if err := near.Write([]byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := near.Read(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		began := time.Now()
		if err := <-done; err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("ServeConn: %v after %v", err, time.Since(began))
		}
	})
}

// TestRootsAreAsked wants roots to be asked for once in a call, and anew in the
// next: they may have changed, or be gone.
func TestRootsAreAsked(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ROOT-SRV-CACHE", "ROOT-SRV-UNAVAILABLE", "ROOT-SRV-HANDLE-CHANGES", "ROOT-LIST-CHANGED-REFRESH", "ROOT-SRV-CHECK-CAP")
	srv := newServer(t, nil)
	tool(srv, "look", func(ctx context.Context, c *server.Call) (string, error) {
		var found [2]int
		for i := range found {
			roots, err := server.Roots(ctx, c, "roots")
			if err != nil {
				return "none", err
			}
			found[i] = len(roots)
		}
		return fmt.Sprint(found), nil
	})
	for _, revision := range []string{"2024-11-05", "2025-11-25", modern} {
		answers := []string{`{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}`, `{"roots":[]}`, `{"roots":[{"uri":"file:///a"}]}`}
		a := talk(t, srv).asker(revision, allCapabilities, nil)
		a.answer = func(mcp.InputRequest) string { return answers[len(a.asked)-1] }
		for i, want := range []string{"[2 2]", "[0 0]", "[1 1]"} {
			if revision != modern {
				a.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			}
			if got := text(t, a.call("look")); got != want || len(a.asked) != i+1 {
				t.Errorf("%s: got %q after %q, want %q", revision, got, a.asked, want)
			}
		}
	}
	a := talk(t, srv).asker("2025-11-25", allCapabilities, func(mcp.InputRequest) string { return `{"code":-32603,"message":"they are gone"}` })
	if got, want := text(t, a.call("look")), `tool error: the client's answer to "roots": they are gone (-32603)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
