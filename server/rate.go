package server

import "time"

// A bucket lets a number of things through in a second, and as many at once. The
// zero value is full. It is not safe for concurrent use.
type bucket struct {
	used float64   // of the capacity
	last time.Time // when used was right
}

// take reports whether one more may pass. A rate below 0 lets everything pass.
func (b *bucket) take(rate int) bool {
	if rate < 0 {
		return true
	}
	now := time.Now()
	if !b.last.IsZero() {
		b.used = max(0, b.used-now.Sub(b.last).Seconds()*float64(rate))
	}
	b.last = now
	if b.used+1 > float64(rate) {
		return false
	}
	b.used++
	return true
}
