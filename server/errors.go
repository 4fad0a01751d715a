package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// errInternal is all that a caller learns of an error it has no part in.
var errInternal = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"}

// An unknownMethodError tells that nothing handles a method. It is a type of its
// own because a handler may answer with the same code.
type unknownMethodError struct{ method string }

func (e *unknownMethodError) Error() string {
	return fmt.Sprintf("method %q is not supported", e.method)
}

// RPCError returns the error's form on the wire.
func (e *unknownMethodError) RPCError() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: e.Error()}
}

func invalidParams(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}

// A wireError is an error that knows its form on the wire.
type wireError interface {
	error
	RPCError() *jsonrpc.Error
}

// asked returns the form on the wire of an error of asking the client; nil when
// it is another error, or one whose form does not depend on the revision.
func (c *Call) asked(err error) *jsonrpc.Error {
	if text := c.legible(err); text != "" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: text}
	}
	if e, ok := errors.AsType[*AnswerError](err); ok {
		return invalidParams("%v", e) // it came with the parameters
	}
	if e, ok := errors.AsType[*mcp.URLElicitationRequiredError](err); ok {
		if !c.from.revision().Has(revision.ServerRequests) {
			return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", pagesText(e))
		}
		complete, err := pages(e)
		if err != nil {
			c.srv.log.Error("request failed", slog.String("method", c.Method), slog.Any("error", err))
			return errInternal
		}
		return complete.RPCError()
	}
	return nil
}

// The codes that the stateless revisions keep for the protocol.
const (
	firstReserved = -32020
	lastReserved  = -32099
)

// permitted returns an error with a code that the caller's revision allows: that
// of a handler may be from another revision, or from a server behind this one.
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
func permitted(rev *revision.Revision, e *jsonrpc.Error) *jsonrpc.Error {
	if !rev.Modern() {
		return e
	}
	code := e.Code
	switch {
	case code == mcp.CodeHeaderMismatch, code == mcp.CodeMissingClientCapability, code == mcp.CodeUnsupportedVersion:
	case code == mcp.CodeResourceNotFound:
		code = jsonrpc.CodeInvalidParams
	case lastReserved <= code && code <= firstReserved:
		code = jsonrpc.CodeInternal
	}
	if code == e.Code {
		return e
	}
	allowed := *e
	allowed.Code = code
	return &allowed
}

// toWire is the one place where errors become wire errors. The text of an
// error that was not meant for the caller goes to the log only.
func (s *Server) toWire(ctx context.Context, c *Call, err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*mcp.ResourceNotFoundError](err); ok {
		if c.from.revision().Has(revision.NotFoundCode) {
			return e.RPCError(mcp.CodeResourceNotFound)
		}
		return e.RPCError(jsonrpc.CodeInvalidParams)
	}
	if e := c.asked(err); e != nil {
		return e
	}
	if e, ok := errors.AsType[wireError](err); ok {
		return permitted(c.from.revision(), e.RPCError())
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return permitted(c.from.revision(), e)
	}
	if ctx.Err() != nil || c.gone(err) {
		// Whatever failed, there is nobody to be told why, and nothing to mend.
		s.log.LogAttrs(ctx, slog.LevelDebug, "cancelled request failed", slog.String("method", c.Method), slog.Any("error", err))
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request was cancelled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request took too long")
	}
	s.log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("method", c.Method), slog.Any("error", err))
	return errInternal
}
