package server

import (
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
// to wait for it.
type reader struct {
	d     *duplex
	timer *time.Timer
	ended chan error // of size 1: how reading ended

	runs uint64 // requests run by whoever had the role; belongs to the role
	// running is the number of the request that whoever has the role is
	// running. Who sets it to 0 has the role: that goroutine or the timer.
	running atomic.Uint64
}

func newReader(d *duplex) *reader {
	r := &reader{d: d, ended: make(chan error, 1)}
	r.timer = time.AfterFunc(time.Hour, r.goOn)
	r.timer.Stop()
	return r
}

// wait reads until the client ends the connection. Requests are not run in the
// goroutine of the caller, who must not depend on them.
func (r *reader) wait() error {
	r.d.crew.wg.Go(r.read)
	return <-r.ended
}

// read handles frames until the connection ends or the role is lost.
func (r *reader) read() {
	for {
		frame, err := r.d.conn.Read()
		if large, ok := errors.AsType[*transport.FrameTooLargeError](err); ok {
			r.d.write(&Response{Error: jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", large)})
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			r.ended <- err
			return
		}
		task := r.d.frame(frame)
		switch {
		case task == nil:
		case r.more():
			r.d.crew.run(task)
		case !r.run(task):
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
func (r *reader) run(task func()) bool {
	r.runs++
	run := r.runs
	r.running.Store(run)
	r.timer.Reset(takeOver)
	task()
	if !r.running.CompareAndSwap(run, 0) {
		return false
	}
	r.timer.Stop()
	return true
}

// goOn takes the role from a goroutine that runs a request. It may come late, and
// find another request than the one it was meant for: that does no harm.
func (r *reader) goOn() {
	if run := r.running.Load(); run != 0 && r.running.CompareAndSwap(run, 0) {
		r.d.crew.wg.Go(r.read)
	}
}
