package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// lossTime is how long a server that cannot be written to may take to be gone.
const lossTime = time.Second

// A negotiation opens the transport and finds out how its server is spoken to:
//
//	known or forced to be older ────────────────────────────┐
//	server/discover → classifyDuplex or classifyHTTP ───────┤
//	     │ stateless                 older, silent, exited  │
//	     ▼                                                  ▼
//	  modern                                initialize → legacy
//	                                             │ 400, 404, 405 over HTTP
//	                                             ▼
//	                             HTTP+SSE → initialize → legacy
type negotiation struct {
	sess   *Session
	forced *revision.Revision // the only revision to speak, nil for any
	tried  []Attempt
	link   *link // the open connection
	silent bool  // the server did not answer server/discover in time
	// fellBack tells that the link is over the oldest transport.
	fellBack bool
}

// note keeps what did not work out, for the error.
func (n *negotiation) note(step string, err error) {
	n.tried = append(n.tried, Attempt{Step: step, Err: err})
}

// fail notes an error that ends the negotiation.
func (n *negotiation) fail(step string, err error) error {
	n.note(step, err)
	return err
}

func (n *negotiation) close() {
	if n.link != nil {
		_ = n.link.close()
		n.link = nil
	}
}

func (n *negotiation) open(ctx context.Context) error {
	n.close()
	l, err := openLink(ctx, n.sess, n.sess.transport)
	if err != nil {
		return n.fail("open", &UnreachableError{Err: err})
	}
	n.link = l
	return nil
}

// run leaves a link in n that the session can use, or says why there is none.
func (n *negotiation) run(ctx context.Context) error {
	eras := &n.sess.client.eras
	known := n.forced
	if known == nil {
		known = eras.get(n.sess.transport)
	}
	err := n.start(ctx, known)
	if err != nil && n.forced == nil && known != nil && misjudged(err) && ctx.Err() == nil {
		eras.set(n.sess.transport, nil)
		err = n.start(ctx, nil)
	}
	if err == nil {
		eras.set(n.sess.transport, n.link.speaks().revision())
	}
	return err
}

// misjudged reports whether a server that was thought to be known may have been
// replaced by another: it was there, and did not understand.
func misjudged(err error) bool {
	if e, ok := errors.AsType[*UnreachableError](err); ok {
		return e.Method != "" && errors.Is(err, transport.ErrClosed)
	}
	return true
}

// start connects to a server of a known revision, or finds it out.
func (n *negotiation) start(ctx context.Context, known *revision.Revision) error {
	if err := n.open(ctx); err != nil {
		return err
	}
	if l, ok := n.sess.transport.(interface{ Legacy() bool }); known == nil && ok && l.Legacy() {
		known = revision.NewestLegacy()
	}
	if known != nil && !known.Modern() {
		return n.initialize(ctx, known)
	}
	asked := known
	if asked == nil {
		asked = revision.Newest()
	}
	return n.follow(ctx, n.ask(ctx, asked, known == nil))
}

// resume begins a new session with a server whose revision is known.
func (n *negotiation) resume(ctx context.Context, rev *revision.Revision) error {
	if err := n.open(ctx); err != nil {
		return err
	}
	if err := n.initialize(ctx, rev); err != nil {
		return err
	}
	return n.sess.restore(ctx, n.link)
}

// follow does what a verdict says.
func (n *negotiation) follow(ctx context.Context, v verdict) error {
	if v.next == nextAsk {
		v = n.ask(ctx, v.rev, false)
	}
	if n.forced != nil {
		v = n.insist(v)
	}
	switch v.next {
	case nextModern:
		return n.modern(v)
	case nextLegacy:
		if v.err != nil {
			n.note(mcp.MethodServerDiscover, v.err)
		}
		return n.initialize(ctx, v.rev)
	case nextRestart:
		n.note(mcp.MethodServerDiscover, v.err)
		if err := n.open(ctx); err != nil {
			return err
		}
		return n.initialize(ctx, v.rev)
	case nextAsk: // twice told to ask otherwise
		return n.fail(mcp.MethodServerDiscover, v.err)
	default:
		return n.fail(mcp.MethodServerDiscover, v.err)
	}
}

// insist turns a verdict for another revision than the forced one into a failure.
func (n *negotiation) insist(v verdict) verdict {
	if v.next == nextFail || v.next == nextModern && v.rev == n.forced {
		return v
	}
	failure := &VersionError{Requested: n.forced.Name()}
	if v.discover != nil {
		failure.Supported = v.discover.SupportedVersions
	}
	switch wire, ok := errors.AsType[*jsonrpc.Error](v.err); {
	case v.next == nextRestart:
		return verdict{next: nextFail, err: v.err} // no answer says nothing about revisions
	case ok:
		failure.Err, failure.Supported = wire, supportedVersions(wire)
	case v.err != nil:
		return verdict{next: nextFail, err: v.err}
	}
	return verdict{next: nextFail, err: failure}
}

// modern makes the link one to a stateless server.
func (n *negotiation) modern(v verdict) error {
	identity, err := n.sess.client.identity(v.rev)
	if err != nil {
		return n.fail(mcp.MethodServerDiscover, err)
	}
	if d := v.discover; d != nil {
		n.link.server.capabilities, n.link.server.instructions = d.Capabilities, d.Instructions
		if _, err := d.Meta.Get(mcp.MetaServerInfo, &n.link.server.info); err != nil {
			n.sess.log.Warn("server info not understood", slog.Any("error", err))
		}
	}
	var headers *mirror
	if _, overHTTP := n.link.rt.(transport.Listener); overHTTP {
		headers = newMirror(n.sess.log)
	}
	n.link.speak(newModern(v.rev, identity, headers))
	return nil
}

// ask sends server/discover. When probing, silence on anything but HTTP is taken
// for the answer of an older server, some of which ignore what they do not know.
func (n *negotiation) ask(ctx context.Context, rev *revision.Revision, probing bool) verdict {
	identity, err := n.sess.client.identity(rev)
	if err != nil {
		return verdict{next: nextFail, err: err}
	}
	m := &transport.Outgoing{ID: n.sess.nextID(), Method: mcp.MethodServerDiscover}
	if err := newModern(rev, identity, nil).request(m, jsonrpc.ID{}); err != nil {
		return verdict{next: nextFail, err: err}
	}
	wait := time.Duration(0)
	_, overHTTP := n.link.rt.(transport.Listener)
	if probing && !overHTTP {
		wait = n.sess.client.opts.ProbeTimeout
	}
	limited, cancel := withLimit(ctx, wait)
	defer cancel()
	resp, err := n.link.rt.RoundTrip(limited, m)
	if err != nil {
		if status, ok := errors.AsType[httpError](err); ok {
			v := classifyHTTP(rev, transport.Response{Status: status.HTTPStatus()})
			v.err = &UnreachableError{Method: m.Method, Err: err} // it has the details
			return v
		}
		return n.unanswered(ctx, limited, wait, err)
	}
	if resp.Status == 0 {
		return classifyDuplex(rev, resp)
	}
	return classifyHTTP(rev, resp)
}

// unanswered judges that server/discover brought no answer.
func (n *negotiation) unanswered(ctx, limited context.Context, wait time.Duration, err error) verdict {
	const method = mcp.MethodServerDiscover
	switch {
	case ctx.Err() != nil:
		return verdict{next: nextFail, err: fmt.Errorf("%s: %w", method, context.Cause(ctx))}
	case limited.Err() != nil:
		n.silent = true
		return verdict{next: nextLegacy, rev: revision.NewestLegacy(), err: &TimeoutError{Method: method, Limit: wait}}
	case n.gone(ctx, err):
		return verdict{next: nextRestart, rev: revision.NewestLegacy(), err: &UnreachableError{Method: method, Err: err}}
	default:
		if bad, ok := errors.AsType[*transport.MalformedError](err); ok {
			return verdict{next: nextLegacy, rev: revision.NewestLegacy(), err: malformed(method, "%s", bad.Problem)}
		}
		return verdict{next: nextFail, err: &UnreachableError{Method: method, Err: err}}
	}
}

// gone reports whether a round trip failed because the server has exited. A
// write may fail before the reader notices.
func (n *negotiation) gone(ctx context.Context, err error) bool {
	_, overHTTP := n.link.rt.(transport.Listener)
	if _, answered := errors.AsType[*transport.MalformedError](err); answered || overHTTP {
		return false
	}
	timer := time.NewTimer(lossTime)
	defer timer.Stop()
	select {
	case <-n.link.rt.Done():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
