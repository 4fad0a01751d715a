package server

import (
	"context"
	"sync"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A Session is a caller that opens with initialize and is remembered: the
// caller of all revisions before the stateless one. Carriers make one for each
// connection, or for each session id of HTTP. Its methods may be called
// concurrently.
type Session struct {
	srv    *Server
	flying inflight
	asked  questions
	sub    *subscriber // what the client hears of changes; nil without a standing sink

	mu    sync.Mutex
	state sessionState
	rev   *revision.Revision // what is offered by default until initialize has settled it
	who   *identity
	level mcp.LoggingLevel

	logs logGate
}

// sessionState is how far the handshake has come.
type sessionState uint8

const (
	stateNew sessionState = iota
	stateInitializing
	stateReady
	stateClosed
	stateless // there is no handshake to follow
)

// defaultLogLevel is the least level sent to a session that did not set one.
const defaultLogLevel = mcp.LevelInfo

// NewSession returns a session that waits for initialize. Messages that belong
// to no request, such as changed lists, go to out; nil drops them. Whoever
// made the session closes it.
func (s *Server) NewSession(out Sink) *Session {
	sess := &Session{srv: s, rev: revision.NewestLegacy(), who: unknown, level: defaultLogLevel}
	if out != nil {
		sess.sub = s.hub.add(out, sess)
	}
	return sess
}

// Stateless returns a caller of an older revision that has no session: every
// request stands for itself, and initialize is answered but not remembered.
// An empty name means the revision that HTTP requests without a version header
// imply. It returns false when the name is not that of a revision with an
// initialize handshake.
func (s *Server) Stateless(revisionName string) (*Session, bool) {
	rev := revision.Implied()
	if revisionName != "" {
		var ok bool
		if rev, ok = revision.Parse(revisionName); !ok || rev.Modern() {
			return nil, false
		}
	}
	return &Session{srv: s, rev: rev, who: unknown, state: stateless, level: defaultLogLevel}, true
}

// Revision returns the name of the session's revision; before initialize it is
// the newest that the session may end up with.
func (sess *Session) Revision() string { return sess.revision().Name() }

// Ready reports whether initialize has been answered.
func (sess *Session) Ready() bool {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.state == stateInitializing || sess.state == stateReady
}

// introduced reports whether the client has ended the handshake.
func (sess *Session) introduced() bool {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.state == stateReady
}

// Batches reports whether the session's revision allows batches.
func (sess *Session) Batches() bool { return sess.revision().Has(revision.Batches) }

func (sess *Session) revision() *revision.Revision {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.rev
}

func (sess *Session) client() mcp.Implementation {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.who.info
}

func (sess *Session) capabilities() mcp.ClientCapabilities {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.who.capabilities
}

func (sess *Session) logGate() *logGate { return &sess.logs }

func (sess *Session) logLevel() (mcp.LoggingLevel, bool) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.level, true
}

// Serve handles one request or notification of the session. Related messages
// go to sink before Serve returns. The response is nil for notifications, and
// for a request that the client cancelled meanwhile.
func (sess *Session) Serve(ctx context.Context, rq *Request, sink Sink) *Response {
	call, err := sess.begin(ctx, rq, sink)
	if err != nil {
		return errorResponse(rq.ID, err)
	}
	return call.run()
}

// begin admits a request and enters it into those in flight.
// Carriers on which order counts begin requests in the order of arrival, so
// that a cancellation finds what it is about, and run them side by side.
func (sess *Session) begin(ctx context.Context, rq *Request, sink Sink) (*flight, *jsonrpc.Error) {
	if err := sess.admit(rq.Method); err != nil {
		return nil, err
	}
	if rq.ID.IsZero() && rq.Method == mcp.NotificationCancelled {
		sess.flying.cancelled(rq, sess.srv.log)
	}
	call := &flight{Call: Call{Request: rq, srv: sess.srv, from: sess, sink: sink}, ctx: ctx}
	return call, sess.flying.enter(call)
}

// admit refuses what does not fit the state of the handshake. Clients that
// forget notifications/initialized are tolerated.
func (sess *Session) admit(method string) *jsonrpc.Error {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	switch {
	case sess.state == stateClosed:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session has ended")
	case sess.state == stateNew && method != mcp.MethodInitialize && method != mcp.MethodPing:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest,
			"%q came before initialize, and its _meta names no revision", method)
	}
	return nil
}

// initialize answers the handshake and settles the revision of the session.
func (s *Server) initialize(_ context.Context, c *Call) (any, error) {
	sess := c.Session()
	var p mcp.InitializeParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if p.ProtocolVersion == "" {
		return nil, invalidParams("params of initialize: protocolVersion is missing")
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	switch sess.state {
	case stateNew:
		sess.state = stateInitializing
	case stateless:
	default:
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize came twice")
	}
	sess.rev = revision.Negotiate(p.ProtocolVersion)
	sess.who = &identity{p.ClientInfo, p.Capabilities}
	return &mcp.InitializeResult{
		ProtocolVersion: sess.rev.Name(),
		Capabilities:    s.capabilities(),
		ServerInfo:      s.info,
		Instructions:    s.opts.Instructions,
	}, nil
}

// initialized ends the handshake: from here on the client is told of changes.
func (s *Server) initialized(_ context.Context, c *Call) (any, error) {
	sess := c.Session()
	if sess.sub != nil {
		s.hub.look(sess.sub, c.view)
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if sess.state == stateInitializing {
		sess.state = stateReady
	}
	return nil, nil
}

// setLevel chooses which log messages the session gets.
func (s *Server) setLevel(_ context.Context, c *Call) (any, error) {
	var p mcp.SetLevelParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if !p.Level.Valid() {
		return nil, invalidParams("params of %s: %q is not a log level", c.Method, p.Level)
	}
	sess := c.Session()
	sess.mu.Lock()
	defer sess.mu.Unlock()
	sess.level = p.Level
	return nil, nil
}

// Close ends the session and cancels its requests in flight. It may be called
// again.
func (sess *Session) Close() {
	sess.mu.Lock()
	closed := sess.state == stateClosed
	sess.state = stateClosed
	sess.mu.Unlock()
	if closed {
		return
	}
	sess.flying.stopAll("the session has ended")
	sess.asked.close()
	if sess.sub != nil {
		sess.srv.hub.remove(sess.sub)
	}
}
