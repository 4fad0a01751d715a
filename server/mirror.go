package server

import (
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/mcp"
)

// checkHeaders compares the headers of a stateless tool call with the arguments
// that the tool's schema wants repeated there: whoever routed the request may
// have relied on them. Other carriers than HTTP have no headers.
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-behavior-for-custom-headers
func (rq *Request) checkHeaders(params []httpwire.Param) error {
	if rq.Header == nil || !rq.Modern() {
		return nil
	}
	for i := range params {
		if err := params[i].Check(rq.Header[params[i].Header], rq.arguments); err != nil {
			return &mcp.HeaderMismatchError{Message: err.Error()}
		}
	}
	return nil
}
