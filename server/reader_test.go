package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// A burst is a client that writes many lines at once.
type burst struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	writes atomic.Int64 // of the server
}

// countedWriter counts what the server writes.
type countedWriter struct {
	*io.PipeWriter
	writes *atomic.Int64
}

func (w countedWriter) Write(p []byte) (int, error) {
	w.writes.Add(1)
	return w.PipeWriter.Write(p)
}

// bursting opens a session with a server that has one more tool.
func bursting(t *testing.T, name string, tool func(context.Context, *server.Call, struct{}) (string, error), test func(b *burst)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		server.AddTool(srv, mcp.Tool{Name: name}, tool)
		r, in := io.Pipe()
		out, w := io.Pipe()
		b := &burst{t: t, in: in, out: bufio.NewReaderSize(out, 64<<10)}
		var serving sync.WaitGroup
		serving.Go(func() {
			if err := srv.ServeConn(t.Context(), transport.Lines(r, countedWriter{w, &b.writes}, nil)); err != nil {
				t.Errorf("ServeConn: %v", err)
			}
		})
		b.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
		b.reply()
		b.writes.Store(0)
		test(b)
		_ = in.Close() // cannot fail
		serving.Wait()
	})
}

func (b *burst) send(lines ...string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, strings.Join(lines, "\n")+"\n"); err != nil {
		b.t.Fatalf("write: %v", err)
	}
}

func (b *burst) reply() jsonrpc.Message {
	b.t.Helper()
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		b.t.Fatalf("read: %v", err)
	}
	m, err := jsonrpc.Decode(line)
	if err != nil || m.Error != nil {
		b.t.Fatalf("reply %s: %v, want a result", line, err)
	}
	return m
}

// calls are calls of a tool with the ids from first to last.
func calls(tool string, first, last int) (lines []string) {
	for id := first; id <= last; id++ {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool))
	}
	return lines
}

func TestRepliesLeaveTogether(t *testing.T) {
	t.Parallel()
	quick := func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil }
	bursting(t, "quick", quick, func(b *burst) {
		b.send(calls("quick", 1, 64)...)
		for id := 1; id <= 64; id++ {
			if got := b.reply().ID.String(); got != fmt.Sprint(id) {
				t.Errorf("reply to %s, want %d", got, id)
			}
		}
		if n := b.writes.Load(); n > 8 {
			t.Errorf("64 replies left in %d writes, want at most 8", n)
		}
	})
}

// TestSlowCallsDelayNobody has calls that wait stand between others.
func TestSlowCallsDelayNobody(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	bursting(t, "slow", slow, func(b *burst) {
		var lines []string
		for id := 1; id <= 100; id += 2 {
			lines = append(lines, calls("count", id, id)...)
			lines = append(lines, calls("slow", id+1, id+1)...)
		}
		start := time.Now()
		b.send(lines...)
		for range 50 {
			b.reply()
		}
		if took := time.Since(start); took > time.Millisecond {
			t.Errorf("calls among slow ones took %v, want less than 1ms", took)
		}
		for id := 2; id <= 100; id += 2 {
			b.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		}
		b.send(`{"jsonrpc":"2.0","id":101,"method":"ping"}`)
		if got := b.reply().ID.String(); got != "101" {
			t.Errorf("reply to %s, want none to what was cancelled", got)
		}
	})
}

// TestBurstsRunBesideEachOther has every call of a burst wait for all the others.
func TestBurstsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	var all atomic.Pointer[sync.WaitGroup]
	meet := func(context.Context, *server.Call, struct{}) (string, error) {
		all.Load().Done()
		all.Load().Wait()
		return "met", nil
	}
	bursting(t, "meet", meet, func(b *burst) {
		for range 3 {
			var wg sync.WaitGroup
			wg.Add(100)
			all.Store(&wg)
			b.send(calls("meet", 1, 100)...)
			for range 100 {
				b.reply()
			}
		}
	})
}

// TestQuestionsInABurst has a call ask the client, whose answer comes behind
// another call.
func TestQuestionsInABurst(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		_, err := server.Elicit[addOut](ctx, c, "question", "Proceed?")
		return "answered", err
	}
	bursting(t, "ask", ask, func(b *burst) {
		b.send(calls("ask", 1, 2)...)
		start := time.Now()
		for range 4 { // two questions and two results
			if m := b.reply(); m.Kind() == jsonrpc.Request {
				b.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"sum":1}}}`, m.ID))
			}
		}
		if took := time.Since(start); took > time.Millisecond {
			t.Errorf("two questions took %v, want less than 1ms", took)
		}
	})
}
