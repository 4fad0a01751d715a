package httpserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestSessionID(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SESSION-ASSIGN", "HTTP-SESSION-ASCII", "HTTP-SESSION-SECURE")
	e := start(t, nil)
	seen := map[string]bool{}
	for range 20 {
		_, id, _ := strings.Cut(strings.TrimSpace(e.session(r4)), ": ")
		if !httpwire.ValidSessionID(id) || len(id) < 20 || seen[id] {
			t.Errorf("session id %q", id)
		}
		seen[id] = true
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-ENDPOINT-POST-GET", "HTTP-GET-MESSAGES", "HTTP-GET-NO-RESPONSE", "HTTP-ONE-STREAM-PER-MESSAGE",
		"HTTP-SESSION-404")
	e := start(t, nil)
	sess, other := e.session(r4), e.session(r3)
	e.post(sess, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
	// What comes before the stream is kept.
	e.srv.RemoveTools("big")
	s := e.open("GET", sess, "")
	s.want("tools/list_changed")
	e.srv.ResourceUpdated("test://a")
	s.want(`resources/updated","params":{"uri":"test://a"}`)
	if a := e.post(sess, call("1", "echo", `{"text":"x"}`)); a.code() != 0 {
		t.Error(a)
	}
	// A second stream takes the place of the first.
	s2 := e.open("GET", sess, "")
	s.want("")
	e.srv.ResourceUpdated("test://a")
	s2.want("resources/updated")
	// After a stream has gone, messages wait for the next.
	o := e.open("GET", other, "")
	o.want("tools/list_changed")
	if a := e.do("DELETE", other, ""); a.status != 204 {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	o.want("")
	if a := e.post(other, ping); a.status != 404 {
		t.Errorf("after DELETE: %d %s", a.status, a.body)
	}
}

func TestDeleteCancels(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	sess := e.session(r4)
	done := make(chan answer)
	go func() { done <- e.post(sess, call("1", "wait", "{}")) }()
	<-e.started
	if a := e.do("DELETE", sess, ""); a.status != 204 || a.body != "" {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	if err := <-e.ended; err == nil {
		t.Error("the request was not cancelled")
	}
	if a := <-done; a.status != 202 {
		t.Errorf("the cancelled request: %d %s", a.status, a.body)
	}
}

// get opens a stream without a network; the result comes when it ends.
func get(t testing.TB, h http.Handler, header string) (end context.CancelFunc, done chan string) {
	ctx, cancel := context.WithCancel(t.Context())
	done = make(chan string, 1)
	go func() { done <- serve(ctx, h, request(ctx, t, "GET", "/", header, "")).Body.String() }()
	synctest.Wait()
	return cancel, done
}

func status(t testing.TB, h http.Handler, header, body string) int {
	return serve(t.Context(), h, request(t.Context(), t, "POST", "/", header, body)).Code
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, nil)
		defer h.Close()
		unused, used, listening, running := initialize(t, h), initialize(t, h), initialize(t, h), initialize(t, h)
		end, stream := get(t, h, listening)
		status(t, h, used, ping)
		ran := make(chan int)
		go func() { ran <- status(t, h, running, call("1", "wait", "{}")) }()
		<-g.started

		time.Sleep(59 * time.Second)
		if got := status(t, h, used, ping); got != 200 {
			t.Errorf("used: %d after 59 s", got)
		}
		time.Sleep(2 * time.Second)
		if got := status(t, h, unused, ping); got != 404 {
			t.Errorf("never initialized: %d after 61 s", got)
		}
		time.Sleep(4*time.Minute + 50*time.Second)
		if got := status(t, h, used, ping); got != 200 {
			t.Errorf("used: %d after less than 5 min", got)
		}
		time.Sleep(5*time.Minute + time.Second)
		if got := status(t, h, used, ping); got != 404 {
			t.Errorf("used: %d after 5 min", got)
		}
		for name, id := range map[string]string{"listening": listening, "running": running} {
			if got := status(t, h, id, ping); got != 200 {
				t.Errorf("%s: %d after 10 min", name, got)
			}
		}
		g.proceed <- struct{}{}
		if got := <-ran; got != 200 {
			t.Errorf("the long request: %d", got)
		}
		end()
		if got := <-stream; !strings.HasPrefix(got, "id: ") || strings.Contains(got, "data: {") {
			t.Errorf("the stream has %q", got)
		}
		time.Sleep(5*time.Minute + time.Second)
		for name, id := range map[string]string{"listening": listening, "running": running} {
			if got := status(t, h, id, ping); got != 404 {
				t.Errorf("%s: %d after 5 min of rest", name, got)
			}
		}
		// All sessions are gone, and a new one is watched again.
		unused = initialize(t, h)
		time.Sleep(61 * time.Second)
		if got := status(t, h, unused, ping); got != 404 {
			t.Errorf("never initialized: %d", got)
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, &httpserver.Options{MaxSessions: 3, MaxConcurrent: 2})
		defer h.Close()
		a, b, c := initialize(t, h), initialize(t, h), initialize(t, h)
		status(t, h, a, ping)
		status(t, h, b, ping)
		status(t, h, a, ping)
		// c was never used; then b has been idle longest.
		d := initialize(t, h)
		status(t, h, d, ping)
		e := initialize(t, h)
		for id, want := range map[string]int{a: 200, b: 404, c: 404, d: 200, e: 200} {
			if got := status(t, h, id, ping); got != want {
				t.Errorf("session %q: %d, want %d", id, got, want)
			}
		}
		// Busy ones do not make room, and take only so many requests.
		var wg sync.WaitGroup
		for _, id := range []string{a, d, e} {
			for _, n := range []string{"1", "2"} {
				wg.Go(func() { status(t, h, id, call(n, "wait", "{}")) })
			}
		}
		for range 6 {
			<-g.started
		}
		if got := status(t, h, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+r4+`"}}`); got != 503 {
			t.Errorf("a session too many: %d", got)
		}
		if got := status(t, h, a, ping); got != 503 {
			t.Errorf("a request too many: %d", got)
		}
		if w := serve(t.Context(), h, request(t.Context(), t, "DELETE", "/", a, "")); w.Code != 204 {
			t.Errorf("DELETE of a busy session: %d %s", w.Code, w.Body)
		}
		for range 4 {
			g.proceed <- struct{}{}
		}
		wg.Wait()
		if got := status(t, h, d, ping); got != 200 {
			t.Errorf("after the rush: %d", got)
		}
	})
}

func TestStatelessRequestsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, g := newServer()
		h := httpserver.New(srv, &httpserver.Options{MaxSessions: 1, Stateless: true})
		defer h.Close()
		done := make(chan int)
		go func() { done <- status(t, h, "", call("1", "wait", "{}")) }()
		<-g.started
		if got := status(t, h, "", ping); got != 503 {
			t.Errorf("a request too many: %d", got)
		}
		g.proceed <- struct{}{}
		if got := <-done; got != 200 {
			t.Errorf("the request: %d", got)
		}
		if got := status(t, h, "", ping); got != 200 {
			t.Errorf("afterwards: %d", got)
		}
	})
}

func TestBacklogIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{
			Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}},
		})
		h := httpserver.New(srv, nil)
		defer h.Close()
		id := initialize(t, h)
		uri := func(i int) string { return "test://" + strings.Repeat("x", i+1) }
		for i := range 40 {
			srv.AddResource(mcp.Resource{URI: uri(i), Name: "r"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
				return nil, nil
			})
			if got := status(t, h, id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri(i)+`"}}`); got != 200 {
				t.Fatal(got)
			}
		}
		synctest.Wait()
		for i := range 40 {
			srv.ResourceUpdated(uri(i))
			srv.ResourceUpdated(uri(i)) // twice says no more
			synctest.Wait()
		}
		end, stream := get(t, h, id)
		end()
		got := <-stream
		if n := strings.Count(got, "data: {"); n != 16 || !strings.Contains(got, uri(39)+`"`) || strings.Contains(got, uri(23)+`"`) {
			t.Errorf("%d messages were kept: %s", n, got)
		}
	})
}

func TestFailedMessageIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, _ := newServer()
		h := httpserver.New(srv, &httpserver.Options{WriteTimeout: time.Second, Keepalive: time.Hour})
		defer h.Close()
		id := initialize(t, h)
		status(t, h, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		ended := make(chan struct{})
		go func() {
			h.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder()}, request(t.Context(), t, "GET", "/", id, ""))
			close(ended)
		}()
		synctest.Wait()
		srv.RemoveTools("big")
		<-ended
		end, stream := get(t, h, id)
		end()
		if got := <-stream; strings.Count(got, "tools/list_changed") != 1 {
			t.Errorf("the next stream has %q", got)
		}
	})
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	e := start(t, &httpserver.Options{Principal: func(r *http.Request) (string, error) {
		switch who := r.Header.Get("X-User"); who {
		case "":
			return "", errors.New("secret")
		case "mallory":
			return "", &teapot{}
		default:
			return who, nil
		}
	}})
	e.srv.Handle("who", func(_ context.Context, c *server.Call) (any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(c.Principal)}}, nil
	})
	if a := e.post("", ping); a.status != 401 || strings.Contains(a.body, "secret") {
		t.Errorf("nobody: %d %s", a.status, a.body)
	}
	if a := e.post("X-User: mallory", ping); a.status != 418 {
		t.Errorf("mallory: %d %s", a.status, a.body)
	}
	a := e.post("X-User: alice", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+r2+`"}}`)
	sess := "Mcp-Session-Id: " + a.header.Get("Mcp-Session-Id") + "\n"
	for name, body := range map[string]string{"message": `{"jsonrpc":"2.0","id":1,"method":"who"}`, "batch": `[{"jsonrpc":"2.0","id":1,"method":"who"}]`} {
		if a := e.post(sess+"X-User: alice", body); !strings.Contains(a.body, `"text":"alice"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := e.post(sess+"X-User: bob", ping); a.status != 404 {
		t.Errorf("bob in the session of alice: %d %s", a.status, a.body)
	}
	if a := e.do("DELETE", sess+"X-User: bob", ""); a.status != 404 {
		t.Errorf("bob ends the session of alice: %d %s", a.status, a.body)
	}
}

// A teapot is an error that answers by itself.
type teapot struct{}

func (*teapot) Error() string                                    { return "teapot" }
func (*teapot) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
