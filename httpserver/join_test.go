package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// countingFlusher counts what it sends on.
type countingFlusher struct {
	http.ResponseWriter
	flushes *atomic.Int64
}

func (w countingFlusher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w countingFlusher) FlushError() error {
	w.flushes.Add(1)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// What a handler tells in a loop is joined: all of it, in order, before the
// response.
func TestEventsAreJoined(t *testing.T) {
	t.Parallel()
	const n = 2000
	e := start(t, nil)
	server.AddTool(e.srv, mcp.Tool{Name: "burst"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		for i := range n {
			if err := c.Notify(ctx, "notifications/x", map[string]int{"i": i}); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	var flushes atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.h.ServeHTTP(countingFlusher{w, &flushes}, r)
	}))
	t.Cleanup(web.Close)
	e.url = web.URL
	for _, revision := range []string{r2, r4, modern} {
		header, body := statelessHeader("burst"), statelessCall("1", "burst", "{}")
		if revision != modern {
			header, body = e.session(revision), call("1", "burst", "{}")
		}
		flushes.Store(0)
		got := e.post(header, body).body
		at := 0
		for i := range n {
			next := strings.Index(got[at:], fmt.Sprintf(`{"i":%d}`, i))
			if next < 0 {
				t.Fatalf("%s: notification %d is missing or out of order", revision, i)
			}
			at += next
		}
		if !strings.Contains(got[at:], `"text":"done"`) {
			t.Errorf("%s: the response does not come last", revision)
		}
		if f := flushes.Load(); f > n/4 {
			t.Errorf("%s: %d flushes for %d events", revision, f, n)
		}
	}
}

// Events that wait for others leave although no more come.
func TestJoinedEventsLeaveByThemselves(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	p := addPuppet(e.srv, "puppet")
	for _, sess := range []string{e.session(r2), e.session(r4)} {
		ready := make(chan *stream)
		go func() { ready <- e.open("POST", sess, call("1", "puppet", "{}")) }()
		c := <-p.calls
		for _, name := range []string{"a", "b", "c", "d"} {
			if err := c.Notify(t.Context(), "notifications/"+name, nil); err != nil {
				t.Fatal(err)
			}
		}
		s := <-ready
		for _, name := range []string{"a", "b", "c", "d"} {
			s.want("notifications/" + name)
		}
		p.steps <- ""
		<-p.done
		s.want(`"result"`)
		s.want("")
	}
}

// The connections of HTTP/2 carry more than one request.
func TestNoDisconnectWithHTTP2(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	server.AddTool(e.srv, mcp.Tool{Name: "try"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		let := c.Disconnect(0)
		return fmt.Sprint(let), c.Notify(ctx, "notifications/after", nil)
	})
	sess := e.session(r4)
	web := httptest.NewUnstartedServer(e.h)
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	res, err := web.Client().Do(request(t.Context(), t, "POST", web.URL, sess, call("1", "try", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Fatalf("the request went over %s", res.Proto)
	}
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"notifications/after", `"text":"false"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
