package folder

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is a pattern for paths, with the meaning that it has for minimatch: names
// that begin with a dot are like others, "!" before it turns it around, and what
// begins with "#" matches nothing.
type glob struct {
	pattern string
	negated bool
	nothing bool
}

// extended are patterns that need more than this.
var extended = regexp.MustCompile(`[?*+@!]\(`)

// newGlob checks a pattern and prepares it.
func newGlob(pattern string) (glob, error) {
	var g glob
	if strings.HasPrefix(pattern, "#") {
		return glob{nothing: true}, nil
	}
	for strings.HasPrefix(pattern, "!") && !strings.HasPrefix(pattern, "!(") {
		pattern, g.negated = pattern[1:], !g.negated
	}
	if extended.MatchString(pattern) {
		return g, fmt.Errorf("%s: parentheses mean nothing in patterns: use braces, as in *.{js,ts}", Quote(pattern))
	}
	if err := checkPattern(pattern); err != nil {
		return g, err
	}
	// What is below a folder is not the folder.
	if rest, ok := strings.CutSuffix(pattern, "/**"); ok {
		pattern = rest + "/**/*"
	}
	g.pattern = strings.TrimPrefix(pattern, "./")
	return g, nil
}

func (g glob) match(rel string) bool {
	return !g.nothing && doublestar.MatchUnvalidated(g.pattern, rel) != g.negated
}

// anyOf reports whether one of some patterns matches.
func anyOf(globs []glob) func(rel string) bool {
	if len(globs) == 0 {
		return nil
	}
	return func(rel string) bool {
		for _, g := range globs {
			if g.match(rel) {
				return true
			}
		}
		return false
	}
}

// exactly are patterns for whole paths.
func exactly(patterns []string) ([]glob, error) {
	globs := make([]glob, 0, len(patterns))
	for _, pattern := range patterns {
		g, err := newGlob(pattern)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// anywhere are patterns of which those without a star are for parts of paths too.
func anywhere(patterns []string) ([]glob, error) {
	var all []string
	for _, pattern := range patterns {
		all = append(all, pattern)
		if !strings.Contains(pattern, "*") && !strings.HasPrefix(pattern, "!") && !strings.HasPrefix(pattern, "#") {
			all = append(all, "**/"+pattern)
		}
	}
	return exactly(all)
}

// names are patterns of which those without a slash are for names anywhere.
func names(patterns []string) (func(rel string) bool, error) {
	globs, err := exactly(patterns)
	if err != nil || len(globs) == 0 {
		return nil, err
	}
	return func(rel string) bool {
		for _, g := range globs {
			if g.match(rel) || !strings.Contains(g.pattern, "/") && g.match(path.Base(rel)) {
				return true
			}
		}
		return false
	}, nil
}
