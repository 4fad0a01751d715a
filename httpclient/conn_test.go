package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// initialize answers an initialize request with a session id.
func initialize(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Mcp-Session-Id", "s-1")
	answer(200, jsonType, result(1))(w, r)
}

func TestSessionLife(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SESSION-ECHO", "HTTP-SESSION-DELETE", "HTTP-SESSION-DELETE-405", "HTTP-VERSION-HEADER-AFTER-INIT",
		"HTTP-VERSION-HEADER-NEGOTIATED", "HTTP-GET-ACCEPT")
	requests := make(chan seen, 20)
	rt, _ := open(t, record(requests, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") == "" {
			initialize(w, r)
			return
		}
		w.Header().Set("Mcp-Session-Id", "ignored")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}), nil)
	listener := rt.(transport.Listener)
	init := &transport.Outgoing{ID: jsonrpc.IntID(1), Method: "initialize"}
	for range 2 { // a second initialize has no session either
		if _, err := rt.RoundTrip(t.Context(), init); err != nil {
			t.Fatal(err)
		}
	}
	_ = rt.Send(t.Context(), &transport.Outgoing{Method: "notifications/initialized", Revision: legacy})
	if err := listener.Listen(t.Context(), legacy, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Listen: %v, want ErrUnsupported", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	close(requests)
	var got []string
	for r := range requests {
		got = append(got, fmt.Sprintf("%s accept=%s session=%s version=%s", r.Method, r.Header["Accept"], r.Header["Mcp-Session-Id"], r.Header["Mcp-Protocol-Version"]))
	}
	want := []string{
		"POST accept=application/json, text/event-stream session= version=",
		"POST accept=application/json, text/event-stream session= version=",
		"POST accept=application/json, text/event-stream session=s-1 version=" + legacy,
		"GET accept=text/event-stream session=s-1 version=" + legacy,
		"DELETE accept= session=s-1 version=" + legacy,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestInvalidSessionID(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "a b")
		answer(200, jsonType, result(1))(w, r)
	}, nil)
	got := show(rt.RoundTrip(t.Context(), request(1, "initialize")))
	if !strings.Contains(got, "invalid session id") {
		t.Errorf("RoundTrip: %s, want an invalid session id", got)
	}
}

func TestAbandon(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	conn, _ := open(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(waiting)
		<-r.Context().Done()
	}, nil)
	rt := conn.(interface {
		transport.RoundTripper
		Abandon(id jsonrpc.ID, reason error) bool
	})
	reason := errors.New("had enough")
	var caller sync.WaitGroup
	caller.Go(func() {
		if _, err := rt.RoundTrip(t.Context(), request(1, "slow")); err != reason {
			t.Errorf("RoundTrip: got %v, want %v", err, reason)
		}
	})
	<-waiting
	if rt.Abandon(jsonrpc.IntID(2), reason) {
		t.Error("abandoned a request that there is not")
	}
	if !rt.Abandon(jsonrpc.IntID(1), reason) {
		t.Error("a request in flight was not abandoned")
	}
	caller.Wait()
}

func TestSessionLost(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SESSION-CLIENT-SECURE")
	var deleted atomic.Bool
	var reply atomic.Value
	reply.Store(rpcError(`,"id":2`, -32601))
	waiting := make(chan struct{})
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "initialize"):
			initialize(w, r)
		case strings.Contains(string(body), "slow"):
			close(waiting)
			<-r.Context().Done()
		case r.Method == http.MethodDelete:
			deleted.Store(true)
		default:
			answer(404, jsonType, reply.Load().(string))(w, r)
		}
	}, nil)
	if _, err := rt.RoundTrip(t.Context(), request(1, "initialize")); err != nil {
		t.Fatal(err)
	}
	if got, want := roundTrip(t.Context(), rt, 2), "404 error no (-32601)"; got != want {
		t.Errorf("unknown method: %s, want %s", got, want)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := rt.RoundTrip(t.Context(), request(9, "slow")); !errors.Is(err, httpclient.ErrSessionLost) {
			t.Errorf("request in flight: %v, want ErrSessionLost", err)
		}
	})
	<-waiting
	reply.Store(rpcError(`,"id":null`, -32001))
	if _, err := rt.RoundTrip(t.Context(), request(3, "ping")); !errors.Is(err, httpclient.ErrSessionLost) {
		t.Errorf("RoundTrip: %v, want ErrSessionLost", err)
	}
	wg.Wait()
	<-rt.Done()
	if err := rt.Err(); !errors.Is(err, httpclient.ErrSessionLost) || strings.Contains(err.Error(), "s-1") {
		t.Errorf("Err: %v, want ErrSessionLost, and not the id of the session", err)
	}
	if err := rt.Send(t.Context(), &transport.Outgoing{Method: "x"}); !errors.Is(err, httpclient.ErrSessionLost) {
		t.Errorf("Send: %v, want ErrSessionLost", err)
	}
	if err := rt.Close(); err != nil || deleted.Load() {
		t.Errorf("Close: %v, DELETE sent %v", err, deleted.Load())
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-GET-LISTEN", "HTTP-GET-CLOSE")
	rt, box := open(t, func(w http.ResponseWriter, r *http.Request) {
		sse(w, note, ask, result(1), "rubbish")
	}, nil)
	var early []string
	opened := func() { early = append(box.messages(), "opened") }
	if err := rt.(transport.Listener).Listen(t.Context(), legacy, opened); err != nil {
		t.Errorf("Listen: %v", err)
	}
	if diff := cmp.Diff([]string{"opened"}, early); diff != "" {
		t.Errorf("when the stream was opened (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"notifications/progress@", "roots/list@"}, box.messages()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if strays := box.strays(); len(strays) != 2 {
		t.Errorf("strays = %q, want the response and the rubbish", strays)
	}
}

func TestListenFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		h      http.HandlerFunc
		want   string
		opened bool
	}{
		{"JSON", answer(200, jsonType, "{}"), "not an MCP answer", false},
		{"400", answer(400, "text/plain", "no session"), "400 Bad Request: no session", false},
		{"too large", answer(200, sseType, "data: "+strings.Repeat("x", 2000)+"\n\n"), "larger than 1000 bytes", true},
		{"broken", answer(200, sseType, "data: x\n"), "unexpected EOF", true},
	}
	for _, tt := range tests {
		rt, _ := open(t, tt.h, &httpclient.Options{MaxMessage: 1000})
		var opened bool
		err := rt.(transport.Listener).Listen(t.Context(), legacy, func() { opened = true })
		if opened != tt.opened {
			t.Errorf("%s: opened %v, want %v", tt.name, opened, tt.opened)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestCancelMidStream(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-CLIENT-SEND", "LIFE-TIMEOUT-CANCEL-MODERN")
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sse(w, note)
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(srv.Close)
	box := &inbox{each: make(chan string, 1)}
	rt := dial(t, srv.URL, nil, box)
	reason := errors.New("had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := rt.RoundTrip(ctx, request(1, "slow")); !errors.Is(err, reason) {
			t.Errorf("RoundTrip: %v, want the cause", err)
		}
	})
	<-box.each
	cancel(reason)
	<-gone // the server saw the stream close
	wg.Wait()
	if _, err := rt.RoundTrip(ctx, request(2, "slow")); !errors.Is(err, reason) {
		t.Errorf("RoundTrip with an ended context: %v, want its cause", err)
	}
	if err := rt.Err(); err != nil {
		t.Errorf("the connection ended: %v", err)
	}
	if _, err := httpclient.New(srv.URL, nil).Open(ctx, nil); !errors.Is(err, reason) {
		t.Errorf("Open with an ended context: %v, want its cause", err)
	}
}

func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-MULTI-STREAMS", "HTTP-GET-CLOSE")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sse(w, note)
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	box := &inbox{each: make(chan string, 2)}
	rt := dial(t, srv.URL, nil, box)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := rt.RoundTrip(t.Context(), request(1, "slow")); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("RoundTrip: %v, want ErrClosed", err)
		}
	})
	wg.Go(func() {
		if err := rt.(transport.Listener).Listen(t.Context(), legacy, nil); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Listen: %v, want ErrClosed", err)
		}
	})
	<-box.each
	<-box.each
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
	<-rt.Done()
	if _, err := rt.RoundTrip(t.Context(), request(2, "ping")); !errors.Is(err, transport.ErrClosed) || !errors.Is(rt.Err(), transport.ErrClosed) {
		t.Errorf("RoundTrip after Close: %v, Err %v, want ErrClosed", err, rt.Err())
	}
}

func TestCloseWithDeadPeer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-release
			return
		}
		initialize(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(release) })
	rt := dial(t, srv.URL, nil, nil)
	if _, err := rt.RoundTrip(t.Context(), request(1, "initialize")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestCloseWithStuckReceiver(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sse(w, note, note) }))
	t.Cleanup(srv.Close)
	box := &inbox{each: make(chan string)}
	rt, err := httpclient.New(srv.URL, nil).Open(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = rt.RoundTrip(t.Context(), request(1, "x")) })
	<-box.each
	if err := rt.Close(); err != nil && !strings.Contains(err.Error(), "do not end") {
		t.Errorf("Close: %v", err)
	}
	go func() {
		for range box.each { // let the receiver go
		}
	}()
	wg.Wait()
	close(box.each)
}

// counting counts the connections that a server accepted and that are open.
type counting struct {
	*httptest.Server
	total, open atomic.Int64
}

func newCounting(t testing.TB, h http.HandlerFunc) *counting {
	c := &counting{Server: httptest.NewUnstartedServer(h)}
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			c.total.Add(1)
			c.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			c.open.Add(-1)
		}
	}
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	handlers := map[string]http.HandlerFunc{
		"JSON":    answer(200, jsonType, result(1)),
		"stream":  func(w http.ResponseWriter, r *http.Request) { sse(w, note, result(1)) },
		"refusal": answer(400, jsonType, rpcError(`,"id":1`, 5)),
		"more":    answer(200, sseType, "data: "+result(1)+"\n\n:more\n\n"),
	}
	for name, h := range handlers {
		srv := newCounting(t, h)
		rt := dial(t, srv.URL, nil, nil)
		for range 20 {
			if got := roundTrip(t.Context(), rt, 1); strings.HasPrefix(got, "failed") {
				t.Fatalf("%s: %s", name, got)
			}
			_ = rt.Send(t.Context(), &transport.Outgoing{Method: "x"})
		}
		// An odd straggler is a matter of the machine, not of the client.
		if n := srv.total.Load(); n > 3 {
			t.Errorf("%s: %d connections for 40 messages", name, n)
		}
	}
}

// A server that goes on after the response delays it by a moment only.
func TestStreamThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	rt, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		sse(w, result(1))
		<-r.Context().Done()
	}, nil)
	if got, want := roundTrip(t.Context(), rt, 1), `200 {"n":1}`; got != want {
		t.Errorf("RoundTrip: %s, want %s", got, want)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	srv := newCounting(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := jsonrpc.Decode(body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, m.ID)
		if len(m.ID.String())%2 == 0 {
			sse(w, note, text)
			return
		}
		answer(200, jsonType, text)(w, r)
	})
	box := &inbox{}
	rt := dial(t, srv.URL, nil, box)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 20 {
				id := int64(g*20 + i)
				if got, want := roundTrip(t.Context(), rt, id), fmt.Sprintf("200 %d", id); got != want {
					t.Errorf("RoundTrip %d: %s", id, got)
				}
			}
		})
	}
	wg.Wait()
	if n := srv.total.Load(); n > 100 {
		t.Errorf("%d connections for 16 callers", n)
	}
}

// Not parallel: it counts goroutines. It runs before the parallel tests go on.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	srv := newCounting(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "initialize"):
			initialize(w, r)
		case r.Method == http.MethodGet, strings.Contains(string(body), "slow"):
			sse(w, note)
			<-r.Context().Done()
		default:
			sse(w, note, result(1))
		}
	})
	for range 3 {
		box := &inbox{each: make(chan string, 100)}
		rt := dial(t, srv.URL, nil, box)
		var wg sync.WaitGroup
		_, _ = rt.RoundTrip(t.Context(), request(1, "initialize"))
		wg.Go(func() { _ = rt.(transport.Listener).Listen(t.Context(), legacy, nil) })
		for range 5 {
			wg.Go(func() { _ = roundTrip(t.Context(), rt, 1) })
			wg.Go(func() { _, _ = rt.RoundTrip(t.Context(), request(2, "slow")) })
		}
		for range 11 {
			<-box.each
		}
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wg.Wait()
	}
	eventually(t, func() string {
		if n := srv.open.Load(); n > 0 {
			return fmt.Sprintf("%d connections are open", n)
		}
		return ""
	})
	srv.Close()
	eventually(t, func() string {
		if n := runtime.NumGoroutine(); n > before {
			stacks := make([]byte, 1<<16)
			return fmt.Sprintf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
		}
		return ""
	})
}

// eventually waits until wrong has nothing to say: connections and goroutines
// of net/http end a little after the call that ends them.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	tick, limit := time.NewTicker(time.Millisecond), time.After(5*time.Second)
	defer tick.Stop()
	for {
		text := wrong()
		if text == "" {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal(text)
		}
	}
}
