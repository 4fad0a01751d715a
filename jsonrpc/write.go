package jsonrpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/ferrymcp/ferry/internal/json"
)

// WriteRequest appends a request to buf. The message is one line without an
// end of line. The params are encoded as JSON, which must be an object or an
// array; nil and null leave the member out. Raw params are checked and lose
// their whitespace. On an error buf is left as it was.
func WriteRequest(buf *bytes.Buffer, id ID, method string, params any) error {
	if id.IsZero() {
		return fmt.Errorf("write request %s: no id", method)
	}
	if err := writeCall(buf, id, method, params); err != nil {
		return fmt.Errorf("write request %s: %w", method, err)
	}
	return nil
}

// WriteNotification appends a notification to buf, as WriteRequest does.
func WriteNotification(buf *bytes.Buffer, method string, params any) error {
	if err := writeCall(buf, ID{}, method, params); err != nil {
		return fmt.Errorf("write notification %s: %w", method, err)
	}
	return nil
}

// WriteResult appends a response with a result to buf. A result that is nil or
// null becomes an empty object, because results are objects in practice and
// readers rely on it. Raw results are checked and lose their whitespace. On an
// error buf is left as it was.
func WriteResult(buf *bytes.Buffer, id ID, result any) error {
	if id.IsZero() {
		return errors.New("write result: no id")
	}
	before := buf.Len()
	buf.WriteString(`{"jsonrpc":"2.0","id":`)
	buf.WriteString(id.token)
	buf.WriteString(`,"result":`)
	start := buf.Len()
	if err := writeValue(buf, result); err != nil {
		buf.Truncate(before)
		return fmt.Errorf("write result: %w", err)
	}
	if isNull(buf.Bytes()[start:]) {
		buf.Truncate(start)
		buf.WriteString(`{}`)
	}
	buf.WriteByte('}')
	return nil
}

// WriteError appends a response with an error to buf. The zero id leaves the
// member out. It cannot fail: a nil error becomes an internal error, invalid
// UTF-8 in the message is replaced, and data that is not JSON is left out.
func WriteError(buf *bytes.Buffer, id ID, e *Error) {
	if e == nil {
		e = &Error{Code: CodeInternal, Message: "internal error"}
	}
	buf.WriteString(`{"jsonrpc":"2.0",`)
	if !id.IsZero() {
		buf.WriteString(`"id":`)
		buf.WriteString(id.token)
		buf.WriteByte(',')
	}
	buf.WriteString(`"error":{"code":`)
	buf.Write(strconv.AppendInt(buf.AvailableBuffer(), int64(e.Code), 10))
	buf.WriteString(`,"message":`)
	writeString(buf, e.Message)
	if len(e.Data) > 0 {
		before := buf.Len()
		buf.WriteString(`,"data":`)
		if err := writeRaw(buf, e.Data); err != nil {
			buf.Truncate(before)
		}
	}
	buf.WriteString(`}}`)
}

func writeCall(buf *bytes.Buffer, id ID, method string, params any) error {
	if method == "" {
		return errors.New("no method")
	}
	before := buf.Len()
	buf.WriteString(`{"jsonrpc":"2.0",`)
	if !id.IsZero() {
		buf.WriteString(`"id":`)
		buf.WriteString(id.token)
		buf.WriteByte(',')
	}
	buf.WriteString(`"method":`)
	writeString(buf, method)
	if params != nil {
		if err := writeParams(buf, params); err != nil {
			buf.Truncate(before)
			return err
		}
	}
	buf.WriteByte('}')
	return nil
}

func writeParams(buf *bytes.Buffer, params any) error {
	before := buf.Len()
	buf.WriteString(`,"params":`)
	start := buf.Len()
	if err := writeValue(buf, params); err != nil {
		return err
	}
	switch written := buf.Bytes()[start:]; {
	case isNull(written):
		buf.Truncate(before)
	case written[0] != '{' && written[0] != '[':
		return errors.New("params must be an object or an array")
	}
	return nil
}

func isNull(raw []byte) bool { return string(raw) == "null" }

func writeString(buf *bytes.Buffer, s string) {
	buf.Write(json.AppendString(buf.AvailableBuffer(), s))
}

func writeValue(buf *bytes.Buffer, v any) error {
	if raw, ok := v.(stdjson.RawMessage); ok {
		return writeRaw(buf, raw)
	}
	return json.Write(buf, v)
}

// WriteRaw appends JSON, without its whitespace, to buf. It reports false for what
// is not JSON under the rules of this package, and leaves buf as it was.
func WriteRaw(buf *bytes.Buffer, raw stdjson.RawMessage) bool {
	return len(raw) > 0 && writeRaw(buf, raw) == nil
}

// writeRaw copies JSON that is compact, as forwarded messages mostly are,
// after one pass over it; the general way would take it apart.
func writeRaw(buf *bytes.Buffer, raw []byte) error {
	if len(raw) == 0 {
		buf.WriteString("null")
		return nil
	}
	var s scanner
	if err := (Limits{Depth: maxDepth}).start(&s, raw); err != nil {
		return err
	}
	end := s.value(s.space(0))
	if end >= 0 {
		if end = s.space(end); end < len(raw) {
			end = s.fail(end, "unexpected data")
		}
	}
	switch {
	case end < 0:
		return fmt.Errorf("raw JSON: %s", s.fault())
	case s.spaced:
		return json.Write(buf, stdjson.RawMessage(raw))
	}
	buf.Write(raw)
	return nil
}

// maxPooled is the size above which a buffer is not kept. A list of a thousand
// tools and a file of a megabyte fit, for which a new buffer would cost several
// times what filling it does; the pool forgets what has not been used between
// two garbage collections, so that they are not held for ever.
const maxPooled = 2 << 20

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// GetBuffer returns an empty buffer from a pool.
func GetBuffer() *bytes.Buffer { return pool.Get().(*bytes.Buffer) }

// PutBuffer gives a buffer back. Neither it nor its bytes may be used
// afterwards. Buffers over 2 MiB are not kept.
func PutBuffer(buf *bytes.Buffer) {
	if buf == nil || buf.Cap() > maxPooled {
		return
	}
	buf.Reset()
	pool.Put(buf)
}
