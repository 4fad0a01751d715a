// Package web holds what the two HTTP carriers of this module do alike: they
// look at who asks, read bodies and write events with limits, and refuse.
package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/server"
)

// Header values that are set often. They are shared, and nobody changes them.
var (
	TypeJSON = []string{httpwire.TypeJSON}
	TypeSSE  = []string{httpwire.TypeSSE}
	noCache  = []string{"no-cache, no-transform"}
	noBuffer = []string{"no"}
)

// Refuse answers with an error status. The body is a JSON-RPC error, which
// tells clients of every revision more than the status.
func Refuse(w http.ResponseWriter, status int, id jsonrpc.ID, e *jsonrpc.Error) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	jsonrpc.WriteError(buf, id, e)
	header := w.Header()
	header["Content-Type"] = TypeJSON
	header["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // a client that has gone does not need it
}

// NotAllowed refuses a method of HTTP; allow names those that are served.
func NotAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	Refuse(w, http.StatusMethodNotAllowed, jsonrpc.ID{}, Invalid("only %s is served here", allow))
}

// Invalid returns the error of a request that breaks the rules.
func Invalid(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, format, args...)
}

// authenticate asks principal, which may be nil, who the caller is, or refuses
// the request. Without it the caller is the one that middleware has found, if any.
func authenticate(w http.ResponseWriter, r *http.Request, principal func(*http.Request) (string, error)) (string, bool) {
	if principal == nil {
		if caller := admission.From(r.Context()); caller != nil {
			return caller.Principal(), true
		}
		return "", true
	}
	name, err := principal(r)
	if err == nil {
		return name, true
	}
	if refusal, ok := errors.AsType[interface {
		error
		http.Handler
	}](err); ok {
		refusal.ServeHTTP(w, r)
		return "", false
	}
	Refuse(w, http.StatusUnauthorized, jsonrpc.ID{}, Invalid("the caller is not authenticated"))
	return "", false
}

// Lacks returns the answer to requests that came together, if the caller may not
// make all of them. Middleware that found out who the caller is decides; without
// any, everybody may make all requests.
func Lacks(r *http.Request, requests ...*server.Request) *admission.Refusal {
	caller := admission.From(r.Context())
	if caller == nil {
		return nil
	}
	var scopes []string
	for _, rq := range requests {
		scopes = append(scopes, caller.Lacks(rq.Method, rq.Name, rq.Raw)...)
	}
	if len(scopes) == 0 {
		return nil
	}
	return caller.Refuse(scopes)
}
