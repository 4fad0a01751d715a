package httpserver

import (
	"errors"
	"net/http"
	"strings"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

var (
	errStopping = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server is shutting down"}
	errBusy     = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many requests of this session are running; try again when some have ended"}
	errFull     = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server has no room for another session"}
)

// verbs are the ones that are of use here.
func (h *Handler) verbs() string {
	if h.opts.Stateless {
		return http.MethodPost
	}
	return "GET, POST, DELETE"
}

func invalid(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, format, args...)
}

func mismatch(message string) *jsonrpc.Error {
	return (&mcp.HeaderMismatchError{Message: message}).RPCError()
}

// asWire returns the error of decoding as what it is.
func asWire(err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	return invalid("the message cannot be read")
}

// header returns the value of a header that should come once. One that comes
// several times is joined, as proxies do, and then is equal to nothing.
func header(r *http.Request, name string) string {
	switch values := r.Header[name]; len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	default:
		return strings.Join(values, ", ")
	}
}

// stateless reports whether a header value names a revision without sessions.
func stateless(version string) bool {
	rev, ok := revision.Parse(version)
	return ok && rev.Modern()
}
