package server

import "sync"

// endings is what has to be done when the server closes: each connection and
// subscription enters the way to end it.
type endings struct {
	mu    sync.Mutex
	ended bool
	next  int
	funcs map[int]func()
}

// add enters f, which must not block, and returns how to take it out again.
// When the server is closed already, f is called at once.
func (e *endings) add(f func()) (remove func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		f()
		return func() {}
	}
	if e.funcs == nil {
		e.funcs = map[int]func(){}
	}
	e.next++
	key := e.next
	e.funcs[key] = f
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.funcs, key)
	}
}

// end calls everything that was entered, once.
func (e *endings) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	for _, f := range e.funcs {
		f()
	}
	e.funcs = nil
}
