package transport

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// closeTime bounds how long Close waits for a Conn that does not let go of its reader.
const closeTime = time.Second

// A StrayReceiver is a Receiver that is also told what had to be dropped: a
// frame that is no message, or is over the limit (frame is nil), and a response
// to no request, such as one that came after its request was given up.
type StrayReceiver interface {
	Receiver
	// Stray is called like Receive. The frame must not be changed or kept.
	Stray(frame []byte, reason error)
}

// Duplex makes a RoundTripper of a Conn, which it owns from then on. One
// goroutine reads until the connection ends; it calls recv, which may be nil
// for a client that takes nothing. Receive must not call Close.
//
// When the connection is lost, requests in flight fail with a *ClosedError. A
// Conn that also has a method WriteContext(context.Context, []byte) error is
// written to with that, and can give up when the caller does.
func Duplex(conn Conn, recv Receiver) RoundTripper {
	d := &duplex{
		conn:    conn,
		write:   func(_ context.Context, frame []byte) error { return conn.Write(frame) },
		recv:    recv,
		pending: make(map[jsonrpc.ID]*call),
		done:    make(chan struct{}),
		ended:   make(chan struct{}),
	}
	d.calls.New = func() any { return &call{answer: make(chan answer, 1)} }
	d.stray, _ = recv.(StrayReceiver)
	d.joint, _ = conn.(jointWriter)
	c, blocks := conn.(contextWriter)
	if blocks {
		d.write = c.WriteContext
	}
	d.reader.Go(d.read)
	if blocks {
		return struct{ RoundTripper }{d} // Abandon does not end a write, as contexts do
	}
	return d
}

// A jointWriter is a Conn whose frames can leave together.
type jointWriter interface {
	WriteLater(frame []byte) error
	Flush()
}

type contextWriter interface {
	WriteContext(ctx context.Context, frame []byte) error
}

type duplex struct {
	conn  Conn
	write func(ctx context.Context, frame []byte) error // of conn
	recv  Receiver
	stray StrayReceiver // recv, or nil

	joint   jointWriter // conn, or nil
	joining atomic.Bool // a caller is about to write what the others have written

	reader sync.WaitGroup // the goroutine that reads
	ended  chan struct{}  // closed when it has ended
	done   chan struct{}
	calls  sync.Pool // of *call; a global one would share channels between synctest bubbles

	mu      sync.Mutex
	pending map[jsonrpc.ID]*call
	err     error // why done is closed
}

// A call is a request in flight. It gets exactly one answer, from whoever
// takes it out of the table, unless its own RoundTrip does.
type call struct {
	answer chan answer // of size 1
}

type answer struct {
	message jsonrpc.Message
	err     error
}

func (d *duplex) RoundTrip(ctx context.Context, m *Outgoing) (Response, error) {
	if ctx.Err() != nil {
		return Response{}, context.Cause(ctx)
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := encodeRequest(buf, m); err != nil {
		return Response{}, err
	}
	c := d.calls.Get().(*call)
	others, err := d.add(m.ID, c)
	if err != nil {
		return Response{}, err
	}
	if others {
		err = d.writeJoined(ctx, buf.Bytes())
	} else {
		err = d.write(ctx, buf.Bytes())
	}
	if err != nil {
		d.forget(m.ID, c)
		return Response{}, writeError(err)
	}
	select {
	case a := <-c.answer:
		d.calls.Put(c)
		return Response{Message: a.message}, a.err
	case <-ctx.Done():
		// c is not used again: its answer may be on the way.
		d.forget(m.ID, c)
		return Response{}, context.Cause(ctx)
	}
}

// writeJoined is write for the request of one of several callers. When answers
// have come together their callers go on together, so the first of them that
// calls again lets the others go first, and writes what they have written.
func (d *duplex) writeJoined(ctx context.Context, frame []byte) error {
	if d.joint == nil {
		return d.write(ctx, frame)
	}
	if d.joining.CompareAndSwap(false, true) {
		runtime.Gosched()
		d.joining.Store(false)
		return d.write(ctx, frame)
	}
	err := d.joint.WriteLater(frame)
	if !d.joining.Load() { // it may have come too late for the one that writes
		d.joint.Flush()
	}
	return err
}

// add reports whether there are other requests in flight.
func (d *duplex) add(id jsonrpc.ID, c *call) (others bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return false, d.err
	}
	if _, dup := d.pending[id]; dup {
		return false, fmt.Errorf("request id %s is in flight already", id)
	}
	d.pending[id] = c
	return len(d.pending) > 1, nil
}

func (d *duplex) forget(id jsonrpc.ID, c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[id] == c {
		delete(d.pending, id)
	}
}

func (d *duplex) take(id jsonrpc.ID) *call {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.pending[id]
	delete(d.pending, id)
	return c
}

// Abandon ends a RoundTrip: see RoundTripper.
func (d *duplex) Abandon(id jsonrpc.ID, reason error) bool {
	c := d.take(id)
	if c != nil {
		c.answer <- answer{err: reason}
	}
	return c != nil
}

func (d *duplex) Send(ctx context.Context, m *Outgoing) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := d.Err(); err != nil {
		return err
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := encodeOneWay(buf, m); err != nil {
		return err
	}
	return writeError(d.write(ctx, buf.Bytes()))
}

// writeError adds what was done to an error that does not say so itself.
func writeError(err error) error {
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("write frame: %w", err)
}

func (d *duplex) Done() <-chan struct{} { return d.done }

func (d *duplex) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *duplex) Close() error {
	d.end(ErrClosed)
	err := d.conn.Close()
	t := time.NewTimer(closeTime)
	defer t.Stop()
	select {
	case <-d.ended:
		d.reader.Wait()
		return err
	case <-t.C:
		return errors.Join(err, errors.New("connection does not stop reading"))
	}
}

// end notes why the connection is over and fails what is in flight.
func (d *duplex) end(reason error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return
	}
	d.err = reason
	close(d.done)
	for _, c := range d.pending {
		c.answer <- answer{err: reason}
	}
	clear(d.pending)
}

func (d *duplex) read() {
	defer close(d.ended)
	for {
		frame, err := d.conn.Read()
		if err == nil {
			d.frame(frame)
			continue
		}
		if _, ok := errors.AsType[*FrameTooLargeError](err); ok {
			d.drop(nil, err)
			continue
		}
		d.end(lost(err))
		return
	}
}

// frame takes one frame apart. Batches are read whatever the revision: some
// servers send them where they should not.
func (d *duplex) frame(frame []byte) {
	if !jsonrpc.IsBatch(frame) {
		m, err := jsonrpc.Decode(frame)
		d.message(frame, m, err)
		return
	}
	items, err := jsonrpc.DecodeBatch(frame)
	if err != nil {
		d.drop(frame, err)
		return
	}
	for _, item := range items {
		d.message(frame, item.Message, item.Err)
	}
}

func (d *duplex) message(frame []byte, m jsonrpc.Message, err error) {
	if err == nil && m.Kind() != jsonrpc.Response {
		if d.recv != nil {
			d.recv.Receive(m, jsonrpc.ID{})
		}
		return
	}
	// A response that cannot be read ends its request rather than leaving it
	// to its time-out.
	if m.Method == "" && !m.ID.IsZero() {
		if c := d.take(m.ID); c != nil {
			if err != nil {
				c.answer <- answer{err: &MalformedError{Problem: err.Error()}}
				return
			}
			c.answer <- answer{message: m}
			return
		}
	}
	if err == nil {
		err = fmt.Errorf("response to unknown request %q", m.ID)
	}
	d.drop(frame, err)
}

func (d *duplex) drop(frame []byte, reason error) {
	if d.stray != nil {
		d.stray.Stray(frame, reason)
	}
}
