package httpserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/httpserver/internal/web"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/state"
)

// A stream is the answer to a GET: the standing stream of a session, or the rest
// of a stream that was broken off. It owns no goroutine but that of its request.
type stream struct {
	web.Writer
	session   *session
	rest      *rest // what is to be replayed; nil for a stream that begins
	resumed   bool
	keepalive time.Duration
	poke      chan struct{} // has a token when there is something to send
	replaced  chan struct{} // closed when the client reads elsewhere, or shall come back
	retry     time.Duration // after which time; the track guards it
}

// get opens the standing stream of a session, or resumes a stream.
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
	st := &stream{session: s, keepalive: h.opts.Keepalive, poke: make(chan struct{}, 1), replaced: make(chan struct{})}
	if id := header(r, httpwire.HeaderLastEventID); id != "" && !h.resume(w, st, id) {
		return
	}
	var f flight
	ctx, ok := h.begin(r.Context(), &f, true)
	if !ok {
		web.Refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, errStopping)
		return
	}
	defer h.end(&f)
	st.Reset(w, r, h.opts.WriteTimeout)
	defer st.Finish()
	if st.Open() != nil {
		return
	}
	if st.resumed && st.rest.track != s.standing {
		st.follow(ctx.Done())
		return
	}
	st.stand(ctx.Done(), h.opts.RetryAfter)
}

// resume finds what came after the event with the given id, or refuses the
// request. Nothing is left out without a word.
func (h *Handler) resume(w http.ResponseWriter, st *stream, id string) bool {
	rest, err := st.session.replay.after(id, st.session.standing)
	switch {
	case err == nil:
		st.rest, st.resumed = rest, true
		return true
	case errors.Is(err, errUnknownEvent):
		web.Refuse(w, http.StatusBadRequest, jsonrpc.ID{}, invalid("the %s is not that of an event of this session", httpwire.HeaderLastEventID))
	case errors.Is(err, state.ErrGone):
		web.Refuse(w, http.StatusGone, jsonrpc.ID{}, invalid("what came after the event %s is not kept any more", httpwire.HeaderLastEventID))
	default:
		h.opts.Logger.Error("events cannot be read for replay", "error", err)
		web.Refuse(w, http.StatusInternalServerError, jsonrpc.ID{}, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the events cannot be read"})
	}
	return false
}

// stand serves the standing stream.
func (st *stream) stand(done <-chan struct{}, retry time.Duration) {
	s := st.session
	s.attach(st)
	defer s.detach(st)
	if st.resumed {
		if st.replay() != nil {
			return
		}
	} else if priming, ok := s.standing.prime(retry); ok && st.EventAs(priming, nil) != nil {
		return
	}
	st.run(done, func() (bool, error) { return false, st.send() })
}

// follow serves the rest of the stream of a request.
func (st *stream) follow(done <-chan struct{}) {
	t := st.rest.track
	if t == nil {
		_ = st.replay() // there is no more to come
		return
	}
	t.attach(st)
	step := func() (bool, error) {
		ended := t.hasEnded() // asked before: what came until then is replayed
		return ended, st.replay()
	}
	if ended, err := step(); !ended && err == nil {
		st.run(done, step)
	}
	if retry := t.detach(st); retry > 0 {
		_ = st.EventAs(httpwire.Event{Retry: retry}, nil) // who has gone comes back too
	}
}

// wake tells the stream, if there is one, that there is something to send.
func (st *stream) wake() {
	if st == nil {
		return
	}
	select {
	case st.poke <- struct{}{}:
	default:
	}
}

// run calls step each time there is something to send, until that says that the
// stream has ended, or something else ends it.
func (st *stream) run(done <-chan struct{}, step func() (ended bool, err error)) {
	quiet := time.NewTimer(st.keepalive)
	defer quiet.Stop()
	for {
		select {
		case <-st.poke:
			if ended, err := step(); ended || err != nil {
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
		case <-st.session.done:
			return
		}
		quiet.Reset(st.keepalive)
	}
}

// send sends all that waits in the session.
func (st *stream) send() error {
	s := st.session
	for m, ok := s.next(st); ok; m, ok = s.next(st) {
		if err := st.EventAs(httpwire.Event{ID: s.standing.id(m.seq)}, m.frame); err != nil {
			s.putBack(st, m)
			return err
		}
	}
	return nil
}

// replay sends what is kept of the stream, as long as the client reads here.
func (st *stream) replay() error {
	for {
		select {
		case <-st.replaced:
			return nil
		default:
		}
		e, ok, err := st.rest.next()
		switch {
		case err != nil || !ok:
			return err
		case len(e.Data) == 0:
			continue // it was only there for its id
		}
		if err := st.EventAs(httpwire.Event{ID: eventID(st.rest.name, e.Seq)}, e.Data); err != nil {
			return err
		}
	}
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
	s, refusal := h.find(r, version, principal, r.Method == http.MethodDelete)
	if s == nil {
		web.Refuse(w, refusal.status, jsonrpc.ID{}, refusal.err)
	}
	return s
}
