package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// abandon is how long cancelled requests get to end before the connection is
// given up without them: a handler that ignores its context cannot be stopped.
const abandon = time.Second

// farewell is how long the requests that the end of a connection cancels get
// to be answered before it is closed.
const farewell = 250 * time.Millisecond

// A duplex serves one connection. Stateless requests and a session may take
// turns on it; each message finds its own caller.
//
//	Read → frame → message → the request, here or in a goroutine of the crew → Write
//	              └ handshake, notifications: in order, in the reading goroutine
type duplex struct {
	srv  *Server
	conn transport.Conn
	peer Peer
	sess *Session
	sink Sink            // soon
	ctx  context.Context // ends with the connection; the parent of all requests

	reader *reader
	flying inflight // the stateless requests; the session knows its own

	// crew reads, and runs the requests. They are waited for by drain, which
	// unlike crew.wg.Wait gives up on a handler that ignores its context.
	crew     crew
	mu       sync.Mutex
	handling int // requests that are being handled; Options.MaxConcurrent bounds them
	running  int // those, and the ones whose answer is being written
	draining bool
	idle     chan struct{} // closed when the last request ends while draining
}

// A Peer is what a carrier knows of the client at the other end of a connection.
type Peer struct {
	// Principal is who the client was found to be. All its requests have it.
	Principal string
	// SessionsOnly refuses requests of the stateless revisions, for carriers
	// that those do not have.
	SessionsOnly bool
}

// ServeConn serves a client on conn until the client ends the connection, ctx
// ends, the server is closed, or the client gives no sign of life
// (Options.KeepAlive). It closes conn. When the client has ended the
// connection, requests still running may finish within Options.Drain. The
// error is nil after a regular end, or says why reading failed.
func (s *Server) ServeConn(ctx context.Context, conn transport.Conn) error {
	return s.ServePeer(ctx, conn, nil)
}

// ServePeer is ServeConn for a carrier that knows something of the client; nil
// is nothing.
func (s *Server) ServePeer(ctx context.Context, conn transport.Conn, peer *Peer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	if peer == nil {
		peer = &Peer{}
	}
	d := &duplex{srv: s, conn: conn, peer: *peer, sess: s.NewSession(conn.Write), ctx: ctx, idle: make(chan struct{})}
	d.sink = d.soon
	defer d.closeAfter(ctx)()
	defer s.ends.add(func() { cancel(ErrClosing) })()
	var alive sync.WaitGroup // the keep-alive pings
	defer alive.Wait()
	if s.opts.KeepAlive > 0 {
		alive.Go(func() { d.keepAlive(ctx, cancel) })
	}

	d.reader = newReader(d)
	err := d.reader.wait(ctx)
	ours := ctx.Err() != nil
	d.flying.stopListens()
	d.sess.asked.close() // nothing comes any more
	if err == nil && !ours {
		d.drain(ctx, s.opts.Drain)
	}
	cancel(errConnectionClosed)
	d.sess.Close()
	closeErr := conn.Close()
	d.sess.sub.wg.Wait() // its sink has just been closed
	if !d.drain(context.WithoutCancel(ctx), abandon) {
		s.log.Warn("requests ignore that their connection has ended")
	}
	if ours {
		err = nil // reading failed because we ended the connection
		if errors.Is(context.Cause(ctx), ErrUnresponsive) {
			err = ErrUnresponsive
		}
	}
	return errors.Join(err, closeErr)
}

// soon sends what handlers tell before the response: one of many, often.
func (d *duplex) soon(frame []byte) error {
	if c, ok := d.conn.(interface{ WriteSoon(frame []byte) error }); ok {
		return c.WriteSoon(frame)
	}
	return d.conn.Write(frame)
}

// closeAfter closes the connection when ctx has ended and the requests that it
// cancels have been answered, or have not within a moment. The function it
// returns stops that, or waits until it is done.
func (d *duplex) closeAfter(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(done)
		if !errors.Is(context.Cause(ctx), errConnectionClosed) {
			d.drain(context.WithoutCancel(ctx), farewell)
		}
		_ = d.conn.Close()
	})
	return func() {
		if !cancel() {
			<-done
		}
	}
}

// ErrClosing is the cause of the context of a request whose server, or whose
// carrier, closes. Carriers cancel with it: subscriptions then end with a result.
var ErrClosing = errors.New("the server is closing")

var errConnectionClosed = errors.New("the connection has ended")

// ServeStdio serves the process's standard input and output: what a host that
// launches this program expects. It takes over standard output, so what the
// program prints goes to standard error and cannot break the protocol.
func (s *Server) ServeStdio(ctx context.Context) error {
	conn, err := transport.Stdio()
	if err != nil {
		return err
	}
	return s.ServeConn(ctx, conn)
}

// enter counts a request that begins to run. It reports false when there are
// too many already, and when the connection is ending: whoever drains it can
// rely on the number only falling.
func (d *duplex) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := d.srv.opts.MaxConcurrent
	if d.handling >= limit || d.running >= 2*limit || d.ctx.Err() != nil {
		return false
	}
	d.handling++
	d.running++
	return true
}

// handled counts a request that has been handled. It comes before the answer,
// so that whoever reads the answer can send another request in its place.
func (d *duplex) handled() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handling--
}

// leave counts a request that has been answered.
func (d *duplex) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	d.settleLocked()
}

// settleLocked tells drain when nothing runs any more.
func (d *duplex) settleLocked() {
	if d.draining && d.running == 0 {
		d.draining = false
		close(d.idle)
	}
}

// drain waits for the running requests, until ctx ends or for a time. Nothing
// new may begin. It reports whether all have ended.
func (d *duplex) drain(ctx context.Context, limit time.Duration) bool {
	d.mu.Lock()
	if d.running > 0 {
		d.draining = true
	}
	idle, running := d.idle, d.running
	d.mu.Unlock()
	if running == 0 {
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// A task is a request that is left to be run, in any goroutine.
type task struct {
	d    *duplex
	call *flight
	to   replier
}

// A replier takes the response to a message; nil is none.
type replier interface{ reply(r *Response) }

func (t task) run() {
	defer t.d.leave()
	t.to.reply(t.d.handle(t.call))
}

// frame handles one message, or a batch, save for the task that a request leaves,
// if there is one. turn is the reader's number of the frame.
func (d *duplex) frame(frame []byte, turn uint64) (t task, left bool) {
	if jsonrpc.IsBatch(frame) {
		d.batch(frame, turn)
		return task{}, false
	}
	m, err := d.srv.Limits().Decode(frame)
	if err != nil {
		d.malformed(m, err)
		return task{}, false
	}
	return d.message(m, turn, d)
}

// malformed answers a frame that is no message, except one that was meant as a
// response: responses are not answered.
func (d *duplex) malformed(m jsonrpc.Message, err error) {
	if m.Error != nil {
		d.srv.log.Debug("a malformed response", "id", m.ID.String(), "error", err)
		return
	}
	d.reply(&Response{ID: m.ID, Error: asWire(err)})
}

// message handles one message, save for the task that it leaves, and hands its
// response to the replier.
func (d *duplex) message(m jsonrpc.Message, turn uint64, to replier) (t task, left bool) {
	if m.Kind() == jsonrpc.Response {
		d.sess.Answer(m)
		return task{}, false
	}
	rq, err := d.srv.Decode(m)
	rq.Principal = d.peer.Principal
	if rq.Modern() && d.peer.SessionsOnly {
		err = errSessionsOnly
	}
	if err != nil {
		to.reply(errorResponse(rq.ID, asWire(err)))
		return task{}, false
	}
	rq.shared = true
	rq.reader, rq.turn = d.reader, turn
	call, refused := d.begin(rq)
	if refused != nil {
		to.reply(errorResponse(rq.ID, refused))
		return task{}, false
	}
	if rq.ID.IsZero() || inOrder(rq.Method) {
		to.reply(call.run())
		return task{}, false
	}
	return task{d, call, to}, true
}

// handle runs a request that was counted.
func (d *duplex) handle(call *flight) *Response {
	defer d.handled()
	return call.run()
}

// errSessionsOnly has a code that clients which try both kinds of revisions take
// for the answer of an older server.
var errSessionsOnly = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this connection carries only revisions that open with initialize; requests that name their revision in _meta go to the server's other endpoint"}

var errBusy = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many requests are running on this connection; try again when some have ended"}

// inOrder reports whether a request is handled before the next message is
// read: it changes what the following messages mean, and is quick.
func inOrder(method string) bool {
	switch method {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodLoggingSetLevel, mcp.MethodServerDiscover:
		return true
	}
	return false
}

// begin hands a request to its caller. Requests that run beside the reading
// goroutine are counted.
func (d *duplex) begin(rq *Request) (call *flight, refused *jsonrpc.Error) {
	if rq.ID.IsZero() && rq.Method == mcp.NotificationCancelled {
		d.flying.cancelled(rq, d.srv.log) // a cancellation need not say which era it belongs to
	}
	counted := !rq.ID.IsZero() && !inOrder(rq.Method)
	if counted && !d.enter() {
		return nil, errBusy
	}
	if rq.Modern() {
		call = &flight{Call: Call{Request: rq, srv: d.srv, sink: d.sink}, ctx: d.ctx}
		refused = d.flying.enter(call)
	} else {
		call, refused = d.sess.begin(d.ctx, rq, d.sink)
	}
	if counted && refused != nil {
		d.handled()
		d.leave()
	}
	return call, refused
}

// batch handles the messages of a batch at the same time and answers them in
// one frame.
func (d *duplex) batch(frame []byte, turn uint64) {
	if !d.sess.Ready() || !d.sess.Batches() {
		d.reply(&Response{Error: jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the revision of this session has no batches")})
		return
	}
	items, err := d.srv.Limits().DecodeBatch(frame)
	if err != nil {
		d.reply(&Response{Error: asWire(err)})
		return
	}
	b := &batch{conn: d.conn, open: len(items)}
	for _, item := range items {
		switch {
		case item.Error != nil:
			b.reply(nil) // meant as a response, well-formed or not
		case item.Err != nil:
			b.reply(&Response{ID: item.ID, Error: asWire(item.Err)})
		case item.Kind() == jsonrpc.Response:
			d.sess.Answer(item.Message)
			b.reply(nil)
		case item.Method == mcp.MethodInitialize:
			b.reply(errorResponse(item.ID, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize must not be part of a batch")))
		default:
			if t, left := d.message(item.Message, turn, b); left {
				d.crew.run(t)
			}
		}
	}
}

// A batch collects the responses to the messages of one frame.
type batch struct {
	conn transport.Conn

	mu   sync.Mutex
	open int // messages that have not been handled
	buf  bytes.Buffer
}

// reply takes the response to one message, nil for none, and sends all of them
// after the last.
func (b *batch) reply(r *Response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r != nil {
		if b.buf.Len() == 0 {
			b.buf.WriteByte('[')
		} else {
			b.buf.WriteByte(',')
		}
		r.Write(&b.buf)
	}
	if b.open--; b.open == 0 && b.buf.Len() > 0 {
		b.buf.WriteByte(']')
		_ = b.conn.Write(b.buf.Bytes()) // a lost connection shows in Read
	}
}

// reply sends a response; nil is none.
func (d *duplex) reply(r *Response) { d.send(r, d.conn.Write) }

func (d *duplex) send(r *Response, write func(frame []byte) error) {
	if r == nil {
		return
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	r.Write(buf)
	if err := write(buf.Bytes()); err != nil {
		// A lost connection shows in Read; the answer has nowhere to go.
		d.srv.log.LogAttrs(d.ctx, slog.LevelDebug, "response not sent", slog.Any("error", err))
	}
}

// asWire returns the error of decoding as what it is.
func asWire(err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	return errInternal
}
