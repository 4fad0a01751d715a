package json

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"iter"
	"math/bits"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Members yields the names and the raw values of an object's members, in
// order. It trusts object to be valid JSON, as everything is that came through
// jsonrpc.Decode or was encoded by this package; of other input it yields some
// part or nothing, and never panics. It yields nothing for a value that is not
// an object.
//
// Names without escapes and all values refer to the bytes of object, which
// must not change while they are in use. Nothing is allocated but the names
// that have escapes.
func Members(object []byte) iter.Seq2[string, stdjson.RawMessage] {
	return func(yield func(string, stdjson.RawMessage) bool) { walk(object, yield) }
}

// Member returns the raw value of the member called name, under the rules of
// Members.
func Member(object []byte, name string) (stdjson.RawMessage, bool) {
	for n, value := range Members(object) {
		if n == name {
			return value, true
		}
	}
	return nil, false
}

// Items yields the raw values of an array's items, under the rules of Members.
func Items(array []byte) iter.Seq[stdjson.RawMessage] {
	return func(yield func(stdjson.RawMessage) bool) {
		i := skipSpace(array, 0)
		if i >= len(array) || array[i] != '[' {
			return
		}
		for i++; ; i++ { // at '[' or ',' before the increment
			start := skipSpace(array, i)
			end := skipValue(array, start)
			if end == start || !yield(stdjson.RawMessage(array[start:end:end])) {
				return
			}
			if i = skipSpace(array, end); i >= len(array) || array[i] != ',' {
				return
			}
		}
	}
}

func walk(object []byte, yield func(string, stdjson.RawMessage) bool) {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return
	}
	for i++; ; i++ { // at '{' or ',' before the increment
		i = skipSpace(object, i)
		if i >= len(object) || object[i] != '"' {
			return
		}
		end := skipString(object, i)
		name, ok := Unquote(object[i:end])
		if i = skipSpace(object, end); !ok || i >= len(object) || object[i] != ':' {
			return
		}
		start := skipSpace(object, i+1)
		if end = skipValue(object, start); end == start {
			return
		}
		if !yield(name, stdjson.RawMessage(object[start:end:end])) {
			return
		}
		if i = skipSpace(object, end); i >= len(object) || object[i] != ',' {
			return
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) int {
	i++
	for ; i+8 <= len(b); i += 8 {
		m := quoteOrSlash(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			continue
		}
		i += bits.TrailingZeros64(m) / 8
		if b[i] == '"' {
			return i + 1
		}
		i -= 6 // past the escaped byte, once the loop has added 8
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

// quoteOrSlash marks the bytes of x that are quotes or backslashes in their
// highest bits. The lowest mark is exact; those above it may be wrong.
func quoteOrSlash(x uint64) uint64 {
	const lows, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^lows*'"', x^lows*'\\'
	return ((quote-lows)&^quote | (slash-lows)&^slash) & highs
}

// skipValue returns the index after the value that starts at i. Counting
// brackets is enough, because the value is known to be valid.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']', ':', ' ', '\n', '\r', '\t':
			return i
		}
	}
	return i
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// Unquote returns the text of a JSON string. The text refers to the bytes of
// quoted when there are no escapes in it, and is a copy otherwise.
func Unquote(quoted []byte) (text string, ok bool) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", false
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return Alias(inner), true
	}
	out, err := jsontext.AppendUnquote(nil, quoted)
	return string(out), err == nil
}

// Alias returns b as a string without copying it: b must not change while the
// string is in use. It is the one place that does so.
func Alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
