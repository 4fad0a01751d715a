// Package transport carries JSON-RPC messages between a client and a server.
//
// There are two seams, and a custom transport implements one of them. A [Conn]
// moves frames both ways: stdio, an in-memory pipe, a socket. A [RoundTripper]
// takes a request and brings its response, with whatever the server sends
// meanwhile going to a [Receiver]: HTTP. Servers are run on a Conn with
// server.Server.ServeConn; clients open a [Transport], which gives a
// RoundTripper ([Duplex] makes one of a Conn).
//
// The package knows frames and messages, not methods or revisions.
package transport

import (
	"context"
	"errors"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// A Conn moves frames both ways between two peers. A frame is one JSON-RPC
// message or, where the revision has them, a batch, without its delimiter.
//
// A Conn may also have a method WriteSoon(frame []byte) error, which is Write for
// frames that are many and not urgent, such as notifications: one may wait for
// less than a millisecond, so that it leaves together with others. The first
// after a while leaves at once.
//
// And it may have these three, with which a server answers requests that come
// together in one go, and requests of several callers leave so: Waiting() bool reports whether the next frame has arrived,
// so that Read does not wait for the peer; the goroutine that reads calls it.
// WriteLater(frame []byte) error is Write for a frame that waits for others, until
// one is written with Write or there are many. Flush() has those that wait sent
// and does not wait for it. The order among all frames is kept.
type Conn interface {
	// Read returns the next frame. The frame belongs to the caller. One
	// goroutine reads at a time. It returns io.EOF after the peer has ended
	// the connection, and a *FrameTooLargeError for a frame over the limit,
	// after which reading may go on.
	Read() ([]byte, error)
	// Write sends one frame, whole, and does not keep it. Any number of
	// goroutines may write. Frames leave in the order in which Write was called.
	Write(frame []byte) error
	// Close ends the connection and unblocks Read and Write. It is bounded
	// and may be called more than once and concurrently with the others.
	Close() error
}

// A Transport reaches one server. Open may be called again, after the last
// RoundTripper was closed or lost, to connect anew.
//
// A client asks the server what it speaks, unless the Transport has a method
// Legacy() bool that says that the stateless revisions do not use it.
type Transport interface {
	// Open connects. What the server sends by itself goes to recv, in order.
	Open(ctx context.Context, recv Receiver) (RoundTripper, error)
}

// A Fallbacker is a Transport whose server may be an older one that is reached in
// another way: over HTTP, when it answers initialize with status 400, 404 or 405
// (2026-07-28/basic/transports/streamable-http#httpsse-transport-2024-11-05).
type Fallbacker interface {
	Transport
	// Fallback returns the Transport to try then, nil for none.
	Fallback() Transport
}

// A Receiver takes the requests and notifications that a server sends.
type Receiver interface {
	// Receive takes one message. It is called in the order of arrival by one
	// goroutine per stream and must not block. related is the id of the
	// client's request on whose stream the message came, zero when the
	// carrier does not tell. Messages of a request's stream are received
	// before its RoundTrip returns.
	Receive(m jsonrpc.Message, related jsonrpc.ID)
}

// A RoundTripper is an open connection to a server, seen from the client. Its
// methods may be called concurrently.
//
// A RoundTripper may also have a method Abandon(id jsonrpc.ID, reason error) bool,
// which makes the RoundTrip of the request with this id return reason, as the end
// of its context would, and reports false if none is under way. To a client that
// limits the time of all its calls this is cheaper than a context for each.
type RoundTripper interface {
	// RoundTrip sends a request and waits for its response. When ctx ends first
	// it returns context.Cause(ctx); telling the server is the caller's
	// business, except where closing the response stream says it (HTTP).
	// A response that carries an error is a Response, not an error. A response
	// that cannot be read is a *MalformedError; an HTTP answer that holds none
	// is an error with the method HTTPStatus() int.
	RoundTrip(ctx context.Context, m *Outgoing) (Response, error)
	// Send sends a notification, or the response to a server's request.
	Send(ctx context.Context, m *Outgoing) error
	// Done is closed when the connection is lost or closed.
	Done() <-chan struct{}
	// Err says why Done was closed; nil while it is open.
	Err() error
	// Close ends the connection. It is bounded and idempotent.
	Close() error
}

// A Listener is a RoundTripper whose server sends what belongs to no request
// only on a stream the client opens for it: HTTP in the revisions with
// sessions. All carriers over Streamable HTTP implement it, and only they do,
// wrapped or not: a client that looks for the server's era reads silence differently there.
type Listener interface {
	RoundTripper
	// Listen opens the stream and brings its messages to the Receiver until it
	// ends, ctx does, or the connection. It returns nil when the server ended
	// the stream; the caller may open another. An error matching
	// errors.ErrUnsupported tells that the server has none. revision is that of
	// the session. opened, unless nil, is called when the server has opened the
	// stream, before its first message: what the server sends earlier is lost.
	Listen(ctx context.Context, revision string, opened func()) error
}

// ErrSessionLost is matched by the error of a RoundTrip or Send whose session
// the server no longer knows. The client opens the transport again and
// initializes; the message was not processed.
var ErrSessionLost = errors.New("session lost: the server does not know it any more")

// Outgoing is a message a client sends, in the form the sender has it:
// parameters and result are encoded once, by the carrier.
type Outgoing struct {
	ID     jsonrpc.ID // set on requests, and on responses (the id that is answered)
	Method string     // set on requests and notifications
	Params any        // encoded as JSON; nil leaves the member out
	Result any        // the result of a response, if Error is nil
	Error  *jsonrpc.Error

	// Revision is the protocol revision the message is sent under; empty
	// while it is not known (initialize). HTTP repeats it in a header.
	Revision string
	// Route, when set, is what HTTP repeats in headers so that intermediaries
	// can route without reading the body (revision 2026-07-28 and later).
	Route *Route
}

// Route is what a request repeats in HTTP headers.
type Route struct {
	// Name is the tool or prompt name or the resource URI; empty for other methods.
	Name string
	// Params are the arguments that the tool's schema asks to repeat, by header name.
	Params map[string]string
}

// A Response answers a request.
type Response struct {
	jsonrpc.Message
	// Status is the HTTP status the response came with; 0 on other carriers.
	Status int
}

// Direction tells which way a frame went.
type Direction uint8

// The directions.
const (
	Sent Direction = iota
	Received
)

// A Frame is what a tap sees.
type Frame struct {
	Time      time.Time
	Direction Direction
	Data      []byte // must not be changed or kept
}
