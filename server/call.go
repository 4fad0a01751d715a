package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A Sink takes frames for the caller of one request, or of one session, in
// order. It may be called concurrently and does not keep the frame.
type Sink func(frame []byte) error

// A Call is one request while it is being handled: what was asked, by whom,
// and the way to send something before the result. It must not be used after
// the handler has returned; what is sent then is dropped. Its methods may be
// called concurrently.
type Call struct {
	*Request
	srv  *Server
	from caller // nil until a stateless one is known
	view *View

	mu       sync.Mutex // guards the below, and the order: nothing is sent after the result
	sink     Sink
	finished bool
	lost     error  // the last one of sink: the caller has gone
	steps    *steps // of progress; nil before the first
	round    *round // nil unless the handler asks the client
}

// Params returns the undecoded parameters; nil when there were none.
func (c *Call) Params() json.RawMessage { return c.Raw }

// Arguments returns the undecoded arguments of a tool call or prompt; nil when
// there were none.
func (c *Call) Arguments() json.RawMessage { return c.arguments }

// Revision returns the name of the revision the caller speaks.
func (c *Call) Revision() string { return c.from.revision().Name() }

// ClientInfo returns what the client introduced itself as; zero when it did not.
func (c *Call) ClientInfo() mcp.Implementation { return c.from.client() }

// ClientCapabilities returns what the client has declared.
func (c *Call) ClientCapabilities() mcp.ClientCapabilities { return c.from.capabilities() }

// ClientExtension returns the settings with which the client has declared an
// extension, a JSON object, and whether it has. A stateless client declares its
// extensions with every request; do not rely on what it said before.
func (c *Call) ClientExtension(id string) (settings json.RawMessage, declared bool) {
	settings, declared = c.from.capabilities().Extensions[id]
	return settings, declared
}

// Session returns the caller's session; nil for stateless callers.
func (c *Call) Session() *Session {
	sess, _ := c.from.(*Session)
	return sess
}

// Meta decodes the request's metadata; nil when there was none.
func (c *Call) Meta() mcp.Meta {
	var meta mcp.Meta
	if len(c.meta.raw) > 0 && ijson.Unmarshal(c.meta.raw, &meta) != nil {
		return nil
	}
	return meta
}

// Disconnect lets go of the connection on which the caller waits for the
// response. The request goes on, and the caller comes back after retry for what
// was sent meanwhile and for the response: a call that takes minutes then holds
// no connection open. 0 means the carrier's own time. Disconnect reports false,
// and does nothing, where the protocol has no such thing: it is for sessions
// over HTTP since revision 2025-11-25 ("Sending Messages to the Server"), and
// not for HTTP/2, whose connections carry other requests too.
func (c *Call) Disconnect(retry time.Duration) bool {
	if c.disconnect == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.finished && c.disconnect(retry) // the carrier may serve another request by now
}

// Notify sends a notification that belongs to this request. It returns the
// cause when ctx has ended, and the carrier's error when the caller has gone.
func (c *Call) Notify(ctx context.Context, method string, params any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, raw := params.(json.RawMessage); !raw {
		params = c.from.revision().Encode(params)
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := jsonrpc.WriteNotification(buf, method, params); err != nil {
		return err
	}
	return c.send(buf)
}

func (c *Call) send(buf *bytes.Buffer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished || c.sink == nil {
		return nil
	}
	err := c.sink(buf.Bytes())
	if err != nil {
		c.lost = err
	}
	return err
}

// gone reports whether an error says that the caller has gone, which is nothing
// for an operator to act on.
func (c *Call) gone(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost != nil && errors.Is(err, c.lost)
}

// finish shuts the way to the caller: the result comes next.
func (c *Call) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
}
