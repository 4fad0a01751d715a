// Package uritemplate matches and expands URI templates (RFC 6570, all levels).
// It is the one place that knows the template library and puts bounds on it.
//
// Limits of matching: the variables of a query must come in the order of the
// template ("?b=2&a=1" does not match "{?a,b}"), and matching takes time
// proportional to the length of the URI, the size of the template and the number
// of values in the URI, which is why all three are capped. Templates of one plain
// variable, which most are, are matched without the library, at the cost of a look at
// each byte.
package uritemplate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	uritemplate "github.com/yosida95/uritemplate/v3"
)

// The bounds. Matching at all of them together stays well below a second.
const (
	// MaxTemplate is the longest template accepted, in bytes.
	MaxTemplate = 2 << 10
	// MaxURI is the longest URI that can match, in bytes.
	MaxURI = 8 << 10
	// MaxVariables is the number of variables a template may name.
	MaxVariables = 16
	// maxPrefix bounds the sum of all {name:length} prefixes: each unit of
	// length becomes several steps of the matching program.
	maxPrefix = 64
	// maxValues bounds the separators in a URI. The library copies all values
	// found so far at each step, which is quadratic in their number.
	maxValues = 256
)

// A Template is a parsed URI template. It is safe for concurrent use.
type Template struct {
	parsed     *uritemplate.Template
	simple     *simple // nil when it is not
	names      []string
	separators string // what can end one of several values of a variable
}

// Parse reads a template. It is an error if it is not one or is out of bounds.
func Parse(template string) (*Template, error) {
	if len(template) > MaxTemplate {
		return nil, fmt.Errorf("uri template has %d bytes, at most %d are allowed", len(template), MaxTemplate)
	}
	if !utf8.ValidString(template) {
		return nil, fmt.Errorf("uri template %q is not valid UTF-8", template)
	}
	if err := bounds(template); err != nil {
		return nil, err
	}
	parsed, err := uritemplate.New(template)
	if err != nil {
		return nil, fmt.Errorf("parse uri template %q: %w", template, err)
	}
	t := &Template{parsed: parsed, simple: simplify(template), names: parsed.Varnames(), separators: ","}
	if strings.Contains(template, "*") {
		t.separators = ",/.;&"
	}
	return t, nil
}

// bounds counts variables and prefix lengths in the text, so that a template
// out of bounds is refused before anything is built for it. A variable named
// twice counts twice.
func bounds(template string) error {
	variables, prefix := 0, 0
	for rest := template; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		expr, after, _ := strings.Cut(after, "}")
		rest = after
		for spec := range strings.SplitSeq(expr, ",") {
			variables++
			_, digits, _ := strings.Cut(spec, ":")
			n := 0
			for _, d := range digits {
				if d < '0' || d > '9' || n > maxPrefix {
					break
				}
				n = n*10 + int(d-'0')
			}
			prefix += n
		}
		if variables > MaxVariables {
			return fmt.Errorf("uri template %.80q names more than %d variables", template, MaxVariables)
		}
		if prefix > maxPrefix {
			return fmt.Errorf("uri template %.80q has prefix lengths above %d in total", template, maxPrefix)
		}
	}
	return nil
}

// Raw returns the template as it was given.
func (t *Template) Raw() string { return t.parsed.Raw() }

// Names returns the names of the variables in the order of the template, each
// once. The caller must not change the slice.
func (t *Template) Names() []string { return t.names }

// Match reports whether uri is an expansion of the template and returns the
// values of its variables, percent-decoded. A variable with several values (an
// exploded list, or values with commas between) is returned with commas between
// them, at most 256; a prefix variable {name:3} is returned under its name. Variables that
// the uri leaves out are absent.
func (t *Template) Match(uri string) (map[string]string, bool) {
	if len(uri) > MaxURI || t.count(uri) > maxValues {
		return nil, false
	}
	if t.simple != nil {
		value, ok := t.simple.match(uri)
		if !ok {
			return nil, false
		}
		return map[string]string{t.simple.name: value}, true
	}
	values := t.parsed.Match(uri)
	if values == nil {
		return nil, false
	}
	vars := make(map[string]string, len(values))
	for name, v := range values {
		if len(v.V) == 0 {
			continue
		}
		plain, _, prefixed := strings.Cut(name, ":")
		if _, ok := values[plain]; ok && prefixed {
			continue // {id:1}/{id}: the whole value says more than its prefix
		}
		vars[plain] = strings.Join(v.V, ",")
	}
	return vars, true
}

func (t *Template) count(uri string) int {
	n := 0
	for i := range len(uri) {
		if strings.IndexByte(t.separators, uri[i]) >= 0 {
			n++
		}
	}
	return n
}

// Expand writes the template with the variables filled in. Variables without a
// value are left out, as the standard says.
func (t *Template) Expand(vars map[string]string) (string, error) {
	values := make(uritemplate.Values, len(vars))
	for name, v := range vars {
		values.Set(name, uritemplate.String(v))
	}
	uri, err := t.parsed.Expand(values)
	if err != nil {
		return "", fmt.Errorf("expand uri template %q: %w", t.Raw(), err)
	}
	return uri, nil
}
