package transport

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// bigFrame is the size from which a frame is written from the caller's
	// memory: a copy would cost more than a write saves.
	bigFrame = 64 << 10
	// writeStep is the most that one deadline covers, so that a slow but
	// living peer may take its time over a large frame.
	writeStep = 1 << 20
	// patience is how long a writer waits on a full stream before it leaves
	// the rest of its small frame to the flusher and returns.
	patience = 20 * time.Millisecond
	// turns is how many writes a caller makes for others before it leaves
	// the rest to the flusher.
	turns = 8
)

var errNewline = errors.New("frame contains a newline")

// A lineWriter joins writes. A caller that finds nobody writing becomes the
// writer: it sends its frame and then whatever others have queued meanwhile.
// When that takes long it starts the flusher, which goes on in its place. Frames
// that are not urgent wait in the queue for the next one that is, or the timer.
type lineWriter struct {
	w          io.WriteCloser
	deadline   func(time.Time) error // nil when the stream has none
	now        *nowWriter            // nil when the stream has none
	timeout    time.Duration
	maxPending int
	failed     func() // called when a write has failed, once

	// flusher counts the goroutine that writes on when no caller does; there
	// is one at most.
	flusher sync.WaitGroup
	// scratch belongs to whoever is the writer.
	scratch []byte
	limited bool // the stream has a deadline that may pass

	mu       sync.Mutex
	busy     bool // somebody is the writer
	queue    []segment
	head     int // of queue
	pending  int // bytes of the copies in queue
	spare    []byte
	err      error // why no more is accepted
	draining bool
	idle     chan struct{} // closed when draining and no longer busy

	joined time.Time   // when the last write that joins frames began
	timer  *time.Timer // sends what waits; nil until something does
	armed  bool        // the timer is running

	closing  sync.Once
	closeErr error
}

// A segment is bytes that wait to be written: either copies of small frames
// with their newlines, or one frame in the memory of a caller, who waits.
type segment struct {
	data []byte
	done chan error // nil for copies
}

func newLineWriter(w io.WriteCloser, opts *LineOptions, failed func()) *lineWriter {
	lw := &lineWriter{
		w:          w,
		timeout:    opts.writeTimeout(),
		maxPending: opts.maxPending(),
		failed:     failed,
		idle:       make(chan struct{}),
	}
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok && lw.timeout > 0 {
		if d.SetWriteDeadline(time.Time{}) == nil {
			lw.deadline = d.SetWriteDeadline
			lw.now = newNowWriter(w)
		}
	}
	return lw
}

func (w *lineWriter) write(frame []byte) error {
	if bytes.IndexByte(frame, '\n') >= 0 {
		return errNewline
	}
	w.mu.Lock()
	if w.err != nil || w.draining {
		defer w.mu.Unlock()
		return w.refusedLocked()
	}
	if w.busy || w.head < len(w.queue) {
		done := w.enqueueLocked(frame)
		leads := !w.busy
		w.busy = true
		w.mu.Unlock()
		if leads {
			w.lead(0)
		}
		if done == nil {
			return nil
		}
		return <-done
	}
	w.busy = true
	w.mu.Unlock()
	return w.writeOwn(frame)
}

// writeOwn sends the frame of the caller that has become the writer, and then
// what others have queued.
func (w *lineWriter) writeOwn(frame []byte) error {
	left, err := w.sendOwn(frame)
	if err != nil {
		w.fail(err)
	}
	if left {
		w.flusher.Go(w.flush)
	} else {
		w.lead(1)
	}
	if err != nil {
		return lost(err)
	}
	return nil
}

// lead sends what is queued, and leaves the rest to the flusher after some turns
// or when the stream is full.
func (w *lineWriter) lead(made int) {
	for n := made; n < turns; n++ {
		more, full := w.sendQueued(false)
		if !more {
			return
		}
		if full {
			break
		}
	}
	w.flusher.Go(w.flush)
}

func (w *lineWriter) refusedLocked() error {
	if w.err != nil {
		return w.err
	}
	return ErrClosed
}

// enqueueLocked queues a frame. A small one is copied while there is room;
// otherwise the caller has to wait on the channel, which is what holds fast
// writers back. The queue keeps the order in either case.
func (w *lineWriter) enqueueLocked(frame []byte) chan error {
	size := len(frame) + 1
	if len(frame) >= bigFrame || w.pending+size > w.maxPending {
		done := make(chan error, 1)
		w.queue = append(w.queue, segment{frame, done})
		return done
	}
	if len(w.queue) == w.head || w.queue[len(w.queue)-1].done != nil {
		w.queue = append(w.queue, segment{data: w.spare[:0]})
		w.spare = nil
	}
	last := &w.queue[len(w.queue)-1]
	last.data = append(append(last.data, frame...), '\n')
	w.pending += size
	return nil
}

// sendOwn sends the frame of the caller that has become the writer. It
// reports whether a part was left for the flusher.
func (w *lineWriter) sendOwn(frame []byte) (left bool, err error) {
	if len(frame) >= bigFrame {
		return false, w.sendBig(frame)
	}
	w.scratch = append(append(w.scratch[:0], frame...), '\n')
	n, err := w.sendNow(w.scratch)
	if err != nil || n == len(w.scratch) {
		return false, err
	}
	w.putBack(bytes.Clone(w.scratch[n:]))
	return true, nil
}

// sendNow sends what the stream takes with little or no waiting, which is
// everything when the stream cannot tell.
func (w *lineWriter) sendNow(data []byte) (int, error) {
	if w.deadline == nil {
		return len(data), w.send(data)
	}
	if w.now != nil {
		if err := w.unlimited(); err != nil {
			return 0, err
		}
		return w.now.write(data)
	}
	if err := w.deadline(time.Now().Add(min(patience, w.timeout))); err != nil {
		return 0, err
	}
	n, err := w.w.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

// unlimited takes back the deadline of an earlier write.
func (w *lineWriter) unlimited() error {
	if !w.limited {
		return nil
	}
	w.limited = false
	return w.deadline(time.Time{})
}

// sendQueued sends the next of the queue. When there is nothing it gives up
// the role of writer and reports that there is no more. Who is not patient
// leaves what the stream does not take at once, unless somebody waits for it.
func (w *lineWriter) sendQueued(patient bool) (more, full bool) {
	w.mu.Lock()
	if w.err != nil || len(w.queue) == w.head {
		w.busy = false
		if w.draining {
			close(w.idle)
		}
		w.mu.Unlock()
		return false, false
	}
	data, waiting := w.nextLocked()
	w.mu.Unlock()

	if waiting == nil && !patient {
		n, err := w.sendNow(data)
		if err == nil && n < len(data) {
			w.putBack(data[n:])
			return true, true
		}
		w.sent(data, nil, err)
		return true, false
	}

	send := w.send
	if waiting != nil && len(data) >= bigFrame && data[len(data)-1] != '\n' {
		send = w.sendBig
	}
	w.sent(data, waiting, send(data))
	return true, false
}

// sent tells those who wait what became of their frames, and keeps the memory.
func (w *lineWriter) sent(data []byte, waiting []chan error, err error) {
	if err != nil {
		w.fail(err)
		err = lost(err)
	}
	for _, done := range waiting {
		done <- err
	}
	if waiting == nil && cap(data) <= bigFrame {
		w.mu.Lock()
		w.spare = data
		w.mu.Unlock()
	}
}

// putBack queues what the stream did not take, before everything else.
func (w *lineWriter) putBack(rest []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = slices.Insert(w.queue, w.head, segment{data: rest})
	w.pending += len(rest)
}

// nextLocked takes from the queue what goes into the next write, and those
// who wait for it. Small frames of several waiting callers are joined.
func (w *lineWriter) nextLocked() (data []byte, waiting []chan error) {
	first := w.popLocked()
	if first.done == nil {
		w.pending -= len(first.data)
		return first.data, nil
	}
	waiting = append(waiting, first.done)
	if len(first.data) >= bigFrame {
		return first.data, waiting
	}
	w.scratch = append(append(w.scratch[:0], first.data...), '\n')
	for len(w.scratch) < bigFrame && w.head < len(w.queue) {
		next := w.queue[w.head]
		if next.done == nil || len(next.data) >= bigFrame {
			break
		}
		w.popLocked()
		w.scratch = append(append(w.scratch, next.data...), '\n')
		waiting = append(waiting, next.done)
	}
	return w.scratch, waiting
}

func (w *lineWriter) popLocked() segment {
	first := w.queue[w.head]
	w.queue[w.head] = segment{}
	w.head++
	switch {
	case w.head == len(w.queue):
		w.queue, w.head = w.queue[:0], 0
	case w.head >= 64 && w.head > len(w.queue)/2:
		w.queue, w.head = slices.Delete(w.queue, 0, w.head), 0
	}
	return first
}

// flush is the flusher: it writes until the queue is empty.
func (w *lineWriter) flush() {
	for more := true; more; {
		more, _ = w.sendQueued(true)
	}
}

// sendBig sends a frame from the caller's memory, and its newline after it.
func (w *lineWriter) sendBig(frame []byte) error {
	if err := w.send(frame); err != nil {
		return err
	}
	w.scratch = append(w.scratch[:0], '\n')
	return w.send(w.scratch)
}

// send sends all of it, and waits for the stream to take it.
func (w *lineWriter) send(data []byte) error {
	if w.now != nil {
		if err := w.unlimited(); err != nil {
			return err
		}
		n, err := w.now.write(data)
		if err != nil {
			return err
		}
		data = data[n:]
	}
	for len(data) > 0 {
		step := data[:min(len(data), writeStep)]
		if w.deadline != nil {
			if err := w.deadline(time.Now().Add(w.timeout)); err != nil {
				return err
			}
			w.limited = true
		}
		if _, err := w.w.Write(step); err != nil {
			return err
		}
		data = data[len(step):]
	}
	return nil
}

// fail refuses all further frames, tells those who wait, and closes the stream.
func (w *lineWriter) fail(err error) {
	w.mu.Lock()
	first := w.err == nil
	if first {
		w.err = lost(err)
	}
	for w.head < len(w.queue) {
		if s := w.popLocked(); s.done != nil {
			s.done <- w.err
		}
	}
	w.pending = 0
	w.mu.Unlock()
	if first {
		w.failed()
	}
	_ = w.closeStream() // the reason is known already
}

func (w *lineWriter) closeStream() error {
	w.closing.Do(func() { w.closeErr = w.w.Close() })
	return w.closeErr
}

// close refuses further frames, lets the accepted ones leave for a moment, and
// closes the stream. It is called once.
func (w *lineWriter) close() error {
	w.mu.Lock()
	w.draining = true
	switch {
	case w.busy:
	case w.err == nil && w.head < len(w.queue):
		w.busy = true
		w.flusher.Go(w.flush)
	default:
		close(w.idle)
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.waitIdle()

	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	if err == nil {
		w.fail(ErrClosed)
	}
	err = w.closeStream()
	if w.waitIdle() {
		w.flusher.Wait()
	}
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

func (w *lineWriter) waitIdle() bool {
	t := time.NewTimer(drainTime)
	defer t.Stop()
	select {
	case <-w.idle:
		return true
	case <-t.C:
		return false
	}
}
