package httpserver

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// piece is the most bytes written under one deadline. What is smaller than
// net/http's own buffer needs none.
const (
	piece = 64 << 10
	small = 4 << 10
)

// A writer writes one answer. Each write has a deadline of its own, so that a
// client that does not read cannot hold a request for ever, and one that reads
// can do so for as long as it takes.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController // nil until needed
	timeout time.Duration
	// managed tells that net/http sets a deadline for every request: then ours
	// must replace it, and need not be removed.
	managed bool
	timed   bool // a deadline is set
}

// reset makes the writer ready for an answer to r, whose body has been read.
// From here on the time-outs of the http.Server do not count: they are for
// whole requests, and would end streams.
func (o *writer) reset(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	*o = writer{w: w, timeout: timeout}
	srv, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if srv == nil {
		return
	}
	if srv.ReadTimeout > 0 {
		_ = o.controller().SetReadDeadline(time.Time{}) // not supported: nothing to lift
	}
	if o.managed = srv.WriteTimeout > 0; o.managed {
		_ = o.controller().SetWriteDeadline(time.Time{})
	}
}

func (o *writer) controller() *http.ResponseController {
	if o.control == nil {
		o.control = http.NewResponseController(o.w)
	}
	return o.control
}

// finish removes the deadline, which would hit the next request on the same
// connection.
func (o *writer) finish() {
	if o.timed && !o.managed {
		_ = o.controller().SetWriteDeadline(time.Time{})
	}
	o.w = nil
	o.control = nil
}

func (o *writer) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), piece)
		o.timed = true
		if err := o.controller().SetWriteDeadline(time.Now().Add(o.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := o.w.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// flush sends what net/http has in its buffer.
func (o *writer) flush() error {
	if err := o.controller().Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// whole writes an answer in one piece, whose headers are complete.
func (o *writer) whole(b []byte) error {
	if len(b) <= small && !o.managed {
		_, err := o.w.Write(b)
		return err
	}
	if err := o.write(b); err != nil {
		return err
	}
	return o.flush()
}

// open begins an event stream. The client sees its head at once.
func (o *writer) open() error {
	header := o.w.Header()
	header["Content-Type"] = typeSSE
	header["Cache-Control"] = noCache
	header[httpwire.HeaderAccelBuffering] = noBuffer
	o.w.WriteHeader(http.StatusOK)
	return o.flush()
}

// event sends one message.
func (o *writer) event(frame []byte) error {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	httpwire.BeginEvent(buf, httpwire.Event{})
	buf.Write(frame)
	return o.endEvent(buf)
}

// endEvent sends an event that was begun in buf.
func (o *writer) endEvent(buf *bytes.Buffer) error {
	httpwire.EndEvent(buf)
	if err := o.write(buf.Bytes()); err != nil {
		return err
	}
	return o.flush()
}

// comment sends what readers skip.
func (o *writer) comment() error {
	if err := o.write([]byte(httpwire.KeepAlive)); err != nil {
		return err
	}
	return o.flush()
}
