package client

import (
	"context"
	stdjson "encoding/json"
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// maxProgress bounds the steps that wait for a call's Progress function. When
// it is too slow the newest takes the place of the one before.
const maxProgress = 256

// A progressWatch takes the progress of one call from the reader's goroutine to
// the caller's.
type progressWatch struct {
	deadline *deadline
	ready    chan struct{} // of size 1: there may be something in the queue

	mu    sync.Mutex
	queue []mcp.ProgressParams
}

func (w *progressWatch) push(p mcp.ProgressParams) {
	w.mu.Lock()
	if len(w.queue) < maxProgress {
		w.queue = append(w.queue, p)
	} else {
		w.queue[maxProgress-1] = p
	}
	w.mu.Unlock()
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// deliver calls f with everything that has come.
func (w *progressWatch) deliver(f func(mcp.ProgressParams)) {
	w.mu.Lock()
	steps := w.queue
	w.queue = nil
	w.mu.Unlock()
	for _, p := range steps {
		f(p)
	}
}

// progressed hands progress to the call that asked for it, and reports whether
// there is one.
func (s *Session) progressed(params stdjson.RawMessage) bool {
	raw, _ := json.Member(params, mcp.MetaProgressToken)
	token, err := jsonrpc.ParseID(raw)
	if err != nil {
		return false
	}
	s.mu.Lock()
	w := s.watched[token]
	s.mu.Unlock()
	if w == nil {
		return false
	}
	var p mcp.ProgressParams
	if err := json.Unmarshal(params, &p); err != nil {
		s.log.Warn("malformed progress dropped", slog.Any("error", err))
		return true
	}
	s.alarm.heard(w.deadline)
	w.push(p)
	return true
}

// trip is RoundTrip for a call that wants progress: the round trip is made on
// another goroutine, so that this one can call the caller's function.
func (s *Session) trip(ctx context.Context, l *link, d *deadline, f func(mcp.ProgressParams)) (transport.Response, error) {
	m := d.call
	w := &progressWatch{deadline: d, ready: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watched[m.ID] = w
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watched, m.ID)
		s.mu.Unlock()
	}()
	var resp transport.Response
	var err error
	done := make(chan struct{})
	started := s.tasks.start(func() {
		defer close(done)
		resp, err = l.rt.RoundTrip(ctx, m)
	})
	if !started {
		return resp, ErrClosed
	}
	for {
		select {
		case <-w.ready:
			w.deliver(f)
		case <-done:
			w.deliver(f)
			return resp, err
		}
	}
}
