package server

import (
	"context"
	"math"
	"sync"

	"github.com/ferrymcp/ferry/mcp"
)

// steps is what a call has told of its progress.
type steps struct {
	mu      sync.Mutex // held while one is sent, so that they leave in order
	begun   bool
	done    float64             // the highest, told or skipped
	skipped *mcp.ProgressParams // the newest, if it was skipped
	rate    bucket
}

// WantsProgress reports whether the caller asked for progress notifications.
func (c *Call) WantsProgress() bool { return !c.meta.progressToken.IsZero() }

// Progress tells the caller how far the request is: done of total, 0 when that
// is unknown. Only what is more than ever before is told, and no more often
// than Options.ProgressRate, but the last step always. It does nothing when the
// caller did not ask for progress. It returns the cause when ctx has ended.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	if !c.WantsProgress() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &mcp.ProgressParams{ProgressToken: c.meta.progressToken, Progress: done, Message: message}
	if total > 0 && !math.IsInf(total, 0) {
		p.Total = &total
	}
	s := c.progress()
	s.mu.Lock()
	defer s.mu.Unlock()
	if math.IsNaN(done) || math.IsInf(done, 0) || s.begun && done <= s.done {
		return nil
	}
	first := !s.begun
	s.begun, s.done = true, done
	if !s.rate.take(c.srv.opts.ProgressRate) && !first {
		s.skipped = p
		return nil
	}
	s.skipped = nil
	return c.Notify(ctx, mcp.NotificationProgress, p)
}

func (c *Call) progress() *steps {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps == nil {
		c.steps = &steps{}
	}
	return c.steps
}

// tellRest tells what was held back, before the result.
func (c *Call) tellRest(ctx context.Context) {
	c.mu.Lock()
	s := c.steps
	c.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		if s.skipped != nil {
			_ = c.Notify(ctx, mcp.NotificationProgress, s.skipped) // a caller that has gone misses nothing
			s.skipped = nil
		}
		s.mu.Unlock()
	}
	if x, ok := c.from.(*exchange); ok {
		x.logs.tellDropped(ctx, c)
	}
}
