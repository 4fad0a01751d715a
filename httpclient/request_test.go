package httpclient_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// seen is what a server saw of a request.
type seen struct {
	Method, Body string
	Header       map[string]string
}

// record returns a handler that notes each request before h answers it.
func record(into chan<- seen, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s := seen{Method: r.Method, Body: string(body), Header: map[string]string{}}
		for name, values := range r.Header {
			switch name {
			case "Accept-Encoding", "Content-Length":
			default:
				s.Header[name] = strings.Join(values, "|")
			}
		}
		into <- s
		h(w, r)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-POST-ACCEPT", "HTTP-MCP-METHOD", "HTTP-MCP-NAME-ENCODE", "HTTP-ENC-BASE64", "HTTP-POST-PER-MESSAGE",
		"HTTP-VERSION-HEADER-EVERY", "HTTP-BODY-SINGLE-LEGACY", "HTTP-BODY-SINGLE-MODERN", "HTTP-BODY-BATCH",
		"HTTP-STD-HEADERS")
	common := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "User-Agent": "ferry"}
	with := func(more ...string) map[string]string {
		h := map[string]string{}
		maps.Copy(h, common)
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	tests := []struct {
		name   string
		m      transport.Outgoing
		body   string
		header map[string]string
	}{
		{"request", transport.Outgoing{ID: jsonrpc.IntID(1), Method: "ping"}, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, common},
		{
			"modern request",
			transport.Outgoing{ID: jsonrpc.IntID(1), Method: "tools/call", Params: map[string]any{"name": "é"}, Revision: modern, Route: &transport.Route{Name: "é", Params: map[string]string{"Region": "us", "TENANT": " x"}}},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é"}}`,
			with("Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?w6k=?=", "Mcp-Param-Region", "us", "Mcp-Param-Tenant", "=?base64?IHg=?="),
		},
		{
			"modern request without a name",
			transport.Outgoing{ID: jsonrpc.IntID(1), Method: "tools/list", Revision: modern, Route: &transport.Route{}},
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, with("Mcp-Protocol-Version", modern, "Mcp-Method", "tools/list"),
		},
		{"notification", transport.Outgoing{Method: "notifications/x", Revision: legacy}, `{"jsonrpc":"2.0","method":"notifications/x"}`, with("Mcp-Protocol-Version", legacy)},
		{"legacy cancellation", transport.Outgoing{Method: "notifications/cancelled", Revision: legacy}, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, with("Mcp-Protocol-Version", legacy)},
		{"result", transport.Outgoing{ID: jsonrpc.StringID("a"), Result: struct{}{}, Revision: legacy}, `{"jsonrpc":"2.0","id":"a","result":{}}`, with("Mcp-Protocol-Version", legacy)},
		{"error", transport.Outgoing{ID: jsonrpc.IntID(3), Error: jsonrpc.Errorf(-1, "no"), Revision: legacy}, `{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}`, with("Mcp-Protocol-Version", legacy)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requests := make(chan seen, 10)
			respond := answer(202, "", "")
			if tt.m.Method != "" && !tt.m.ID.IsZero() {
				respond = answer(200, jsonType, result(1))
			}
			rt, _ := open(t, record(requests, respond), nil)
			var err error
			if tt.m.Method != "" && !tt.m.ID.IsZero() {
				_, err = rt.RoundTrip(t.Context(), &tt.m)
			} else {
				err = rt.Send(t.Context(), &tt.m)
			}
			if err != nil {
				t.Fatalf("%+v: %v", tt.m, err)
			}
			if diff := cmp.Diff(seen{"POST", tt.body, tt.header}, <-requests); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	requests := make(chan seen, 10)
	opts := &httpclient.Options{
		Header:    http.Header{"X-Team": {"a", "b"}, "Accept": {"x/y"}, "Mcp-Protocol-Version": {"y"}},
		UserAgent: "tester/1",
		Authorize: func(ctx context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer t")
			r.Header.Add("X-Team", "c")
			return ctx.Err()
		},
	}
	rt, _ := open(t, record(requests, answer(200, jsonType, result(1))), opts)
	want := seen{"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "User-Agent": "tester/1",
		"X-Team": "a|b|c", "Authorization": "Bearer t", "Mcp-Protocol-Version": legacy,
	}}
	for range 2 { // what Authorize adds must not pile up
		if _, err := rt.RoundTrip(t.Context(), request(1, "ping")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, <-requests); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
	}
}

func TestAuthorizeFails(t *testing.T) {
	t.Parallel()
	refused := errors.New("no token")
	rt, _ := open(t, answer(500, "", ""), &httpclient.Options{Authorize: func(context.Context, *http.Request) error { return refused }})
	if _, err := rt.RoundTrip(t.Context(), request(1, "ping")); !errors.Is(err, refused) {
		t.Errorf("RoundTrip: %v, want %v", err, refused)
	}
}

func TestUnsendable(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, answer(200, jsonType, result(1)), nil)
	for name, m := range map[string]transport.Outgoing{
		"no method":         {ID: jsonrpc.IntID(1)},
		"no id":             {Method: "ping"},
		"unencodable":       {ID: jsonrpc.IntID(1), Method: "ping", Params: make(chan int)},
		"bad header name":   {ID: jsonrpc.IntID(1), Method: "ping", Route: &transport.Route{Params: map[string]string{"a b": "x"}}},
		"ends of the world": {},
	} {
		if _, err := rt.RoundTrip(t.Context(), &m); err == nil {
			t.Errorf("RoundTrip with %s: no error", name)
		}
	}
	for name, m := range map[string]transport.Outgoing{
		"a request":         {ID: jsonrpc.IntID(1), Method: "ping"},
		"nothing":           {},
		"unencodable":       {Method: "x", Params: make(chan int)},
		"an unusable value": {ID: jsonrpc.IntID(1), Result: make(chan int)},
	} {
		if err := rt.Send(t.Context(), &m); err == nil {
			t.Errorf("Send of %s: no error", name)
		}
	}
}

func TestModernCancellationIsNotSent(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, answer(500, "", ""), nil)
	if err := rt.Send(t.Context(), &transport.Outgoing{Method: "notifications/cancelled", Route: &transport.Route{}}); err != nil {
		t.Errorf("Send: %v, want nothing sent", err)
	}
}

func TestSendAnswers(t *testing.T) {
	t.Parallel()
	for status, ok := range map[int]bool{200: true, 202: true, 204: true, 400: false, 405: false, 500: false} {
		rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }, nil)
		if err := rt.Send(t.Context(), &transport.Outgoing{Method: "notifications/x"}); (err == nil) != ok {
			t.Errorf("Send answered with %d: %v", status, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	rt := dial(t, srv.URL+"/mcp?key=secret", nil, nil)
	_, err := rt.RoundTrip(t.Context(), request(1, "ping"))
	var unreachable *httpclient.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.URL != srv.URL+"/mcp" || strings.Contains(err.Error(), "secret") {
		t.Errorf("RoundTrip: %v, want an UnreachableError for %s/mcp", err, srv.URL)
	}
	if err := rt.(transport.Listener).Listen(t.Context(), legacy, nil); !errors.As(err, &unreachable) {
		t.Errorf("Listen: %v, want an UnreachableError", err)
	}
	if err := rt.Send(t.Context(), &transport.Outgoing{Method: "x"}); !errors.As(err, &unreachable) {
		t.Errorf("Send: %v, want an UnreachableError", err)
	}
}

func TestBadURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "example.com/mcp", "ftp://example.com", "http://", "http://a b", "/mcp"} {
		if _, err := httpclient.New(url, nil).Open(t.Context(), nil); err == nil {
			t.Errorf("Open(%q): no error", url)
		}
	}
}

// TestCredentialsInURL has a URL with a name and a password.
func TestCredentialsInURL(t *testing.T) {
	t.Parallel()
	requests := make(chan seen, 1)
	srv := newCounting(t, record(requests, answer(200, jsonType, result(1))))
	rt := dial(t, strings.Replace(srv.URL, "//", "//ann:secret@", 1), nil, nil)
	if _, err := rt.RoundTrip(t.Context(), request(1, "ping")); err != nil {
		t.Fatal(err)
	}
	if got, want := (<-requests).Header["Authorization"], "Basic YW5uOnNlY3JldA=="; got != want {
		t.Errorf("Authorization %q, want %q", got, want)
	}
}

func TestWrongScheme(t *testing.T) {
	t.Parallel()
	srv := newCounting(t, answer(200, jsonType, result(1)))
	rt := dial(t, strings.Replace(srv.URL, "http:", "https:", 1), nil, nil)
	if _, err := rt.RoundTrip(t.Context(), request(1, "ping")); !errors.Is(err, http.ErrSchemeMismatch) {
		t.Errorf("got %v, want %v", err, http.ErrSchemeMismatch)
	}
}

// A taintingTripper changes the requests that it sends, which it should not.
type taintingTripper struct{ http.RoundTripper }

func (t taintingTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Add("X-Trace", "1")
	return t.RoundTripper.RoundTrip(r)
}

func TestHeadersOfOtherClients(t *testing.T) {
	t.Parallel()
	requests := make(chan seen, 2)
	pool := new(http.Transport)
	defer pool.CloseIdleConnections()
	opts := &httpclient.Options{Client: &http.Client{Transport: taintingTripper{pool}}}
	rt, _ := open(t, record(requests, answer(200, jsonType, result(1))), opts)
	for range 2 {
		if _, err := rt.RoundTrip(t.Context(), request(1, "ping")); err != nil {
			t.Fatal(err)
		}
		if got := (<-requests).Header["X-Trace"]; got != "1" {
			t.Errorf("X-Trace %q, want one of each request's own", got)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(answer(200, jsonType, result(1)))
	t.Cleanup(other.Close)
	tests := []struct {
		path, want string
	}{
		{"/307", `200 {"n":1}`},
		{"/308", `200 {"n":1}`},
		{"/301", "it would not repeat the message"},
		{"/302", "it would not repeat the message"},
		{"/303", "it would not repeat the message"},
		{"/away", "redirect 307 to " + other.URL + "/x not followed: it leads to another origin"},
		{"/loop", "too many redirects"},
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/301", "/302", "/303", "/307", "/308":
			var status int
			for _, c := range r.URL.Path[1:] {
				status = status*10 + int(c-'0')
			}
			http.Redirect(w, r, "/end", status)
		case "/away":
			http.Redirect(w, r, other.URL+"/x?secret=1", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		default:
			body, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(body), "ping") || r.Method != http.MethodPost {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			answer(200, jsonType, result(1))(w, r)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(srv.Close)
	for _, own := range []bool{true, false} {
		opts := &httpclient.Options{}
		if !own {
			opts.Client = srv.Client()
		}
		for _, tt := range tests {
			rt := dial(t, srv.URL+tt.path, opts, nil)
			for range 2 {
				if got := roundTrip(t.Context(), rt, 1); !strings.HasSuffix(got, tt.want) {
					t.Errorf("own client %v, %s: %s, want %s", own, tt.path, got, tt.want)
				}
			}
		}
	}
}

// TestSessionIDIsNotGivenAway has a server that sends its client elsewhere, in
// the middle of a session.
func TestSessionIDIsNotGivenAway(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SESSION-CLIENT-SECURE")
	requests := make(chan seen, 20)
	other := httptest.NewServer(record(requests, answer(200, jsonType, result(2))))
	t.Cleanup(other.Close)
	for _, opts := range []*httpclient.Options{nil, {Client: &http.Client{}}} {
		rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Session-Id") == "" {
				initialize(w, r)
				return
			}
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, opts)
		if _, err := rt.RoundTrip(t.Context(), request(1, "initialize")); err != nil {
			t.Fatal(err)
		}
		_, err := rt.RoundTrip(t.Context(), request(2, "ping"))
		for what, err := range map[string]error{
			"a request":      err,
			"a notification": rt.Send(t.Context(), &transport.Outgoing{Method: "x", Revision: legacy}),
			"the stream":     rt.(transport.Listener).Listen(t.Context(), legacy, nil),
		} {
			if err == nil || strings.Contains(err.Error(), "s-1") {
				t.Errorf("%s: got %v, want an error without the id of the session", what, err)
			}
		}
		_ = rt.Close() // sends DELETE
	}
	if len(requests) != 0 {
		t.Errorf("another server was sent %+v", <-requests)
	}
}
