package client

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A Client is who connects to servers: a name, what it can do, and how it
// behaves. It may connect any number of times, also concurrently.
type Client struct {
	info mcp.Implementation
	opts Options
	eras eras
	log  *slog.Logger

	declared mcp.ClientCapabilities // before a revision leaves some out
	asked    bool                   // something that servers can ask is declared
}

// New returns a client that presents itself as info.
func New(info mcp.Implementation, opts *Options) *Client {
	filled := opts.withDefaults()
	c := &Client{info: info, opts: filled, log: filled.Logger, declared: filled.declared()}
	c.asked = c.declared.Elicitation != nil || c.declared.Sampling != nil || c.declared.Roots != nil
	return c
}

// Revisions returns the names of the protocol revisions that clients of this
// package speak, newest first: the values of Options.Revision.
func Revisions() []string { return revision.Names() }

// Connect opens the transport, agrees with the server on a revision, and
// returns the session, which the caller must close. The context is for
// connecting only. The client remembers for each transport which revision its
// server speaks, so that connecting again is quicker.
//
// Errors are a *ConnectError, which says what was tried and unwraps to the
// reason: an *UnreachableError, a *VersionError, a *TimeoutError, a
// *ProtocolError, or what the server said.
func (c *Client) Connect(ctx context.Context, t transport.Transport) (*Session, error) {
	forced, err := c.forced()
	if err != nil {
		return nil, err
	}
	if err := revision.CheckExtensions(c.opts.Capabilities.Extensions); err != nil {
		return nil, err
	}
	if err := checkRoots(c.opts.Roots); err != nil {
		return nil, err
	}
	sess := newSession(ctx, c, t)
	limited, cancel := withLimit(ctx, c.opts.ConnectTimeout)
	defer cancel()
	n := &negotiation{sess: sess, forced: forced}
	if err := n.run(limited); err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = &TimeoutError{Method: "connect", Limit: c.opts.ConnectTimeout}
			n.note("connect", err)
		}
		n.close()
		_ = sess.end(err)
		sess.tasks.stop(closeTime)
		return nil, &ConnectError{Tried: n.tried}
	}
	sess.adopt(n.link)
	return sess, nil
}

// forced returns the revision that the options ask for, nil for none.
func (c *Client) forced() (*revision.Revision, error) {
	if c.opts.Revision == "" {
		return nil, nil
	}
	rev, ok := revision.Parse(c.opts.Revision)
	if !ok {
		return nil, fmt.Errorf("unknown protocol revision %q, known: %v", c.opts.Revision, revision.Names())
	}
	return rev, nil
}

// identity renders what requests of a stateless revision say about the client.
func (c *Client) identity(rev *revision.Revision) (*metaFields, error) {
	info, err := json.Marshal(c.info)
	if err != nil {
		return nil, fmt.Errorf("encode client info: %w", err)
	}
	capabilities, err := json.Marshal(rev.ClientCapabilities(c.declared))
	if err != nil {
		return nil, fmt.Errorf("encode client capabilities: %w", err)
	}
	return newMetaFields(
		metaField{key: mcp.MetaProtocolVersion, value: json.AppendString(nil, rev.Name()), fixed: true},
		metaField{key: mcp.MetaClientInfo, value: info},
		metaField{key: mcp.MetaClientCapabilities, value: capabilities},
	), nil
}
