package transport_test

import (
	"bufio"
	"fmt"
	"os"
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
