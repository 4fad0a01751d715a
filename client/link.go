package client

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A link is one connection of a session: a session has a new one after the
// server has lost it, and the negotiation may need two.
type link struct {
	sess   *Session
	ctx    context.Context // ends with the link
	cancel context.CancelFunc

	opened chan struct{}          // closed when rt is set
	rt     transport.RoundTripper // read after opened, or by whoever opened the link

	dialect atomic.Pointer[dialect] // nil until the negotiation knows
	mute    atomic.Bool             // requests of the server are not answered
	server  greeting                // set before the session has the link
	served  served                  // requests of the server that are with handlers
}

// greeting is what a server says about itself.
type greeting struct {
	info         mcp.Implementation
	capabilities mcp.ServerCapabilities
	instructions string
}

// openLink connects over t. The caller closes the link.
func openLink(ctx context.Context, sess *Session, t transport.Transport) (*link, error) {
	l := &link{sess: sess, opened: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(sess.ctx)
	rt, err := t.Open(ctx, l)
	if err != nil {
		l.cancel()
		return nil, err
	}
	l.rt = rt
	close(l.opened)
	return l, nil
}

func (l *link) close() error {
	l.cancel()
	return l.rt.Close()
}

// speak says how the server is spoken to from here on.
func (l *link) speak(d dialect) {
	l.mute.Store(!d.revision().Has(revision.ServerRequests))
	l.dialect.Store(&d)
}

// speaks returns the dialect of a link the negotiation is done with.
func (l *link) speaks() dialect { return *l.dialect.Load() }

// Receive implements transport.Receiver.
func (l *link) Receive(m jsonrpc.Message, related jsonrpc.ID) {
	if m.Kind() == jsonrpc.Request {
		l.serve(m, related)
		return
	}
	if m.Method == mcp.NotificationCancelled && l.served.withdraw(m.Params) {
		return
	}
	if m.Method == mcp.NotificationProgress && l.sess.progressed(m.Params) {
		return
	}
	if m.Method == mcp.NotificationElicitationComplete && !l.sess.visits.completed(m.Params) && l.sess.client.opts.OnElicit != nil {
		return // it is of no page that the user was sent to
	}
	l.sess.cache.changed(m)
	l.sess.subs.hear(m, related)
	l.sess.inbox.put(l.sess, m)
}

// Stray implements transport.StrayReceiver. Answers to requests that were given
// up are among them, so it is not worth more than a debug message.
func (l *link) Stray(frame []byte, reason error) {
	l.sess.log.Debug("message dropped", slog.Int("bytes", len(frame)), slog.Any("reason", reason))
}
