package host

import "strings"

// A pattern says which URIs a template may stand for. It knows the literal
// parts only, so it allows more than the template does; the server
// that has the template has the last word.
type pattern struct{ literals []string }

func newPattern(template string) *pattern {
	p := &pattern{}
	for {
		literal, rest, found := strings.Cut(template, "{")
		p.literals = append(p.literals, literal)
		if !found {
			return p
		}
		_, template, _ = strings.Cut(rest, "}")
	}
}

// match reports whether the literals come in the URI, in their order, the first
// at its beginning and the last at its end.
func (p *pattern) match(uri string) bool {
	last := len(p.literals) - 1
	if last == 0 {
		return uri == p.literals[0]
	}
	uri, ok := strings.CutPrefix(uri, p.literals[0])
	if !ok {
		return false
	}
	for _, literal := range p.literals[1:last] {
		_, uri, ok = strings.Cut(uri, literal)
		if !ok {
			return false
		}
	}
	return strings.HasSuffix(uri, p.literals[last])
}

// scheme returns what stands before the first colon of a URI or a template; empty
// if nothing that can be a scheme does.
func scheme(uri string) string {
	s, _, found := strings.Cut(uri, ":")
	if !found || strings.ContainsAny(s, "{/?#") {
		return ""
	}
	return strings.ToLower(s)
}
