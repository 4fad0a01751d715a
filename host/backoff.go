package host

import (
	"context"
	"math/rand/v2"
	"time"
)

// A backoff gives growing pauses, with some chance in them so that many
// servers are not tried in step.
type backoff struct {
	least, most time.Duration
	next        time.Duration
	timer       *time.Timer // of start; nil when not started
}

func newBackoff(o *Options) *backoff {
	return &backoff{least: o.MinRetry, most: o.MaxRetry, next: o.MinRetry}
}

// pause returns how long to wait this time: between half of what it would be
// and all of it.
func (b *backoff) pause() time.Duration {
	d := b.next
	b.next = min(2*b.next, b.most)
	return d/2 + rand.N(d/2+1)
}

// wait waits for one pause, or until ctx ends.
func (b *backoff) wait(ctx context.Context) {
	timer := time.NewTimer(b.pause())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// start makes due fire after one pause.
func (b *backoff) start() { b.timer = time.NewTimer(b.pause()) }

// due returns what fires after start; nil, which never does, before that.
func (b *backoff) due() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// reset begins with the shortest pause again.
func (b *backoff) reset() {
	b.next = b.least
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// A ticker is a time.Ticker that may be none.
type ticker struct{ t *time.Ticker }

func newTicker(every time.Duration) ticker {
	if every <= 0 {
		return ticker{}
	}
	return ticker{time.NewTicker(every)}
}

func (t ticker) due() <-chan time.Time {
	if t.t == nil {
		return nil
	}
	return t.t.C
}

func (t ticker) stop() {
	if t.t != nil {
		t.t.Stop()
	}
}
