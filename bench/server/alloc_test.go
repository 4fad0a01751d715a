package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

const (
	handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}`
	modernMeta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
)

// A request is a frame and what its reply must contain.
type request struct{ frame, want string }

func echo(size int, meta string) request {
	text := strings.Repeat("x", size)
	return request{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + text + `"}` + meta + `}}`,
		`"text":"` + text[:min(size, 256)], // a longer one would cost more to find than to make
	}
}

var (
	echo256    = echo(256, "")
	echoModern = echo(256, modernMeta)
	echo64K    = echo(64<<10, "")
	add        = request{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`,
		`"structuredContent":{"sum":3}`,
	}
	addModern = request{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}` + modernMeta + `}}`,
		`"structuredContent":{"sum":3}`,
	}
	list = request{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"inputSchema"`}
)

// A wire is a connection in memory that allocates nothing itself.
type wire struct {
	in  chan []byte
	out chan struct{}

	want []byte
	bad  string
}

func (w *wire) Read() ([]byte, error) {
	frame, ok := <-w.in
	if !ok {
		return nil, io.EOF
	}
	return frame, nil
}

func (w *wire) Write(frame []byte) error {
	if !bytes.Contains(frame, w.want) {
		w.bad = string(frame)
	}
	w.out <- struct{}{}
	return nil
}

func (w *wire) Close() error { return nil }

// overConn returns a function that sends the request over a connection and
// waits for its reply.
func overConn(tb testing.TB, tools int, rq request) func() {
	w := &wire{in: make(chan []byte), out: make(chan struct{})}
	var serving sync.WaitGroup
	ctx := tb.Context()
	serving.Go(func() {
		if err := newServer(tools).ServeConn(context.WithoutCancel(ctx), w); err != nil {
			tb.Errorf("ServeConn: %v", err)
		}
	})
	tb.Cleanup(func() {
		close(w.in)
		serving.Wait()
		if w.bad != "" {
			tb.Errorf("a reply to %.200s lacks %.100s: %.200s", rq.frame, rq.want, w.bad)
		}
	})
	w.in <- []byte(handshake)
	<-w.out
	frame := []byte(rq.frame)
	w.want = []byte(rq.want)
	return func() {
		w.in <- frame
		<-w.out
	}
}

// stateless returns a function that serves the request as carriers without
// connections do: decode, serve, write.
func stateless(tb testing.TB, rq request) func() {
	srv := newServer(0)
	frame := []byte(rq.frame)
	sink := server.Sink(func([]byte) error { return nil })
	return func() {
		m, err := jsonrpc.Decode(frame)
		if err != nil {
			tb.Fatal(err)
		}
		decoded, err := srv.Decode(m)
		if err != nil {
			tb.Fatal(err)
		}
		buf := jsonrpc.GetBuffer()
		defer jsonrpc.PutBuffer(buf)
		srv.Serve(tb.Context(), decoded, sink).Write(buf)
		if !bytes.Contains(buf.Bytes(), []byte(rq.want)) {
			tb.Fatalf("the reply lacks %.100s: %.200s", rq.want, buf)
		}
	}
}

// TestAllocations keeps the cost of a request from growing unnoticed. Numbers
// of allocations do not depend on the machine, so they can be a test. The frames
// of the requests are not counted: they are the same ones each time. Their texts are,
// which handlers get as strings of their own.
func TestAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	for _, test := range []struct {
		name   string
		run    func()
		budget float64
		bytes  uint64
	}{
		{"conn/echo", overConn(t, 0, echo256), 12, 1200},
		{"conn/echo modern", overConn(t, 0, echoModern), 13, 1300},
		{"conn/add", overConn(t, 0, add), 18, 1200},
		{"conn/list 1000", overConn(t, 996, list), 12, 16 << 10},
		{"stateless/echo", stateless(t, echoModern), 10, 1400},
		{"stateless/add", stateless(t, addModern), 14, 1000},
	} {
		got := testing.AllocsPerRun(2000, test.run)
		size := bytesPerRun(2000, test.run)
		t.Logf("%s: %v allocations of %v, %d bytes of %d", test.name, got, test.budget, size, test.bytes)
		if got > test.budget || size > test.bytes {
			t.Errorf("%s: %v allocations and %d bytes, want at most %v and %d", test.name, got, size, test.budget, test.bytes)
		}
	}
}

// bytesPerRun is testing.AllocsPerRun for bytes.
func bytesPerRun(runs int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / uint64(runs)
}

func BenchmarkConn(b *testing.B) {
	for _, bench := range []struct {
		name  string
		tools int
		rq    request
	}{
		{"echo", 0, echo256},
		{"echo modern", 0, echoModern},
		{"echo 64 KiB", 0, echo64K},
		{"add", 0, add},
		{"list 1000", 996, list},
	} {
		b.Run(bench.name, func(b *testing.B) {
			run := overConn(b, bench.tools, bench.rq)
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

func BenchmarkStateless(b *testing.B) {
	for _, bench := range []struct {
		name string
		rq   request
	}{
		{"echo", echoModern},
		{"echo 64 KiB", echo(64<<10, modernMeta)},
		{"add", addModern},
	} {
		b.Run(bench.name, func(b *testing.B) {
			run := stateless(b, bench.rq)
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.rq.frame)))
			for b.Loop() {
				run()
			}
		})
	}
}

// TestCalls has the server answer over a connection what the driver asks.
func TestCalls(t *testing.T) {
	t.Parallel()
	for i, rq := range []request{echo256, echoModern, echo64K, add, addModern, list} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			overConn(t, 0, rq)()
		})
	}
}
