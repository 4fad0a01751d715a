package client

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// metaMember is the name of the member that metadata travels in.
const metaMember = "_meta"

// A metaField is metadata that goes into every request.
type metaField struct {
	key   string
	value []byte
	fixed bool // the caller's own metadata cannot replace it
}

// metaFields are rendered once and copied in front of each request's own
// parameters. The zero value has no fields and only adds progress tokens.
type metaFields struct {
	fields   []metaField
	rendered []byte // the members, without braces
}

func newMetaFields(fields ...metaField) *metaFields {
	f := &metaFields{fields: fields}
	for _, field := range fields {
		f.rendered = appendMember(f.rendered, field.key, field.value)
	}
	return f
}

// with returns the fields and one more, in the place of one with the same key.
func (f *metaFields) with(field metaField) *metaFields {
	fields := slices.DeleteFunc(slices.Clone(f.fields), func(old metaField) bool { return old.key == field.key })
	return newMetaFields(append(fields, field)...)
}

// splice returns params as JSON with the fields, and the progress token unless
// it is zero, in their metadata. Params are a value that encodes as an object,
// raw JSON, or nil. Metadata that params have already is kept: it comes
// after the fields and replaces those that are not fixed. Raw JSON that is not
// valid stays so, and is found by whoever writes the message.
func (f *metaFields) splice(params any, token jsonrpc.ID) (stdjson.RawMessage, error) {
	object, err := encodeObject(params)
	if err != nil {
		return nil, err
	}
	if _, found := json.Member(object, metaMember); found {
		return f.merge(object, token)
	}
	out := make([]byte, 0, len(f.rendered)+len(object)+64)
	out = append(out, `{"_meta":{`...)
	out = append(out, f.rendered...)
	if !token.IsZero() {
		out = appendMember(out, mcp.MetaProgressToken, []byte(token.String()))
	}
	out = append(out, '}')
	rest := trimSpace(object[1:])
	if len(rest) == 0 || rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...), nil
}

// A spliced call has the fields in its metadata, and the token unless it is zero.
// It is written as what splice returns, without a copy.
type spliced struct {
	fields *metaFields
	token  jsonrpc.ID
	call   *mcp.CallToolParams // without metadata
}

// put is splice that leaves the writing of a plain call of a tool to the carrier.
func (f *metaFields) put(params any, token jsonrpc.ID) (any, error) {
	if call, ok := params.(*mcp.CallToolParams); ok && call != nil && call.Meta == nil {
		return &spliced{fields: f, token: token, call: call}, nil
	}
	return f.splice(params, token)
}

// WriteJSON appends the parameters to buf, if they are those of a plain call.
func (p *spliced) WriteJSON(buf *bytes.Buffer) bool {
	before := buf.Len()
	buf.WriteString(`{"_meta":{`)
	buf.Write(p.fields.rendered)
	if !p.token.IsZero() {
		if len(p.fields.rendered) > 0 {
			buf.WriteByte(',')
		}
		buf.WriteString(`"` + mcp.MetaProgressToken + `":`)
		buf.WriteString(p.token.String())
	}
	buf.WriteByte('}')
	rest := buf.Len()
	if !p.call.WriteJSON(buf) {
		buf.Truncate(before)
		return false
	}
	buf.Bytes()[rest] = ',' // instead of the brace; there is a name at least
	return true
}

// MarshalJSON returns the parameters of any call.
func (p *spliced) MarshalJSON() ([]byte, error) { return p.fields.splice(p.call, p.token) }

// merge is splice for params with metadata of their own.
func (f *metaFields) merge(object []byte, token jsonrpc.ID) (stdjson.RawMessage, error) {
	// The object is put together anew, so it has to be valid beforehand.
	object, err := json.Compact(object)
	if err != nil {
		return nil, err
	}
	theirs, _ := json.Member(object, metaMember)
	if len(theirs) == 0 || theirs[0] != '{' && string(theirs) != "null" {
		return nil, errors.New("_meta is not an object")
	}
	out := make([]byte, 0, len(f.rendered)+len(object)+64)
	out = append(out, `{"_meta":{`...)
	for _, field := range f.fields {
		value := field.value
		if own, ok := json.Member(theirs, field.key); ok && !field.fixed {
			value = own
		}
		out = appendMember(out, field.key, value)
	}
	if !token.IsZero() {
		out = appendMember(out, mcp.MetaProgressToken, []byte(token.String()))
	}
	for key, value := range json.Members(theirs) {
		if !f.has(key) && (token.IsZero() || key != mcp.MetaProgressToken) {
			out = appendMember(out, key, value)
		}
	}
	out = append(out, '}')
	for name, value := range json.Members(object) {
		if name != metaMember {
			out = appendMember(out, name, value)
		}
	}
	return append(out, '}'), nil
}

func (f *metaFields) has(key string) bool {
	return slices.ContainsFunc(f.fields, func(field metaField) bool { return field.key == key })
}

// meta returns what the options add to a call's metadata, nil for nothing.
func (o *CallOptions) meta(rev *revision.Revision) mcp.Meta {
	if o.LogLevel == "" || !rev.Modern() {
		return o.Meta
	}
	extra := maps.Clone(o.Meta)
	if extra == nil {
		extra = make(mcp.Meta, 1)
	}
	extra[mcp.MetaLogLevel] = json.AppendString(nil, string(o.LogLevel))
	return extra
}

// varies reports whether the metadata may change the result. That of traces does
// not.
func (o *CallOptions) varies() bool {
	for key := range o.Meta {
		switch key {
		case "traceparent", "tracestate", "baggage":
		default:
			return true
		}
	}
	return false
}

// addMeta returns params with more metadata, which replaces what has the same
// keys.
func addMeta(params any, extra mcp.Meta) (stdjson.RawMessage, error) {
	object, err := encodeObject(params)
	if err == nil {
		object, err = json.Compact(object)
	}
	if err != nil {
		return nil, err
	}
	theirs, _ := json.Member(object, metaMember)
	if len(theirs) > 0 && theirs[0] != '{' && string(theirs) != "null" {
		return nil, errors.New("_meta is not an object")
	}
	out := append(make([]byte, 0, len(object)+128), `{"_meta":{`...)
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		value, err := json.Compact(extra[key])
		if err != nil {
			return nil, fmt.Errorf("_meta: %q: %w", key, err)
		}
		out = appendMember(out, key, value)
	}
	for key, value := range json.Members(theirs) {
		if _, replaced := extra[key]; !replaced {
			out = appendMember(out, key, value)
		}
	}
	out = append(out, '}')
	for name, value := range json.Members(object) {
		if name != metaMember {
			out = appendMember(out, name, value)
		}
	}
	return append(out, '}'), nil
}

// encodeObject returns params as the JSON of an object, {} for nil and null.
func encodeObject(params any) ([]byte, error) {
	if params == nil {
		return []byte(`{}`), nil
	}
	encoded, ok := params.(stdjson.RawMessage)
	if !ok {
		var err error
		if encoded, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	object := trimSpace(encoded)
	switch {
	case len(object) == 0, string(object) == "null":
		return []byte(`{}`), nil
	case object[0] != '{':
		return nil, errors.New("params are not an object")
	}
	return object, nil
}

// appendMember appends one member of an object, and a comma before it if dst
// ends with another member.
func appendMember(dst []byte, name string, value []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' && dst[len(dst)-1] != ',' {
		dst = append(dst, ',')
	}
	dst = json.AppendString(dst, name)
	dst = append(dst, ':')
	return append(dst, value...)
}

func trimSpace(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }
