package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// An oldServer is a server of the oldest revision, by hand.
type oldServer struct {
	endpoint string      // the first event, if there is no other head
	head     string      // what the stream begins with
	posts    chan string // what was POSTed, with its URL
	events   chan string // what goes on the stream; closing it ends that
	status   int         // of POSTs; 0 is 202
	gate     chan struct{}
}

func (o *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		if o.gate != nil {
			select {
			case <-o.gate:
			case <-r.Context().Done():
			}
		}
		o.posts <- r.URL.RequestURI() + " " + string(body)
		if o.status == 0 {
			o.status = http.StatusAccepted
		}
		w.WriteHeader(o.status)
		return
	}
	w.Header().Set("Content-Type", sseType)
	if o.head == "" {
		o.head = "event: endpoint\ndata: " + o.endpoint + "\n\n"
	}
	_, _ = io.WriteString(w, o.head)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case event, ok := <-o.events:
			if !ok {
				return
			}
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func newOldServer(endpoint string) *oldServer {
	return &oldServer{endpoint: endpoint, posts: make(chan string, 9), events: make(chan string, 9)}
}

// dialSSE connects to it; both end with the test.
func dialSSE(t *testing.T, o *oldServer, opts *httpclient.Options) (transport.RoundTripper, *inbox, error) {
	t.Helper()
	srv := httptest.NewServer(o)
	t.Cleanup(srv.Close)
	o.endpoint = strings.ReplaceAll(o.endpoint, "ORIGIN", srv.URL)
	box := &inbox{}
	rt, err := httpclient.NewSSE(srv.URL+"/a/sse?key=1", opts).Open(t.Context(), box)
	if err == nil {
		t.Cleanup(func() {
			if err := rt.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	return rt, box, err
}

func TestSSEEndpoint(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-CLIENT-POST", "SSE-COMPAT-ENDPOINT-FIRST")
	tests := []struct {
		endpoint, want string // where messages go, or a part of the error
	}{
		{"/messages?sessionId=1", "/messages?sessionId=1"},
		{"messages?sessionId=1", "/a/messages?sessionId=1"},
		{"?sessionId=1", "/a/sse?sessionId=1"},
		{"../x/", "/x/"},
		{"ORIGIN/b", "/b"},
		{"/b#fragment", "/b"},
		{" /b ", "/b"},
		{"http://localhost:1/b", "of another origin"},
		{"//evil.example/b", "of another origin"},
		{"https://127.0.0.1/b", "of another origin"},
		{"file:///etc/passwd", "of another origin"},
		{"mailto:a", "of another origin"},
		{"http://[", "is no URL"},
	}
	for _, tt := range tests {
		t.Run(tt.endpoint, func(t *testing.T) {
			t.Parallel()
			o := newOldServer(tt.endpoint)
			rt, _, err := dialSSE(t, o, nil)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || strings.HasPrefix(tt.want, "/") {
					t.Errorf("Open: %v, want %s", err, tt.want)
				}
				return
			}
			if err := rt.Send(t.Context(), &transport.Outgoing{Method: "x"}); err != nil {
				t.Fatal(err)
			}
			if got, want := <-o.posts, tt.want+` {"jsonrpc":"2.0","method":"x"}`; got != want {
				t.Errorf("POST: %s, want %s", got, want)
			}
		})
	}
}

// FuzzSSEEndpoint checks that whatever the server says, messages go to its
// origin only.
func FuzzSSEEndpoint(f *testing.F) {
	for _, seed := range []string{"/messages?sessionId=1", "//evil.example/", "http:evil", "http://example.com:80/x", "http://a@example.com/", "\\\\evil", "http:///evil", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, endpoint string) {
		if strings.ContainsAny(endpoint, "\r\n") {
			return
		}
		web := roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Scheme != "http" || r.URL.Hostname() != "example.com" || (r.URL.Port() != "" && r.URL.Port() != "80") || r.URL.User != nil {
				t.Errorf("endpoint %q: a request to %s", endpoint, r.URL)
			}
			res := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: r, ProtoMajor: 2}
			if r.Method == http.MethodGet {
				res.StatusCode = http.StatusOK
				res.Header.Set("Content-Type", sseType)
				res.Body = io.NopCloser(strings.NewReader("event: endpoint\ndata: " + endpoint + "\n\n"))
			}
			return res, nil
		})
		rt, err := httpclient.NewSSE("http://example.com/sse", &httpclient.Options{Client: &http.Client{Transport: web}}).Open(t.Context(), nil)
		if err == nil {
			_ = rt.Send(t.Context(), &transport.Outgoing{Method: "x"})
			_ = rt.Close()
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSSEMessages(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-CLIENT-POST")
	var authorized []string
	o := newOldServer("/m")
	rt, box, err := dialSSE(t, o, &httpclient.Options{Authorize: func(_ context.Context, r *http.Request) error {
		authorized = append(authorized, r.Method+" "+r.URL.Path)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{
		":\n\n", "event: ping\ndata: " + result(1) + "\n\n", "data: " + note + "\n\n",
		"event: message\nid: 7\ndata: [" + ask + "," + result(3) + "]\n\n", "event: message\r\ndata: " + result(1) + "\r\n\r\n",
	} {
		o.events <- event
	}
	if got := roundTripSSE(t.Context(), rt, 1); got != `{"n":1}` {
		t.Errorf("RoundTrip: %s", got)
	}
	if diff := cmp.Diff([]string{"notifications/progress@", "roots/list@"}, box.messages()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if !contains(box.strays(), "unknown request") {
		t.Errorf("strays = %q", box.strays())
	}
	if err := rt.Send(t.Context(), &transport.Outgoing{ID: jsonrpc.StringID("s1"), Result: struct{}{}}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{`/m {"jsonrpc":"2.0","id":1,"method":"ping"}`, `/m {"jsonrpc":"2.0","id":"s1","result":{}}`}, []string{<-o.posts, <-o.posts}); diff != "" {
		t.Errorf("POSTs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET /a/sse", "POST /m", "POST /m"}, authorized); diff != "" {
		t.Errorf("authorized (-want +got):\n%s", diff)
	}
}

func roundTripSSE(ctx context.Context, rt transport.RoundTripper, id int64) string {
	res, err := rt.RoundTrip(ctx, request(id, "ping"))
	if err != nil {
		return "failed: " + err.Error()
	}
	return string(res.Result)
}

func TestSSEOpenFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		handler    http.HandlerFunc
	}{
		{"404", "server answered 404 Not Found: gone", answer(404, "text/plain", "gone")},
		{"401", "server answered 401", answer(401, "", "")},
		{"JSON", `server answered 200 OK with a body of type "application/json"`, answer(200, jsonType, "{}")},
		{"nothing", "read the first event: EOF", answer(200, sseType, "")},
		{"other event", `begins with the event "" and not with "endpoint"`, answer(200, sseType, "data: "+note+"\n\n")},
		{"large", "too large", answer(200, sseType, "event: endpoint\ndata: /"+strings.Repeat("x", 2000)+"\n\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(tt.handler)
			defer srv.Close()
			_, err := httpclient.NewSSE(srv.URL, &httpclient.Options{MaxMessage: 1000}).Open(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Open: %v, want %s", err, tt.want)
			}
		})
	}
	for _, url := range []string{"", "ftp://a", "/sse"} {
		if _, err := httpclient.NewSSE(url, nil).Open(t.Context(), nil); err == nil {
			t.Errorf("Open(%q): no error", url)
		}
	}
}

// A server that opens a stream and says nothing is given up.
func TestSSEWithoutEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web := roundTripper(func(r *http.Request) (*http.Response, error) {
			body, w := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {sseType}}, Body: body, Request: r, ProtoMajor: 2}, nil
		})
		via := httpclient.NewSSE("http://example.com/sse", &httpclient.Options{Client: &http.Client{Transport: web}})
		began := time.Now()
		_, err := via.Open(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "has not said within 10s where messages go") || time.Since(began) != 10*time.Second {
			t.Errorf("Open: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if _, err := via.Open(ctx, nil); err == nil || err.Error() != "enough" {
			t.Errorf("Open: %v, want the cause of the context", err)
		}
	})
}

func TestSSEPostFails(t *testing.T) {
	t.Parallel()
	for status, lost := range map[int]bool{400: false, 404: true, 500: false} {
		o := newOldServer("/m")
		o.status = status
		rt, _, err := dialSSE(t, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.RoundTrip(t.Context(), request(1, "ping"))
		e, ok := errors.AsType[*httpclient.StatusError](err)
		if !ok || e.Status != status || errors.Is(err, transport.ErrSessionLost) != lost {
			t.Errorf("POST answered with %d: %v, want the status, session lost: %v", status, err, lost)
		}
	}
}

// A POST that hangs ends with its caller's context.
func TestSSEPostHangs(t *testing.T) {
	t.Parallel()
	o := newOldServer("/m")
	o.gate = make(chan struct{})
	rt, _, err := dialSSE(t, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("enough"))
	defer cancel()
	if got := roundTripSSE(ctx, rt, 1); !strings.Contains(got, "enough") {
		t.Errorf("RoundTrip: %s, want the cause of the context", got)
	}
}

// What is in flight when the stream ends fails as a lost session.
func TestSSEStreamLost(t *testing.T) {
	t.Parallel()
	o := newOldServer("/m")
	rt, _, err := dialSSE(t, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := rt.RoundTrip(t.Context(), request(1, "ping"))
		failed <- err
	}()
	<-o.posts
	close(o.events)
	if err := <-failed; !errors.Is(err, transport.ErrSessionLost) || !strings.Contains(err.Error(), "the event stream ended: EOF") {
		t.Errorf("RoundTrip: %v, want a lost session", err)
	}
	<-rt.Done()
	if err := rt.Err(); !errors.Is(err, transport.ErrSessionLost) {
		t.Errorf("Err: %v, want a lost session", err)
	}
	if err := rt.Send(t.Context(), &transport.Outgoing{Method: "x"}); !errors.Is(err, transport.ErrSessionLost) {
		t.Errorf("Send: %v, want a lost session", err)
	}
}

// TestSSELadder connects with nothing but a URL, and again after the server has
// lost the stream.
func TestSSELadder(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-COMPAT-CLIENT-PROBE-LEGACY", "SSE-COMPAT-CLIENT-PROBE-MODERN", "SSE-COMPAT-ENDPOINT-FIRST",
		"SSE-COMPAT-FALLBACK-400-404-405", "SSE-COMPAT-FALLBACK-BODY")
	srv := server.New(mcp.Implementation{Name: "old", Version: "1"}, nil)
	defer srv.Close()
	var requests []string
	h := legacysse.New(srv, nil)
	handler := func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, session, _ := strings.Cut(r.URL.RawQuery, "=")
		requests = append(requests, fmt.Sprint(r.Method, " ", session != ""))
		if r.Method == http.MethodPost && session == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		handler(w, r)
	}))
	defer web.Close()
	sess := mcptest.Connect(t, httpclient.New(web.URL+"/sse", nil), nil)
	if err := sess.Ping(t.Context()); err != nil || sess.Revision() != legacy {
		t.Errorf("ping in %s: %v", sess.Revision(), err)
	}
	want := []string{"POST false", "POST false", "GET false", "POST true", "POST true", "POST true"}
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("requests, and whether they name a session (-want +got):\n%s", diff)
	}
	_ = h.Close()
	h = legacysse.New(srv, nil)
	defer h.Close()
	if err := sess.Ping(t.Context()); err != nil {
		t.Errorf("ping after the stream was lost: %v", err)
	}
	// A server that is known to have nothing else is not asked.
	requests = nil
	direct := mcptest.Connect(t, httpclient.NewSSE(web.URL+"/sse", nil), nil)
	if direct.Revision() != legacy || requests[0] != "GET false" {
		t.Errorf("speaks %s after %v", direct.Revision(), requests)
	}
	_ = sess.Close()
	_ = direct.Close()
}

// TestNoSSE has a server that speaks nothing: all that was tried is told, and
// the refusal counts more than that there is no stream.
func TestNoSSE(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer(400, jsonType, rpcError("", -32000))(w, r)
	}))
	defer web.Close()
	_, err := client.New(mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), httpclient.New(web.URL, nil))
	e, ok := errors.AsType[*client.ConnectError](err)
	if !ok || len(e.Tried) != 3 || e.Tried[2].Step != "HTTP+SSE" || !client.IsRemote(err) {
		t.Fatalf("Connect: %v, want three attempts", err)
	}
	if status, ok := errors.AsType[*httpclient.StatusError](err); !ok || status.Status != 405 {
		t.Errorf("Connect: %v, want the status of the GET too", err)
	}
	if got, want := err.Error(), "connect: server/discover: no (-32000); then initialize: no (-32000); then HTTP+SSE: server answered 405 Method Not Allowed"; got != want {
		t.Errorf("Connect: %s, want %s", got, want)
	}
}
