package httpserver

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/server"
)

var errLetGo = errors.New("the connection was let go of")

// An errand is a request that runs in a goroutine of its own, so that it can
// outlive its connection: net/http ends an answer when its handler returns, and
// not before. Whoever is last, the goroutine or the handler, ends the exchange.
type errand struct {
	run      func()        // the method, made once
	parted   chan struct{} // has a token when the handler can go on; made when needed
	ctx      context.Context
	caller   *server.Session
	rq       *server.Request
	response *server.Response
	panicked any

	// The exchange guards these. One of them is set, and never the other.
	ran  bool // the request is done, and the exchange the handler's
	left bool // the handler has returned, or will, and the exchange is the goroutine's
}

// serveApart serves a request and returns when that is done, or the connection
// is not needed any more.
func (x *exchange) serveApart(ctx context.Context, caller *server.Session, rq *server.Request) {
	e := &x.errand
	if e.parted == nil {
		e.parted = make(chan struct{}, 1)
		e.run = x.run
	}
	e.ctx, e.caller, e.rq = ctx, caller, rq
	rq.OnDisconnect(x.disconnect)
	x.h.running.Go(e.run)
	select {
	case <-e.parted:
	case <-x.r.Context().Done():
		if x.leave() {
			return
		}
		<-e.parted
	}
	switch {
	case e.left:
	case e.panicked != nil:
		panic(e.panicked) // the server lets panics through: net/http takes them
	default:
		x.respond(rq, e.response)
	}
}

// run serves the request. What comes of it is sent by the handler or, when that
// has returned, kept for the client to ask for.
func (x *exchange) run() {
	e := &x.errand
	defer func() {
		e.panicked = recover()
		x.mu.Lock()
		e.ran = !e.left
		left := e.left
		x.mu.Unlock()
		if !left {
			e.parted <- struct{}{}
			return
		}
		if e.panicked != nil {
			x.h.opts.Logger.Error("a request without a connection panicked", "method", e.rq.Method, "panic", e.panicked)
		}
		x.conclude(e.response)
		x.settle()
	}()
	e.response = e.caller.Serve(e.ctx, e.rq, x.sink)
}

// leave parts the exchange from its connection. It reports false when the
// request is done, or that has happened before.
func (x *exchange) leave() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.leaveLocked()
}

func (x *exchange) leaveLocked() bool {
	if x.errand.ran || x.errand.left {
		return false
	}
	x.errand.left = true
	x.failed = cmp.Or(x.failed, errLetGo)
	x.Finish()
	x.Writer = web.Writer{}
	return true
}

// disconnect lets go of the connection, so that the client comes back for the
// response.
func (x *exchange) disconnect(retry time.Duration) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.finished || x.errand.ran {
		return false
	}
	if retry <= 0 {
		retry = x.h.opts.RetryAfter
	}
	open := x.streaming
	err := x.openLocked(retry)
	if x.track == nil {
		return false // the client has gone without an id to come back with
	}
	if err == nil && open && x.track.isMine() {
		_ = x.checkLocked(x.EventAs(httpwire.Event{Retry: retry}, nil)) // who has gone comes back too
	}
	x.track.dismiss(retry)
	if x.leaveLocked() {
		x.errand.parted <- struct{}{}
	}
	return true
}
