package transport

import (
	"bytes"
	"time"
)

const (
	// joinTime is how long a frame that is not urgent waits for others, and
	// joinSize how many bytes of them wait at most.
	joinTime = 300 * time.Microsecond
	joinSize = 32 << 10
)

// writeSoon is write for a frame that may wait for others, of which it keeps the
// order. The first after a while does not wait.
func (w *lineWriter) writeSoon(frame []byte) error {
	w.mu.Lock()
	now := time.Now()
	if w.busy || w.err != nil || w.draining || len(frame) >= joinSize || bytes.IndexByte(frame, '\n') >= 0 {
		w.mu.Unlock()
		return w.write(frame)
	}
	if now.Sub(w.joined) >= joinTime && w.head == len(w.queue) {
		w.joined = now
		w.busy = true
		w.mu.Unlock()
		return w.writeOwn(frame)
	}
	done := w.enqueueLocked(frame)
	if done == nil && w.pending < joinSize {
		w.armLocked()
		w.mu.Unlock()
		return nil
	}
	w.joined = now
	w.busy = true
	w.mu.Unlock()
	w.lead(0)
	if done == nil {
		return nil
	}
	return <-done
}

// writeLater is write for a frame that waits for others until the next write, or sendWaiting.
func (w *lineWriter) writeLater(frame []byte) error {
	if len(frame) >= joinSize || bytes.IndexByte(frame, '\n') >= 0 {
		return w.write(frame)
	}
	w.mu.Lock()
	if w.err != nil || w.draining {
		defer w.mu.Unlock()
		return w.refusedLocked()
	}
	done := w.enqueueLocked(frame)
	leads := !w.busy && (done != nil || w.pending >= joinSize)
	w.busy = w.busy || leads
	w.mu.Unlock()
	if leads {
		w.lead(0)
	}
	if done == nil {
		return nil
	}
	return <-done
}

// sendWaiting has the flusher send what waits.
func (w *lineWriter) sendWaiting() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.busy && w.err == nil && w.head < len(w.queue) {
		w.busy = true
		w.flusher.Go(w.flush)
	}
}

// armLocked has the queue sent soon.
func (w *lineWriter) armLocked() {
	switch {
	case w.armed:
	case w.timer == nil:
		w.timer = time.AfterFunc(joinTime, w.ripe)
	default:
		w.timer.Reset(joinTime)
	}
	w.armed = true
}

// ripe sends what has waited. It runs in the timer's goroutine; close waits for
// it as for any writer.
func (w *lineWriter) ripe() {
	w.mu.Lock()
	w.armed = false
	if w.busy || w.err != nil || w.head == len(w.queue) {
		w.mu.Unlock()
		return
	}
	w.busy = true
	w.joined = time.Now()
	w.mu.Unlock()
	w.flush()
}
