package mcp

import (
	"bytes"
	"math"
	"strconv"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// What is written most often is written by hand, in a fraction of the time that
// reflection takes: calls of tools and their results, and progress. The methods
// report false, and leave buf as it was, for values that need the general way. Both
// ways write the same bytes.

// WriteJSON appends the result to buf, if it holds what most results do.
func (r *CallToolResult) WriteJSON(buf *bytes.Buffer) bool {
	before := buf.Len()
	buf.WriteByte('{')
	if !r.Result.writeMembers(buf) {
		buf.Truncate(before)
		return false
	}
	buf.WriteString(`"content":[`)
	for i := range r.Content {
		if i > 0 {
			buf.WriteByte(',')
		}
		if !r.Content[i].writeText(buf) {
			buf.Truncate(before)
			return false
		}
	}
	buf.WriteByte(']')
	if r.StructuredContent != nil {
		buf.WriteString(`,"structuredContent":`)
		if !jsonrpc.WriteRaw(buf, r.StructuredContent) {
			buf.Truncate(before)
			return false
		}
	}
	if r.IsError {
		buf.WriteString(`,"isError":true`)
	}
	buf.WriteByte('}')
	return true
}

// writeMembers appends the members that all results have, each with a comma.
func (r *Result) writeMembers(buf *bytes.Buffer) bool {
	if len(r.Meta) > 1 {
		return false // members are written in order
	}
	if r.Meta != nil {
		buf.WriteString(`"_meta":{`)
		for key, value := range r.Meta {
			if !ijson.WriteString(buf, key) {
				return false
			}
			buf.WriteByte(':')
			if !jsonrpc.WriteRaw(buf, value) {
				return false
			}
		}
		buf.WriteString(`},`)
	}
	if r.ResultType != "" {
		buf.WriteString(`"resultType":`)
		if !ijson.WriteString(buf, r.ResultType) {
			return false
		}
		buf.WriteByte(',')
	}
	return true
}

// writeText appends a block of plain text.
func (c *Content) writeText(buf *bytes.Buffer) bool {
	if c.Type != TypeText || c.Raw != nil || c.Annotations != nil || c.Meta != nil {
		return false
	}
	buf.WriteString(`{"type":"text","text":`)
	if !ijson.WriteString(buf, c.Text) {
		return false
	}
	buf.WriteByte('}')
	return true
}

// WriteJSON appends the parameters to buf, if they have no metadata.
func (p *ProgressParams) WriteJSON(buf *bytes.Buffer) bool {
	if p.Meta != nil || p.ProgressToken.IsZero() || !exact(p.Progress) || p.Total != nil && !exact(*p.Total) {
		return false
	}
	before := buf.Len()
	buf.WriteString(`{"progressToken":`)
	buf.WriteString(p.ProgressToken.String())
	buf.WriteString(`,"progress":`)
	writeInteger(buf, p.Progress)
	if p.Total != nil {
		buf.WriteString(`,"total":`)
		writeInteger(buf, *p.Total)
	}
	if p.Message != "" {
		buf.WriteString(`,"message":`)
		if !ijson.WriteString(buf, p.Message) {
			buf.Truncate(before)
			return false
		}
	}
	buf.WriteByte('}')
	return true
}

// WriteJSON appends the parameters to buf, if they are those of a plain call.
func (p *CallToolParams) WriteJSON(buf *bytes.Buffer) bool {
	if p == nil || p.Meta != nil || p.InputResponses != nil || p.RequestState != nil || p.Task != nil {
		return false
	}
	before := buf.Len()
	buf.Grow(len(p.Name) + len(p.Arguments) + len(`{"name":"","arguments":}`))
	buf.WriteString(`{"name":`)
	if !ijson.WriteString(buf, p.Name) {
		buf.Truncate(before)
		return false
	}
	if p.Arguments != nil {
		buf.WriteString(`,"arguments":`)
		if !jsonrpc.WriteRaw(buf, p.Arguments) {
			buf.Truncate(before)
			return false
		}
	}
	buf.WriteByte('}')
	return true
}

// exact reports whether a number is an integer that is written as one.
func exact(f float64) bool {
	return f == math.Trunc(f) && math.Abs(f) < 1<<53 && !(f == 0 && math.Signbit(f))
}

func writeInteger(buf *bytes.Buffer, f float64) {
	buf.Write(strconv.AppendInt(buf.AvailableBuffer(), int64(f), 10))
}
