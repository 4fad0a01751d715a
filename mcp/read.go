package mcp

import (
	"bytes"
	"strings"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// What a client reads most often is read by hand, as what a server writes most
// often is written: results of tools. The method reports false for values that
// need the general way. Both ways read the same.

// ReadJSON reads a result that is known to be JSON without duplicate names, if it
// holds what most results do. It keeps nothing of raw.
func (r *CallToolResult) ReadJSON(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	*r = CallToolResult{}
	for name, value := range ijson.Members(raw) {
		ok := true
		switch name {
		case "content":
			ok = r.readContent(value)
		case "structuredContent":
			r.StructuredContent = bytes.Clone(value)
		case "isError":
			r.IsError = string(value) == "true"
			ok = r.IsError || string(value) == "false"
		case "resultType":
			r.ResultType, ok = readString(value)
		case "_meta":
			ok = r.Meta.read(value)
		}
		if !ok {
			*r = CallToolResult{}
			return false
		}
	}
	return true
}

func (r *CallToolResult) readContent(array []byte) bool {
	if array[0] != '[' {
		return false
	}
	r.Content = make([]Content, 0, 1)
	for block := range ijson.Items(array) {
		c := Content{}
		if !c.readText(block) {
			return false
		}
		r.Content = append(r.Content, c)
	}
	return true
}

// readText reads a block of plain text.
func (c *Content) readText(block []byte) bool {
	if block[0] != '{' {
		return false
	}
	for name, value := range ijson.Members(block) {
		var ok bool
		switch name {
		case "type":
			c.Type = TypeText
			ok = string(value) == `"text"`
		case "text":
			c.Text, ok = readString(value)
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return c.Type == TypeText
}

func (m *Meta) read(object []byte) bool {
	if object[0] != '{' {
		return false
	}
	*m = Meta{}
	for key, value := range ijson.Members(object) {
		(*m)[strings.Clone(key)] = bytes.Clone(value)
	}
	return true
}

// readString returns the text of a JSON string, copied.
func readString(value []byte) (string, bool) {
	text, ok := ijson.Unquote(value)
	return strings.Clone(text), ok
}
