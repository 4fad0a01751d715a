package server

import (
	"slices"
	"sync"
)

// A crew runs tasks, each of which may block for as long as it likes without
// holding up another. A goroutine that has ended one task takes the next that
// nobody has begun, because its stack has grown to what handlers need: under
// load, growing the stack of a new goroutine for every request costs more than
// the request.
//
// While there are tasks nobody has begun, a goroutine is always on its way.
// It is the only one: as soon as it begins a task it sends for the next.
type crew struct {
	wg sync.WaitGroup // the goroutines

	mu     sync.Mutex
	queue  []task // not begun; whoever calls run bounds their number
	next   int    // the first of queue
	coming bool   // a goroutine has been started and has not begun a task
}

// run has a task run by a goroutine of the crew.
func (c *crew) run(t task) {
	c.mu.Lock()
	if c.next > 0 && len(c.queue) == cap(c.queue) {
		// Under load there may always be tasks: what has begun makes room.
		c.queue, c.next = slices.Delete(c.queue, 0, c.next), 0
	}
	c.queue = append(c.queue, t)
	send := !c.coming
	c.coming = true
	c.mu.Unlock()
	if send {
		c.wg.Go(c.arrive)
	}
}

// arrive is the life of a goroutine: it runs tasks until all have begun.
func (c *crew) arrive() {
	t, ok := c.take(true)
	for ok {
		t.run()
		t, ok = c.take(false)
	}
}

// take returns the next task, if there is one, and sees to it that somebody comes
// for those that are left.
func (c *crew) take(arrived bool) (t task, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if arrived {
		c.coming = false
	}
	if c.next == len(c.queue) {
		return task{}, false
	}
	t = c.queue[c.next]
	c.queue[c.next] = task{}
	if c.next++; c.next == len(c.queue) {
		c.queue, c.next = c.queue[:0], 0
		return t, true
	}
	if !c.coming {
		c.coming = true
		c.wg.Go(c.arrive)
	}
	return t, true
}
