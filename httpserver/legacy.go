package httpserver

import (
	"context"
	"net/http"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// legacy serves a request or notification of a revision that opens with
// initialize. wrong is what is wrong with its parameters, if anything.
func (x *exchange) legacy(rq *server.Request, wrong error) {
	x.keepsGoing = true
	if rq.Method == mcp.MethodInitialize && !rq.ID.IsZero() && x.sessionID() == "" {
		x.initialize(rq, wrong)
		return
	}
	caller, ok := x.caller(rq.ID)
	if !ok {
		return
	}
	if wrong != nil {
		x.wrong(rq, wrong)
		return
	}
	if ctx, ok := x.begin(context.WithoutCancel(x.r.Context()), false); ok {
		rq.OnCancel(x.cancel)
		x.serve(ctx, caller, rq)
	}
}

// wrong answers a message whose parameters cannot be read.
func (x *exchange) wrong(rq *server.Request, err error) {
	if rq.ID.IsZero() {
		x.refuse(http.StatusBadRequest, rq.ID, asWire(err))
		return
	}
	x.conclude(&server.Response{ID: rq.ID, Error: asWire(err)})
}

func (x *exchange) serve(ctx context.Context, caller *server.Session, rq *server.Request) {
	if rq.ID.IsZero() {
		caller.Serve(ctx, rq, nil)
		x.conclude(nil)
		return
	}
	x.watch()
	if x.events && x.sess != nil && x.sess.polled() {
		rq.OnDisconnect(x.letGo)
	}
	x.respond(rq, caller.Serve(ctx, rq, x.way()))
}

// respond sends the response to a request of a session.
func (x *exchange) respond(rq *server.Request, response *server.Response) {
	if response != nil && response.Refused && x.sess != nil && x.sess.ended() {
		x.refuse(http.StatusNotFound, rq.ID, errNoSession) // it ended between being found and being used
		return
	}
	x.conclude(response)
}

// initialize answers the handshake and, if it succeeds, keeps the session.
func (x *exchange) initialize(rq *server.Request, wrong error) {
	if wrong != nil {
		x.wrong(rq, wrong)
		return
	}
	ctx, ok := x.begin(context.WithoutCancel(x.r.Context()), false)
	if !ok {
		return
	}
	if x.h.opts.Stateless {
		caller, _ := x.h.srv.Stateless("")
		x.conclude(caller.Serve(ctx, rq, nil))
		return
	}
	s := newSession(x.h.srv, x.principal)
	response := s.core.Serve(ctx, rq, nil)
	if response == nil || response.Error != nil {
		s.end()
		x.conclude(response)
		return
	}
	s.keep(newReplay(ctx, s, &x.h.opts))
	if !x.h.sessions.add(s) {
		s.end()
		x.refuse(http.StatusServiceUnavailable, rq.ID, errFull)
		return
	}
	x.W.Header()[httpwire.HeaderSessionID] = []string{s.id}
	x.conclude(response)
}

// response takes a client's response to a request of the server.
func (x *exchange) response(m jsonrpc.Message) {
	if stateless(x.version) {
		x.refuse(http.StatusBadRequest, jsonrpc.ID{}, invalid("this revision has no responses from clients"))
		return
	}
	x.answers = true
	if caller, ok := x.caller(jsonrpc.ID{}); ok {
		caller.Answer(m)
		x.conclude(nil)
	}
}

// caller finds the session that the request belongs to, or refuses it. In
// stateless mode everything belongs to a caller of its own.
func (x *exchange) caller(id jsonrpc.ID) (*server.Session, bool) {
	if x.h.opts.Stateless {
		return x.statelessCaller(id)
	}
	s, refusal := x.h.find(x.r, x.version, x.principal, x.answers)
	if s == nil {
		x.refuse(refusal.status, id, refusal.err)
		return nil, false
	}
	x.sess = s
	return s.core, true
}

func (x *exchange) statelessCaller(id jsonrpc.ID) (*server.Session, bool) {
	caller, ok := x.h.srv.Stateless(x.version)
	if !ok {
		x.refuse(http.StatusBadRequest, id, server.UnsupportedVersion(x.version))
		return nil, false
	}
	if x.limited = x.h.sessions.enter(); !x.limited {
		x.refuse(http.StatusServiceUnavailable, id, errFull)
		return nil, false
	}
	return caller, true
}

func (x *exchange) sessionID() string {
	if x.h.opts.Stateless {
		return ""
	}
	return header(x.r, httpwire.HeaderSessionID)
}
