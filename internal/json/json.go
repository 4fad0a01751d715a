// Package json is the one place that knows the JSON library. It encodes and
// decodes Go values with one fixed set of rules, and walks the members of
// objects that are already known to be valid.
//
// The rules are those a protocol needs to be unambiguous: member names are
// compared exactly, a duplicate name or invalid UTF-8 is an error, nothing may
// follow the value, and the same Go value always gives the same bytes. It does
// not parse envelopes; that is package jsonrpc.
package json

import (
	"bytes"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options are the rules for both directions. Users bring their own types, so
// omitempty and time.Duration mean what they mean in encoding/json. Raw values
// keep the spelling of their strings: an id must come back byte for byte.
var options = jsonv2.JoinOptions(
	jsonv2.Deterministic(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true),
	jsontext.PreserveRawStrings(true),
)

// Marshal returns the compact JSON of v.
func Marshal(v any) ([]byte, error) {
	if w, ok := v.(Writer); ok {
		var buf bytes.Buffer
		if w.WriteJSON(&buf) {
			return buf.Bytes(), nil
		}
	}
	data, err := jsonv2.Marshal(v, options)
	if err != nil {
		return nil, explain(err)
	}
	return data, nil
}

// A Writer writes itself, in less time than reflection takes. WriteJSON appends
// the bytes that Marshal returns, or reports false and leaves buf as it was.
type Writer interface {
	WriteJSON(buf *bytes.Buffer) bool
}

// Write appends the compact JSON of v to buf, without a newline. Raw values
// inside v are checked and compacted. On an error buf is left as it was.
func Write(buf *bytes.Buffer, v any) error {
	if w, ok := v.(Writer); ok && w.WriteJSON(buf) {
		return nil
	}
	before := buf.Len()
	// The library encodes straight into the free space of a *bytes.Buffer, so
	// there is no copy; a wrapper around it would lose that.
	if err := jsonv2.MarshalWrite(buf, v, options); err != nil {
		buf.Truncate(before)
		return explain(err)
	}
	return nil
}

// Unmarshal decodes the one JSON value in data into v. A number that is
// written as a float but has an integral value, such as 100.0 or 1e2, is
// accepted where Go wants an integer, because JSON Schema calls it one. Errors
// that the value of data causes are of type *Error.
func Unmarshal(data []byte, v any) error {
	err := jsonv2.Unmarshal(data, v, options)
	if err == nil {
		return nil
	}
	if floatForInteger(err) {
		// The tolerant decoding functions slow down every value, so only
		// input that needs them pays for them.
		err = jsonv2.Unmarshal(data, v, options, tolerant)
		if err == nil {
			return nil
		}
	}
	return explain(err)
}

// A Reader reads itself, in less time than reflection takes. ReadJSON gives what
// Unmarshal does for JSON that is known to be valid and without duplicate names,
// or reports false. It keeps nothing of data.
type Reader interface {
	ReadJSON(data []byte) bool
}

// Read is Unmarshal for data of which that is known, as it is of everything that
// came through jsonrpc.Decode.
func Read(data []byte, v any) error {
	if r, ok := v.(Reader); ok && r.ReadJSON(data) {
		return nil
	}
	return Unmarshal(data, v)
}

// Compact returns raw without insignificant whitespace. Strings and numbers
// keep their spelling.
func Compact(raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, explain(err)
	}
	return out, nil
}

// Canonical returns raw in the canonical form of RFC 8785: equal values have
// equal bytes, which makes them fit for hashes and signatures.
func Canonical(raw []byte) ([]byte, error) {
	out := jsontext.Value(bytes.Clone(raw))
	if err := out.Canonicalize(); err != nil {
		return nil, explain(err)
	}
	return out, nil
}

// Sorted returns raw without insignificant whitespace, and with the members of
// objects in order. Unlike in the canonical form no digit of a number is lost:
// numbers keep their spelling.
func Sorted(raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.ReorderRawObjects(true))
	if err != nil {
		return nil, explain(err)
	}
	return out, nil
}
