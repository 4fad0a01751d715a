package httpserver

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// Header values that are set often. They are shared, and nobody changes them.
var (
	typeJSON = []string{httpwire.TypeJSON}
	typeSSE  = []string{httpwire.TypeSSE}
	noCache  = []string{"no-cache, no-transform"}
	noBuffer = []string{"no"}
)

var (
	errStopping = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server is shutting down"}
	errBusy     = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many requests of this session are running; try again when some have ended"}
	errFull     = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server has no room for another session"}
)

// refuse answers with an error status. The body is a JSON-RPC error, which
// tells clients of every revision more than the status.
func refuse(w http.ResponseWriter, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	jsonrpc.WriteError(buf, id, e)
	header := w.Header()
	header["Content-Type"] = typeJSON
	header["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // a client that has gone does not need it
}

// verbs are the ones that are of use here.
func (h *Handler) verbs() string {
	if h.opts.Stateless {
		return http.MethodPost
	}
	return "GET, POST, DELETE"
}

func (h *Handler) notAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, jsonrpc.ID{}, invalid("only %s is served here", allow))
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
