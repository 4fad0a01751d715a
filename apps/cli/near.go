package cli

import (
	"cmp"
	"slices"
	"strings"
)

// near returns the names that someone who wrote name may have meant: those that
// are nearest to it, at most three.
func near(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	wanted := strings.ToLower(name)
	for _, n := range names {
		have := strings.ToLower(n)
		d := distance(wanted, have)
		if len(wanted) >= 3 && (strings.Contains(have, wanted) || strings.Contains(wanted, have)) {
			d = min(d, 1)
		}
		if d <= max(2, len(wanted)/3) {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var best []string
	for _, c := range found[:min(3, len(found))] {
		if c.distance == found[0].distance {
			best = append(best, c.name)
		}
	}
	return best
}

// suggest makes a hint of the names near to one that does not exist, or of all
// of them if they are few.
func suggest(what, name string, names []string) string {
	if best := near(name, names); len(best) > 0 {
		return "Did you mean " + strings.Join(best, ", ") + "?"
	}
	switch {
	case len(names) == 0:
		return "There are no " + what + "."
	case len(names) <= 20:
		return "There are the " + what + " " + strings.Join(names, ", ") + "."
	default:
		return ""
	}
}

// distance is how many letters must be put in, taken out, exchanged or swapped
// with a neighbour to make b of a.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(before[j]+cost, before[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
