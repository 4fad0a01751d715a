package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// LineOptions adjusts [Lines]. The zero value, and nil, mean the defaults.
type LineOptions struct {
	// MaxFrame is the largest frame that Read returns, in bytes; 64 MiB when
	// zero. The rest of a larger one is skipped without being kept.
	MaxFrame int
	// MaxPending bounds the bytes that wait while another write is in
	// progress; 1 MiB when zero. Over it, Write waits.
	MaxPending int
	// WriteTimeout is how long the peer may take nothing before it counts as
	// dead and the connection is closed; 30 s when zero, no limit when
	// negative. It needs a stream with a SetWriteDeadline method.
	WriteTimeout time.Duration
}

func (o *LineOptions) maxFrame() int {
	if o == nil || o.MaxFrame <= 0 {
		return 64 << 20
	}
	return o.MaxFrame
}

func (o *LineOptions) maxPending() int {
	if o == nil || o.MaxPending <= 0 {
		return 1 << 20
	}
	return o.MaxPending
}

func (o *LineOptions) writeTimeout() time.Duration {
	if o == nil || o.WriteTimeout == 0 {
		return 30 * time.Second
	}
	return o.WriteTimeout
}

const (
	readBuffer = 32 << 10
	// drainTime bounds how long Close waits for frames that were accepted but
	// not yet written, and again for a write to notice that its stream is closed.
	drainTime = 100 * time.Millisecond
	// lingerTime is how long Read may go on after a write has failed, for
	// what the peer had said before it stopped listening.
	lingerTime = 500 * time.Millisecond
)

// Lines returns a Conn that frames with newlines, as the stdio transport
// does, over any two streams. Blank lines are skipped, CRLF is accepted, and a
// last line that lacks its newline is a frame.
//
// Small frames that are written while a write is in progress leave together
// in the next one, so that a Write may return before its frame has left; Close
// waits a moment for them. A frame with a newline in it is refused.
//
// Close closes w and then r. For it to unblock Read and Write, closing the
// streams must do so, as it does for pipes, sockets and io.Pipe.
func Lines(r io.ReadCloser, w io.WriteCloser, opts *LineOptions) Conn {
	c := &lineConn{r: r, br: bufio.NewReaderSize(r, readBuffer), maxFrame: opts.maxFrame()}
	c.out = newLineWriter(w, opts, c.writeFailed)
	return c
}

type lineConn struct {
	r        io.ReadCloser
	br       *bufio.Reader
	maxFrame int
	skipping bool // the rest of a too large line is still to come

	out *lineWriter

	closing   sync.Once
	closed    atomic.Bool
	closeErr  error
	endReader sync.Once

	mu     sync.Mutex
	linger *time.Timer // nil until a write fails
}

func (c *lineConn) Read() ([]byte, error) {
	for {
		line, err := c.readLine()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err == nil {
			continue
		}
		if _, ok := errors.AsType[*FrameTooLargeError](err); ok {
			return nil, err
		}
		if c.closed.Load() || errors.Is(err, os.ErrClosed) {
			return nil, ErrClosed
		}
		return nil, err
	}
}

// readLine returns the next line, newly allocated and without its newline. At
// the end of the stream the rest comes together with the error.
func (c *lineConn) readLine() ([]byte, error) {
	for c.skipping {
		_, err := c.br.ReadSlice('\n')
		c.skipping = err == bufio.ErrBufferFull
		if err != nil && !c.skipping {
			return nil, err
		}
	}
	// The parts of a long line are joined once its length is known: at most
	// twice the frame is held, and nothing is over-allocated.
	var parts [][]byte
	size := 0
	for {
		part, err := c.br.ReadSlice('\n')
		if err == nil {
			part = bytes.TrimSuffix(part[:len(part)-1], []byte{'\r'})
		}
		size += len(part)
		more := err == bufio.ErrBufferFull
		// A line not yet complete may end in the CR of a CRLF.
		if size > c.maxFrame+1 || !more && size > c.maxFrame {
			c.skipping = more
			return nil, &FrameTooLargeError{Limit: c.maxFrame}
		}
		part = bytes.Clone(part)
		if !more && parts == nil {
			return part, err
		}
		parts = append(parts, part)
		if !more {
			return bytes.Join(parts, nil), err
		}
	}
}

func (c *lineConn) Write(frame []byte) error { return c.out.write(frame) }

// Waiting reports whether a frame has arrived: see Conn.
func (c *lineConn) Waiting() bool {
	arrived, _ := c.br.Peek(c.br.Buffered())
	return bytes.IndexByte(arrived, '\n') >= 0
}

// WriteLater lets a frame wait for others: see Conn.
func (c *lineConn) WriteLater(frame []byte) error { return c.out.writeLater(frame) }

// Flush has the frames sent that wait: see Conn.
func (c *lineConn) Flush() { c.out.sendWaiting() }

// WriteSoon lets a frame wait for others: see Conn.
func (c *lineConn) WriteSoon(frame []byte) error { return c.out.writeSoon(frame) }

// writeFailed is called once, when a write has failed.
func (c *lineConn) writeFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linger = time.AfterFunc(lingerTime, c.closeReader)
}

func (c *lineConn) Close() error {
	c.closing.Do(func() {
		c.closed.Store(true)
		c.closeErr = c.out.close()
		c.closeReader()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.linger != nil {
			c.linger.Stop()
		}
	})
	return c.closeErr
}

// closeReader closes r, whose error says nothing that matters any more.
func (c *lineConn) closeReader() {
	c.endReader.Do(func() { _ = c.r.Close() })
}
