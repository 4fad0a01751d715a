package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestDisconnectCancelsStatelessRequest(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-DISCONNECT-IS-CANCEL", "HTTP-CANCEL-STOP", "HTTP-CANCEL-SILENT")
	e := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(request(ctx, t, "POST", e.url, statelessHeader("wait"), statelessCall("1", "wait", "{}")))
		done <- err
	}()
	<-e.started
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	if err := <-e.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
}

func TestDisconnectDoesNotCancelInSession(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-DISCONNECT-NOT-CANCEL")
	e := start(t, nil)
	sess := e.session(r4)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(request(ctx, t, "POST", e.url, sess, call("1", "wait", "{}")))
		done <- err
	}()
	<-e.started
	cancel()
	<-done
	if a := e.post(sess, call("1", "echo", `{"text":"x"}`)); a.code() != -32600 {
		t.Errorf("the id of the request is not in use any more: %s", a.body)
	}
	select {
	case err := <-e.ended:
		t.Errorf("the request ended with %v", err)
	default:
	}
	e.post(sess, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	var cancelled *server.CancelledError
	if err := <-e.ended; !errors.As(err, &cancelled) || cancelled.Reason != "enough" {
		t.Errorf("the request ended with %v", err)
	}
}

func TestCancelledRequestGetsNoResponse(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-RECEIVER-STOP")
	e := start(t, nil)
	sess := e.session(r4)
	done := make(chan answer)
	go func() { done <- e.post(sess, call("1", "wait", "{}")) }()
	<-e.started
	e.post(sess, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if a := <-done; a.status != 202 || a.body != "" {
		t.Errorf("a cancelled request was answered: %d %s", a.status, a.body)
	}
}

// A lone call of the handler, without a network: for bubbles.
func serve(ctx context.Context, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(ctx))
	return w
}

func TestKeepalive(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-KEEPALIVE")
	const comments = ":\n\n:\n\n:\n\n"
	tests := []struct {
		name, accept string
		want         string
	}{
		{"events", "application/json, text/event-stream", comments + "data: {"},
		{"json", "application/json", `{"jsonrpc"`},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			srv, g := newServer()
			h := httpserver.New(srv, &httpserver.Options{Keepalive: 10 * time.Second})
			defer h.Close()
			for range 2 { // the second time with what the first one left
				go func() { time.Sleep(35 * time.Second); <-g.started; g.proceed <- struct{}{} }()
				w := serve(t.Context(), h, request(t.Context(), t, "POST", "/", statelessHeader("wait")+"Accept: "+tt.accept, statelessCall("1", "wait", "{}")))
				if got := w.Body.String(); !strings.HasPrefix(got, tt.want) || w.Code != 200 {
					t.Errorf("%s: got %d %q, want %q first", tt.name, w.Code, got, tt.want)
				}
			}
		})
	}
}

func TestCancelledStreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, nil)
		defer h.Close()
		id := initialize(t, h)
		done := make(chan *httptest.ResponseRecorder)
		go func() {
			done <- serve(t.Context(), h, request(t.Context(), t, "POST", "/", id, call("1", "wait", "{}")))
		}()
		<-g.started
		time.Sleep(20 * time.Second)
		serve(t.Context(), h, request(t.Context(), t, "POST", "/", id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		if got := (<-done).Body.String(); !strings.HasSuffix(got, "data: \n\n:\n\n") {
			t.Errorf("the stream has %q", got)
		}
	})
}

// initialize opens a session without a network.
func initialize(t testing.TB, h http.Handler) string {
	t.Helper()
	w := serve(t.Context(), h, request(t.Context(), t, "POST", "/", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+r4+`"}}`))
	id := w.Header().Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("initialize: %d %s", w.Code, w.Body)
	}
	return "Mcp-Session-Id: " + id + "\n"
}

// A stuck writer is that of a client that does not read.
type stuck struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *stuck) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *stuck) Write([]byte) (int, error) {
	if s.deadline.IsZero() {
		select {} // for ever: nobody has set a deadline
	}
	<-time.After(time.Until(s.deadline))
	return 0, context.DeadlineExceeded
}

func TestWriteTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, &httpserver.Options{WriteTimeout: 7 * time.Second, Keepalive: time.Second})
		defer h.Close()
		begun := time.Now()
		h.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder()}, request(t.Context(), t, "POST", "/", statelessHeader("wait"), statelessCall("1", "wait", "{}")))
		if err := <-g.ended; !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 8*time.Second {
			t.Errorf("the request ended with %v after %v", err, time.Since(begun))
		}
		w := &stuck{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, request(t.Context(), t, "POST", "/", statelessHeader("big"), statelessCall("1", "big", "{}")))
		if !w.deadline.IsZero() {
			t.Errorf("the deadline %v was left to the next request", w.deadline)
		}
		id := initialize(t, h)
		begun = time.Now()
		h.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder()}, request(t.Context(), t, "GET", "/", id, ""))
		if time.Since(begun) != 7*time.Second { // the first event of the stream
			t.Errorf("the stream ended after %v", time.Since(begun))
		}
		// In a session the request goes on.
		go func() { time.Sleep(20 * time.Second); <-g.started; g.proceed <- struct{}{} }()
		h.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder()}, request(t.Context(), t, "POST", "/", id, call("1", "wait", "{}")))
		h.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder()}, request(t.Context(), t, "POST", "/", id, call("1", "progress", "{}")))
	})
}

// The time-outs of an http.Server are for whole requests and must not end streams.
func TestServerTimeoutsDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, nil)
		l := newPipes()
		web := &http.Server{Handler: h, WriteTimeout: time.Second, ReadTimeout: time.Second, IdleTimeout: time.Second}
		go func() { _ = web.Serve(l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial}}
		go func() { time.Sleep(40 * time.Second); <-g.started; g.proceed <- struct{}{} }()
		res, err := client.Do(request(t.Context(), t, "POST", "http://pipe/", statelessHeader("wait"), statelessCall("1", "wait", "{}")))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(raw), `"done"`) {
			t.Errorf("got %q, %v", raw, err)
		}
		res, err = client.Do(request(t.Context(), t, "POST", "http://pipe/", statelessHeader("echo"), statelessCall("1", "echo", `{"text":"x"}`)))
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		_ = web.Close()
		client.CloseIdleConnections()
	})
}

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func TestListen(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-RELATED-MUST")
	e := start(t, nil)
	body := statelessRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true},`)
	first := e.open("POST", v+"Mcp-Method: subscriptions/listen", body)
	second := e.open("POST", v+"Mcp-Method: subscriptions/listen", body) // the same id, of another client
	for _, s := range []*stream{first, second} {
		s.want("subscriptions/acknowledged")
	}
	e.srv.RemoveTools("big")
	for _, s := range []*stream{first, second} {
		s.want("tools/list_changed")
	}
	first.cancel()
	e.srv.RemoveTools("echo")
	second.want("tools/list_changed")
	if err := e.h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	second.want(`"id":1,"result"`)
	second.want("")
}

func TestBothErasInterleaved(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-STATELESS-INTERLEAVE", "VER-DUAL-CONCURRENT")
	e := start(t, nil)
	sessions := []string{e.session(r2), e.session(r3), e.session(r4)}
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			text := fmt.Sprintf(`{"text":"<%d>"}`, i)
			var a answer
			if i%2 == 0 {
				a = e.post(statelessHeader("echo"), statelessCall(fmt.Sprint(i), "echo", text))
			} else {
				a = e.post(sessions[i%3], call(fmt.Sprint(i), "echo", text))
			}
			if !strings.Contains(a.body, fmt.Sprintf(`"text":"<%d>"`, i)) || !strings.Contains(a.body, fmt.Sprintf(`"id":%d,`, i)) {
				t.Errorf("call %d: %s", i, a.body)
			}
			if a = e.post(sessions[i%3], call(fmt.Sprint(1000+i), "progress", `{}`)); strings.Count(a.body, "data: {") != 3 {
				t.Errorf("progress %d: %s", i, a.body)
			}
		})
	}
	wg.Wait()
}

func TestPanicThrough(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{PanicThrough: true})
	srv.AddRawTool(mcp.Tool{Name: "panic"}, func(context.Context, *server.Call) (any, error) { panic(http.ErrAbortHandler) })
	h := httpserver.New(srv, nil)
	web := httptest.NewServer(h)
	defer web.Close()
	if _, err := http.DefaultClient.Do(request(t.Context(), t, "POST", web.URL, statelessHeader("panic"), statelessCall("1", "panic", "{}"))); err == nil {
		t.Error("the connection was not closed")
	}
	if err := h.Close(); err != nil {
		t.Errorf("the request is not over: %v", err)
	}
}
