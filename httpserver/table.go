package httpserver

import (
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

var errNoSession = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no such session, or it has ended; initialize again"}

// A table holds the sessions by id. Those that nothing runs for stand in one of
// two lists, in the order in which they expire.
type table struct {
	opts    *Options
	sweeper sync.WaitGroup // the goroutine that ends expired sessions, while there are sessions
	done    chan struct{}

	mu       sync.Mutex
	sessions map[string]*session
	fresh    line // initialized and not used since
	idle     line // used before
	running  int  // requests without a session
	sweeping bool
	closed   bool
}

func (t *table) init(opts *Options) {
	t.opts = opts
	t.done = make(chan struct{})
	t.sessions = map[string]*session{}
}

// add enters a new session. It reports false when there is no room.
func (t *table) add(s *session) bool {
	t.mu.Lock()
	var evicted *session
	if len(t.sessions) >= t.opts.MaxSessions {
		// A flood of handshakes pushes out its own kind first.
		if evicted = t.fresh.first; evicted == nil {
			evicted = t.idle.first
		}
		if evicted != nil {
			t.removeLocked(evicted)
		}
	}
	room := !t.closed && len(t.sessions) < t.opts.MaxSessions
	if room {
		t.sessions[s.id] = s
		t.restLocked(s)
		t.sweepLocked()
	}
	t.mu.Unlock()
	if evicted != nil {
		evicted.end()
		t.opts.Logger.Warn("session ended to make room for another", "sessions", t.opts.MaxSessions)
	}
	return room
}

// A refusal is the answer to a request whose session cannot be used.
type refusal struct {
	status int
	err    *jsonrpc.Error
}

// find finds the session that a request names, and makes it busy until
// release, or tells what to answer. version is that of the header. free requests
// do not count among those that run at the same time: they are quick, and may
// be what the others wait for.
func (h *Handler) find(r *http.Request, version, principal string, free bool) (*session, *refusal) {
	rev, known := revision.Parse(version)
	if version != "" && (!known || rev.Modern()) {
		return nil, &refusal{http.StatusBadRequest, server.UnsupportedVersion(version)}
	}
	id := header(r, httpwire.HeaderSessionID)
	if id == "" {
		return nil, &refusal{http.StatusBadRequest, invalid("the %s header is missing", httpwire.HeaderSessionID)}
	}
	limit := h.opts.MaxConcurrent
	if free {
		limit = math.MaxInt
	}
	s, refused := h.sessions.acquire(id, principal, limit)
	if s == nil {
		return nil, refused
	}
	if version != "" && version != s.core.Revision() {
		h.sessions.release(s)
		return nil, &refusal{http.StatusBadRequest, invalid("%s is %q, but the session has %q",
			httpwire.HeaderProtocolVersion, version, s.core.Revision())}
	}
	return s, nil
}

// acquire makes a session busy, unless limit requests of it run already.
func (t *table) acquire(id, principal string, limit int) (*session, *refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessions[id]
	if !ok || s.principal != principal {
		return nil, &refusal{http.StatusNotFound, errNoSession}
	}
	if s.busy >= limit {
		return nil, &refusal{http.StatusServiceUnavailable, errBusy}
	}
	t.liftLocked(s)
	s.busy++
	s.opened = true
	return s, nil
}

func (t *table) release(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.busy--; s.busy == 0 && t.sessions[s.id] == s {
		t.restLocked(s)
	}
}

// enter counts a request of an older revision that has no session.
func (t *table) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running >= t.opts.MaxSessions {
		return false
	}
	t.running++
	return true
}

func (t *table) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
}

// remove takes a session out; whoever took it out ends it.
func (t *table) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(s)
}

func (t *table) removeLocked(s *session) {
	t.liftLocked(s)
	if t.sessions[s.id] == s {
		delete(t.sessions, s.id)
	}
}

// restLocked puts a session in the list it waits in.
func (t *table) restLocked(s *session) {
	s.used = time.Now()
	if s.opened {
		t.idle.add(s)
	} else {
		t.fresh.add(s)
	}
}

// liftLocked takes a session out of its list.
func (t *table) liftLocked(s *session) {
	if s.line != nil {
		s.line.remove(s)
	}
}

// sweepLocked makes sure that somebody ends expired sessions.
func (t *table) sweepLocked() {
	if !t.sweeping {
		t.sweeping = true
		t.sweeper.Go(t.sweep)
	}
}

// sweep ends sessions when they expire, until there are none.
func (t *table) sweep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-t.done:
			return
		}
		expired, next, more := t.expire(time.Now())
		for _, s := range expired {
			s.end()
		}
		if !more {
			return
		}
		timer.Reset(next)
	}
}

// expire takes out what has expired, and tells when to look again.
func (t *table) expire(now time.Time) (expired []*session, next time.Duration, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = min(t.opts.SessionIdle, t.opts.InitializeTimeout)
	for _, waiting := range []struct {
		in    *line
		limit time.Duration
	}{{&t.fresh, t.opts.InitializeTimeout}, {&t.idle, t.opts.SessionIdle}} {
		for s := waiting.in.first; s != nil; s = waiting.in.first {
			if left := waiting.limit - now.Sub(s.used); left > 0 {
				next = min(next, left)
				break
			}
			t.removeLocked(s)
			expired = append(expired, s)
		}
	}
	t.sweeping = len(t.sessions) > 0
	return expired, next, t.sweeping
}

// close ends all sessions. It may be called again.
func (t *table) close() {
	t.mu.Lock()
	sessions := t.sessions
	t.sessions = map[string]*session{}
	t.fresh, t.idle = line{}, line{}
	if !t.closed {
		t.closed = true
		close(t.done)
	}
	t.mu.Unlock()
	for _, s := range sessions {
		s.end()
	}
	t.sweeper.Wait()
}
