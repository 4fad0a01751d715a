package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxProblems = 5
	maxForms    = 3 // alternatives of an anyOf that are described
)

// A ValidationError lists what is wrong with a value, in words a person or a
// language model can act on. At most five problems are listed.
type ValidationError struct {
	Problems []Problem
	More     int // problems not listed
}

// A Problem is one thing wrong with a value.
type Problem struct {
	Pointer string // JSON pointer to the offending part; empty for the value itself
	Message string
}

// String returns the problem as "/pointer: message".
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// Error returns all problems in one line.
func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "; and %d more", e.More)
	}
	return b.String()
}

// newValidationError rewrites the library's tree of causes as a short list, in
// an order that does not depend on map iteration.
func newValidationError(err error) error {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return err
	}
	var all []Problem
	collect(tree, &all)
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	n := min(len(all), maxProblems)
	return &ValidationError{Problems: all[:n:n], More: len(all) - n}
}

func collect(e *jsonschema.ValidationError, to *[]Problem) {
	if msgs := describe(e); len(msgs) > 0 {
		at := clip(pointer(e.InstanceLocation), 200)
		for _, m := range msgs {
			*to = append(*to, Problem{at, m})
		}
		return
	}
	if len(e.Causes) == 0 {
		*to = append(*to, Problem{clip(pointer(e.InstanceLocation), 200), "value is not allowed"})
	}
	for _, c := range e.Causes {
		collect(c, to)
	}
}

// forms describes why each alternative was refused.
func forms(e *jsonschema.ValidationError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "matches none of the %d allowed forms", len(e.Causes))
	for i, c := range e.Causes {
		if i == maxForms {
			b.WriteString("; …")
			break
		}
		var sub []Problem
		collect(c, &sub)
		if len(sub) > 0 {
			fmt.Fprintf(&b, "%s form %d: %s", map[bool]string{true: ":", false: ","}[i == 0], i+1, relative(sub[0], e))
		}
	}
	return clip(b.String(), 600)
}

// relative drops the part of the pointer that the outer problem states.
func relative(p Problem, outer *jsonschema.ValidationError) string {
	p.Pointer = strings.TrimPrefix(p.Pointer, pointer(outer.InstanceLocation))
	return p.String()
}

func quoteAll(names []string) string {
	names = slices.Sorted(slices.Values(names))
	for i, n := range names {
		names[i] = strconv.Quote(clip(n, 60))
	}
	if len(names) > 8 {
		names = append(names[:8:8], "…")
	}
	return strings.Join(names, ", ")
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun == "property" {
		return strconv.Itoa(n) + " properties"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
