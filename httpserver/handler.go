package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/server"
)

// closeTime bounds Close.
const closeTime = 900 * time.Millisecond

// A Handler serves a [server.Server] over HTTP. It works at any path of any
// mux. Close it, or shut it down, before the program ends or the server is
// closed. Its methods may be called concurrently.
type Handler struct {
	srv       *server.Server
	opts      Options
	guard     web.Guard
	sessions  table
	exchanges sync.Pool

	mu      sync.Mutex
	flights map[*flight]struct{} // the requests being served
	closing bool
	idle    chan struct{} // closed when flights becomes empty; nil until somebody waits
}

// A flight is one HTTP request that is being served.
type flight struct {
	cancel context.CancelCauseFunc
	// standing requests do not end by themselves: streams and subscriptions.
	standing bool
}

// New returns a handler for srv. Nil options mean the defaults.
func New(srv *server.Server, opts *Options) *Handler {
	h := &Handler{srv: srv, opts: opts.withDefaults(), flights: map[*flight]struct{}{}}
	h.guard = web.NewGuard(h.opts.AllowedHosts, h.opts.AllowedOrigins)
	h.sessions.init(&h.opts)
	h.exchanges.New = func() any { return newExchange(h) }
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	principal, ok := h.guard.Admit(w, r, h.opts.Principal)
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, principal)
	case http.MethodGet:
		h.get(w, r, principal)
	case http.MethodDelete:
		h.delete(w, r, principal)
	default:
		web.NotAllowed(w, h.verbs())
	}
}

// begin enters a request, whose context then ends with parent and when the
// handler closes. It reports false when the handler closes already.
func (h *Handler) begin(parent context.Context, f *flight, standing bool) (context.Context, bool) {
	ctx, cancel := context.WithCancelCause(parent)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		cancel(server.ErrClosing)
		return nil, false
	}
	f.cancel, f.standing = cancel, standing
	h.flights[f] = struct{}{}
	return ctx, true
}

// end takes a request out. One that was not entered does no harm.
func (h *Handler) end(f *flight) {
	if f.cancel == nil {
		return
	}
	f.cancel(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.flights, f)
	f.cancel = nil
	if len(h.flights) == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// stop refuses new requests and cancels those in flight: all of them, or only
// the standing ones. The channel it returns is closed when none is left.
func (h *Handler) stop(all bool) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true
	for f := range h.flights {
		if all || f.standing {
			f.cancel(server.ErrClosing)
		}
	}
	if len(h.flights) == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if h.idle == nil {
		h.idle = make(chan struct{})
	}
	return h.idle
}

// Shutdown refuses new requests, ends streams and subscriptions, waits until
// the running requests are done or ctx ends, and closes the handler. It returns
// the cause when ctx ended first. Call it before http.Server.Shutdown, which
// waits for streams that it cannot end.
func (h *Handler) Shutdown(ctx context.Context) error {
	var err error
	select {
	case <-h.stop(false):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return errors.Join(err, h.Close())
}

// Close ends all sessions and streams and cancels the running requests. It
// gives them a moment to end; the error tells when some do not. The server
// itself stays open. Close may be called again.
func (h *Handler) Close() error {
	idle := h.stop(true)
	h.sessions.close()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return errors.New("requests do not end although they were cancelled")
	}
}
