package server

import (
	"context"
	"errors"
	"log/slog"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// errInternal is all that a caller learns of an error it has no part in.
var errInternal = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"}

func methodNotFound(method string) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method %q is not supported", method)
}

func invalidParams(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}

// A wireError is an error that knows its form on the wire.
type wireError interface {
	error
	RPCError() *jsonrpc.Error
}

// toWire is the one place where errors become wire errors. The text of an
// error that was not meant for the caller goes to the log only.
func (s *Server) toWire(ctx context.Context, rev *revision.Revision, method string, err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*mcp.ResourceNotFoundError](err); ok {
		if rev.Has(revision.NotFoundCode) {
			return e.RPCError(mcp.CodeResourceNotFound)
		}
		return e.RPCError(jsonrpc.CodeInvalidParams)
	}
	if e, ok := errors.AsType[wireError](err); ok {
		return e.RPCError()
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request was cancelled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the request took too long")
	}
	s.log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("method", method), slog.Any("error", err))
	return errInternal
}
