// Package session keeps what a server remembers of each of its sessions.
package session

import (
	"runtime"
	"sync"
	"weak"

	"github.com/ferrymcp/ferry/server"
)

// A Store holds one value for each session, for as long as the session is there.
// The zero value is ready. It may be used concurrently.
type Store[V any] struct {
	mu     sync.Mutex
	values map[weak.Pointer[server.Session]]*V
}

// Of returns the value of a session, a new zero value at first. It must not refer to
// the session, or neither would ever go.
func (s *Store[V]) Of(sess *server.Session) *V {
	key := weak.Make(sess)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.values[key]; v != nil {
		return v
	}
	if s.values == nil {
		s.values = map[weak.Pointer[server.Session]]*V{}
	}
	v := new(V)
	s.values[key] = v
	runtime.AddCleanup(sess, s.drop, key)
	return v
}

// Len is how many sessions there are.
func (s *Store[V]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

func (s *Store[V]) drop(key weak.Pointer[server.Session]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
}
