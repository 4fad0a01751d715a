package httpserver

import (
	"bytes"
	"container/list"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/server"
)

// maxBacklog is how many messages wait for the stream of a session. While none
// is open the oldest make room: they tell that something has changed, and the
// last ones say enough.
const maxBacklog = 16

// A session is a client that opened with initialize.
type session struct {
	id        string
	principal string
	core      *server.Session
	done      chan struct{} // closed when the session has ended

	// The table guards these.
	busy   int // requests running and streams open
	used   time.Time
	opened bool          // something came after initialize
	place  *list.Element // in one of the table's lists; nil while busy

	poke chan struct{} // has a token when there is something for the stream

	mu      sync.Mutex
	room    sync.Cond // told when the backlog shrinks or nobody empties it any more
	stream  *stream   // the open standing stream
	backlog [][]byte  // what the stream has not taken
	over    bool
}

func newSession(srv *server.Server, principal string) *session {
	s := &session{id: rand.Text(), principal: principal, done: make(chan struct{}), poke: make(chan struct{}, 1)}
	s.room.L = &s.mu
	s.core = srv.NewSession(s.deliver)
	return s
}

// end ends the session, its requests and its stream. It may be called again.
func (s *session) end() {
	s.mu.Lock()
	over := s.over
	s.over, s.backlog = true, nil
	s.room.Broadcast()
	s.mu.Unlock()
	if over {
		return
	}
	close(s.done)
	s.core.Close()
}

func (s *session) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// deliver takes a message that belongs to no request. It waits only for a
// stream that is open and behind; the server tells what changes meanwhile at
// once then.
func (s *session) deliver(frame []byte) error {
	frame = bytes.Clone(frame)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stream != nil && len(s.backlog) >= maxBacklog && !s.over {
		s.room.Wait()
	}
	if !s.over && !s.keptLocked(frame) {
		if len(s.backlog) >= maxBacklog {
			s.backlog = append(s.backlog[:0], s.backlog[1:]...)
		}
		s.backlog = append(s.backlog, frame)
		s.pokeLocked()
	}
	return nil
}

// keptLocked reports whether the message waits already: that something has
// changed twice says no more than once.
func (s *session) keptLocked(frame []byte) bool {
	return slices.ContainsFunc(s.backlog, func(kept []byte) bool { return bytes.Equal(kept, frame) })
}

func (s *session) pokeLocked() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// attach makes st the session's stream and ends the one before: a client that
// opens a second one has lost the first, often before we know of it.
func (s *session) attach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.stream.replaced)
	}
	s.stream = st
	s.pokeLocked()
}

// detach ends what attach began.
func (s *session) detach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.stream = nil
	}
	s.room.Broadcast()
}

// next takes the oldest message for st, nil when there is none.
func (s *session) next(st *stream) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 || s.stream != st {
		return nil
	}
	frame := s.backlog[0]
	s.backlog = s.backlog[1:]
	if len(s.backlog) == 0 {
		s.backlog = nil // an idle session keeps nothing
	}
	s.room.Broadcast()
	return frame
}

// putBack keeps a message that could not be sent for the stream to come.
func (s *session) putBack(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.backlog = append([][]byte{frame}, s.backlog...)
		s.pokeLocked()
	}
}
