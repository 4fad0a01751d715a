package client

import (
	"context"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// An alarm ends the calls of a session that take too long. It has one timer, for
// the call that is due first, because most calls end long before.
type alarm struct {
	mu    sync.Mutex
	first *deadline // of a list without order
	timer *time.Timer
	next  time.Time // when the timer goes off; zero when it does not run
}

// again is when a call that is due and not on its way yet is tried to be ended
// again.
const again = time.Millisecond

// A deadline is how long a call may take.
type deadline struct {
	call *transport.Outgoing
	// served are the questions of the server, for which a silent call is waited
	// longer; nil when there can be none.
	served *served
	limit  time.Duration // of silence, 0 for none
	most   time.Duration // of the call as a whole, 0 for none

	// The round trip is ended by the connection or, where that cannot do it, by
	// its context.
	rt     abandoner
	cancel context.CancelCauseFunc

	// The rest belongs to the alarm, while the deadline is set.
	silence       time.Time // when the call has been silent for too long
	over          time.Time // when it has taken too long
	reason        *TimeoutError
	before, after *deadline
}

// An abandoner is a transport.RoundTripper that can give a request up.
type abandoner interface {
	Abandon(id jsonrpc.ID, reason error) bool
}

// set begins to count.
func (a *alarm) set(d *deadline) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.limit != 0 {
		d.silence = now.Add(d.limit)
	}
	if d.most != 0 {
		d.over = now.Add(d.most)
	}
	if d.after = a.first; d.after != nil {
		d.after.before = d
	}
	a.first = d
	a.wakeLocked(d.due(), now)
}

// due returns when something is to be done about a call; never is zero.
func (d *deadline) due() time.Time {
	if d.silence.IsZero() || !d.over.IsZero() && d.over.Before(d.silence) {
		return d.over
	}
	return d.silence
}

// wakeLocked makes the timer go off at the time given, or earlier.
func (a *alarm) wakeLocked(at, now time.Time) {
	if at.IsZero() || !a.next.IsZero() && !at.Before(a.next) {
		return
	}
	a.next = at
	if a.timer == nil {
		a.timer = time.AfterFunc(at.Sub(now), a.ring)
		return
	}
	a.timer.Reset(at.Sub(now))
}

// clear stops counting, and returns why the call was ended, if it was.
func (a *alarm) clear(d *deadline) *TimeoutError {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.before == nil {
		a.first = d.after
	} else {
		d.before.after = d.after
	}
	if d.after != nil {
		d.after.before = d.before
	}
	return d.reason
}

// heard tells that a call is not silent.
func (a *alarm) heard(d *deadline) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.limit != 0 {
		d.silence = time.Now().Add(d.limit)
	}
}

// ring ends the calls that are due, and sets the timer for the next.
func (a *alarm) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.next = time.Time{}
	var first time.Time
	for d := a.first; d != nil; d = d.after {
		at := d.due()
		if !at.IsZero() && !at.After(now) {
			at = d.expire(now)
		}
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	a.wakeLocked(first, now)
}

// expire ends a call that is due, or returns when it will be.
func (d *deadline) expire(now time.Time) time.Time {
	reason := &TimeoutError{Method: d.call.Method, Limit: d.limit}
	if d.due().Equal(d.over) && !d.over.Equal(d.silence) {
		reason.Limit, reason.Max = d.most, true
	} else if d.served != nil {
		if grace := d.served.grace(d.call.ID, d.limit); grace > 0 {
			d.silence = now.Add(grace)
			return d.due()
		}
	}
	if d.reason == nil {
		d.reason = reason
	}
	if !d.end() {
		return now.Add(again)
	}
	d.silence, d.over = time.Time{}, time.Time{}
	return time.Time{}
}

// end makes the round trip return, and reports whether there is one.
func (d *deadline) end() bool {
	if d.rt == nil {
		d.cancel(d.reason)
		return true
	}
	return d.rt.Abandon(d.call.ID, d.reason)
}

// stop ends the timer.
func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}
