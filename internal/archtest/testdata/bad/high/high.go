// Package high is documented and imports what low must not reach.
package high

import _ "net/textproto"

// The group's comment serves both.
const (
	One = 1
	Two = 2
)

var Undocumented = 3

// A Thing is documented with an article.
type Thing struct{}

// String needs no comment but may have one.
func (Thing) String() string { return "thing" }

func (Thing) Error() string { return "thing" }

type hidden struct{}

func (hidden) Exported() {}

// Wrongly named comment.
func (t *Thing) Branchy(n int, ok bool, c chan int) int {
	for i := range n {
		if ok && i > 2 || i < 1 {
			return i
		}
	}
	switch {
	case n > 1:
		return 1
	case n > 2:
		return 2
	default:
	}
	select {
	case <-c:
	default:
	}
	f := func() bool { return ok && n > 3 }
	return len(t.String()) + map[bool]int{true: 1}[f()]
}
