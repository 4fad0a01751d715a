package server

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ferrymcp/ferry/internal/httpwire"
)

// A registry holds the features of one kind. Readers work on immutable
// snapshots in the order of their keys; a change makes the next reader build a
// new one, so that registering many features costs no more than their number.
type registry[T any] struct {
	changed func(touched []T) // called after a change, without the lock

	mu      sync.Mutex
	entries map[string]*entry[T]
	current atomic.Pointer[snapshot[T]] // nil when entries have changed

	ever  atomic.Bool // there have been features
	lists pageCache   // made of the snapshots
}

// An entry is one feature: what lists show of it, and its handler.
type entry[T any] struct {
	key     string
	shown   T
	handler Handler
	// match returns the handler for a URI, nil when it is not of this
	// template; only templates have it, and they have no handler above.
	match func(uri string) Handler
	// variables are those of a template.
	variables []string
	// completers complete arguments, by name; the map is never changed.
	completers map[string]Completer
	// params are the arguments that callers over HTTP repeat in headers; only
	// tools have them.
	params []httpwire.Param
}

// A snapshot is the features at one moment, sorted by key.
type snapshot[T any] struct {
	entries map[string]*entry[T]
	sorted  []*entry[T]
}

// newRegistry returns a registry whose changes are told to those who see, through
// their view, something of what has changed.
func newRegistry[T any](s *Server, what change, through func(*View) func(T) bool) *registry[T] {
	return &registry[T]{
		entries: map[string]*entry[T]{},
		changed: func(touched []T) {
			s.hub.changed(what, func(v *View) bool {
				visible := through(v)
				return visible == nil || slices.ContainsFunc(touched, visible)
			})
		},
	}
}

// add enters features. A feature with the key of another replaces it.
func (r *registry[T]) add(entries ...*entry[T]) {
	touched := make([]T, 0, len(entries))
	r.mu.Lock()
	for _, e := range entries {
		if old, ok := r.entries[e.key]; ok {
			touched = append(touched, old.shown)
		}
		touched = append(touched, e.shown)
		r.entries[e.key] = e
	}
	r.current.Store(nil)
	r.ever.Store(true)
	r.mu.Unlock()
	r.changed(touched)
}

// remove takes features out; keys that are not there are ignored.
func (r *registry[T]) remove(keys ...string) {
	var touched []T
	r.mu.Lock()
	for _, key := range keys {
		if old, ok := r.entries[key]; ok {
			touched = append(touched, old.shown)
			delete(r.entries, key)
		}
	}
	if len(touched) > 0 {
		r.current.Store(nil)
	}
	r.mu.Unlock()
	if len(touched) > 0 {
		r.changed(touched)
	}
}

// snapshot returns the features as they are.
func (r *registry[T]) snapshot() *snapshot[T] {
	if snap := r.current.Load(); snap != nil {
		return snap
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if snap := r.current.Load(); snap != nil {
		return snap
	}
	snap := &snapshot[T]{entries: maps.Clone(r.entries)}
	snap.sorted = slices.SortedFunc(maps.Values(r.entries), func(a, b *entry[T]) int {
		return strings.Compare(a.key, b.key)
	})
	r.current.Store(snap)
	return snap
}

// used reports whether there are, or ever were, any features: what was declared to
// a client stays so.
func (r *registry[T]) used() bool { return r.ever.Load() }

// after returns up to limit visible entries behind the key, and whether there
// are more.
func (snap *snapshot[T]) after(key string, limit int, visible func(T) bool) (page []*entry[T], more bool) {
	start, found := slices.BinarySearchFunc(snap.sorted, key, func(e *entry[T], key string) int {
		return strings.Compare(e.key, key)
	})
	if found {
		start++
	}
	for _, e := range snap.sorted[start:] {
		if visible != nil && !visible(e.shown) {
			continue
		}
		if len(page) == limit {
			return page, true
		}
		page = append(page, e)
	}
	return page, false
}
