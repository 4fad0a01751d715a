package httpserver_test

import (
	"bufio"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
)

// Nothing of a session is left after DELETE.
func TestNothingIsKept(t *testing.T) { // not parallel: it looks at the heap of the process
	srv, _ := newServer()
	defer srv.Close()
	h := httpserver.New(srv, nil)
	defer h.Close()
	run := func(n int) uint64 {
		for range n {
			id := initialize(t, h)
			status(t, h, id, call("1", "echo", `{"text":"x"}`))
			if w := serve(t.Context(), h, request(t.Context(), t, "DELETE", "/", id, "")); w.Code != 204 {
				t.Fatalf("DELETE: %d %s", w.Code, w.Body)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // twice, to empty the pools
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const sessions = 2000
	before := run(500)
	if after := run(sessions); after > before+100*sessions {
		t.Errorf("after %d sessions the heap has grown by %d bytes", sessions, after-before)
	}
}

// An idle stream costs the two goroutines of net/http, and none of ours.
func TestIdleStreamGoroutines(t *testing.T) { // not parallel: it counts the goroutines of the process
	const streams = 50
	srv, _ := newServer()
	defer srv.Close()
	h := httpserver.New(srv, nil)
	defer h.Close()
	web := httptest.NewServer(h)
	defer web.Close()
	ids := make([]string, streams)
	for i := range ids {
		ids[i] = strings.TrimSpace(initialize(t, h))
	}
	before := runtime.NumGoroutine()
	for _, id := range ids {
		conn, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + id + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "200") {
			t.Fatal(line, err)
		}
	}
	if got := runtime.NumGoroutine() - before; got > 2*streams {
		t.Errorf("%d streams have %d goroutines", streams, got)
	}
}
