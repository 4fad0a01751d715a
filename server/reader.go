package server

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// takeOver is how long a request may run in the goroutine that reads before
// another one reads on. The watch looks twice in that time.
const takeOver = 200 * time.Microsecond

const (
	// quick is how many requests have to be run between two looks of the watch for
	// more of them to be run in the goroutine that reads.
	quick = 4
	// apart is how many frames it takes, after requests were slow, until those
	// that come together are tried in the goroutine that reads again.
	apart = 64
)

// A reader is the role of reading a connection. The goroutine that has the role
// runs requests by itself, one after the other, and their responses leave together
// before it waits for more: to hand a request to another goroutine, and to write its
// response alone, costs several times what most requests do. When one takes its
// time the watch gives the role to a new goroutine, so that nothing else has
// to wait for it; those that come together are then given to the crew for a while.
// Messages that are handled in order keep the role, unless their
// handler asks the client: the answer has to be read.
type reader struct {
	d     *duplex
	conn  joiner     // nil when the connection does not tell what waits
	ended chan error // of size 1: how reading ended

	turns uint64 // frames read; belongs to the role
	// handling is the number of the frame whose messages, those that are handled
	// in order, whoever has the role is handling, and running that of the
	// frame whose request it is running. Who sets the one that is not 0 to 0 has
	// the role: that goroutine, the message that waits, or the watch.
	handling, running atomic.Uint64

	watch    *time.Timer
	watching atomic.Bool   // the watch is on
	seen     atomic.Uint64 // what ran when the watch was last looking
	slow     atomic.Uint64 // the frame up to which the crew runs what comes together
}

// A joiner is a connection that knows what waits to be read, and on which what
// is written can wait for more: see transport.Conn.
type joiner interface {
	Waiting() bool
	WriteLater(frame []byte) error
	Flush()
}

func newReader(d *duplex) *reader {
	r := &reader{d: d, ended: make(chan error, 1)}
	r.conn, _ = d.conn.(joiner)
	r.watch = time.AfterFunc(time.Hour, r.look)
	r.watch.Stop()
	return r
}

// wait reads until the client ends the connection, or a moment after ctx has
// ended. Nothing is handled in the goroutine of the caller, who must not depend
// on it.
func (r *reader) wait(ctx context.Context) error {
	r.d.crew.wg.Go(r.read)
	select {
	case err := <-r.ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(abandon)
	defer timer.Stop()
	select {
	case err := <-r.ended:
		return err
	case <-timer.C:
		return nil // whatever is handled in order ignores its context
	}
}

// read handles frames until the connection ends or the role is lost.
func (r *reader) read() {
	for {
		if !r.more() {
			r.rest()
		}
		frame, err := r.d.conn.Read()
		if large, ok := errors.AsType[*transport.FrameTooLargeError](err); ok {
			r.d.reply(&Response{Error: jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", large)})
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			r.ended <- err
			return
		}
		r.turns++
		turn := r.turns
		r.handling.Store(turn)
		t, left := r.d.frame(frame, turn)
		if !r.handling.CompareAndSwap(turn, 0) {
			return // and there is no task: the frame was handled in order
		}
		switch {
		case !left:
		case r.conn == nil, turn < r.slow.Load() && r.more():
			r.rest()
			r.d.crew.run(t)
		case !r.run(t, turn):
			return
		}
	}
}

// more reports whether there is more to read without waiting.
func (r *reader) more() bool { return r.conn != nil && r.conn.Waiting() }

// rest is called when nothing is run here for now.
func (r *reader) rest() {
	if r.watching.CompareAndSwap(true, false) {
		r.watch.Stop()
	}
	r.flush()
}

// flush sends the responses that wait for others.
func (r *reader) flush() {
	if r.conn != nil {
		r.conn.Flush()
	}
}

// run runs a request, and reports whether the role has not been lost meanwhile.
func (r *reader) run(t task, turn uint64) bool {
	if r.more() {
		t.to = r // else its response leaves at once, and takes along what waits
	}
	r.running.Store(turn)
	r.attend(turn)
	t.run()
	if r.running.CompareAndSwap(turn, 0) {
		return true
	}
	r.flush() // whoever has the role now may be waiting already
	return false
}

// reply sends the response to one of several requests that have come together.
func (r *reader) reply(response *Response) { r.d.send(response, r.conn.WriteLater) }

// attend sees to it that the watch is on.
func (r *reader) attend(turn uint64) {
	if r.watching.CompareAndSwap(false, true) {
		r.seen.Store(turn)
		r.watch.Reset(takeOver / 2)
	}
}

// look is what the watch does. It may come late, and find another request than
// the one it was meant for: that does no harm.
func (r *reader) look() {
	r.flush()
	turn := r.running.Load()
	if turn == 0 { // for the moment, or nothing comes: the next request calls again
		r.watching.Store(false)
		if turn = r.running.Load(); turn != 0 {
			r.attend(turn)
		}
		return
	}
	seen := r.seen.Swap(turn)
	if turn-seen < quick {
		r.slow.Store(turn + apart)
	}
	if turn == seen && r.pass(&r.running, turn) {
		return
	}
	r.watch.Reset(takeOver / 2)
}

// yield takes the role from the goroutine that handles a frame, because one of its
// messages waits for something that has yet to be read.
func (r *reader) yield(turn uint64) {
	if !r.pass(&r.handling, turn) {
		r.pass(&r.running, turn)
	}
}

// pass gives the role to a new goroutine if it is held for this turn.
func (r *reader) pass(held *atomic.Uint64, turn uint64) bool {
	if !held.CompareAndSwap(turn, 0) {
		return false
	}
	r.watching.Store(false)
	r.d.crew.wg.Go(r.read)
	return true
}
