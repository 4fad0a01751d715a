package mcp

import (
	stdjson "encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ferrymcp/ferry/internal/json"
)

// encode writes v straight into enc, with the options enc was made with.
func encode(enc *jsontext.Encoder, v any) error { return jsonv2.MarshalEncode(enc, v) }

// decode reads the next value of dec into v, with the options dec was made with.
func decode(dec *jsontext.Decoder, v any) error { return jsonv2.UnmarshalDecode(dec, v) }

// decodeValue decodes a value that dec has already read and checked.
func decodeValue(dec *jsontext.Decoder, data jsontext.Value, v any) error {
	return jsonv2.Unmarshal(data, v, dec.Options())
}

// marshal is what every MarshalJSON method calls, so that both JSON libraries
// write the same bytes. v must have a MarshalJSONTo method.
func marshal(v any) ([]byte, error) { return json.Marshal(v) }

// unmarshal is what every UnmarshalJSON method calls.
func unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// dropNull makes null absent where the two mean the same; the JSON library
// keeps null in a raw message.
func dropNull(raws ...*stdjson.RawMessage) {
	for _, raw := range raws {
		if string(*raw) == "null" {
			*raw = nil
		}
	}
}

// An objectWriter writes one object member by member. The first error sticks
// and makes the rest do nothing.
type objectWriter struct {
	enc *jsontext.Encoder
	err error
}

// beginObject opens an object on enc.
func beginObject(enc *jsontext.Encoder) objectWriter {
	return objectWriter{enc: enc, err: enc.WriteToken(jsontext.BeginObject)}
}

// string writes a string member. The text goes into the encoder's buffer
// without being copied first, whatever its size.
func (w *objectWriter) string(name, value string) {
	w.token(jsontext.String(name))
	w.token(jsontext.String(value))
}

// bool writes a boolean member.
func (w *objectWriter) bool(name string, value bool) {
	w.token(jsontext.String(name))
	w.token(jsontext.Bool(value))
}

// value writes a member of any type.
func (w *objectWriter) value(name string, v any) {
	w.token(jsontext.String(name))
	if w.err == nil {
		w.err = encode(w.enc, v)
	}
}

// raw writes a member that is JSON already; nil becomes the fallback.
func (w *objectWriter) raw(name string, v stdjson.RawMessage, fallback string) {
	w.token(jsontext.String(name))
	if w.err != nil {
		return
	}
	if v == nil {
		v = stdjson.RawMessage(fallback)
	}
	w.err = w.enc.WriteValue(jsontext.Value(v))
}

func (w *objectWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

// end closes the object and returns the first error.
func (w *objectWriter) end() error {
	w.token(jsontext.EndObject)
	return w.err
}

// eachMember reads an object and calls see with the name of each member; see
// must read exactly one value. Null has no members.
func eachMember(dec *jsontext.Decoder, see func(name string) error) error {
	if dec.PeekKind() == 'n' {
		return dec.SkipValue()
	}
	if dec.PeekKind() != '{' {
		return wrongKind(dec, "object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := see(tok.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// wrongKind is the error for a value that is not what the protocol puts there.
func wrongKind(dec *jsontext.Decoder, want string) error {
	return fmt.Errorf("want %s, got JSON %s", want, dec.PeekKind())
}
