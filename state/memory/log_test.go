package memory_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/state"
	"github.com/ferrymcp/ferry/state/memory"
	"github.com/ferrymcp/ferry/state/statetest"
)

func TestLog(t *testing.T) {
	t.Parallel()
	statetest.Log(t, func(*testing.T) state.Log { return memory.NewLog(nil) })
}

func add(t testing.TB, l *memory.Log, session, stream, data string) uint64 {
	t.Helper()
	seq, err := l.Append(t.Context(), session, stream, []byte(data))
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return seq
}

// after returns what is there after seq, or "gone".
func after(t *testing.T, l *memory.Log, session, stream string, seq uint64) string {
	t.Helper()
	events, err := l.After(t.Context(), session, stream, seq, 100)
	if errors.Is(err, state.ErrGone) {
		return "gone"
	}
	if err != nil {
		t.Fatalf("After: %v", err)
	}
	var b strings.Builder
	for _, e := range events {
		b.Write(e.Data)
	}
	return b.String()
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestBoundOfEvents(t *testing.T) {
	t.Parallel()
	l := memory.NewLog(&memory.LogOptions{Events: 3})
	a := add(t, l, "s", "1", "a")
	b := add(t, l, "s", "1", "b")
	other := add(t, l, "t", "1", "x") // has bounds of its own
	add(t, l, "s", "2", "c")
	want(t, "all are kept", after(t, l, "s", "1", a), "b")
	add(t, l, "s", "2", "d")
	want(t, "the first is dropped", after(t, l, "s", "1", 0), "gone")
	want(t, "but who has it", after(t, l, "s", "1", a), "b")
	add(t, l, "s", "2", "e")
	want(t, "nothing of the stream is left", after(t, l, "s", "1", b), "gone")
	f := add(t, l, "s", "1", "f")
	want(t, "the stream goes on", after(t, l, "s", "1", f), "")
	want(t, "where it went on nobody can tell", after(t, l, "s", "1", a), "gone")
	want(t, "the other session", after(t, l, "t", "1", other), "")
}

func TestBoundsOfBytes(t *testing.T) {
	t.Parallel()
	l := memory.NewLog(&memory.LogOptions{Bytes: 10_000, Total: 25_000})
	kilobytes := strings.Repeat("x", 4000)
	a := add(t, l, "s", "1", "a")
	add(t, l, "s", "1", kilobytes)
	add(t, l, "s", "1", kilobytes)
	want(t, "fits", after(t, l, "s", "1", a), kilobytes+kilobytes)
	b := add(t, l, "s", "1", kilobytes)
	want(t, "does not fit", after(t, l, "s", "1", a), "gone")
	huge := add(t, l, "s", "1", strings.Repeat("x", 10_000))
	want(t, "never fits", after(t, l, "s", "1", b), "gone")
	if next := add(t, l, "s", "1", "b"); next <= huge {
		t.Errorf("number %d follows %d", next, huge)
	}
	var first uint64
	for i := range 10 { // one more session than there is room for
		seq := add(t, l, fmt.Sprint(i), "1", kilobytes)
		first = max(first, seq)
	}
	want(t, "the oldest of all", after(t, l, "0", "1", first), "gone")
	want(t, "the youngest of all", after(t, l, "9", "1", first), "")
}

func TestAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := memory.NewLog(&memory.LogOptions{Age: time.Minute})
		a := add(t, l, "s", "1", "a")
		time.Sleep(30 * time.Second)
		b := add(t, l, "s", "1", "b")
		add(t, l, "s", "1", "c")
		time.Sleep(29 * time.Second)
		want(t, "young", after(t, l, "s", "1", 0), "abc")
		time.Sleep(time.Second)
		want(t, "too old", after(t, l, "s", "1", 0), "gone")
		want(t, "the others", after(t, l, "s", "1", a), "bc")
		time.Sleep(30 * time.Second)
		want(t, "all too old", after(t, l, "s", "1", b), "gone")
	})
}

// Nothing of a session is left after Forget, nor of events that were dropped.
func TestNothingIsKept(t *testing.T) { // not parallel: it looks at the heap of the process
	l := memory.NewLog(nil)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	data := strings.Repeat("x", 1000)
	run := func(sessions int) uint64 {
		for i := range sessions {
			name := fmt.Sprint(i)
			for range 10 {
				add(t, l, name, "1", data)
			}
			if err := l.Forget(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		for range 20_000 {
			add(t, l, "busy", "1", "x")
		}
		return heap()
	}
	before := run(100)
	if grown := int64(run(3000)) - int64(before); grown > 1<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	runtime.KeepAlive(l)
}

func BenchmarkAppend(b *testing.B) {
	l := memory.NewLog(nil)
	b.ReportAllocs()
	for b.Loop() {
		add(b, l, "s", "1", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
	}
}
