package httpclient

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// closeTime bounds Close, the farewell to the server included.
const closeTime = 750 * time.Millisecond

// conn is an open connection: the HTTP client and the session, if the server
// gave one. Requests run in the goroutine of their caller.
type conn struct {
	client *http.Client
	own    bool          // client is ours
	direct atomic.Bool   // requests need none of what client does besides its Transport
	base   *http.Request // what all requests have in common; never changed
	opts   *Options
	recv   transport.Receiver
	stray  transport.StrayReceiver // recv, or nil

	ctx     context.Context // the lifetime of the connection
	cancel  context.CancelFunc
	readers sync.Pool // of *httpwire.Reader
	closing sync.Once
	closed  error         // what Close returns
	done    chan struct{} // closed when err is set
	idle    chan struct{} // closed when err is set and no request is in flight

	mu       sync.Mutex
	err      error
	inFlight map[*exchange]struct{}
	session  string
	revision string     // the last one a message was sent under
	letters  letterhead // of the last message
}

var _ interface {
	transport.RoundTripper
	transport.Listener
} = (*conn)(nil)

func newConn(ctx context.Context, u *url.URL, opts *Options, recv transport.Receiver) *conn {
	c := &conn{
		opts: opts,
		base: &http.Request{URL: u, Host: u.Host, Header: opts.header(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1},
		recv: recv,
		done: make(chan struct{}),
		idle: make(chan struct{}),

		inFlight: map[*exchange]struct{}{},
	}
	c.client, c.own = opts.httpClient(u)
	c.direct.Store(c.own && u.User == nil)
	c.stray, _ = recv.(transport.StrayReceiver)
	c.readers.New = func() any { return httpwire.NewReader(nil, opts.maxMessage()) }
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

// RoundTrip implements transport.RoundTripper.
func (c *conn) RoundTrip(ctx context.Context, m *transport.Outgoing) (transport.Response, error) {
	if m.ID.IsZero() || m.Method == "" {
		return transport.Response{}, errors.New("a request needs an id and a method")
	}
	body, err := encode(m)
	if err != nil {
		return transport.Response{}, err
	}
	x, err := c.begin(ctx, m.ID)
	if err != nil {
		return transport.Response{}, err
	}
	defer x.end()
	res, err := x.post(m, body)
	if err != nil {
		return transport.Response{}, x.explain(err)
	}
	response, err := x.answer(res, m)
	if err != nil {
		return transport.Response{}, x.explain(err)
	}
	return transport.Response{Message: response, Status: res.StatusCode}, nil
}

// Send implements transport.RoundTripper.
func (c *conn) Send(ctx context.Context, m *transport.Outgoing) error {
	if m.Method == mcp.NotificationCancelled && m.Route != nil {
		return nil // that the stream of the request was closed has said it
	}
	if m.Method != "" && !m.ID.IsZero() {
		return errors.New("a request needs RoundTrip, not Send")
	}
	body, err := encode(m)
	if err != nil {
		return err
	}
	x, err := c.begin(ctx, jsonrpc.ID{})
	if err != nil {
		return err
	}
	defer x.end()
	res, err := x.post(m, body)
	if err != nil {
		return x.explain(err)
	}
	if res.StatusCode/100 != 2 {
		_, err = x.refusal(res, jsonrpc.ID{})
		return x.explain(err)
	}
	x.drain(res)
	return nil
}

// Listen implements transport.Listener.
func (c *conn) Listen(ctx context.Context, revision string, opened func()) error {
	x, err := c.begin(ctx, jsonrpc.ID{})
	if err != nil {
		return err
	}
	defer x.end()
	res, err := x.get(revision, "")
	if err != nil {
		return x.explain(err)
	}
	if err := x.listen(res, revision, opened); err != nil {
		return x.explain(err)
	}
	return nil
}

// Done implements transport.RoundTripper.
func (c *conn) Done() <-chan struct{} { return c.done }

// Err implements transport.RoundTripper.
func (c *conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close implements transport.RoundTripper. It ends all streams and tells the
// server that the session is over, if there is one.
func (c *conn) Close() error {
	c.closing.Do(func() { c.closed = c.close() })
	return c.closed
}

func (c *conn) close() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), closeTime)
	defer cancel()
	if c.lose(transport.ErrClosed) {
		c.farewell(ctx)
	}
	if c.own {
		// After the streams have ended, their connections must go as well.
		defer c.client.CloseIdleConnections()
	}
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-c.idle: // it was the farewell that took the time
		return nil
	default:
		return errors.New("requests in flight do not end")
	}
}

// lose ends the connection and everything in flight for the given reason. It
// reports false if it was over already.
func (c *conn) lose(reason error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.err = reason
	close(c.done)
	if len(c.inFlight) == 0 {
		close(c.idle)
	}
	for x := range c.inFlight {
		x.cancel()
	}
	c.cancel()
	return true
}

// Abandon ends a RoundTrip: see transport.RoundTripper.
func (c *conn) Abandon(id jsonrpc.ID, reason error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.inFlight {
		if x.id == id {
			x.abandoned = reason
			x.cancel()
			return true
		}
	}
	return false
}

// An exchange is one HTTP request and its answer.
type exchange struct {
	*conn
	id     jsonrpc.ID      // of the request it is for, if it is for one
	caller context.Context // of whoever waits for the answer
	ctx    context.Context // ends with caller and with the connection
	cancel context.CancelFunc
	// abandoned is why ctx has ended before both; conn.mu guards it.
	abandoned error
}

func (c *conn) begin(ctx context.Context, id jsonrpc.ID) (*exchange, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	x := &exchange{conn: c, id: id, caller: ctx}
	x.ctx, x.cancel = context.WithCancel(ctx)
	c.inFlight[x] = struct{}{}
	return x, nil
}

func (x *exchange) end() {
	x.cancel()
	c := x.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.inFlight, x); len(c.inFlight) == 0 && c.err != nil {
		close(c.idle)
	}
}

// explain returns the reason behind an error: the end of the caller's context
// and that of the connection show as all kinds of errors of net/http.
func (x *exchange) explain(err error) error {
	if x.caller.Err() != nil {
		return context.Cause(x.caller)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return cmp.Or(x.err, x.abandoned, err)
}
