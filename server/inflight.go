package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// inflight is the requests of one peer that are being handled, by id, so that
// they can be cancelled and an id in use is not used twice.
type inflight struct {
	mu     sync.Mutex
	lone   *flight                // the first that came while there was none in its place
	others map[jsonrpc.ID]*flight // nil until there are several
}

// findLocked returns the flight with the id, nil if there is none.
func (f *inflight) findLocked(id jsonrpc.ID) *flight {
	if f.lone != nil && f.lone.ID == id {
		return f.lone
	}
	return f.others[id]
}

func (f *inflight) addLocked(call *flight) {
	switch {
	case f.lone == nil:
		f.lone = call
		return
	case f.others == nil:
		f.others = make(map[jsonrpc.ID]*flight)
	}
	f.others[call.ID] = call
}

// dropLocked takes out a flight that is there.
func (f *inflight) dropLocked(call *flight) {
	if f.lone == call {
		f.lone = nil
		return
	}
	delete(f.others, call.ID)
}

// eachLocked yields all flights; they may be dropped meanwhile.
func (f *inflight) eachLocked(yield func(*flight) bool) {
	if f.lone != nil && !yield(f.lone) {
		return
	}
	for _, call := range f.others {
		if !yield(call) {
			return
		}
	}
}

// A flight is one request or notification that was admitted. It is run once, in
// any goroutine.
type flight struct {
	Call
	ctx    context.Context // ends with the flight
	cancel context.CancelCauseFunc
	of     *inflight // nil for a notification, which is not entered
}

// run handles the request. The response is nil when the request was cancelled
// meanwhile, and for a notification.
func (f *flight) run() *Response {
	response := f.srv.serve(f.ctx, &f.Call)
	if f.of != nil && !f.of.end(f) {
		return nil
	}
	return response
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
	rq := call.Request
	if rq.ID.IsZero() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.findLocked(rq.ID) != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "request id %s is in use", rq.ID)
	}
	if call.cancel = rq.cancel; call.cancel == nil {
		call.ctx, call.cancel = context.WithCancelCause(call.ctx)
	}
	call.of = f
	f.addLocked(call)
	return nil
}

// end removes a flight. It reports whether the request is still to be
// answered: a cancelled one is not, and its id may be in use again.
func (f *inflight) end(call *flight) bool {
	f.mu.Lock()
	wanted := f.findLocked(call.ID) == call
	if wanted {
		f.dropLocked(call)
	}
	f.mu.Unlock()
	call.cancel(nil)
	return wanted
}

// stop cancels a request on behalf of its caller. A request that is not known
// has been answered already, or never came: both are fine, and it reports false.
func (f *inflight) stop(id jsonrpc.ID, reason string) (known bool) {
	f.mu.Lock()
	call := f.findLocked(id)
	if call != nil {
		f.dropLocked(call)
	}
	f.mu.Unlock()
	if call != nil {
		call.cancel(&CancelledError{Reason: reason})
	}
	return call != nil
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
	all := slices.Collect(f.eachLocked)
	f.lone, f.others = nil, nil
	f.mu.Unlock()
	for _, call := range all {
		call.cancel(&CancelledError{Reason: reason})
	}
}

// stopListens cancels what would go on for ever after the peer has gone.
func (f *inflight) stopListens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for call := range f.eachLocked {
		if call.Method == mcp.MethodSubscriptionsListen {
			f.dropLocked(call)
			call.cancel(&CancelledError{Reason: "the connection has ended"})
		}
	}
}
