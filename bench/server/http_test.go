package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
)

// A site is a server over HTTP, and dial opens connections to it that allocate
// nothing while they are used.
type site struct {
	tb   testing.TB
	addr string
}

func newSite(tb testing.TB, opts *httpserver.Options) *site {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	h := httpserver.New(newServer(0), opts)
	hs := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- hs.Serve(l) }()
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Error(err)
		}
		_ = hs.Close()
		<-done
	})
	return &site{tb, l.Addr().String()}
}

// A line is one connection.
type line struct {
	net.Conn
	tb  testing.TB
	buf [8 << 10]byte
}

func (s *site) dial() *line {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = c.Close() })
	return &line{Conn: c, tb: s.tb}
}

// ask sends a request and returns the beginning of the answer, which must have the
// status and come in one piece.
func (l *line) ask(request []byte, status string) []byte {
	if _, err := l.Write(request); err != nil {
		l.tb.Fatal(err)
	}
	n, err := l.Read(l.buf[:])
	if err != nil || !bytes.HasPrefix(l.buf[:n], []byte("HTTP/1.1 "+status)) {
		l.tb.Fatalf("%.200s: %v, want status %s", l.buf[:n], err, status)
	}
	return l.buf[:n]
}

const revisionHeader, sessionHeader = "Mcp-Protocol-Version: ", "Mcp-Session-Id: "

func post(body, header string) []byte {
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

// open opens a session and returns its header.
func (l *line) open() string {
	answer := l.ask(post(handshake, ""), "200")
	_, rest, _ := bytes.Cut(answer, []byte(sessionHeader))
	id, _, _ := bytes.Cut(rest, []byte("\r\n"))
	header := sessionHeader + string(id) + "\r\n"
	l.ask(post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, header), "202")
	return header
}

// overHTTP returns a function that sends the request and waits for its reply.
func overHTTP(tb testing.TB, stateless bool, rq request) func() {
	s := newSite(tb, &httpserver.Options{Stateless: stateless})
	l := s.dial()
	header := revisionHeader + "2025-11-25\r\n"
	switch {
	case strings.Contains(rq.frame, modernMeta):
		header = revisionHeader + "2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
	case !stateless:
		header += l.open()
	}
	frame := post(rq.frame, header)
	return func() { l.ask(frame, "200") }
}

// TestHTTPAllocations is TestAllocations over HTTP. What net/http allocates counts, and
// so does the text of 256 bytes.
func TestHTTPAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	for _, test := range []struct {
		name   string
		run    func()
		budget float64
		bytes  uint64
	}{
		{"session", overHTTP(t, false, echo256), 42, 4150},
		{"stateless", overHTTP(t, true, echo256), 42, 4200},
		{"modern", overHTTP(t, true, echoModern), 48, 4750},
	} {
		got := testing.AllocsPerRun(2000, test.run)
		size := bytesPerRun(2000, test.run)
		t.Logf("%s: %v allocations of %v, %d bytes of %d", test.name, got, test.budget, size, test.bytes)
		if got > test.budget || size > test.bytes {
			t.Errorf("%s: %v allocations and %d bytes, want at most %v and %d", test.name, got, size, test.budget, test.bytes)
		}
	}
}

// TestStackOfSubscriptions keeps the stack that a subscription holds small enough to
// be halved by the garbage collector. The frames of net/http count.
func TestStackOfSubscriptions(t *testing.T) {
	if raced {
		t.Skip("the race detector needs stack")
	}
	const n, most = 300, 13 << 10
	s := newSite(t, &httpserver.Options{Stateless: true})
	listen := post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}`+modernMeta+`}}`,
		revisionHeader+"2026-07-28\r\nMcp-Method: subscriptions/listen\r\n")
	stack := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.StackInuse
	}
	before := stack()
	lines := make([]*line, n)
	for i := range lines {
		lines[i] = s.dial()
		lines[i].ask(listen, "200")
	}
	after := stack()
	if each := (max(before, after) - before) / n; each > most {
		t.Errorf("a subscription holds %d bytes of stack, want at most %d", each, most)
	}
	runtime.KeepAlive(lines)
}
