package server

import (
	"bytes"

	"github.com/ferrymcp/ferry/jsonrpc"
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
	if err := jsonrpc.WriteResult(buf, r.ID, r.Result); err != nil {
		jsonrpc.WriteError(buf, r.ID, errInternal)
	}
}
