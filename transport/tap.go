package transport

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// TapConn returns c with every frame shown to see, which is called by one
// goroutine at a time and must be quick. A frame is shown before it is
// written, so that it comes before what it leads to.
func TapConn(c Conn, see func(Frame)) Conn { return &tapConn{Conn: c, tap: &tap{see: see}} }

// Tap returns t with every message shown to see, as by [TapConn]. For
// a transport that is a Conn underneath, as those of this package are, the
// frames are shown as they are on the wire; for others, such as HTTP, each
// message is encoded as a frame for the purpose.
func Tap(t Transport, see func(Frame)) Transport {
	if c, ok := t.(connector); ok {
		return dialer(func(ctx context.Context) (Conn, error) {
			conn, err := c.connect(ctx)
			if err != nil {
				return nil, err
			}
			return TapConn(conn, see), nil
		})
	}
	return &tapTransport{t, &tap{see: see}}
}

// A tap calls see from one goroutine at a time.
type tap struct {
	mu  sync.Mutex
	see func(Frame)
}

func (t *tap) show(d Direction, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.see(Frame{Time: time.Now(), Direction: d, Data: data})
}

// encode shows what write writes; what cannot be encoded will not be sent either.
func (t *tap) encode(d Direction, write func(*bytes.Buffer) error) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if write(buf) == nil {
		t.show(d, buf.Bytes())
	}
}

type tapConn struct {
	Conn
	tap *tap
}

func (c *tapConn) Read() ([]byte, error) {
	frame, err := c.Conn.Read()
	if err == nil {
		c.tap.show(Received, frame)
	}
	return frame, err
}

func (c *tapConn) Write(frame []byte) error {
	c.tap.show(Sent, frame)
	return c.Conn.Write(frame)
}

// Waiting reports whether a frame has arrived: see Conn.
func (c *tapConn) Waiting() bool {
	w, ok := c.Conn.(interface{ Waiting() bool })
	return ok && w.Waiting()
}

// WriteLater lets a frame wait for others: see Conn.
func (c *tapConn) WriteLater(frame []byte) error {
	c.tap.show(Sent, frame)
	if later, ok := c.Conn.(interface{ WriteLater(frame []byte) error }); ok {
		return later.WriteLater(frame)
	}
	return c.Conn.Write(frame)
}

// Flush has the frames sent that wait: see Conn.
func (c *tapConn) Flush() {
	if f, ok := c.Conn.(interface{ Flush() }); ok {
		f.Flush()
	}
}

// WriteSoon lets a frame wait for others: see Conn.
func (c *tapConn) WriteSoon(frame []byte) error {
	c.tap.show(Sent, frame)
	if soon, ok := c.Conn.(interface{ WriteSoon(frame []byte) error }); ok {
		return soon.WriteSoon(frame)
	}
	return c.Conn.Write(frame)
}

type tapTransport struct {
	Transport
	tap *tap
}

func (t *tapTransport) Open(ctx context.Context, recv Receiver) (RoundTripper, error) {
	tapped := &tapReceiver{recv, t.tap}
	var to Receiver = tapped
	if s, ok := recv.(StrayReceiver); ok {
		to = &tapStrayReceiver{tapped, s}
	}
	rt, err := t.Transport.Open(ctx, to)
	if err != nil {
		return nil, err
	}
	trip := &tapTrip{rt, t.tap}
	if l, ok := rt.(Listener); ok {
		return &tapListener{trip, l}, nil
	}
	return trip, nil
}

// Fallback implements Fallbacker.
func (t *tapTransport) Fallback() Transport {
	if f, ok := t.Transport.(Fallbacker); ok {
		if other := f.Fallback(); other != nil {
			return &tapTransport{other, t.tap}
		}
	}
	return nil
}

// Legacy does what Transport says of it.
func (t *tapTransport) Legacy() bool {
	l, ok := t.Transport.(interface{ Legacy() bool })
	return ok && l.Legacy()
}

type tapReceiver struct {
	recv Receiver // or nil
	tap  *tap
}

func (r *tapReceiver) Receive(m jsonrpc.Message, related jsonrpc.ID) {
	r.tap.encode(Received, func(buf *bytes.Buffer) error {
		params := any(m.Params)
		if m.Params == nil {
			params = nil
		}
		if m.Kind() == jsonrpc.Notification {
			return jsonrpc.WriteNotification(buf, m.Method, params)
		}
		return jsonrpc.WriteRequest(buf, m.ID, m.Method, params)
	})
	if r.recv != nil {
		r.recv.Receive(m, related)
	}
}

type tapStrayReceiver struct {
	*tapReceiver
	stray StrayReceiver
}

func (r *tapStrayReceiver) Stray(frame []byte, reason error) {
	if frame != nil {
		r.tap.show(Received, frame)
	}
	r.stray.Stray(frame, reason)
}

type tapTrip struct {
	RoundTripper
	tap *tap
}

func (t *tapTrip) RoundTrip(ctx context.Context, m *Outgoing) (Response, error) {
	t.tap.encode(Sent, func(buf *bytes.Buffer) error { return encodeRequest(buf, m) })
	res, err := t.RoundTripper.RoundTrip(ctx, m)
	if err == nil {
		t.tap.encode(Received, func(buf *bytes.Buffer) error {
			switch {
			case res.Error != nil:
				jsonrpc.WriteError(buf, res.ID, res.Error)
			case res.Result != nil:
				return jsonrpc.WriteResult(buf, res.ID, res.Result)
			default:
				return errors.New("no message came")
			}
			return nil
		})
	}
	return res, err
}

func (t *tapTrip) Send(ctx context.Context, m *Outgoing) error {
	t.tap.encode(Sent, func(buf *bytes.Buffer) error { return encodeOneWay(buf, m) })
	return t.RoundTripper.Send(ctx, m)
}

type tapListener struct {
	*tapTrip
	listener Listener
}

func (t *tapListener) Listen(ctx context.Context, revision string, opened func()) error {
	return t.listener.Listen(ctx, revision, opened)
}
