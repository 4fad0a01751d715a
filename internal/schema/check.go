package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// ok holds raw JSON against the plan in one walk, without decoding it. It is
// sound: what it admits, the library admits. What it refuses goes to the
// library, for the last word and for the wording.
func (p *plan) ok(data []byte) bool {
	c := checker{data: data}
	if !c.value(p.root) {
		return false
	}
	c.space()
	return c.pos == len(data)
}

// checker walks JSON that is known to be valid. On input that is not, it may
// admit or refuse, but stays within the data.
type checker struct {
	data  []byte
	pos   int
	depth int
}

// value checks the value at the current position and moves behind it. A nil
// rule admits everything that has a float64 for each number.
func (c *checker) value(r *rule) bool {
	c.space()
	for r != nil && r.target() != nil { // references do not loop
		if r.orNull != nil && c.peek() == 'n' {
			return c.word("null")
		}
		r = r.target()
	}
	switch c.peek() {
	case '{':
		return c.nested(r, typeObject, c.object)
	case '[':
		return c.nested(r, typeArray, c.array)
	case '"':
		return c.text(r)
	case 't':
		return c.word("true") && r.admits(typeBoolean, enumTrue)
	case 'f':
		return c.word("false") && r.admits(typeBoolean, enumFalse)
	case 'n':
		return c.word("null") && r.admits(typeNull, enumNull)
	}
	return c.number(r)
}

// admits reports whether a literal is allowed by type and enum.
func (r *rule) admits(t types, l literals) bool {
	return r == nil || r.types&t != 0 && (r.enum == nil || r.enum.literals&l != 0)
}

func (c *checker) nested(r *rule, t types, check func(*rule) bool) bool {
	if r != nil && (r.types&t == 0 || r.enum != nil) {
		return false
	}
	if c.depth++; c.depth > maxInstanceDepth {
		return false
	}
	c.pos++
	ok := check(r)
	c.depth--
	return ok
}

func (c *checker) object(r *rule) bool {
	var seen [maxRequired / 64]uint64
	for first := true; ; first = false {
		if c.more('}', first) {
			break
		}
		if c.peek() != '"' {
			return false
		}
		name, escaped := c.scanString()
		c.space()
		if c.peek() != ':' {
			return false
		}
		c.pos++
		if r == nil {
			if !c.value(nil) {
				return false
			}
			continue
		}
		if escaped {
			name = unquote(name)
		}
		p, known := r.props[string(name)]
		if !known {
			p = prop{r.additional, -1}
		}
		if p.bit >= 0 {
			seen[p.bit/64] |= 1 << (p.bit % 64)
		}
		if !c.value(p.rule) {
			return false
		}
	}
	if r == nil {
		return true
	}
	for i := range r.required {
		if seen[i/64]&(1<<(i%64)) == 0 {
			return false
		}
	}
	return true
}

func (c *checker) array(r *rule) bool {
	var items *rule
	if r != nil {
		items = r.items
	}
	n := 0
	for ; !c.more(']', n == 0); n++ {
		if !c.value(items) {
			return false
		}
	}
	return r == nil || n >= r.minItems && n <= r.maxItems
}

// more moves to the next member or item. It reports true at the end.
func (c *checker) more(end byte, first bool) bool {
	c.space()
	switch c.peek() {
	case end:
		c.pos++
		return true
	case ',':
		if !first {
			c.pos++
			c.space()
		}
	}
	return false
}

func (c *checker) text(r *rule) bool {
	s, escaped := c.scanString()
	if s == nil || r != nil && r.types&typeString == 0 {
		return false
	}
	if r == nil || !r.bindsText() {
		return true
	}
	if escaped {
		s = unquote(s)
	}
	return r.admitsText(s)
}

// bindsText reports whether r says more about strings than that they are.
func (r *rule) bindsText() bool {
	return r.enum != nil || r.pattern != nil || r.minLength > 0 || r.maxLength < math.MaxInt
}

func (r *rule) admitsText(s []byte) bool {
	if r.enum != nil {
		if _, ok := r.enum.strings[string(s)]; !ok {
			return false
		}
	}
	if n := utf8.RuneCount(s); n < r.minLength || n > r.maxLength {
		return false
	}
	return r.pattern == nil || r.pattern.affordable(len(s)) && r.pattern.Match(s)
}

func (c *checker) number(r *rule) bool {
	start := c.pos
	for c.pos < len(c.data) && isNumberByte(c.data[c.pos]) {
		c.pos++
	}
	f, ok := parseNumber(c.data[start:c.pos])
	return ok && (r == nil || r.admitsNumber(f))
}

func (r *rule) admitsNumber(f float64) bool {
	if r.types&typeNumber == 0 && (r.types&typeInteger == 0 || f != math.Trunc(f)) {
		return false
	}
	if r.enum != nil {
		if _, found := slices.BinarySearch(r.enum.numbers, f); !found {
			return false
		}
	}
	return f >= r.min && f <= r.max && f > r.above && f < r.below
}

func isNumberByte(b byte) bool {
	return b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
}

// parseNumber reads a number as the library sees it. Short integers, which are
// most numbers, are exact in a float64.
func parseNumber(b []byte) (float64, bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if n := len(digits); n == 0 {
		return 0, false
	} else if n <= 15 {
		sum, plain := int64(0), true
		for _, d := range digits {
			if d < '0' || d > '9' {
				plain = false
				break
			}
			sum = sum*10 + int64(d-'0')
		}
		if plain {
			if len(digits) < len(b) {
				sum = -sum
			}
			return float64(sum), true
		}
	}
	f, err := strconv.ParseFloat(ijson.Alias(b), 64)
	return f, err == nil
}

// scanString returns what is between the quotes and whether it has escapes. It
// returns nil if the string does not end.
func (c *checker) scanString() (inner []byte, escaped bool) {
	c.pos++
	start := c.pos
	// Nearly all strings have no escapes, and their end is found quickly.
	if n := bytes.IndexByte(c.data[start:], '"'); n >= 0 && bytes.IndexByte(c.data[start:start+n], '\\') < 0 {
		c.pos += n + 1
		return c.data[start : start+n : start+n], false
	}
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case '"':
			c.pos++
			return c.data[start : c.pos-1 : c.pos-1], escaped
		case '\\':
			escaped = true
			c.pos++
		}
		c.pos++
	}
	c.pos = len(c.data)
	return nil, false
}

// unquote resolves the escapes of a string.
func unquote(inner []byte) []byte {
	var s string
	quoted := make([]byte, 0, len(inner)+2)
	quoted = append(append(append(quoted, '"'), inner...), '"')
	if json.Unmarshal(quoted, &s) != nil {
		return inner
	}
	return []byte(s)
}

func (c *checker) word(w string) bool {
	if len(c.data)-c.pos < len(w) || string(c.data[c.pos:c.pos+len(w)]) != w {
		return false
	}
	c.pos += len(w)
	return true
}

func (c *checker) space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end.
func (c *checker) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

// jsonDepth returns how deep arrays and objects are nested.
func jsonDepth(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
