package httpserver

import (
	"bytes"
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
	opened bool  // something came after initialize
	line   *line // of the table's, in which it stands; nil while busy
	before *session
	behind *session

	// Set when initialize has settled the revision; nil when events are not kept.
	replay   *replay
	standing *track // the stream that belongs to no request

	mu      sync.Mutex
	room    sync.Cond // told when the backlog shrinks or nobody empties it any more
	stream  *stream   // the open standing stream
	backlog []message // what the stream has not taken
	over    bool
}

// A message waits for the standing stream.
type message struct {
	frame []byte
	seq   uint64 // its number in the stream; 0 before it was taken for the first time
}

func newSession(srv *server.Server, principal string) *session {
	s := &session{id: rand.Text(), principal: principal, done: make(chan struct{})}
	s.room.L = &s.mu
	s.core = srv.NewSession(s.deliver)
	return s
}

// keep tells where the events of the session are kept. It is called before the
// session is used.
func (s *session) keep(r *replay) {
	s.replay = r
	s.standing = r.open()
}

// polled reports whether the session's streams can be let go of.
func (s *session) polled() bool { return s.replay != nil && s.replay.polled }

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
	s.replay.close()
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
		s.backlog = append(s.backlog, message{frame: frame})
		s.stream.wake()
	}
	return nil
}

// keptLocked reports whether the message waits already: that something has
// changed twice says no more than once.
func (s *session) keptLocked(frame []byte) bool {
	return slices.ContainsFunc(s.backlog, func(kept message) bool { return bytes.Equal(kept.frame, frame) })
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
	if st.resumed {
		s.backlog = slices.DeleteFunc(s.backlog, message.replayed)
	}
	st.wake()
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

// replayed reports whether a stream that is resumed has the message from the
// log.
func (m message) replayed() bool { return m.seq != 0 }

// next takes the oldest message for st; false when there is none.
func (s *session) next(st *stream) (message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 || s.stream != st {
		return message{}, false
	}
	m := s.backlog[0]
	s.backlog = s.backlog[1:]
	if len(s.backlog) == 0 {
		s.backlog = nil // an idle session keeps nothing
	}
	s.room.Broadcast()
	if m.seq == 0 && s.standing != nil {
		// With the lock held: a stream that takes over now must find it there.
		m.seq, _ = s.standing.add(m.frame)
	}
	return m, true
}

// putBack keeps a message that could not be sent on st for the stream to come.
func (s *session) putBack(st *stream, m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.stream != st && s.stream != nil && s.stream.resumed && m.replayed() {
		return
	}
	s.backlog = append([]message{m}, s.backlog...)
	s.stream.wake()
}
