package folder

import "slices"

// maxEdits bounds the work of finding the shortest way from one text to another; it
// grows with the square.
const maxEdits = 1000

// A way is the state of the search on one diagonal: how far it has come in the old
// lines, and the steps that led there, the last one first.
type way struct {
	old  int // lines of the old text behind it
	last *steps
}

// steps are lines in a row that stayed, went or came.
type steps struct {
	kind   byte
	count  int
	before *steps
}

// then adds a line to the steps.
func (s *steps) then(kind byte) *steps {
	if s != nil && s.kind == kind {
		return &steps{kind, s.count + 1, s.before}
	}
	return &steps{kind, 1, s}
}

// shortest finds a shortest way from some lines to others, by the greedy search of
// Myers; nil if it takes too many steps. Of several it takes the one that keeps lines
// as early as possible.
func shortest(a, b []string) []op {
	if len(a) == 0 && len(b) == 0 {
		return []op{}
	}
	ways := map[int]way{}
	start := slide(way{}, 0, a, b)
	if start.old >= len(a) && start.old >= len(b) {
		return start.ops(a, b)
	}
	ways[0] = start
	low, high := -maxEdits, maxEdits
	for edits := 1; edits <= maxEdits; edits++ {
		first := max(low, -edits)
		first += (first + edits) & 1 // so many edits lead to every second diagonal
		for diagonal := first; diagonal <= min(high, edits); diagonal += 2 {
			w, ok := step(ways, diagonal, len(a), len(b))
			if !ok {
				delete(ways, diagonal)
				continue
			}
			w = slide(w, diagonal, a, b)
			atOld, atNew := w.old >= len(a), w.old-diagonal >= len(b)
			if atOld && atNew {
				return w.ops(a, b)
			}
			ways[diagonal] = w
			if atOld {
				high = min(high, diagonal-1)
			}
			if atNew {
				low = max(low, diagonal+1)
			}
		}
	}
	return nil
}

// step goes on to a diagonal from the one beside it that has come further.
func step(ways map[int]way, diagonal, old, fresh int) (way, bool) {
	less, hasLess := ways[diagonal-1]
	delete(ways, diagonal-1)
	more, hasMore := ways[diagonal+1]
	at := more.old - diagonal - 1
	canAdd := hasMore && at >= 0 && at < fresh
	canRemove := hasLess && less.old < old
	switch {
	case canAdd && (!canRemove || less.old < more.old):
		return way{more.old, more.last.then('+')}, true
	case canRemove:
		return way{less.old + 1, less.last.then('-')}, true
	}
	return way{}, false
}

// slide goes on while the lines are the same.
func slide(w way, diagonal int, a, b []string) way {
	for w.old < len(a) && w.old-diagonal < len(b) && a[w.old] == b[w.old-diagonal] {
		w.old++
		w.last = w.last.then(' ')
	}
	return w
}

// ops writes the steps in order, in each change first what went and then what came.
func (w way) ops(a, b []string) []op {
	var list []*steps
	for s := w.last; s != nil; s = s.before {
		list = append(list, s)
	}
	ops := make([]op, 0, len(a)+len(b))
	var came []op
	x, y := 0, 0
	for _, s := range slices.Backward(list) {
		for range s.count {
			switch s.kind {
			case '-':
				ops = append(ops, op{'-', a[x]})
				x++
			case '+':
				came = append(came, op{'+', b[y]})
				y++
			default:
				ops = append(append(ops, came...), op{' ', a[x]})
				came = nil
				x++
				y++
			}
		}
	}
	return append(ops, came...)
}
