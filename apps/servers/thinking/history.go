package thinking

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

const (
	// maxBranches and maxBranchID bound what is kept of one line of thought.
	maxBranches = 1000
	maxBranchID = 256
	// maxPrincipals bounds how many callers without a session are remembered; who
	// has not been heard of for longest is forgotten.
	maxPrincipals = 1000
)

// A history is what is kept of a line of thought: how many thoughts there were and
// the names of the branches. The thoughts themselves are the model's to remember.
type history struct {
	mu       sync.Mutex
	count    int64
	branches []string
}

// add notes a thought, and returns how things stand then.
func (h *history) add(th *thought) (*progress, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if th.BranchFromThought > 0 && th.BranchID != "" && !slices.Contains(h.branches, th.BranchID) {
		if len(h.branches) >= maxBranches {
			return nil, fmt.Errorf("there are %d branches already, which is the most: go on in one of them", maxBranches)
		}
		h.branches = append(h.branches, th.BranchID)
	}
	h.count++
	return &progress{
		ThoughtNumber: th.Number, TotalThoughts: th.Total, NextThoughtNeeded: th.NextNeeded,
		Branches: inOrder(h.branches), ThoughtHistoryLength: h.count,
	}, nil
}

// inOrder gives branches in the order in which JavaScript has the names of members:
// whole numbers first, by size, then the others as they came.
func inOrder(branches []string) []string {
	sorted := append([]string{}, branches...)
	slices.SortStableFunc(sorted, func(a, b string) int {
		x, isX := index(a)
		y, isY := index(b)
		switch {
		case isX && isY:
			return cmp.Compare(x, y)
		case isX:
			return -1
		case isY:
			return 1
		}
		return 0
	})
	return sorted
}

// index reads a name that JavaScript takes for a number.
func index(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name, 10, 32)
	return n, err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == name
}

// histories are those of callers without a session, by principal.
type histories struct {
	mu   sync.Mutex
	list map[string]*remembered
	now  int64
}

type remembered struct {
	history
	used int64
}

// of returns the history of a principal.
func (hs *histories) of(principal string) *history {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.now++
	r := hs.list[principal]
	if r == nil {
		if len(hs.list) >= maxPrincipals {
			hs.forgetLocked()
		}
		if hs.list == nil {
			hs.list = map[string]*remembered{}
		}
		r = new(remembered)
		hs.list[principal] = r
	}
	r.used = hs.now
	return &r.history
}

// forgetLocked forgets who has not been heard of for longest.
func (hs *histories) forgetLocked() {
	var oldest string
	first := hs.now + 1
	for name, r := range hs.list {
		if r.used < first {
			oldest, first = name, r.used
		}
	}
	delete(hs.list, oldest)
}
