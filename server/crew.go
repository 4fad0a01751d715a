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
	queue  []func() // not begun; whoever calls run bounds their number
	next   int      // the first of queue
	coming bool     // a goroutine has been started and has not begun a task
}

// run has task run by a goroutine of the crew.
func (c *crew) run(task func()) {
	c.mu.Lock()
	if c.next > 0 && len(c.queue) == cap(c.queue) {
		// Under load there may always be tasks: what has begun makes room.
		c.queue, c.next = slices.Delete(c.queue, 0, c.next), 0
	}
	c.queue = append(c.queue, task)
	send := !c.coming
	c.coming = true
	c.mu.Unlock()
	if send {
		c.wg.Go(c.arrive)
	}
}

// arrive is the life of a goroutine: it runs tasks until all have begun.
func (c *crew) arrive() {
	task := c.take(true)
	for task != nil {
		task()
		task = c.take(false)
	}
}

// take returns the next task, nil when there is none, and sees to it that
// somebody comes for those that are left.
func (c *crew) take(arrived bool) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if arrived {
		c.coming = false
	}
	if c.next == len(c.queue) {
		return nil
	}
	task := c.queue[c.next]
	c.queue[c.next] = nil
	if c.next++; c.next == len(c.queue) {
		c.queue, c.next = c.queue[:0], 0
		return task
	}
	if !c.coming {
		c.coming = true
		c.wg.Go(c.arrive)
	}
	return task
}
