package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A Response answers one request. Exactly one of Result and Error counts.
type Response struct {
	ID     jsonrpc.ID
	Result any // encoded as JSON when written
	Error  *jsonrpc.Error
	// Refused tells that the request was turned away before anything handled it.
	Refused bool
}

// rendered is a result whose bytes are shared by many responses.
type rendered []byte

// Write appends the response to buf as one JSON-RPC message. A result that
// cannot be encoded is answered with an internal error.
func (r *Response) Write(buf *bytes.Buffer) {
	if r.Error != nil {
		jsonrpc.WriteError(buf, r.ID, r.Error)
		return
	}
	if shared, ok := r.Result.(rendered); ok {
		buf.Grow(len(shared) + 64)
		buf.WriteString(`{"jsonrpc":"2.0","id":`)
		buf.WriteString(r.ID.String())
		buf.WriteString(`,"result":`)
		buf.Write(shared)
		buf.WriteByte('}')
		return
	}
	if size := bulk(r.Result); size > largeResult {
		// The encoder wants a quarter of the buffer free, else it doubles it.
		buf.Grow(size + size/3 + largeResult)
	}
	if err := jsonrpc.WriteResult(buf, r.ID, r.Result); err != nil {
		jsonrpc.WriteError(buf, r.ID, errInternal)
	}
}

// largeResult is the size from which on a result gets a buffer made for it: one
// that grows by doubling holds several copies while it does.
const largeResult = 64 << 10

// bulk is about the bytes that the large parts of a result take as JSON.
func bulk(result any) int {
	size := 0
	switch r := result.(type) {
	case json.RawMessage:
		size = len(r)
	case *mcp.CallToolResult:
		size = len(r.StructuredContent)
		for i := range r.Content {
			size += len(r.Content[i].Text) + base64.StdEncoding.EncodedLen(len(r.Content[i].Data))
			size += contentsBulk(r.Content[i].Resource)
		}
	case *mcp.ReadResourceResult:
		for i := range r.Contents {
			size += contentsBulk(&r.Contents[i])
		}
	}
	return size
}

func contentsBulk(c *mcp.ResourceContents) int {
	if c == nil {
		return 0
	}
	return len(c.Text) + base64.StdEncoding.EncodedLen(len(c.Blob))
}
