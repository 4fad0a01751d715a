// Package result makes results of tools.
package result

import (
	"bytes"
	"encoding/json"

	"github.com/ferrymcp/ferry/mcp"
)

// JSON makes a result of a value: as structured content, and as text with an
// indentation of two, which clients without structured content show.
func JSON(v any) (*mcp.CallToolResult, error) {
	structured, err := encode(v, "")
	if err != nil {
		return nil, err
	}
	text, err := encode(v, "  ")
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(string(text))}, StructuredContent: structured}, nil
}

// Text writes a value as JSON with an indentation of two.
func Text(v any) (string, error) {
	text, err := encode(v, "  ")
	return string(text), err
}

// Error tells a model why a tool did nothing.
func Error(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(err.Error())}, IsError: true}
}

// encode writes JSON as it is, without the escapes that are for web pages.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
