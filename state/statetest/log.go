// Package statetest holds the tests that every implementation of the interfaces
// of package state passes. Call them from tests of your own.
package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/state"
)

// Log tests an implementation of state.Log. newLog returns an empty one that
// keeps at least a thousand events of a session and a megabyte, for a minute.
func Log(t *testing.T, newLog func(t *testing.T) state.Log) {
	t.Helper()
	for name, test := range map[string]func(l *logTest){
		"order":       (*logTest).order,
		"streams":     (*logTest).streams,
		"sessions":    (*logTest).sessions,
		"limit":       (*logTest).limit,
		"data":        (*logTest).data,
		"unknown":     (*logTest).unknown,
		"forget":      (*logTest).forget,
		"concurrency": (*logTest).concurrency,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&logTest{t, newLog(t)})
		})
	}
}

// A logTest is one test of one log.
type logTest struct {
	*testing.T
	log state.Log
}

func (t *logTest) append(session, stream, data string) uint64 {
	t.Helper()
	seq, err := t.log.Append(t.Context(), session, stream, []byte(data))
	if err != nil {
		t.Fatalf("Append(%s, %s, %q): %v", session, stream, data, err)
	}
	return seq
}

// after returns the data of the events, read in pieces.
func (t *logTest) after(session, stream string, seq uint64, limit int) string {
	t.Helper()
	var all []string
	for {
		events, err := t.log.After(t.Context(), session, stream, seq, limit)
		if err != nil {
			t.Fatalf("After(%s, %s, %d, %d): %v", session, stream, seq, limit, err)
		}
		if len(events) > limit {
			t.Fatalf("After(%s, %s, %d, %d): %d events", session, stream, seq, limit, len(events))
		}
		if len(events) == 0 {
			return strings.Join(all, " ")
		}
		for _, e := range events {
			if e.Seq <= seq {
				t.Fatalf("After(%s, %s): number %d follows %d", session, stream, e.Seq, seq)
			}
			seq = e.Seq
			all = append(all, string(e.Data))
		}
	}
}

func (t *logTest) want(session, stream string, seq uint64, want string) {
	t.Helper()
	if got := t.after(session, stream, seq, 1000); got != want {
		t.Errorf("after %d of %s: got %q, want %q", seq, stream, got, want)
	}
}

func (t *logTest) wantGone(session, stream string, seq uint64) {
	t.Helper()
	if events, err := t.log.After(t.Context(), session, stream, seq, 10); !errors.Is(err, state.ErrGone) {
		t.Errorf("after %d of %s in %s: got %d events, %v, want %v", seq, stream, session, len(events), err, state.ErrGone)
	}
}

func (t *logTest) order() {
	var seqs []uint64
	for _, data := range []string{"a", "b", "c", "d"} {
		seqs = append(seqs, t.append("s", "1", data))
	}
	if seqs[0] == 0 || !slices.IsSorted(seqs) || len(slices.Compact(seqs)) != 4 {
		t.Errorf("numbers %v do not grow from 1", seqs)
	}
	t.want("s", "1", 0, "a b c d")
	for i, want := range []string{"b c d", "c d", "d", ""} {
		t.want("s", "1", seqs[i], want)
	}
}

func (t *logTest) streams() {
	a := t.append("s", "1", "a")
	b := t.append("s", "2", "b")
	c := t.append("s", "1", "c")
	if a >= b || b >= c {
		t.Errorf("numbers %d, %d, %d do not grow over the streams", a, b, c)
	}
	t.want("s", "1", a, "c")
	t.want("s", "2", b, "")
	t.wantGone("s", "1", b) // that of another stream
}

func (t *logTest) sessions() {
	a := t.append("s", "1", "a")
	b := t.append("t", "1", "b")
	t.append("s", "1", "c")
	t.append("t", "1", "d")
	t.want("s", "1", a, "c")
	t.want("t", "1", b, "d")
}

func (t *logTest) limit() {
	first := t.append("s", "1", "0")
	var want []string
	for i := range 100 {
		t.append("s", "1", fmt.Sprint(i))
		want = append(want, fmt.Sprint(i))
	}
	for _, limit := range []int{1, 7, 99, 100, 101} {
		if got := t.after("s", "1", first, limit); got != strings.Join(want, " ") {
			t.Errorf("in pieces of %d: got %s", limit, got)
		}
	}
}

func (t *logTest) data() {
	first := t.append("s", "1", "") // empty, but an event
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	kept := bytes.Clone(all)
	if _, err := t.log.Append(t.Context(), "s", "1", kept); err != nil {
		t.Fatal(err)
	}
	clear(kept) // it belongs to the caller
	t.append("s", "1", strings.Repeat("x", 500_000))
	t.append("s", "1", "")
	events, err := t.log.After(t.Context(), "s", "1", first, 10)
	if err != nil || len(events) != 3 {
		t.Fatalf("got %d events, %v, want 3", len(events), err)
	}
	if !bytes.Equal(events[0].Data, all) || len(events[1].Data) != 500_000 || len(events[2].Data) != 0 {
		t.Errorf("got %d, %d and %d bytes, or not those that were added", len(events[0].Data), len(events[1].Data), len(events[2].Data))
	}
}

func (t *logTest) unknown() {
	t.wantGone("s", "1", 1)
	seq := t.append("s", "1", "a")
	t.wantGone("s", "2", seq)
	t.wantGone("t", "1", seq)
	t.wantGone("s", "1", seq+1)
}

func (t *logTest) forget() {
	seq := t.append("s", "1", "a")
	t.append("s", "1", "b")
	other := t.append("t", "1", "a")
	for range 2 { // again does no harm
		if err := t.log.Forget(t.Context(), "s"); err != nil {
			t.Fatalf("Forget: %v", err)
		}
	}
	t.wantGone("s", "1", seq)
	t.want("t", "1", other, "")
}

func (t *logTest) concurrency() {
	const streams, events = 8, 100
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			name := fmt.Sprint(i)
			first := t.appendQuietly(t.Context(), name)
			for range events {
				t.appendQuietly(t.Context(), name)
			}
			got, err := t.log.After(t.Context(), "s", name, first, 1000)
			if err != nil || len(got) != events {
				t.Errorf("stream %s has %d events, %v, want %d", name, len(got), err, events)
			}
		})
	}
	wg.Wait()
}

// appendQuietly does not end the test: it runs in other goroutines.
func (t *logTest) appendQuietly(ctx context.Context, stream string) uint64 {
	seq, err := t.log.Append(ctx, "s", stream, []byte(stream))
	if err != nil {
		t.Errorf("Append: %v", err)
	}
	return seq
}
