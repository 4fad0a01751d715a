package jsonrpc

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// A scanner checks JSON. Its methods take the index at which something starts
// and return the index after it, or -1 after a fault. They allocate nothing,
// save the name sets of large objects.
type scanner struct {
	data     []byte
	maxDepth int

	depth   int
	spaced  bool // there was whitespace between tokens
	escaped bool // the last string had an escape

	faultAt   int
	faultText string

	names names
}

// fail records the first fault, which unwinds all callers.
func (s *scanner) fail(at int, text string) int {
	if at >= len(s.data) {
		at, text = len(s.data), "unexpected end"
	}
	s.faultAt, s.faultText = at, text
	return -1
}

// fault describes what was wrong.
func (s *scanner) fault() string {
	return fmt.Sprintf("%s at byte %d", s.faultText, s.faultAt)
}

// peek returns the byte at i, or 0, which starts no token, after the end.
func (s *scanner) peek(i int) byte {
	if i < len(s.data) {
		return s.data[i]
	}
	return 0
}

// space skips whitespace.
func (s *scanner) space(i int) int {
	if i < len(s.data) && s.data[i] > ' ' {
		return i
	}
	return s.spaces(i)
}

func (s *scanner) spaces(i int) int {
	for ; i < len(s.data); i++ {
		switch s.data[i] {
		case ' ', '\n', '\r', '\t':
			s.spaced = true
		default:
			return i
		}
	}
	return i
}

// value checks the value that starts at i.
func (s *scanner) value(i int) int {
	switch s.peek(i) {
	case '"':
		return s.str(i)
	case '{':
		return s.object(i, nil)
	case '[':
		return s.array(i)
	default:
		return s.scalar(i)
	}
}

func (s *scanner) scalar(i int) int {
	switch c := s.peek(i); c {
	case '"':
		return s.str(i)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		if c == '-' || isDigit(c) {
			return s.number(i)
		}
		return s.fail(i, "want a value")
	}
}

func (s *scanner) literal(i int, word string) int {
	for k := range len(word) {
		if s.peek(i+k) != word[k] {
			return s.fail(i+k, "want "+word)
		}
	}
	return i + len(word)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) number(i int) int {
	if s.peek(i) == '-' {
		i++
	}
	if s.peek(i) == '0' {
		i++ // nothing may follow a leading zero, which the caller will notice
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if s.peek(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if c := s.peek(i); c == 'e' || c == 'E' {
		i++
		if c := s.peek(i); c == '+' || c == '-' {
			i++
		}
		return s.digits(i)
	}
	return i
}

// digits checks one or more digits.
func (s *scanner) digits(i int) int {
	if !isDigit(s.peek(i)) {
		return s.fail(i, "want a digit")
	}
	for isDigit(s.peek(i)) {
		i++
	}
	return i
}

func (s *scanner) array(i int) int {
	if i = s.enter(i); i < 0 {
		return -1
	}
	if i = s.space(i); s.peek(i) == ']' {
		s.depth--
		return i + 1
	}
	for {
		if i = s.value(i); i < 0 {
			return -1
		}
		i = s.space(i)
		switch s.peek(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			s.depth--
			return i + 1
		default:
			return s.fail(i, "want ',' or ']'")
		}
	}
}

// enter steps over an opening bracket.
func (s *scanner) enter(i int) int {
	if s.depth++; s.depth > s.maxDepth {
		return s.fail(i, fmt.Sprintf("more than %d levels of nesting", s.maxDepth))
	}
	return i + 1
}

// object checks an object. With env, it records the members of the envelope.
func (s *scanner) object(i int, env *envelope) int {
	if i = s.enter(i); i < 0 {
		return -1
	}
	if i = s.space(i); s.peek(i) == '}' {
		s.depth--
		return i + 1
	}
	seen := s.names.open()
	for {
		start := i
		if i = s.name(i); i < 0 {
			return -1
		}
		name := s.data[start:i]
		if !s.names.add(&seen, s.data, start, i, s.escaped) {
			env.ambiguous(name)
			return s.fail(start, "duplicate name "+excerpt(name))
		}
		if i = s.space(i); s.peek(i) != ':' {
			return s.fail(i, "want ':'")
		}
		start = s.space(i + 1)
		if i = s.value(start); i < 0 {
			return -1
		}
		if env != nil {
			env.set(name, span{start, i})
		}
		i = s.space(i)
		switch s.peek(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			s.names.close(seen)
			s.depth--
			return i + 1
		default:
			return s.fail(i, "want ',' or '}'")
		}
	}
}

func (s *scanner) name(i int) int {
	if s.peek(i) != '"' {
		return s.fail(i, "want a member name")
	}
	s.escaped = false
	return s.str(i)
}

// str checks the string that starts at i.
func (s *scanner) str(i int) int {
	b := s.data
	for i++; ; {
		for i+8 <= len(b) {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return s.fail(i, "unexpected end")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			s.escaped = true
			if i = s.escape(i); i < 0 {
				return -1
			}
		case c < ' ':
			return s.fail(i, "control character in a string")
		case c < utf8.RuneSelf:
			i++
		default:
			if i = s.multibyte(i); i < 0 {
				return -1
			}
		}
	}
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of x that end a run of plain text: quotes,
// backslashes, control characters and all that is not ASCII. The lowest mark
// is exact; the ones above it may be wrong.
func special(x uint64) uint64 {
	quote := x ^ lows*'"'
	slash := x ^ lows*'\\'
	return ((quote-lows)&^quote | (slash-lows)&^slash | (x-lows*' ')&^x | x) & highs
}

// multibyte checks a run of characters that are not ASCII.
func (s *scanner) multibyte(i int) int {
	for i < len(s.data) && s.data[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s.data[i:])
		if r == utf8.RuneError && size <= 1 {
			return s.fail(i, "invalid UTF-8")
		}
		i += size
	}
	return i
}

// escape checks the escape sequence that starts at i.
func (s *scanner) escape(i int) int {
	switch s.peek(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return s.fail(i+1, "invalid escape")
	}
	r, end := s.hex(i + 2)
	if end < 0 {
		return -1
	}
	if r < 0xD800 || r > 0xDFFF {
		return end
	}
	if r <= 0xDBFF && s.peek(end) == '\\' && s.peek(end+1) == 'u' {
		low, end := s.hex(end + 2)
		if end < 0 || 0xDC00 <= low && low <= 0xDFFF {
			return end
		}
	}
	return s.fail(i, "lone surrogate")
}

// hex reads four hexadecimal digits.
func (s *scanner) hex(i int) (value, end int) {
	for end = i + 4; i < end; i++ {
		c := s.peek(i)
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.fail(i, "want a hexadecimal digit")
		}
		value = value<<4 | int(c)
	}
	return value, end
}
