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
	if status, ok := errors.AsType[httpError](err); ok && needsSSE(status.HTTPStatus()) {
		return n.fallBack(ctx, rev, err)
	}
	if err != nil {
		return n.fail(mcp.MethodInitialize, err)
	}
	if resp.Error == nil {
		return n.greeted(ctx, rev, resp)
	}
	if needsSSE(resp.Status) && !modernRefusal(resp) {
		return n.fallBack(ctx, rev, resp.Error)
	}
	return n.refused(ctx, rev, resp)
}

// refused goes on after the server has answered initialize with an error.
func (n *negotiation) refused(ctx context.Context, rev *revision.Revision, resp transport.Response) error {
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
		return n.fail(mcp.MethodInitialize, resp.Error)
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
	return resp, n.sess.failure(m, err)
}

// needsSSE reports whether the status of an answer to initialize is what servers
// of the oldest revision give, whose messages travel another way.
func needsSSE(status int) bool { return status == 400 || status == 404 || status == 405 }

// modernRefusal reports whether the error is one of a server that knows the
// transport, and has no use for initialize or this revision.
func modernRefusal(resp transport.Response) bool {
	return modernCode(resp.Error.Code) || len(supportedVersions(resp.Error)) > 0 ||
		resp.Status == 404 && resp.Error.Code == jsonrpc.CodeMethodNotFound
}

// stepSSE is the attempt to reach the server over the transport of the oldest
// revision.
const stepSSE = "HTTP+SSE"

// fallBack opens the transport of the oldest revision, if there is one, and
// begins the session there (2026-07-28/basic/transports/streamable-http#httpsse-transport-2024-11-05).
// refusal is what the server said to initialize.
func (n *negotiation) fallBack(ctx context.Context, rev *revision.Revision, refusal error) error {
	var other transport.Transport
	if f, ok := n.sess.transport.(transport.Fallbacker); ok && !n.fellBack {
		other = f.Fallback()
	}
	if other == nil {
		return n.fail(mcp.MethodInitialize, refusal)
	}
	n.note(mcp.MethodInitialize, refusal)
	n.fellBack = true
	n.close()
	l, err := openLink(ctx, n.sess, other)
	if err != nil {
		return n.fail(stepSSE, &fallbackError{err: err, refusal: refusal})
	}
	n.link = l
	return n.initialize(ctx, rev)
}

// A fallbackError tells why the server cannot be reached over the oldest
// transport either. Mostly it does not have that, and its refusal of the other
// is the reason that counts.
type fallbackError struct{ err, refusal error }

func (e *fallbackError) Error() string { return e.err.Error() }

func (e *fallbackError) Unwrap() []error { return []error{e.refusal, e.err} }

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
