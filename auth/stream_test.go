package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth"
)

// TestStreamsEnd holds streams open until the token that they were opened with has
// expired.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(e *endpoint, token string) (http.Handler, *http.Request){
		"GET": func(e *endpoint, token string) (http.Handler, *http.Request) {
			rq := httptest.NewRequest(http.MethodGet, "/mcp", nil)
			rq.Header.Set("Mcp-Session-Id", e.session(token, legacyVersion))
			return e.h, rq
		},
		"HTTP+SSE": func(e *endpoint, token string) (http.Handler, *http.Request) {
			return e.sse, httptest.NewRequest(http.MethodGet, "/sse", nil)
		},
		"subscription": func(e *endpoint, token string) (http.Handler, *http.Request) {
			rq := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{
				"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modernVersion+`","io.modelcontextprotocol/clientCapabilities":{}},
				"notifications":{"toolsListChanged":true}}}`))
			rq.Header.Set("Content-Type", "application/json")
			rq.Header.Set("Mcp-Protocol-Version", modernVersion)
			rq.Header.Set("Mcp-Method", "subscriptions/listen")
			return e.h, rq
		},
	} {
		for _, keep := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := newEndpoint(t, &auth.Options{KeepStreams: keep}, nil)
					token := e.is.token(map[string]any{"exp": time.Now().Unix() + 40})
					h, rq := open(e, token)
					rq.Header.Set("Accept", "text/event-stream, application/json")
					rq.Header.Set("Authorization", "Bearer "+token)
					ctx, leave := context.WithTimeout(t.Context(), time.Hour)
					defer leave()
					w := httptest.NewRecorder()
					began := time.Now()
					var open sync.WaitGroup
					var took time.Duration
					open.Go(func() {
						h.ServeHTTP(w, rq.WithContext(ctx))
						took = time.Since(began)
					})
					if keep {
						wait(50 * time.Second) // some carriers give up a client that says nothing
						synctest.Wait()
						leave()
						open.Wait()
						if took < 50*time.Second {
							t.Errorf("the stream ended after %v, although it is to be kept: %s", took, w.Body)
						}
						return
					}
					open.Wait()
					if took < 40*time.Second || took > 40*time.Second+time.Minute {
						t.Errorf("the stream ended after %v, want soon after 40s: %s", took, w.Body)
					}
					if name == "subscription" && !strings.Contains(w.Body.String(), `"result"`) {
						t.Errorf("the subscription ended without a result: %s", w.Body)
					}
				})
			})
		}
	}
}

// TestLongCall lets a call go on that was begun in time.
func TestLongCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		h := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
			select {
			case <-rq.Context().Done():
			case <-time.After(time.Hour):
				_, _ = w.Write([]byte(secretBody))
			}
		}))
		token := is.token(map[string]any{"exp": time.Now().Unix() + 40})
		if w := serve(h, http.MethodPost, "/mcp", bearer(token)); w.Body.String() != secretBody {
			t.Errorf("a call of an hour: got %q, want %q", w.Body, secretBody)
		}
		if w := serve(h, http.MethodPost, "/mcp", bearer(token)); w.Code != 401 {
			t.Errorf("after it: status %d, want 401", w.Code)
		}
	})
}

// TestMessagesOfStream sends messages to a stream of HTTP+SSE.
func TestMessagesOfStream(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scoped(), nil)
	web := httptest.NewServer(e.sse)
	defer web.Close()
	token := func(subject, scope string) string { return e.is.token(map[string]any{"sub": subject, "scope": scope}) }
	rq, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/sse", nil)
	rq.Header.Set("Accept", "text/event-stream")
	rq.Header.Set("Authorization", "Bearer "+token("alice", "mcp"))
	stream, err := web.Client().Do(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	first := make([]byte, 1024)
	n, err := stream.Body.Read(first)
	found := regexp.MustCompile(`data: (\S+)`).FindSubmatch(first[:n])
	if err != nil || found == nil {
		t.Fatalf("no endpoint event (%v) in %s", err, first[:n])
	}
	const write = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{}}}`
	for name, test := range map[string]struct {
		token, body string
		want        int
	}{
		"its owner":                   {token("alice", "mcp"), `{"jsonrpc":"2.0","method":"notifications/x"}`, 202},
		"somebody else":               {token("bob", "mcp write"), write, 404},
		"nobody":                      {"", write, 401},
		"lacks scopes":                {token("alice", "mcp"), write, 403},
		"lacks scopes, in a batch":    {token("alice", "mcp"), "[" + write + "]", 403},
		"lacks scopes, notification":  {token("alice", "mcp"), strings.Replace(write, `"id":9,`, "", 1), 403},
		"has more than the stream":    {token("alice", "mcp write"), `{"jsonrpc":"2.0","method":"notifications/x"}`, 202},
		"has less than the stream":    {token("alice", ""), `{"jsonrpc":"2.0","method":"notifications/x"}`, 403},
		"token of the past":           {e.is.token(map[string]any{"exp": 1}), write, 401},
		"token in the query as well":  {token("alice", "mcp"), "", 400},
		"a response needs no scopes":  {token("alice", "mcp"), `{"jsonrpc":"2.0","id":1,"result":{}}`, 202},
		"what is no message is taken": {token("alice", "mcp"), `{`, 202},
	} {
		target := web.URL + string(found[1])
		if test.want == 400 {
			target += "&access_token=x"
		}
		rq, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(test.body))
		rq.Header.Set("Content-Type", "application/json")
		if test.token != "" {
			rq.Header.Set("Authorization", "Bearer "+test.token)
		}
		w, err := web.Client().Do(rq)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		if w.StatusCode != test.want {
			t.Errorf("%s: status %d, want %d", name, w.StatusCode, test.want)
		}
		challenged := w.Header.Get("WWW-Authenticate") != ""
		if want := test.want/100 == 4 && test.want != http.StatusNotFound; challenged != want {
			t.Errorf("%s: challenge %q with status %d", name, w.Header.Get("WWW-Authenticate"), w.StatusCode)
		}
	}
}
