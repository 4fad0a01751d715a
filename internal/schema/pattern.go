package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is an RE2 expression with a known cost. Matching is linear in the
// text, but the factor is the size of the compiled program.
type pattern struct {
	*regexp.Regexp
	size int
}

func compilePattern(expr string) (jsonschema.Regexp, error) {
	p, err := newPattern(expr)
	if err != nil {
		return nil, err // not p: a nil pattern in an interface is not nil
	}
	return p, nil
}

func newPattern(expr string) (*pattern, error) {
	if len(expr) > maxPatternBytes {
		return nil, fmt.Errorf("pattern has %d bytes, at most %d are allowed", len(expr), maxPatternBytes)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern is not RE2: %w", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("pattern is not RE2: %w", err)
	}
	if len(prog.Inst) > maxPatternSize {
		return nil, fmt.Errorf("pattern compiles to %d steps, at most %d are allowed", len(prog.Inst), maxPatternSize)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern is not RE2: %w", err)
	}
	return &pattern{Regexp: re, size: len(prog.Inst)}, nil
}

// affordable reports whether matching n bytes stays within bounds.
func (p *pattern) affordable(n int) bool {
	return n <= maxMatchSteps/p.size
}

// MatchString panics with a [*costError], which the caller of the library
// recovers: the library offers no way to return an error from here.
func (p *pattern) MatchString(text string) bool {
	if !p.affordable(len(text)) {
		panic(&costError{fmt.Sprintf("string of %d bytes is too long for the pattern %.60q", len(text), p.String())})
	}
	return p.Regexp.MatchString(text)
}
