package authserver

import (
	"sync"
	"time"
)

// A throttle lets something happen at most so often, for all together: a few at
// once, and then one every so much time.
type throttle struct {
	burst int
	every time.Duration

	mu    sync.Mutex
	spent time.Time // when everything that was allowed has been paid for
}

// allow reports whether it may happen now, and counts it if so.
func (t *throttle) allow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	spent := t.spent
	if spent.Before(now) {
		spent = now
	}
	spent = spent.Add(t.every)
	if spent.Sub(now) > time.Duration(t.burst)*t.every {
		return false
	}
	t.spent = spent
	return true
}
