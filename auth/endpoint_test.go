package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

const (
	legacyVersion = "2025-06-18"
	batchVersion  = "2025-03-26"
	modernVersion = "2026-07-28"
)

// newServer returns a server that knows who calls.
func newServer(t testing.TB, opts *server.Options) *server.Server {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "plans", Version: "1"}, opts)
	t.Cleanup(func() { _ = srv.Close() })
	add := func(name string, f func(context.Context, *server.Call) (string, error)) {
		server.AddTool(srv, mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) { return f(ctx, c) })
	}
	add("whoami", func(ctx context.Context, c *server.Call) (string, error) {
		id := auth.Of(ctx)
		if id == nil {
			return "nobody, " + c.Principal, nil
		}
		return id.Subject + " with " + strings.Join(id.Scopes, " ") + ", " + c.Principal, nil
	})
	add("write", func(context.Context, *server.Call) (string, error) { return secretBody, nil })
	add("ask", func(ctx context.Context, c *server.Call) (string, error) {
		trip, err := server.Once(ctx, c, "trip", func(context.Context) (string, error) { return "a trip of " + c.Principal, nil })
		if err != nil {
			return "", err
		}
		answer, err := server.Elicit[struct {
			City string `json:"city"`
		}](ctx, c, "where", "Where to?")
		return trip + " to " + answer.Value.City, err
	})
	srv.AddPrompt(mcp.Prompt{Name: "draft"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	return srv
}

// An endpoint is a server behind a resource.
type endpoint struct {
	t   testing.TB
	is  *issuer
	res *auth.Resource
	srv *server.Server
	h   http.Handler
	sse http.Handler
}

func newEndpoint(t testing.TB, opts *auth.Options, with func(*auth.Resource) *server.Options) *endpoint {
	t.Helper()
	e := &endpoint{t: t, is: newIssuer(t, login)}
	e.res = newResource(t, opts, e.is.verifier(nil))
	var o *server.Options
	if with != nil {
		o = with(e.res)
	}
	e.srv = newServer(t, o)
	h, sse := httpserver.New(e.srv, nil), legacysse.New(e.srv, nil)
	t.Cleanup(func() {
		_ = h.Close()
		_ = sse.Close()
	})
	e.h, e.sse = e.res.Handler(h), e.res.Handler(sse)
	return e
}

// post sends a message with a token; none when it is empty.
func (e *endpoint) post(token, body string, headers ...string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(e.t.Context(), 30*time.Second) // some requests last until somebody ends them
	defer cancel()
	rq := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	rq.Header.Set("Content-Type", "application/json")
	rq.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		rq.Header.Set("Authorization", "Bearer "+token)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		rq.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	e.h.ServeHTTP(w, rq)
	return w
}

// modern sends a request of the stateless revision.
func (e *endpoint) modern(token, method, params string) *httptest.ResponseRecorder {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernVersion + `","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	if params != "" {
		meta += ","
	}
	headers := []string{"Mcp-Protocol-Version: " + modernVersion, "Mcp-Method: " + method}
	if name := regexp.MustCompile(`"(?:name|uri)":"([^"]*)"`).FindStringSubmatch(params); name != nil {
		headers = append(headers, "Mcp-Name: "+name[1])
	}
	return e.post(token, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+meta+params+`}}`, headers...)
}

// session opens a session and returns its id.
func (e *endpoint) session(token, version string) string {
	e.t.Helper()
	w := e.post(token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+
		`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if w.Code != 200 {
		e.t.Fatalf("initialize: status %d: %s", w.Code, w.Body)
	}
	id := w.Header().Get("Mcp-Session-Id")
	if w := e.post(token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id: "+id); w.Code != 202 {
		e.t.Fatalf("initialized: status %d: %s", w.Code, w.Body)
	}
	return id
}

const callWhoami = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`

// TestIdentity asks in every revision over both carriers who calls.
func TestIdentity(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-AUTHENTICATE", "SSE-AUTHENTICATE")
	e := newEndpoint(t, &auth.Options{Scopes: []string{"mcp"}, Tools: map[string][]string{"write": {"write"}}}, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", e.h)
	mux.Handle("/sse", e.sse)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	for _, revision := range client.Revisions() {
		for _, path := range []string{"/mcp", "/sse"} {
			if path == "/sse" && revision == modernVersion {
				continue
			}
			t.Run(revision+path, func(t *testing.T) {
				transport := &http.Transport{}
				defer transport.CloseIdleConnections()
				via := httpclient.New(web.URL+path, &httpclient.Options{
					Client: &http.Client{Transport: transport},
					Header: http.Header{"Authorization": {"Bearer " + e.is.token(nil)}},
				})
				sess, err := client.New(mcptest.ClientInfo, &client.Options{Revision: revision}).Connect(t.Context(), via)
				if err != nil {
					t.Fatal(err)
				}
				defer sess.Close()
				result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := result.Content[0].Text, "alice with mcp read, "+login+" alice"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				// The client sees why; what it makes of the challenge is its business.
				if result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "write"}, nil); err == nil {
					t.Errorf("write: got %+v, want an error", result)
				}
			})
		}
	}
}

func TestStolenSession(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SESSION-NOT-AUTH", "SEC-SESSION-VERIFY-ALL", "SEC-SESSION-BIND-USER")
	e := newEndpoint(t, nil, nil)
	other := newIssuer(t, "https://login.example.org")
	both := newResource(t, nil, e.is.verifier(nil), other.verifier(nil))
	h := httpserver.New(e.srv, nil)
	defer h.Close()
	e.h = both.Handler(h)

	alice, bob := e.is.token(nil), e.is.token(map[string]any{"sub": "bob"})
	id := e.session(alice, legacyVersion)
	session := "Mcp-Session-Id: " + id
	for name, test := range map[string]struct {
		token string
		want  int
	}{
		"its owner":                  {alice, 200},
		"its owner, another token":   {e.is.token(map[string]any{"client_id": "other", "scope": ""}), 200},
		"nobody":                     {"", 401},
		"an expired token":           {e.is.token(map[string]any{"exp": 1}), 401},
		"somebody else":              {bob, 404},
		"same name, another issuer":  {other.token(nil), 404},
		"a client of that name":      {e.is.token(map[string]any{"sub": nil, "client_id": "alice"}), 404},
		"a name that looks alike":    {e.is.token(map[string]any{"sub": "alice "}), 404},
		"the principal as a subject": {other.token(map[string]any{"sub": login + " alice"}), 404},
	} {
		w := e.post(test.token, callWhoami, session)
		if w.Code != test.want {
			t.Errorf("%s: status %d, want %d: %s", name, w.Code, test.want, w.Body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for token, want := range map[string]int{"": 401, bob: 404} {
			headers := []string{session, "Accept: text/event-stream"}
			if token != "" {
				headers = append(headers, bearer(token))
			}
			if w := serve(e.h, method, "/mcp", headers...); w.Code != want {
				t.Errorf("%s: status %d, want %d: %s", method, w.Code, want, w.Body)
			}
		}
	}
	// An answer that somebody else makes up reaches nobody.
	if w := e.post(bob, `{"jsonrpc":"2.0","id":1,"result":{}}`, session); w.Code != 404 {
		t.Errorf("response of another: status %d, want 404", w.Code)
	}
	if w := e.post(alice, callWhoami, session); w.Code != 200 {
		t.Errorf("after all that the owner gets status %d: %s", w.Code, w.Body)
	}
}

// TestSessionIDs guesses none.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SESSION-RANDOM")
	e := newEndpoint(t, nil, nil)
	token := e.is.token(nil)
	seen := map[string]bool{}
	var every [256]bool
	for range 300 {
		id := e.session(token, legacyVersion)
		if seen[id] || len(id) < 26 { // 128 bits in letters and digits
			t.Fatalf("session id %q: %d characters, seen before: %t", id, len(id), seen[id])
		}
		seen[id] = true
		every[id[0]], every[id[len(id)-1]] = true, true
	}
	count := 0
	for _, used := range every {
		if used {
			count++
		}
	}
	if count < 24 {
		t.Errorf("the first and last characters of 300 session ids take %d values", count)
	}
}

func TestStolenRequestState(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-HANDLE-BIND-USER", "SEC-HANDLE-NOT-AUTH", "SEC-HANDLE-VERIFY-ALL")
	e := newEndpoint(t, nil, nil)
	alice, bob := e.is.token(nil), e.is.token(map[string]any{"sub": "bob"})
	const ask = `"name":"ask","arguments":{}`
	w := e.modern(alice, "tools/call", ask)
	var asked struct {
		Result struct {
			RequestState string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &asked); err != nil || asked.Result.RequestState == "" {
		t.Fatalf("no requestState (%v) in %s", err, w.Body)
	}
	again := fmt.Sprintf(`%s,"requestState":%q,"inputResponses":{"where":{"action":"accept","content":{"city":"Rome"}}}`, ask, asked.Result.RequestState)
	if w := e.modern(bob, "tools/call", again); w.Code != 200 || strings.Contains(w.Body.String(), "trip") || !strings.Contains(w.Body.String(), "-32602") {
		t.Errorf("the state of another: status %d: %s", w.Code, w.Body)
	}
	if w := e.modern("", "tools/call", again); w.Code != 401 {
		t.Errorf("nobody: status %d, want 401", w.Code)
	}
	if w := e.modern(alice, "tools/call", again); w.Code != 200 || !strings.Contains(w.Body.String(), "a trip of "+login+" alice to Rome") {
		t.Errorf("its owner: status %d: %s", w.Code, w.Body)
	}
}
