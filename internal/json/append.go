package json

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if plain(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		// The only error is invalid UTF-8, which the replacement removes.
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// WriteString appends s to buf as a JSON string. It reports false for a text
// that is not UTF-8, and leaves buf as it was.
func WriteString(buf *bytes.Buffer, s string) bool {
	buf.Grow(len(s) + 2)
	if plain(s) {
		buf.WriteByte('"')
		buf.WriteString(s)
		buf.WriteByte('"')
		return true
	}
	out, err := jsontext.AppendQuote(buf.AvailableBuffer(), s)
	if err != nil {
		return false
	}
	buf.Write(out)
	return true
}

// plain reports whether s needs no escapes: printable ASCII without quotes.
func plain(s string) bool {
	for len(s) >= 8 {
		if !plainWord(binary.LittleEndian.Uint64([]byte(s[:8]))) {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// plainWord is plain for eight bytes at once. In a byte below 0x80, adding 1
// sets the highest bit of 0x7f only, and subtracting sets it in what is less.
func plainWord(x uint64) bool {
	const lows, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^lows*'"', x^lows*'\\'
	return (x|(x+lows)|(x-lows*' ')|(quote-lows)|(slash-lows))&highs == 0
}
