package httpserver

import (
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// A stream is the standing stream of a session: the answer to a GET. It owns
// no goroutine but that of its request.
type stream struct {
	web.Writer
	replaced chan struct{} // closed when the client has opened another one
}

// get opens the standing stream of a session.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, principal string) {
	s := h.sessionOf(w, r, principal)
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	if !httpwire.Accepts(r.Header["Accept"], httpwire.TypeSSE) {
		web.Refuse(w, http.StatusNotAcceptable, jsonrpc.ID{}, invalid("the Accept header must allow %s", httpwire.TypeSSE))
		return
	}
	var f flight
	ctx, ok := h.begin(r.Context(), &f, true)
	if !ok {
		web.Refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, errStopping)
		return
	}
	defer h.end(&f)
	st := &stream{replaced: make(chan struct{})}
	st.Reset(w, r, h.opts.WriteTimeout)
	defer st.Finish()
	if st.Open() != nil {
		return
	}
	s.attach(st)
	defer s.detach(st)
	st.run(ctx.Done(), s, h.opts.Keepalive)
}

// run sends what comes until the stream ends.
func (st *stream) run(done <-chan struct{}, s *session, keepalive time.Duration) {
	quiet := time.NewTimer(keepalive)
	defer quiet.Stop()
	for {
		select {
		case <-s.poke:
			if st.send(s) != nil {
				return
			}
		case <-quiet.C:
			if st.Comment() != nil {
				return
			}
		case <-done:
			return
		case <-st.replaced:
			return
		case <-s.done:
			return
		}
		quiet.Reset(keepalive)
	}
}

// send sends all that waits in the session.
func (st *stream) send(s *session) error {
	for frame := s.next(st); frame != nil; frame = s.next(st) {
		if err := st.Event(frame); err != nil {
			s.putBack(frame)
			return err
		}
	}
	return nil
}

// delete ends a session.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, principal string) {
	s := h.sessionOf(w, r, principal)
	if s == nil {
		return
	}
	h.sessions.remove(s)
	h.sessions.release(s)
	s.end()
	w.WriteHeader(http.StatusNoContent)
}

// sessionOf finds the session of a GET or DELETE, which is to be released, or
// refuses the request.
func (h *Handler) sessionOf(w http.ResponseWriter, r *http.Request, principal string) *session {
	version := header(r, httpwire.HeaderProtocolVersion)
	if h.opts.Stateless || stateless(version) {
		web.NotAllowed(w, http.MethodPost)
		return nil
	}
	s, refusal := h.find(r, version, principal)
	if s == nil {
		web.Refuse(w, refusal.status, jsonrpc.ID{}, refusal.err)
	}
	return s
}
