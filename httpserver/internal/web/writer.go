package web

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// piece is the most bytes written under one deadline. What is small stays in
// net/http's buffer, together with its headers, and needs none.
const (
	piece = 64 << 10
	small = 2 << 10
)

// Events that are not urgent wait for others for up to JoinTime, and until there
// are joinSize bytes.
const (
	JoinTime = 300 * time.Microsecond
	joinSize = 32 << 10
)

// A Writer writes one answer. Each write has a deadline of its own, so that a
// client that does not read cannot hold a request for ever, and one that reads
// can do so for as long as it takes.
type Writer struct {
	W       http.ResponseWriter
	control *http.ResponseController // nil until needed
	timeout time.Duration
	// managed tells that net/http sets a deadline for every request: then ours
	// must replace it, and need not be removed.
	managed bool
	timed   bool // a deadline is set
	chunked bool // a stream is sent in chunks

	held   *bytes.Buffer // events that wait; nil until there are any
	joined time.Time     // when events that do not wait for others were last sent
}

// Reset makes the writer ready for an answer to r, whose body has been read.
// From here on the time-outs of the http.Server do not count: they are for
// whole requests, and would end streams.
func (o *Writer) Reset(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	*o = Writer{W: w, timeout: timeout, chunked: r.ProtoMajor == 1 && r.ProtoMinor > 0}
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

func (o *Writer) controller() *http.ResponseController {
	if o.control == nil {
		o.control = http.NewResponseController(o.W)
	}
	return o.control
}

// Finish removes the deadline, which would hit the next request on the same
// connection.
func (o *Writer) Finish() {
	if o.timed && !o.managed {
		_ = o.controller().SetWriteDeadline(time.Time{})
	}
	jsonrpc.PutBuffer(o.held) // which may be nil
	*o = Writer{}
}

// write writes what waits, and then b.
func (o *Writer) write(b []byte) error {
	if o.Holds() {
		if err := o.pieces(o.held.Bytes()); err != nil {
			return err
		}
		o.held.Reset()
	}
	return o.pieces(b)
}

func (o *Writer) pieces(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), piece)
		if err := o.allow(); err != nil {
			return err
		}
		if _, err := o.W.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// allow gives what is written next its time.
func (o *Writer) allow() error {
	o.timed = true
	if err := o.controller().SetWriteDeadline(time.Now().Add(o.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// flush sends what net/http has in its buffer.
func (o *Writer) flush() error {
	if err := o.controller().Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// Whole writes an answer in one piece, whose headers are complete but for its
// length.
func (o *Writer) Whole(status int, b []byte) error {
	if len(b) <= small && !o.managed {
		o.W.WriteHeader(status) // net/http finds out the length of what fits in its buffer
		_, err := o.W.Write(b)
		return err
	}
	o.W.Header()["Content-Length"] = []string{strconv.Itoa(len(b))}
	o.W.WriteHeader(status)
	if err := o.write(b); err != nil {
		return err
	}
	return o.flush()
}

// Open begins an event stream. The client sees its head at once.
func (o *Writer) Open() error {
	header := o.W.Header()
	header["Content-Type"] = TypeSSE
	header["Cache-Control"] = noCache
	header[httpwire.HeaderAccelBuffering] = noBuffer
	if err := o.allow(); err != nil {
		return err
	}
	o.W.WriteHeader(http.StatusOK)
	return o.flush()
}

// Event sends one message.
func (o *Writer) Event(frame []byte) error { return o.EventAs(httpwire.Event{}, frame) }

// EventAs sends one message with the id, name and retry time of e. The message
// may be empty.
func (o *Writer) EventAs(e httpwire.Event, frame []byte) error {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	httpwire.BeginEvent(buf, e)
	buf.Write(frame)
	return o.EndEvent(buf)
}

// EventSoon is EventAs for events that are many and not urgent. One that comes
// soon after another waits for more, which Holds then reports.
func (o *Writer) EventSoon(e httpwire.Event, frame []byte) error {
	now := time.Now()
	if !o.Holds() && now.Sub(o.joined) >= JoinTime {
		o.joined = now
		return o.EventAs(e, frame)
	}
	if o.held == nil {
		o.held = jsonrpc.GetBuffer()
	}
	httpwire.BeginEvent(o.held, e)
	o.held.Write(frame)
	httpwire.EndEvent(o.held)
	if o.held.Len() < joinSize {
		return nil
	}
	o.joined = now
	return o.Release()
}

// Holds reports whether events wait.
func (o *Writer) Holds() bool { return o.held != nil && o.held.Len() > 0 }

// Release sends the events that wait.
func (o *Writer) Release() error {
	if !o.Holds() {
		return nil
	}
	if err := o.write(nil); err != nil {
		return err
	}
	return o.flush()
}

// End ends a stream, and its connection, while the handler goes on. It reports
// false where net/http does not let go of the connection: with HTTP/2, and behind
// middleware that hides it. Nothing can be written afterwards.
func (o *Writer) End() bool {
	if o.Release() != nil {
		return false
	}
	conn, _, err := o.controller().Hijack()
	if err != nil {
		return false
	}
	_ = conn.SetWriteDeadline(time.Now().Add(o.timeout))
	if o.chunked {
		_, _ = conn.Write([]byte("0\r\n\r\n")) // the last chunk; who does not get it sees the end as well
	}
	_ = conn.Close()
	*o = Writer{}
	return true
}

// EndEvent sends an event that was begun in buf.
func (o *Writer) EndEvent(buf *bytes.Buffer) error {
	httpwire.EndEvent(buf)
	if err := o.write(buf.Bytes()); err != nil {
		return err
	}
	return o.flush()
}

// Comment sends what readers skip.
func (o *Writer) Comment() error {
	if err := o.write([]byte(httpwire.KeepAlive)); err != nil {
		return err
	}
	return o.flush()
}
