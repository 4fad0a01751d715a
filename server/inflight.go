package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// inflight is the requests of one peer that are being handled, by id, so that
// they can be cancelled and an id in use is not used twice.
type inflight struct {
	mu    sync.Mutex
	calls map[jsonrpc.ID]*flight
}

// A flight is one request or notification that was admitted. It is run once, in
// any goroutine.
type flight struct {
	rq     *Request
	srv    *Server
	sess   *Session // the caller; nil for a stateless request
	sink   Sink
	ctx    context.Context // ends with the flight
	cancel context.CancelCauseFunc
	of     *inflight // nil for a notification, which is not entered
}

// run handles the request. The response is nil when the request was cancelled
// meanwhile, and for a notification.
func (f *flight) run() *Response {
	response := f.serve()
	if f.of != nil && !f.of.end(f) {
		return nil
	}
	return response
}

func (f *flight) serve() *Response {
	if f.sess != nil {
		return f.srv.serve(f.ctx, f.sess, f.rq, f.sink)
	}
	return f.srv.Serve(f.ctx, f.rq, f.sink)
}

// A CancelledError is the cause of the context of a request that its caller
// has cancelled.
type CancelledError struct {
	Reason string // what the caller gave as its reason; may be empty
}

// Error implements the error interface.
func (e *CancelledError) Error() string {
	if e.Reason == "" {
		return "cancelled by the caller"
	}
	return fmt.Sprintf("cancelled by the caller: %s", e.Reason)
}

// CancelReason returns what the caller gave as its reason, so that a client on
// whose behalf the request was made can hand it on.
func (e *CancelledError) CancelReason() string { return e.Reason }

// enter enters a request that has come; its context, so far that of the carrier,
// ends with the flight from then on. Notifications are not entered.
func (f *inflight) enter(call *flight) *jsonrpc.Error {
	rq := call.rq
	if rq.ID.IsZero() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.calls[rq.ID]; ok {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "request id %s is in use", rq.ID)
	}
	if f.calls == nil {
		f.calls = make(map[jsonrpc.ID]*flight)
	}
	if call.cancel = rq.cancel; call.cancel == nil {
		call.ctx, call.cancel = context.WithCancelCause(call.ctx)
	}
	call.of = f
	f.calls[rq.ID] = call
	return nil
}

// end removes a flight. It reports whether the request is still to be
// answered: a cancelled one is not, and its id may be in use again.
func (f *inflight) end(call *flight) bool {
	f.mu.Lock()
	wanted := f.calls[call.rq.ID] == call
	if wanted {
		delete(f.calls, call.rq.ID)
	}
	f.mu.Unlock()
	call.cancel(nil)
	return wanted
}

// stop cancels a request on behalf of its caller. A request that is not known
// has been answered already, or never came: both are fine, and it reports false.
func (f *inflight) stop(id jsonrpc.ID, reason string) (known bool) {
	f.mu.Lock()
	call, ok := f.calls[id]
	delete(f.calls, id)
	f.mu.Unlock()
	if ok {
		call.cancel(&CancelledError{Reason: reason})
	}
	return ok
}

// cancelled acts on a notifications/cancelled from the peer.
func (f *inflight) cancelled(rq *Request, log *slog.Logger) {
	var p mcp.CancelledParams
	if rq.params(&p) == nil && !p.RequestID.IsZero() && f.stop(p.RequestID, p.Reason) {
		log.Debug("request cancelled by its caller", slog.String("id", p.RequestID.String()), slog.String("reason", p.Reason))
	}
}

// stopAll cancels everything in flight.
func (f *inflight) stopAll(reason string) {
	f.mu.Lock()
	calls := f.calls
	f.calls = nil
	f.mu.Unlock()
	for _, call := range calls {
		call.cancel(&CancelledError{Reason: reason})
	}
}

// stopListens cancels what would go on for ever after the peer has gone.
func (f *inflight) stopListens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, call := range f.calls {
		if call.rq.Method == mcp.MethodSubscriptionsListen {
			delete(f.calls, id)
			call.cancel(&CancelledError{Reason: "the connection has ended"})
		}
	}
}
