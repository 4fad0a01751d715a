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
// another one reads on.
const takeOver = 200 * time.Microsecond

// A reader is the role of reading a connection. The goroutine that has the role
// runs a request by itself when nothing else has come: to hand a lone request to
// another goroutine costs several times what most requests do. When it takes
// its time the timer gives the role to a new goroutine, so that nothing else has
// to wait for it. Messages that are handled in order keep the role, unless their
// handler asks the client: the answer has to be read.
type reader struct {
	d     *duplex
	timer *time.Timer
	ended chan error // of size 1: how reading ended

	turns uint64 // frames read; belongs to the role
	// handling is the number of the frame whose messages, those that are handled
	// in order, whoever has the role is handling, and running that of the
	// frame whose request it is running. Who sets the one that is not 0 to 0 has
	// the role: that goroutine, the message that waits, or the timer.
	handling, running atomic.Uint64
}

func newReader(d *duplex) *reader {
	r := &reader{d: d, ended: make(chan error, 1)}
	r.timer = time.AfterFunc(time.Hour, r.goOn)
	r.timer.Stop()
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
		case r.more():
			r.d.crew.run(t)
		case !r.run(t, turn):
			return
		}
	}
}

// more reports whether more has come already, or may have.
func (r *reader) more() bool {
	c, ok := r.d.conn.(interface{ Waiting() bool })
	return !ok || c.Waiting()
}

// run runs a request, and reports whether the role has not been lost meanwhile.
func (r *reader) run(t task, turn uint64) bool {
	r.running.Store(turn)
	r.timer.Reset(takeOver)
	t.run()
	if !r.running.CompareAndSwap(turn, 0) {
		return false
	}
	r.timer.Stop()
	return true
}

// goOn takes the role from a goroutine that runs a request. It may come late, and
// find another request than the one it was meant for: that does no harm.
func (r *reader) goOn() {
	if turn := r.running.Load(); turn != 0 && r.running.CompareAndSwap(turn, 0) {
		r.d.crew.wg.Go(r.read)
	}
}

// yield takes the role from the goroutine that handles a frame, because one of its
// messages waits for something that has yet to be read.
func (r *reader) yield(turn uint64) {
	if r.handling.CompareAndSwap(turn, 0) {
		r.d.crew.wg.Go(r.read)
	}
}
