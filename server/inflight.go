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

// A flight is one request in flight.
type flight struct {
	id     jsonrpc.ID
	method string
	cancel context.CancelCauseFunc
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

// begin enters a request; run handles it with serve. The response is nil when
// the request was cancelled meanwhile. Notifications are not entered.
func (f *inflight) begin(ctx context.Context, rq *Request, serve func(context.Context) *Response) (run func() *Response, err *jsonrpc.Error) {
	if rq.ID.IsZero() {
		return func() *Response { return serve(ctx) }, nil
	}
	ctx, call, err := f.start(ctx, rq)
	if err != nil {
		return nil, err
	}
	return func() *Response {
		response := serve(ctx)
		if !f.end(call) {
			return nil
		}
		return response
	}, nil
}

// start enters a request. The context it returns ends with the flight.
func (f *inflight) start(ctx context.Context, rq *Request) (context.Context, *flight, *jsonrpc.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.calls[rq.ID]; ok {
		return nil, nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "request id %s is in use", rq.ID)
	}
	if f.calls == nil {
		f.calls = make(map[jsonrpc.ID]*flight)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	call := &flight{id: rq.ID, method: rq.Method, cancel: cancel}
	f.calls[rq.ID] = call
	return ctx, call, nil
}

// end removes a flight. It reports whether the request is still to be
// answered: a cancelled one is not, and its id may be in use again.
func (f *inflight) end(call *flight) bool {
	f.mu.Lock()
	wanted := f.calls[call.id] == call
	if wanted {
		delete(f.calls, call.id)
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
		if call.method == mcp.MethodSubscriptionsListen {
			delete(f.calls, id)
			call.cancel(&CancelledError{Reason: "the connection has ended"})
		}
	}
}
