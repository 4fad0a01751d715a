package httpserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
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

// What one call costs the process, net/http included. The client is a bare
// connection, which adds nothing: the numbers are differences of the
// allocation counters of the whole process.
func TestAllocationBudget(t *testing.T) { // not parallel: it counts what the process allocates
	const runs, maxAllocs, maxBytes = 2000, 60, 8 << 10
	srv, _ := newServer()
	defer srv.Close()
	h := httpserver.New(srv, nil)
	defer h.Close()
	web := httptest.NewServer(h)
	defer web.Close()
	w := dial(t, web, allocHeader, allocBody)
	for range 100 {
		w.exchange()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		w.exchange()
	}
	runtime.ReadMemStats(&after)
	allocs := (after.Mallocs - before.Mallocs) / runs
	size := (after.TotalAlloc - before.TotalAlloc) / runs
	t.Logf("a call of %d bytes: %d allocations, %d bytes", len(allocBody), allocs, size)
	if raceEnabled {
		return
	}
	if allocs > maxAllocs || size > maxBytes {
		t.Errorf("a call takes %d allocations and %d bytes, want at most %d and %d", allocs, size, maxAllocs, maxBytes)
	}
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
