package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// initialize begins a session of the older revisions, offering rev. A server
// that refuses it may name others; the first offer it could accept is tried.
func (n *negotiation) initialize(ctx context.Context, rev *revision.Revision) error {
	resp, err := n.offer(ctx, rev)
	if err != nil {
		return n.fail(mcp.MethodInitialize, err)
	}
	if resp.Error == nil {
		return n.greeted(ctx, rev, resp)
	}
	supported := supportedVersions(resp.Error)
	stateless, session := mutual(supported)
	switch {
	case n.forced != nil && len(supported) > 0:
		return n.fail(mcp.MethodInitialize, versionError(rev, resp.Error))
	case n.forced != nil:
		return n.fail(mcp.MethodInitialize, resp.Error)
	case session != nil && session != rev:
		n.note(mcp.MethodInitialize, resp.Error)
		n.forced = session // it is settled: no more offers after this one
		return n.initialize(ctx, session)
	case n.silent || session == nil && stateless != nil:
		// A stateless server that was slow to start, or came up only now.
		return n.askAgain(ctx, stateless, resp.Error)
	case len(supported) > 0:
		return n.fail(mcp.MethodInitialize, versionError(rev, resp.Error))
	default:
		return n.fail(mcp.MethodInitialize, fallback(resp))
	}
}

// askAgain sends server/discover once more, to a server that has refused to begin
// a session.
func (n *negotiation) askAgain(ctx context.Context, rev *revision.Revision, refusal *jsonrpc.Error) error {
	if rev == nil {
		rev = revision.Newest()
	}
	n.silent = false
	v := n.ask(ctx, rev, true)
	if v.next != nextModern {
		return n.fail(mcp.MethodInitialize, refusal)
	}
	n.note(mcp.MethodInitialize, refusal)
	return n.modern(v)
}

// offer sends initialize. It is never cancelled, whatever becomes of ctx.
func (n *negotiation) offer(ctx context.Context, rev *revision.Revision) (transport.Response, error) {
	m := &transport.Outgoing{
		ID:     n.sess.nextID(),
		Method: mcp.MethodInitialize,
		Params: &mcp.InitializeParams{
			ProtocolVersion: rev.Name(),
			Capabilities:    rev.ClientCapabilities(n.sess.client.declared),
			ClientInfo:      n.sess.client.info,
		},
	}
	resp, err := n.link.rt.RoundTrip(ctx, m)
	if err == nil && resp.Status >= 300 && resp.Error == nil {
		err = statusError(resp.Status)
	}
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return resp, fmt.Errorf("%s: %w", mcp.MethodInitialize, context.Cause(ctx))
	}
	if status, ok := errors.AsType[httpError](err); ok && needsSSE(status.HTTPStatus()) {
		return resp, &UnreachableError{Method: mcp.MethodInitialize, Err: fmt.Errorf("%w; %w", err, errSSE)}
	}
	return resp, n.sess.failure(m, err)
}

// errSSE names what is left to try when a server takes no initialize over HTTP.
var errSSE = errors.New("the server may speak only HTTP+SSE, the transport of the oldest revision, which is not tried")

// needsSSE reports whether the status of an answer to initialize is what servers
// of the oldest revision give, whose messages travel another way.
func needsSSE(status int) bool { return status == 400 || status == 404 || status == 405 }

// fallback is the error of an initialize that was refused for good, where the
// transport of the oldest revision would be tried next.
func fallback(resp transport.Response) error {
	if needsSSE(resp.Status) && !modernCode(resp.Error.Code) {
		return fmt.Errorf("%w; %w", resp.Error, errSSE)
	}
	return resp.Error
}

// greeted reads the server's answer to initialize and completes the handshake.
func (n *negotiation) greeted(ctx context.Context, offered *revision.Revision, resp transport.Response) error {
	result := new(mcp.InitializeResult)
	if err := decodeResult(mcp.MethodInitialize, resp.Result, result, "protocolVersion"); err != nil {
		return n.fail(mcp.MethodInitialize, err)
	}
	rev, known := revision.Parse(result.ProtocolVersion)
	if !known || rev.Modern() || n.forced != nil && rev != n.forced {
		return n.fail(mcp.MethodInitialize, &VersionError{
			Requested: offered.Name(),
			Supported: []string{result.ProtocolVersion},
		})
	}
	d := newLegacy(rev)
	n.link.server = greeting{info: result.ServerInfo, capabilities: result.Capabilities, instructions: result.Instructions}
	n.link.speak(d)
	m := &transport.Outgoing{Method: mcp.NotificationInitialized}
	d.oneWay(m)
	if err := n.link.rt.Send(ctx, m); err != nil {
		return n.fail(m.Method, &UnreachableError{Method: m.Method, Err: err})
	}
	return nil
}
