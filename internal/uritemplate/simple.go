package uritemplate

import "strings"

// A simple template is text around one variable, {name} or {+name}, as most
// templates are. It matches by itself: the library takes a hundred times as long,
// and what a URI holds is up to clients.
type simple struct {
	before, name, after string
	reserved            bool // the value may hold reserved characters
}

// simplify returns nil for a template that is not simple.
func simplify(template string) *simple {
	before, rest, ok := strings.Cut(template, "{")
	name, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || strings.ContainsAny(after, "{}") || !literal(before) || !literal(after) {
		return nil
	}
	s := &simple{before: before, after: after}
	s.name, s.reserved = strings.CutPrefix(name, "+")
	if s.name == "" || strings.Trim(s.name, alphanumeric+"_") != "" {
		return nil
	}
	return s
}

const (
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	unreserved   = alphanumeric + "-._~"
	reserved     = ":/?#[]@!$&'()*+,;="
)

// literal reports whether a text stands for itself alone.
func literal(s string) bool { return strings.Trim(s, unreserved+reserved) == "" }

// match returns the value of the variable, which is not empty. It does not tell
// of URIs without any.
func (s *simple) match(uri string) (value string, ok bool) {
	rest, ok := strings.CutPrefix(uri, s.before)
	if !ok {
		return "", false
	}
	if rest, ok = strings.CutSuffix(rest, s.after); !ok {
		return "", false
	}
	escaped := false
	for i := 0; i < len(rest); i++ {
		switch class := classes[rest[i]]; {
		case class == isUnreserved, class == isReserved && (s.reserved || rest[i] == ','):
		case rest[i] == '%' && i+2 < len(rest) && isHex(rest[i+1]) && isHex(rest[i+2]):
			escaped = true
			i += 2
		default:
			return "", false
		}
	}
	if escaped {
		rest = unescape(rest)
	}
	return rest, true
}

type class uint8

const (
	isUnreserved class = 1 + iota
	isReserved
)

var classes = func() (c [256]class) {
	for i := range len(unreserved) {
		c[unreserved[i]] = isUnreserved
	}
	for i := range len(reserved) {
		c[reserved[i]] = isReserved
	}
	return c
}()

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unescape decodes escapes, which are well formed.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		out = append(out, digit(s[i+1])<<4|digit(s[i+2]))
		i += 2
	}
	return string(out)
}

func digit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
