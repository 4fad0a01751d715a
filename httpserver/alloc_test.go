package httpserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
)

// A wire is a connection to a server on which the same request is sent again
// and again. It allocates nothing, so that what is allocated is the server's.
type wire struct {
	t       testing.TB
	conn    net.Conn
	request []byte
	answer  []byte
}

// dial sends the request once. All answers are as long as the first one.
func dial(t testing.TB, srv *httptest.Server, header, body string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w := &wire{t: t, conn: conn, request: fmt.Appendf(nil,
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s",
		header, len(body), body)}
	if _, err := conn.Write(w.request); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 64<<10)
	n := 0
	for !bytes.HasSuffix(first[:n], []byte("}}")) {
		m, err := conn.Read(first[n:])
		if err != nil {
			t.Fatalf("after %q: %v", first[:n], err)
		}
		n += m
	}
	if !bytes.HasPrefix(first, []byte("HTTP/1.1 200")) || !bytes.Contains(first, []byte(`"result"`)) {
		t.Fatalf("answer %q", first[:n])
	}
	w.answer = first[:n]
	return w
}

func (w *wire) exchange() {
	if _, err := w.conn.Write(w.request); err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.ReadFull(w.conn, w.answer); err != nil {
		w.t.Fatal(err)
	}
}

const allocHeader = "MCP-Protocol-Version: " + modern + "\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"

// allocBody is a tools/call as hosts send it, of about 300 bytes.
const allocBody = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"echo","arguments":{"text":"how is the weather in Hamburg"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":{"name":"host","version":"1.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`

// sessionBody is the same call in a session.
const sessionBody = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"echo","arguments":{"text":"how is the weather in Hamburg"}}}`

// What one call costs the process, net/http included, which has 32 allocations of
// its own. The client is a bare connection, which adds nothing: the numbers are
// differences of the allocation counters of the whole process.
func TestAllocationBudget(t *testing.T) { // not parallel: it counts what the process allocates
	srv, _ := newServer()
	defer srv.Close()
	h := httpserver.New(srv, nil)
	defer h.Close()
	web := httptest.NewServer(h)
	defer web.Close()
	session := strings.TrimSpace(initialize(t, h)) + "\r\n"
	for _, test := range []struct {
		name, header, body string
		allocs, bytes      uint64
	}{
		{"session", session, sessionBody, 42, 4 << 10},
		{"stateless revision", allocHeader, allocBody, 48, 4608},
	} {
		allocs, size := cost(dial(t, web, test.header, test.body))
		t.Logf("%s, a call of %d bytes: %d allocations, %d bytes", test.name, len(test.body), allocs, size)
		if !raceEnabled && (allocs > test.allocs || size > test.bytes) {
			t.Errorf("%s: a call takes %d allocations and %d bytes, want at most %d and %d",
				test.name, allocs, size, test.allocs, test.bytes)
		}
	}
}

// cost returns what an exchange allocates.
func cost(w *wire) (allocs, bytes uint64) {
	const runs = 2000
	for range 100 {
		w.exchange()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		w.exchange()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / runs, (after.TotalAlloc - before.TotalAlloc) / runs
}

func BenchmarkCall(b *testing.B) {
	srv, _ := newServer()
	defer srv.Close()
	h := httpserver.New(srv, nil)
	defer h.Close()
	web := httptest.NewServer(h)
	defer web.Close()
	w := dial(b, web, allocHeader, allocBody)
	b.ReportAllocs()
	for b.Loop() {
		w.exchange()
	}
}
