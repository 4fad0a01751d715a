package httpserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// errExpired ends a subscription as the end of the server does: with a result,
// after which the client may subscribe again.
var errExpired = fmt.Errorf("the caller has to show again who it is: %w", server.ErrClosing)

// modern serves a request of a stateless revision. wrong is what is wrong with
// its parameters, if anything.
func (x *exchange) modern(rq *server.Request, wrong error) {
	if e := x.check(rq, wrong); e != nil {
		x.refuse(http.StatusBadRequest, rq.ID, e)
		return
	}
	listens := rq.Method == mcp.MethodSubscriptionsListen
	if listens && !x.events {
		x.refuse(http.StatusNotAcceptable, rq.ID, invalid("the Accept header must allow %s", httpwire.TypeSSE))
		return
	}
	parent := x.r.Context()
	if caller := admission.From(parent); listens && caller != nil && !caller.Expires().IsZero() {
		var cancel context.CancelFunc
		parent, cancel = context.WithDeadlineCause(parent, caller.Expires(), errExpired)
		defer cancel()
	}
	ctx, ok := x.begin(parent, listens)
	if !ok {
		return
	}
	if rq.ID.IsZero() {
		x.h.srv.Serve(ctx, rq, nil)
		x.conclude(nil)
		return
	}
	x.watch()
	response := x.h.srv.Serve(ctx, rq, x.way())
	if x.r.Context().Err() != nil {
		x.abandon() // by closing the connection the client has cancelled
		return
	}
	x.conclude(response)
}

// check compares the headers of a request with its body, in the order in which
// clients expect to hear of several faults.
func (x *exchange) check(rq *server.Request, wrong error) *jsonrpc.Error {
	notification := rq.ID.IsZero()
	switch {
	case x.version == "":
		return mismatch("the " + httpwire.HeaderProtocolVersion + " header is missing")
	case wrong != nil:
		return asWire(wrong)
	case !rq.Modern() && notification:
		rq.ProtocolVersion = x.version // notifications need no metadata
	case !rq.Modern():
		return server.MissingMeta()
	case x.version != rq.ProtocolVersion:
		return mismatch(fmt.Sprintf("%s is %q, but the body says %q", httpwire.HeaderProtocolVersion, x.version, rq.ProtocolVersion))
	}
	if e := rq.Supported(); e != nil || notification {
		return e
	}
	return x.route(rq)
}

// route checks the headers that intermediaries route by. Those that repeat
// arguments are the business of whoever knows the tool's schema.
func (x *exchange) route(rq *server.Request) *jsonrpc.Error {
	method, name := x.r.Header[httpwire.HeaderMethod], x.r.Header[httpwire.HeaderName]
	switch {
	case len(method) == 0:
		return mismatch("the " + httpwire.HeaderMethod + " header is missing")
	case len(method) > 1 || method[0] != rq.Method:
		return mismatch(fmt.Sprintf("%s is %q, but the method is %q", httpwire.HeaderMethod, method, rq.Method))
	case !named(rq.Method) && (rq.Name == "" || len(name) == 0):
		return nil
	case len(name) == 0:
		return mismatch("the " + httpwire.HeaderName + " header is missing")
	case len(name) > 1:
		return mismatch("there are several " + httpwire.HeaderName + " headers")
	}
	decoded, err := httpwire.DecodeValue(name[0])
	if err != nil {
		return mismatch(fmt.Sprintf("%s: %v", httpwire.HeaderName, err))
	}
	if decoded != rq.Name {
		return mismatch(fmt.Sprintf("%s is %q, but the body says %q", httpwire.HeaderName, decoded, rq.Name))
	}
	return nil
}

// named reports whether requests of a method must name what they are about.
// Others that do so, those of extensions, are only checked.
func named(method string) bool {
	switch method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
		return true
	}
	return false
}

// modernStatus returns the status that a response is sent with.
func modernStatus(response *server.Response) int {
	if response.Error == nil {
		return http.StatusOK
	}
	switch response.Error.Code {
	case jsonrpc.CodeMethodNotFound:
		if response.Refused { // else it is a handler that says so of something else
			return http.StatusNotFound
		}
		return http.StatusOK
	case mcp.CodeHeaderMismatch, mcp.CodeMissingClientCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	if response.Refused {
		return http.StatusBadRequest
	}
	return http.StatusOK
}
