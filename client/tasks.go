package client

import (
	"sync"
	"time"
)

// closeTime bounds how long Close waits for goroutines that are held up by
// code of the user's, such as a notification hook that calls Close.
const closeTime = time.Second

// tasks are the goroutines of a session.
type tasks struct {
	wg     sync.WaitGroup // the goroutines started by start
	waiter sync.WaitGroup // the one that waits for them

	mu      sync.Mutex
	stopped bool
}

// start runs f on a goroutine of its own, and reports whether it does: after
// stop it does not.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	t.wg.Go(f)
	return true
}

// stop lets no more goroutines start and waits for those that run, but no
// longer than the limit. It may be called more than once.
func (t *tasks) stop(limit time.Duration) {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	ended := make(chan struct{})
	t.waiter.Go(func() {
		t.wg.Wait()
		close(ended)
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		t.waiter.Wait()
	case <-timer.C:
	}
}

// slots bound how many goroutines of one kind run at a time.
type slots chan struct{}

// start runs f on a goroutine of the session, and reports whether there was room.
func (s slots) start(sess *Session, f func()) bool {
	select {
	case s <- struct{}{}:
	default:
		return false
	}
	started := sess.tasks.start(func() {
		defer func() { <-s }()
		f()
	})
	if !started {
		<-s
	}
	return started
}
