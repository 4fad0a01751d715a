package legacysse

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

// closeTime bounds Close.
const closeTime = 900 * time.Millisecond

// sessionParam is the part of the message endpoint's query that names a session.
const sessionParam = "sessionId"

// A Handler serves a [server.Server] over HTTP+SSE: event streams to GET, and
// the messages of their clients with POST. Close it, or shut it down, before
// the program ends or the server is closed. Its methods may be called
// concurrently.
type Handler struct {
	srv   *server.Server
	opts  Options
	guard web.Guard

	mu      sync.Mutex
	streams map[string]*stream // the open ones, by session id
	closing bool
	idle    chan struct{} // closed when streams becomes empty; nil until somebody waits
}

// New returns a handler for srv. Nil options mean the defaults.
func New(srv *server.Server, opts *Options) *Handler {
	h := &Handler{srv: srv, opts: opts.withDefaults(), streams: map[string]*stream{}}
	h.guard = web.NewGuard(h.opts.AllowedHosts, h.opts.AllowedOrigins)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	principal, ok := h.guard.Admit(w, r, h.opts.Principal)
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodGet:
		h.get(w, r, principal)
	case http.MethodPost:
		h.post(w, r, principal)
	default:
		web.NotAllowed(w, "GET, POST")
	}
}

var (
	errStopping  = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server is shutting down"}
	errFull      = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server has no room for another session"}
	errBusy      = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many messages of this session wait; try again when some have been read"}
	errNoSession = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no such session, or its event stream has ended; open another one"}
)

// get opens a stream and serves its client until one of both ends it.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, principal string) {
	if !httpwire.Accepts(r.Header["Accept"], httpwire.TypeSSE) {
		web.Refuse(w, http.StatusNotAcceptable, jsonrpc.ID{}, web.Invalid("the Accept header must allow %s", httpwire.TypeSSE))
		return
	}
	s := newStream(w, r, principal, &h.opts)
	if refused := h.add(s); refused != nil {
		s.silence.Stop()
		web.Refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, refused)
		return
	}
	defer h.remove(s)
	defer func() { _ = s.Close() }()
	if s.open(r) != nil {
		return
	}
	err := h.srv.ServePeer(r.Context(), s, &server.Peer{Principal: principal, SessionsOnly: true})
	if err != nil {
		h.opts.Logger.Debug("event stream ended", slog.Any("reason", err))
	}
}

// post takes a message for the session that the query names. What there is to
// answer goes to its stream.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, principal string) {
	if !httpwire.IsJSON(r.Header.Get("Content-Type")) {
		web.Refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, web.Invalid("the Content-Type must be %s", httpwire.TypeJSON))
		return
	}
	s := h.find(r.URL.Query().Get(sessionParam))
	if s == nil || s.principal != principal {
		web.Refuse(w, http.StatusNotFound, jsonrpc.ID{}, errNoSession)
		return
	}
	if !s.enter() {
		web.Refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, errBusy)
		return
	}
	defer s.leave()
	body, err := web.ReadBody(r, h.opts.MaxBody)
	if err != nil {
		web.RefuseBody(w, err, h.opts.MaxBody)
		return
	}
	if refusal := h.lacks(r, body); refusal != nil {
		refusal.Challenge(w.Header())
		web.Refuse(w, refusal.Status, jsonrpc.ID{}, web.Invalid("%s", refusal.Message))
		return
	}
	select {
	case s.in <- body:
		s.heard()
		w.WriteHeader(http.StatusAccepted)
	case <-s.stopping:
		web.Refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, errStopping)
	case <-s.done:
		web.Refuse(w, http.StatusNotFound, jsonrpc.ID{}, errNoSession)
	case <-r.Context().Done():
	}
}

// lacks returns the answer to a message that the caller may not send. The stream
// reads the message again, and answers what is wrong with it.
func (h *Handler) lacks(r *http.Request, body []byte) *admission.Refusal {
	if admission.From(r.Context()) == nil {
		return nil
	}
	var requests []*server.Request
	add := func(m jsonrpc.Message, err error) {
		if err == nil && m.Kind() != jsonrpc.Response {
			rq, _ := h.srv.Decode(m)
			requests = append(requests, rq)
		}
	}
	if jsonrpc.IsBatch(body) {
		items, _ := h.srv.Limits().DecodeBatch(body)
		for _, item := range items {
			add(item.Message, item.Err)
		}
	} else {
		add(h.srv.Limits().Decode(body))
	}
	return web.Lacks(r, requests...)
}

// add enters a new stream, or says why there cannot be one.
func (h *Handler) add(s *stream) *jsonrpc.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closing:
		return errStopping
	case len(h.streams) >= h.opts.MaxSessions:
		return errFull
	}
	h.streams[s.id] = s
	return nil
}

func (h *Handler) find(id string) *stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[id]
}

func (h *Handler) remove(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s.id)
	if len(h.streams) == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// stop refuses new streams and calls end for those that are open. The channel
// it returns is closed when none is left.
func (h *Handler) stop(end func(*stream)) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closing = true
	for _, s := range h.streams {
		end(s)
	}
	if len(h.streams) == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if h.idle == nil {
		h.idle = make(chan struct{})
	}
	return h.idle
}

// Shutdown refuses new streams and messages, waits until the running requests
// have been answered or ctx ends, and closes the handler. It returns the cause
// when ctx ended first. Call it before http.Server.Shutdown, which waits for
// streams that it cannot end.
func (h *Handler) Shutdown(ctx context.Context) error {
	var err error
	select {
	case <-h.stop((*stream).stop):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return errors.Join(err, h.Close())
}

// Close ends all streams and cancels their requests. It gives them a moment to
// end; the error tells when some do not. The server itself stays open. Close
// may be called again.
func (h *Handler) Close() error {
	idle := h.stop(func(s *stream) { s.end(server.ErrClosing) })
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return errors.New("event streams do not end although they were closed")
	}
}
