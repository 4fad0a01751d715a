package httpwire

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"
)

// The marks of an encoded value. They are matched exactly; another spelling,
// such as upper case, is plain text.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// The reasons why DecodeValue refuses a header value.
var (
	ErrValueCharacter = errors.New("header value has a character outside printable ASCII")
	ErrValueEncoding  = errors.New("header value is not correctly base64 encoded")
	ErrValueUTF8      = errors.New("header value does not decode to UTF-8")
)

// EncodeValue returns the header value that stands for s in Mcp-Name and
// Mcp-Param headers: s itself when that is safe, and otherwise its base64 form.
// Safe are printable ASCII and inner spaces, unless s looks encoded itself.
func EncodeValue(s string) string {
	if plain(s) {
		return s
	}
	n := base64.StdEncoding.EncodedLen(len(s))
	out := make([]byte, 0, len(encodedPrefix)+n+len(encodedSuffix))
	out = append(out, encodedPrefix...)
	out = base64.StdEncoding.AppendEncode(out, []byte(s))
	out = append(out, encodedSuffix...)
	return string(out)
}

// plain reports whether s survives as a header value as it is. Tabs are legal
// in header values but control characters, and intermediaries treat them
// differently, so they are encoded.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	if s != "" && (s[0] == ' ' || s[len(s)-1] == ' ') {
		return false
	}
	return !looksEncoded(s)
}

// DecodeValue returns the text that a header value stands for. It is strict: a
// value with the marks of the base64 form must be padded base64 of UTF-8, and
// no value may have characters that headers must not have.
func DecodeValue(v string) (string, error) {
	for i := range len(v) {
		if (v[i] < 0x20 && v[i] != '\t') || v[i] > 0x7e {
			return "", ErrValueCharacter
		}
	}
	if !looksEncoded(v) {
		return v, nil
	}
	if len(v) < len(encodedPrefix)+len(encodedSuffix) {
		return "", ErrValueEncoding // the marks share a character
	}
	b, err := base64.StdEncoding.Strict().DecodeString(v[len(encodedPrefix) : len(v)-len(encodedSuffix)])
	if err != nil {
		return "", ErrValueEncoding
	}
	if !utf8.Valid(b) {
		return "", ErrValueUTF8
	}
	return string(b), nil
}

func looksEncoded(s string) bool {
	return strings.HasPrefix(s, encodedPrefix) && strings.HasSuffix(s, encodedSuffix)
}
