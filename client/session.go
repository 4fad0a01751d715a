package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A Session is a connection to one server. Its methods may be called
// concurrently. A session whose server forgets it is renewed without a word;
// one whose connection is lost is over.
type Session struct {
	client    *Client
	transport transport.Transport
	log       *slog.Logger

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	done   chan struct{}

	tasks      tasks
	alarm      alarm // of the calls in flight
	answering  slots // questions of the server that are with handlers
	serving    slots // requests of the server that need no handler
	refusing   slots // requests of the server being refused
	cancelling slots // requests of ours being given up
	cache      *cache
	inbox      inbox
	subs       subscriptions
	visits     visits
	outputs    outputs
	ids        atomic.Int64
	closed     chan struct{} // closed when Close has done its work
	closeErr   error         // of Close, valid when closed is closed

	mu      sync.Mutex
	link    *link // the connection in use
	err     error // why the session is over
	closing bool  // Close was called
	renewal *renewal
	watched map[jsonrpc.ID]*progressWatch // by progress token
	roots   []mcp.Root

	// What a renewed session needs to be told again, besides the subscriptions.
	logLevel mcp.LoggingLevel
}

func newSession(ctx context.Context, c *Client, t transport.Transport) *Session {
	s := &Session{
		client:     c,
		transport:  t,
		log:        c.log,
		done:       make(chan struct{}),
		closed:     make(chan struct{}),
		answering:  make(slots, maxServing),
		serving:    make(slots, maxServing),
		roots:      slices.Clone(c.opts.Roots),
		refusing:   make(slots, maxServing),
		cancelling: make(slots, maxServing),
		watched:    map[jsonrpc.ID]*progressWatch{},
		subs:       newSubscriptions(),
		cache:      newCache(c.opts.Cache),
	}
	// The session outlives the context it was connected with.
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

// adopt takes a link that the negotiation is done with into use.
func (s *Session) adopt(l *link) {
	s.mu.Lock()
	s.link = l
	over := s.err != nil
	s.mu.Unlock()
	if over {
		_ = l.close()
		return
	}
	s.tasks.start(func() { s.guard(l) })
	if s.client.opts.KeepAlive > 0 && l.speaks().revision().Defines(mcp.MethodPing) {
		s.tasks.start(func() { s.keepAlive(l) })
	}
	l.listen()
}

// guard ends the session when the connection in use is lost. A lost session is
// another matter: it is renewed for the next call, or for subscriptions.
func (s *Session) guard(l *link) {
	select {
	case <-l.rt.Done():
	case <-l.ctx.Done():
		return
	}
	s.mu.Lock()
	inUse := s.link == l
	s.mu.Unlock()
	switch reason := l.rt.Err(); {
	case !inUse:
	case errors.Is(reason, transport.ErrSessionLost):
		s.renewForListeners(l)
	default:
		_ = s.end(&UnreachableError{Err: reason})
	}
}

// renewForListeners renews a lost session for those who make no calls and wait
// for changes, as often as it takes.
func (s *Session) renewForListeners(l *link) {
	for wait := minRelisten; s.subs.some(); wait = min(2*wait, maxRelisten) {
		err := s.renew(l.ctx, l)
		if err == nil {
			return
		}
		s.log.Debug("session not renewed, trying again", slog.Any("error", err))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// end notes why the session is over and closes the connection. Only the first
// call does anything.
func (s *Session) end(reason error) error {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return nil
	}
	s.err = reason
	l := s.link
	s.mu.Unlock()
	s.cancel(reason)
	close(s.done)
	s.alarm.stop()
	if l == nil {
		return nil
	}
	return l.close()
}

// Close ends the session and the connection. Calls in flight fail with an
// ErrClosed. It waits for everything the session has started, but not for
// longer than a second for hooks that do not return. It may be called more than
// once and returns the same each time.
func (s *Session) Close() error {
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	s.mu.Unlock()
	if first {
		s.closeErr = s.end(ErrClosed)
		s.tasks.stop(closeTime)
		close(s.closed)
	}
	<-s.closed
	return s.closeErr
}

// isClosed reports whether Close has done its work.
func (s *Session) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// Done is closed when the session is over: closed, or its connection lost.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err says why the session is over: ErrClosed or an *UnreachableError. It is nil
// while it is not.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// current returns the connection in use, or why a method cannot be called.
func (s *Session) current(method string) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return s.link, nil
	}
	if lost, ok := errors.AsType[*UnreachableError](s.err); ok {
		return nil, &UnreachableError{Method: method, Err: lost.Err}
	}
	return nil, fmt.Errorf("%s: %w", method, s.err)
}

func (s *Session) nextID() jsonrpc.ID { return jsonrpc.IntID(s.ids.Add(1)) }

// last returns the connection in use, or the one that was when the session ended.
func (s *Session) last() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// Revision returns the protocol revision that is spoken with the server.
func (s *Session) Revision() string { return s.last().speaks().revision().Name() }

// Stateless reports whether the revision has no sessions: every request then
// says by itself who sends it, and the server sends nothing unasked.
func (s *Session) Stateless() bool { return s.last().speaks().revision().Modern() }

// ServerInfo returns what the server is. It may be empty: servers of the
// stateless revisions need not say.
func (s *Session) ServerInfo() mcp.Implementation { return s.last().server.info }

// ServerCapabilities returns what the server can do. It must not be changed.
func (s *Session) ServerCapabilities() mcp.ServerCapabilities { return s.last().server.capabilities }

// Instructions returns what the server wants models to know; mostly empty.
func (s *Session) Instructions() string { return s.last().server.instructions }

// A renewal is an attempt to get a lost session anew. All calls that noticed the
// loss share it.
type renewal struct {
	done chan struct{}
	err  error // valid when done is closed
}

// renew replaces a link whose session the server has lost.
func (s *Session) renew(ctx context.Context, old *link) error {
	s.mu.Lock()
	if s.err == nil && s.link != old {
		s.mu.Unlock()
		return nil // another call was quicker
	}
	r := s.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		if !s.tasks.start(func() { s.replace(r, old) }) {
			s.mu.Unlock()
			return ErrClosed
		}
		s.renewal = r
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// replace opens the transport again, begins a session and puts it in place.
func (s *Session) replace(r *renewal, old *link) {
	ctx, cancel := withLimit(s.ctx, s.client.opts.ConnectTimeout)
	defer cancel()
	n := &negotiation{sess: s}
	err := n.resume(ctx, old.speaks().revision())
	if err == nil {
		s.log.Info("session renewed")
		s.adopt(n.link)
		_ = old.close()
		s.subs.missed()
	} else {
		n.close()
	}
	s.mu.Lock()
	r.err, s.renewal = err, nil
	s.mu.Unlock()
	close(r.done)
}

// restore tells a new session on the link what the old one was told.
func (s *Session) restore(ctx context.Context, l *link) error {
	s.mu.Lock()
	level := s.logLevel
	s.mu.Unlock()
	s.subs.mu.Lock()
	uris := slices.Sorted(maps.Keys(s.subs.uris))
	s.subs.mu.Unlock()
	if level != "" {
		if _, err := s.attempt(ctx, l, mcp.MethodLoggingSetLevel, &mcp.SetLevelParams{Level: level}, nil); err != nil && !IsRemote(err) {
			return err
		}
	}
	for _, uri := range uris {
		if _, err := s.attempt(ctx, l, mcp.MethodResourcesSubscribe, &mcp.SubscribeParams{URI: uri}, nil); err != nil && !IsRemote(err) {
			return err
		}
	}
	return nil
}
