package httpwire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
)

// DefaultEventLimit is the size of an event, in bytes, that a Reader without a
// limit of its own accepts.
const DefaultEventLimit = 64 << 20

// ErrEventTooLarge is returned by [Reader.Next] for an event over the limit.
// The stream cannot be read further.
var ErrEventTooLarge = errors.New("server-sent event is too large")

// A Reader reads server-sent events as they arrive: an event is returned once
// its last byte is there, without waiting for what follows.
type Reader struct {
	in     *bufio.Reader
	limit  int
	err    error
	begun  bool // the first line, which may have a byte order mark, was read
	skipLF bool // the last line ended in CR: a LF that follows belongs to it

	line    []byte // a line that did not come in one piece
	event   Event  // the event being read
	hasData bool
	nextID  string // what lastID will be when the event is complete
	lastID  string
	retry   time.Duration
}

// NewReader returns a Reader of r that refuses events of more than limit bytes;
// zero means DefaultEventLimit.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultEventLimit
	}
	return &Reader{in: bufio.NewReader(r), limit: limit}
}

// Reset makes the Reader read r as if it were new, keeping its buffer and limit.
func (r *Reader) Reset(in io.Reader) {
	r.in.Reset(in)
	*r = Reader{in: r.in, limit: r.limit}
}

// LastID returns the id that was received last, with which a client asks the
// server to go on after it. It may come without an event. That of an event
// whose end has not come does not count.
func (r *Reader) LastID() string { return r.lastID }

// Retry returns the time the server last asked to wait before reconnecting;
// zero when it did not.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. Its data belongs to the caller. At the end of
// the stream it returns io.EOF, or io.ErrUnexpectedEOF when the stream ends
// within an event, which is dropped. After an error it goes on returning it.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		line, err := r.readLine()
		if err != nil {
			r.fail(err)
			break
		}
		if len(line) > 0 {
			r.field(line)
			r.reuseLine()
			continue
		}
		r.reuseLine()
		event, ok := r.event, r.hasData
		r.event, r.hasData, r.lastID = Event{}, false, r.nextID
		if ok {
			return event, nil
		}
	}
	return Event{}, r.err
}

// reuseLine empties the line buffer and lets go of a big one.
func (r *Reader) reuseLine() {
	if r.line = r.line[:0]; cap(r.line) > 64<<10 {
		r.line = nil
	}
}

func (r *Reader) fail(err error) {
	if errors.Is(err, io.EOF) && (r.hasData || len(r.line) > 0) {
		err = io.ErrUnexpectedEOF
	}
	r.err, r.line, r.event = err, nil, Event{}
}

// readLine returns the next line without its end. The line is valid until the
// next read; it is r.line if it did not come in one piece.
func (r *Reader) readLine() ([]byte, error) {
	for {
		if _, err := r.in.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := r.in.Peek(r.in.Buffered())
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				_, _ = r.in.Discard(1)
				continue
			}
		}
		end := lineEnd(chunk)
		if size := len(r.line) + len(r.event.Data) + end; size > r.limit {
			return nil, ErrEventTooLarge
		}
		if end == len(chunk) {
			r.line = append(r.line, chunk...)
			_, _ = r.in.Discard(end)
			continue
		}
		r.skipLF = chunk[end] == '\r'
		line := chunk[:end]
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		// Discarding leaves the bytes in the buffer until it is filled again.
		_, _ = r.in.Discard(end + 1)
		if !r.begun {
			r.begun = true
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		return line, nil
	}
}

// lineEnd returns the index of the first line end in b, or len(b).
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	if i := bytes.IndexByte(b, '\r'); i >= 0 {
		b = b[:i]
	}
	return len(b)
}

func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		r.data(value)
	case "event":
		r.event.Name = intern(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.event.ID = string(value)
			r.nextID = r.event.ID
		}
	case "retry":
		if d, ok := milliseconds(value); ok {
			r.event.Retry, r.retry = d, d
		}
	}
}

func (r *Reader) data(value []byte) {
	switch {
	case r.hasData:
		r.event.Data = append(append(r.event.Data, '\n'), value...)
	case len(r.line) > 0:
		// The line was put together in memory of its own: no need to copy it.
		r.event.Data, r.line = value, nil
	default:
		r.event.Data = bytes.Clone(value)
	}
	r.hasData = true
}

// intern spares an allocation for the names that occur.
func intern(name []byte) string {
	switch string(name) {
	case "message":
		return "message"
	case "endpoint":
		return "endpoint"
	}
	return string(name)
}

// milliseconds reads the value of a retry field, which is ASCII digits only.
func milliseconds(value []byte) (time.Duration, bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n > math.MaxInt64/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(n) * time.Millisecond, true
}
