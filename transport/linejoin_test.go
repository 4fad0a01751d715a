package transport_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/transport"
)

// countingWriter is a stream without deadlines that counts its writes.
type countingWriter struct {
	mu     sync.Mutex
	writes int
	data   []byte
	wrote  chan struct{} // of size 1
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	w.data = append(w.data, p...)
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (w *countingWriter) Close() error { return nil }

func (w *countingWriter) seen() (writes int, data string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes, string(w.data)
}

// joiner is a connection that lets frames wait for others.
type joiner interface {
	transport.Conn
	WriteSoon(frame []byte) error
	Waiting() bool
	WriteLater(frame []byte) error
	Flush()
}

func joining(t *testing.T) (*countingWriter, joiner) {
	t.Helper()
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	w := &countingWriter{wrote: make(chan struct{}, 1)}
	c := transport.Lines(r, w, nil).(joiner)
	t.Cleanup(func() { c.Close() })
	return w, c
}

func TestWriteSoon(t *testing.T) {
	t.Parallel()
	w, c := joining(t)
	if err := c.WriteSoon([]byte("first")); err != nil {
		t.Fatal(err)
	}
	if _, data := w.seen(); data != "first\n" {
		t.Errorf("the first frame did not leave at once: %q", data)
	}
	want := "first\n"
	for i := range 100 {
		if err := c.WriteSoon(fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintln(i)
	}
	if err := c.Write([]byte("urgent")); err != nil {
		t.Fatal(err)
	}
	writes, data := w.seen()
	if want += "urgent\n"; data != want {
		t.Errorf("got %q, want %q", data, want)
	}
	if writes > 20 {
		t.Errorf("%d writes for 102 frames", writes)
	}
}

// What nothing urgent follows leaves by itself.
func TestWriteSoonLeavesByItself(t *testing.T) {
	t.Parallel()
	w, c := joining(t)
	for _, frame := range []string{"a", "b", "c"} {
		if err := c.WriteSoon([]byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	patience := time.After(10 * time.Second)
	for {
		if _, data := w.seen(); data == "a\nb\nc\n" {
			return
		}
		select {
		case <-w.wrote:
		case <-patience:
			_, data := w.seen()
			t.Fatalf("only %q left", data)
		}
	}
}

func TestCloseSendsWhatWaits(t *testing.T) {
	t.Parallel()
	w, c := joining(t)
	for _, frame := range []string{"a", "b", "c"} {
		if err := c.WriteSoon([]byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, data := w.seen(); data != "a\nb\nc\n" {
		t.Errorf("got %q", data)
	}
	if err := c.WriteSoon([]byte("d")); err == nil {
		t.Error("WriteSoon after Close: no error")
	}
}

// A peer that reads slowly gets everything in order, and writers of urgent and
// other frames do not wait for it longer than they have to.
func TestWriteSoonToASlowReader(t *testing.T) {
	t.Parallel()
	c, _, out := pipes(t, nil)
	const writers, each = 4, 3000
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			write := c.Write
			if i%2 == 0 {
				write = c.(joiner).WriteSoon
			}
			for n := range each {
				if err := write(fmt.Appendf(nil, "%d %d %0100d", i, n, 0)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	next := [writers]int{}
	lines := bufio.NewScanner(out)
	for range writers * each {
		if !lines.Scan() {
			t.Fatal("the stream ended", lines.Err())
		}
		var i, n int
		if _, err := fmt.Sscan(lines.Text(), &i, &n); err != nil {
			t.Fatal(err)
		}
		if n != next[i] {
			t.Fatalf("writer %d: got frame %d, want %d", i, n, next[i])
		}
		next[i]++
	}
	wg.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestWriteLater has frames wait until something takes them along.
func TestWriteLater(t *testing.T) {
	t.Parallel()
	w, c := joining(t)
	later := func(frames ...string) {
		t.Helper()
		for _, frame := range frames {
			if err := c.WriteLater([]byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(writes int, data string) {
		t.Helper()
		if n, got := w.seen(); n != writes || got != data {
			t.Fatalf("%d writes of %.60q, want %d of %.60q", n, got, writes, data)
		}
	}
	c.Flush()
	later("a", "b")
	want(0, "")
	if err := c.Write([]byte("c")); err != nil {
		t.Fatal(err)
	}
	want(1, "a\nb\nc\n")
	<-w.wrote
	later("d")
	c.Flush()
	<-w.wrote
	want(2, "a\nb\nc\nd\n")
	if err := c.WriteLater([]byte("two\nlines")); err == nil {
		t.Error("a frame with a newline was accepted")
	}
	for range 64 { // without anybody who flushes: too much does not wait
		later(strings.Repeat("x", 1<<10))
	}
	if n, _ := w.seen(); n < 3 || n > 6 {
		t.Errorf("%d writes of 64 KiB, want a few", n-2)
	}
	later("last")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, data := w.seen(); !strings.HasSuffix(data, "\nlast\n") {
		t.Errorf("Close has sent ...%q, want what waited", data[max(0, len(data)-20):])
	}
	if err := c.WriteLater([]byte("e")); err == nil {
		t.Error("WriteLater after Close: no error")
	}
}

// TestWaiting asks whether a whole frame has come.
func TestWaiting(t *testing.T) {
	t.Parallel()
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c := transport.Lines(r, &countingWriter{wrote: make(chan struct{}, 1)}, nil).(joiner)
	defer c.Close()
	if c.Waiting() {
		t.Error("a frame waits before one was sent")
	}
	if _, err := in.WriteString("one\ntwo\nthr"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		frame string
		more  bool
	}{{"one", true}, {"two", false}} {
		frame, err := c.Read()
		if err != nil || string(frame) != want.frame || c.Waiting() != want.more {
			t.Errorf("Read: %s, %v, Waiting %v, want %+v", frame, err, c.Waiting(), want)
		}
	}
}
