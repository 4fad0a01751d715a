package jsonrpc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// maxID limits the token of an id: ids are repeated in answers, tables and
// logs, and nobody needs long ones.
const maxID = 1024

// An ID is a request id as the raw JSON token it arrived as: a string with its
// quotes and escapes, or an integer. It is echoed byte for byte, so integers
// above 2^53 and the difference between 1 and "1" survive. IDs are comparable
// and may be map keys. The zero ID means that there is none.
type ID struct{ token string }

// IntID returns the id for the integer n.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the id for the string s. Invalid UTF-8 in s becomes U+FFFD.
func StringID(s string) ID { return ID{string(json.AppendString(nil, s))} }

// ParseID returns the id for a JSON token: a string or an integer of at most
// 1024 bytes. It copies raw.
func ParseID(raw []byte) (ID, error) {
	s := scanner{data: raw}
	if end := s.scalar(0); end < 0 {
		return ID{}, fmt.Errorf("id: %s", s.fault())
	} else if end != len(raw) {
		return ID{}, fmt.Errorf("id: unexpected data at byte %d", end)
	}
	if problem := checkID(raw); problem != "" {
		return ID{}, fmt.Errorf("%s", problem)
	}
	return ID{string(raw)}, nil
}

// checkID says what keeps a valid JSON value from being an id, or "".
func checkID(token []byte) string {
	c := token[0]
	switch {
	case c != '"' && c != '-' && (c < '0' || c > '9'):
		return "id must be a string or an integer"
	case len(token) > maxID:
		return "id is longer than " + strconv.Itoa(maxID) + " bytes"
	case c != '"' && bytes.ContainsAny(token, ".eE"):
		return "id must not have a fraction or an exponent"
	}
	return ""
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.token == "" }

// String returns the raw JSON token, or "" for the zero ID.
func (id ID) String() string { return id.token }

// Clone returns the id without a reference to the frame it came from.
func (id ID) Clone() ID { return ID{strings.Clone(id.token)} }

// MarshalJSON returns the token, or null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(id.token), nil
}

// UnmarshalJSON takes a string or an integer; null gives the zero ID.
func (id *ID) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(raw)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
