package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A comparison is of the tree as it is with a commit before it.
type comparison struct {
	base            string // the commit
	module, program string
	accepted        []string // paths that may cost more
	out             io.Writer
}

// A count is what one request on a path takes.
type count struct {
	Path         string  `json:"path"`
	Objects      float64 `json:"allocs"`
	Bytes        float64 `json:"bytes"`
	Instructions float64 `json:"-"` // 0 where the system does not count
}

// A limit says when more is too much: by a share, and by more than what differs
// from run to run.
type limit struct {
	what  string
	of    func(*count) float64
	least float64
}

const share = 0.05

var limits = []limit{
	{"allocations", func(c *count) float64 { return c.Objects }, 0.5},
	{"bytes", func(c *count) float64 { return c.Bytes }, 16},
	{"instructions", func(c *count) float64 { return c.Instructions }, 100},
}

func find(all []count, path string) *count {
	if i := slices.IndexFunc(all, func(c count) bool { return c.Path == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

func countsInstructions(all []count) bool {
	return slices.ContainsFunc(all, func(c count) bool { return c.Instructions > 0 })
}

// line is that of a path in the table, with an error if it has become worse. A
// new path cannot have.
func (c *comparison) line(was *count, is count) (string, error) {
	cells := []string{is.Path}
	var worse []string
	for _, l := range limits {
		now := l.of(&is)
		if was == nil || l.of(was) == 0 && now == 0 {
			cells = append(cells, figure(now))
			continue
		}
		before := l.of(was)
		cell := figure(before) + " → " + figure(now)
		if now > before*(1+share) && now-before >= l.least {
			cell += " !"
			worse = append(worse, fmt.Sprintf("%s %s, up from %s", figure(now), l.what, figure(before)))
		}
		cells = append(cells, cell)
	}
	if worse == nil {
		return strings.Join(append(cells, ""), "\t"), nil
	}
	if slices.Contains(c.accepted, is.Path) {
		return strings.Join(append(cells, "accepted"), "\t"), nil
	}
	return strings.Join(append(cells, "WORSE"), "\t"), fmt.Errorf("%s: %s", is.Path, strings.Join(worse, ", "))
}

func figure(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
