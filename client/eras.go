package client

import (
	"reflect"
	"sync"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/transport"
)

// maxEras bounds how many transports a client remembers.
const maxEras = 256

// eras remembers which revision the server behind a transport spoke last, so
// that connecting again needs no probe.
type eras struct {
	mu    sync.Mutex
	known map[transport.Transport]*revision.Revision
}

// get returns the revision, nil if it is not known.
func (e *eras) get(t transport.Transport) *revision.Revision {
	if !hashable(t) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[t]
}

// set remembers rev; nil forgets.
func (e *eras) set(t transport.Transport, rev *revision.Revision) {
	if !hashable(t) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if rev == nil {
		delete(e.known, t)
		return
	}
	if e.known == nil {
		e.known = map[transport.Transport]*revision.Revision{}
	}
	if _, ok := e.known[t]; !ok && len(e.known) >= maxEras {
		clear(e.known) // a lost memory costs a probe, no more
	}
	e.known[t] = rev
}

// hashable reports whether t can be a map key; a function type cannot.
func hashable(t transport.Transport) bool { return reflect.ValueOf(t).Comparable() }
