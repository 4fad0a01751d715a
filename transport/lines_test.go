package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// nopWriter is a stream for connections that only read.
type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

func reading(input string, opts *transport.LineOptions) transport.Conn {
	return transport.Lines(io.NopCloser(strings.NewReader(input)), nopWriter{io.Discard}, opts)
}

// readAll reads until an error that is not about one frame; frames too large are shown as "!".
func readAll(c transport.Conn) (frames []string, err error) {
	for {
		frame, err := c.Read()
		var tooLarge *transport.FrameTooLargeError
		switch {
		case errors.As(err, &tooLarge):
			frames = append(frames, "!")
		case err != nil:
			return frames, err
		default:
			frames = append(frames, string(frame))
		}
	}
}

func TestLinesRead(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-FRAMING-REUSE")
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, input string
		max         int
		want        []string
	}{
		{"nothing", "", 0, nil},
		{"two", "{}\n[]\n", 0, []string{"{}", "[]"}},
		{"crlf", "{}\r\n[]\r\n", 0, []string{"{}", "[]"}},
		{"blank lines", "\n\r\n  \t\n{}\n\n", 0, []string{"{}"}},
		{"space around", "  {} \n", 0, []string{"{}"}},
		{"no newline at the end", "{}\n[]", 0, []string{"{}", "[]"}},
		{"longer than any buffer", long + "\n{}\n", 0, []string{long, "{}"}},
		{"at the limit", "12345\n12345\r\n", 5, []string{"12345", "12345"}},
		{"over the limit", "123456\n{}\n", 5, []string{"!", "{}"}},
		{"far over the limit", long + "\n{}\n", 5, []string{"!", "{}"}},
		{"long at the limit", long + "\r\n{}\n", len(long), []string{long, "{}"}},
		{"long over the limit", long + "x\r\n{}\n", len(long), []string{"!", "{}"}},
		{"over the limit without end", long, 5, []string{"!"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readAll(reading(tt.input, &transport.LineOptions{MaxFrame: tt.max}))
			if err != io.EOF || fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("reading %.40q: got %.80q, %v, want %.80q, EOF", tt.input, got, err, tt.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{}\n\r\n[]", 3)
	f.Add(strings.Repeat("y", 40<<10)+"\nz\n", 33<<10)
	f.Fuzz(func(t *testing.T, input string, limit int) {
		limit = max(1, min(limit, 1<<20))
		got, err := readAll(reading(input, &transport.LineOptions{MaxFrame: limit}))
		if err != io.EOF {
			t.Fatalf("reading %q: %v", input, err)
		}
		var want []string
		for line := range strings.SplitSeq(input, "\n") {
			line = strings.TrimSuffix(line, "\r")
			if len(line) > limit {
				want = append(want, "!")
			} else if line = strings.TrimSpace(line); line != "" {
				want = append(want, line)
			}
		}
		// The CR of a last line without a newline counts or not.
		if strings.HasSuffix(input, "\r") {
			return
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("reading %q with limit %d: got %q, want %q", input, limit, got, want)
		}
	})
}

func TestLinesHugeFrame(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	const size = 64 << 20
	sender := transport.Lines(io.NopCloser(strings.NewReader("")), w, nil)
	receiver := transport.Lines(r, nopWriter{io.Discard}, nil)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		frame := bytes.Repeat([]byte{'a'}, size)
		for _, f := range [][]byte{frame, append(frame, 'b'), []byte("{}")} {
			if err := sender.Write(f); err != nil {
				t.Errorf("Write of %d bytes: %v", len(f), err)
			}
		}
	})
	if got, err := receiver.Read(); err != nil || len(got) != size || cap(got) > size+size/8 {
		t.Errorf("Read: got %d bytes (cap %d), %v, want %d", len(got), cap(got), err, size)
	}
	var tooLarge *transport.FrameTooLargeError
	if _, err := receiver.Read(); !errors.As(err, &tooLarge) || tooLarge.Limit != size {
		t.Errorf("Read of a larger frame: %v", err)
	}
	if got, err := receiver.Read(); err != nil || string(got) != "{}" {
		t.Errorf("Read of the next frame: %s, %v", got, err)
	}
	sender.Close()
	receiver.Close()
}

// gate is a stream whose writes wait until it is opened, unless err is set.
type gate struct {
	entered chan struct{} // gets a value at the first write
	open    chan struct{}
	err     error

	mu     sync.Mutex
	writes int
	data   bytes.Buffer
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 1), open: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	select {
	case g.entered <- struct{}{}:
	default:
	}
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	g.writes++
	return g.data.Write(b)
}

func (g *gate) Close() error { return nil }

func (g *gate) lines() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Fields(g.data.String())
}

func TestLinesJoinsWrites(t *testing.T) {
	t.Parallel()
	g := newGate()
	c := transport.Lines(io.NopCloser(strings.NewReader("")), g, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Write([]byte("first")); err != nil {
			t.Errorf("Write: %v", err)
		}
	})
	<-g.entered
	want := []string{"first"}
	for i := range 64 {
		frame := fmt.Sprintf("frame-%d", i)
		want = append(want, frame)
		if err := c.Write([]byte(frame)); err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
	close(g.open)
	wg.Wait()
	c.Close()
	if got := g.lines(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if g.writes > 8 {
		t.Errorf("%d writes for 64 queued frames, want 8 at most", g.writes)
	}
}

// TestLinesOrder has big, small and waiting frames behind one write; what each
// writer sends stays in order and whole.
func TestLinesOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { linesOrder(t) })
}

func linesOrder(t *testing.T) {
	g := newGate()
	c := transport.Lines(io.NopCloser(strings.NewReader("")), g, &transport.LineOptions{MaxPending: 300})
	var wg sync.WaitGroup
	const writers, frames = 20, 30
	for i := range writers {
		wg.Go(func() {
			for n := range frames {
				tail := ""
				if (i+n)%7 == 0 {
					tail = strings.Repeat("z", 70_000)
				}
				if err := c.Write(fmt.Appendf(nil, "%d-%d-%s", i, n, tail)); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
		})
	}
	synctest.Wait() // all wait in Write
	close(g.open)
	wg.Wait()
	c.Close()
	next := map[int]int{}
	for _, line := range g.lines() {
		var i, n int
		if _, err := fmt.Sscanf(line, "%d-%d-", &i, &n); err != nil || n != next[i] {
			t.Fatalf("got %.20s (%v), want frame %d of writer %d", line, err, next[i], i)
		}
		next[i]++
	}
	for i := range writers {
		if next[i] != frames {
			t.Errorf("writer %d: got %d frames, want %d", i, next[i], frames)
		}
	}
}

func TestLinesRefusesNewline(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-NEWLINE-DELIMITED")
	var out bytes.Buffer
	c := transport.Lines(io.NopCloser(strings.NewReader("")), nopWriter{&out}, nil)
	if err := c.Write([]byte("{\n}")); err == nil || out.Len() > 0 {
		t.Errorf("a frame with a newline: %v, wrote %q", err, out.String())
	}
	if err := c.Write([]byte("{}")); err != nil || out.String() != "{}\n" {
		t.Errorf("the next frame: %v, wrote %q", err, out.String())
	}
}

func TestLinesWriteError(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.err = io.ErrClosedPipe
	r, _ := io.Pipe()
	c := transport.Lines(r, g, &transport.LineOptions{MaxPending: 1})
	var wg sync.WaitGroup
	check := func() {
		if err := c.Write([]byte("frame")); !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Write: got %v, want a *ClosedError for %v", err, g.err)
		}
	}
	wg.Go(check)
	<-g.entered
	for range 10 {
		wg.Go(check)
	}
	close(g.open)
	wg.Wait()
	check()
	// The reader is let go by itself, in a moment.
	if _, err := c.Read(); err == nil {
		t.Error("Read goes on after a write error")
	}
	c.Close()
}

// pipes returns a connection over pipes of the operating system and the peer's ends.
func pipes(t *testing.T, opts *transport.LineOptions) (c transport.Conn, in, out *os.File) {
	t.Helper()
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return transport.Lines(r, w, opts), in, out
}

func TestLinesCloseUnblocks(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"small": 1000, "big": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := pipes(t, &transport.LineOptions{MaxPending: 10_000})
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := c.Read(); err != transport.ErrClosed {
					t.Errorf("Read: got %v, want ErrClosed", err)
				}
			})
			first := make(chan struct{})
			var written atomic.Int64 // by all; a pipe and the queue take more than 20 small ones
			for range 4 {
				wg.Go(func() {
					var err error
					for err == nil {
						if written.Add(1) == 20 {
							first <- struct{}{}
						}
						err = c.Write(make([]byte, size))
						if size > 1000 && err == nil {
							t.Error("a big frame was written to nobody")
						}
					}
					if !errors.Is(err, transport.ErrClosed) {
						t.Errorf("Write: got %v, want ErrClosed", err)
					}
				})
			}
			if size == 1000 {
				<-first // the queue fills up behind it
			}
			start := time.Now()
			for range 3 {
				wg.Go(func() {
					if err := c.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			for {
				select {
				case <-first:
					continue
				case <-done:
				}
				break
			}
			if d := time.Since(start); d > time.Second {
				t.Errorf("Close took %v", d)
			}
			if err := c.Write([]byte("{}")); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("Write after Close: %v", err)
			}
			if _, err := c.Read(); err != transport.ErrClosed {
				t.Errorf("Read after Close: %v", err)
			}
		})
	}
}

// TestLinesSlowPeer has a peer that starts reading late: a small frame that
// does not fit is left behind for it, and nothing is lost.
func TestLinesSlowPeer(t *testing.T) {
	t.Parallel()
	c, _, out := pipes(t, nil)
	const frames, size = 100, 2000
	for i := range frames {
		if err := c.Write(bytes.Repeat([]byte{byte('a' + i%26)}, size)); err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
	peer := transport.Lines(out, nopWriter{io.Discard}, nil)
	for i := range frames {
		got, err := peer.Read()
		if want := bytes.Repeat([]byte{byte('a' + i%26)}, size); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("frame %d: got %.10q (%d), %v, want %.10q", i, got, len(got), err, want)
		}
	}
	c.Close()
}

func TestLinesDeadPeer(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(transport.Conn) error{
		"a writer that waits": func(c transport.Conn) error { return c.Write(make([]byte, 1<<20)) },
		// Nobody waits for the last frames, nor writes after them.
		"no writer": func(c transport.Conn) error {
			for range 100 {
				if err := c.Write(make([]byte, 1000)); err != nil {
					return nil
				}
			}
			return os.ErrDeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := pipes(t, &transport.LineOptions{WriteTimeout: 50 * time.Millisecond})
			if err := write(c); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Write to a peer that reads nothing: %v", err)
			}
			if _, err := c.Read(); err == nil {
				t.Error("Read goes on with a dead peer")
			}
			c.Close()
		})
	}
}
