// Package robots reads robots.txt, in which a site says what programs may visit on
// their own (RFC 9309).
package robots

import (
	"bytes"
	"strings"
)

// MaxBytes is how much of a robots.txt is read; what follows does not count
// (RFC 9309 section 2.5).
const MaxBytes = 500 << 10

// Rules are what a robots.txt says to one program. Nil allows everything. They may be
// used concurrently.
type Rules struct {
	rules []rule
}

// A rule allows or disallows the paths that match a pattern.
type rule struct {
	allow    bool
	length   int      // of the pattern: the longest one counts
	parts    []string // of the pattern, between its wildcards
	anchored bool     // the pattern ends with "$"
}

// Parse reads what a robots.txt says to a program: the groups that name it, merged, or
// those for all programs if none does. The agent is the value of a User-Agent header
// or a product token, compared without regard to case. What cannot be read is skipped.
func Parse(data []byte, agent string) *Rules {
	data = bytes.TrimPrefix(data[:min(len(data), MaxBytes)], []byte("\xef\xbb\xbf"))
	token := Token(agent)
	var own, all Rules
	var named, mine, everyones, inRules bool
	for line := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.Trim(value, " \t")
		switch key = strings.ToLower(strings.Trim(key, " \t")); key {
		case "user-agent":
			if inRules {
				mine, everyones, inRules = false, false, false
			}
			everyones = everyones || value == "*"
			if token != "" && strings.EqualFold(Token(value), token) {
				mine, named = true, true
			}
		case "allow", "disallow":
			inRules = true
			if value == "" {
				continue
			}
			if mine {
				own.add(key == "allow", value)
			}
			if everyones {
				all.add(key == "allow", value)
			}
		}
	}
	if named {
		return &own
	}
	return &all
}

// Token is the product token at the beginning of a User-Agent.
func Token(agent string) string {
	for i, c := range []byte(agent) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return agent[:i]
		}
	}
	return agent
}

func (r *Rules) add(allow bool, pattern string) {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	pattern = strings.ReplaceAll(normal(pattern), "$", "%24")
	r.rules = append(r.rules, rule{allow: allow, length: len(pattern), parts: strings.Split(pattern, "*"), anchored: anchored})
}

// Allows reports whether a path, with the query that follows it, may be visited. The
// longest pattern that matches decides, and of equally long ones that which allows.
func (r *Rules) Allows(path string) bool {
	if r == nil || path == "/robots.txt" {
		return true
	}
	path = normal(path)
	path = strings.ReplaceAll(strings.ReplaceAll(path, "*", "%2A"), "$", "%24")
	allow, longest := true, -1
	for _, rule := range r.rules {
		if (rule.length > longest || rule.length == longest && rule.allow) && rule.matches(path) {
			allow, longest = rule.allow, rule.length
		}
	}
	return allow
}

// matches takes the leftmost place for each part, in time linear in the path.
func (r *rule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.parts[0])
	if !ok {
		return false
	}
	last := len(r.parts) - 1
	if last == 0 {
		return !r.anchored || rest == ""
	}
	for _, part := range r.parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	if r.anchored {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

const upperHex = "0123456789ABCDEF"

// normal writes equal paths equally: what needs no escape has none, and others are in
// capitals.
func normal(path string) string {
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			high, low := strings.IndexByte(upperHex, upper(path[i+1])), strings.IndexByte(upperHex, upper(path[i+2]))
			if high >= 0 && low >= 0 {
				i += 2
				if c = byte(high<<4 | low); unreserved(c) {
					b.WriteByte(c)
				} else {
					escape(&b, c)
				}
				continue
			}
		}
		if c <= ' ' || c >= 0x7f {
			escape(&b, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, c byte) {
	b.WriteByte('%')
	b.WriteByte(upperHex[c>>4])
	b.WriteByte(upperHex[c&15])
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'f' {
		c -= 'a' - 'A'
	}
	return c
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
