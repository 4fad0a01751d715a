package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// serve handles one decoded request or notification. The response is nil for
// notifications.
func (s *Server) serve(ctx context.Context, c *Call) *Response {
	if c.from == nil {
		if err := c.introduce(); err != nil {
			return errorResponse(c.ID, err)
		}
	}
	result, err := s.handle(ctx, c)
	c.tellRest(ctx)
	c.finish()
	if c.ID.IsZero() {
		return nil
	}
	return s.respond(ctx, c, result, err)
}

// respond makes the response of what a handler returned. Results and errors of
// foreign types bring code of their own, whose panics are contained as well.
func (s *Server) respond(ctx context.Context, c *Call, result any, err error) (response *Response) {
	if !s.opts.PanicThrough {
		defer func() {
			if p := recover(); p != nil {
				_ = s.contained(ctx, c, p)
				response = &Response{ID: c.ID, Error: errInternal}
			}
		}()
	}
	// Asked after the handler has run: initialize settles the revision.
	rev := c.from.revision()
	if err == nil {
		if result, err = s.encode(rev, c.Method, result); err == nil {
			return &Response{ID: c.ID, Result: result}
		}
	}
	_, unknown := errors.AsType[*unknownMethodError](err)
	return &Response{ID: c.ID, Error: s.toWire(ctx, c, err), Refused: unknown}
}

// handle calls the chain of handlers and contains their panics.
func (s *Server) handle(ctx context.Context, c *Call) (result any, err error) {
	if !s.opts.PanicThrough {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, s.contained(ctx, c, p)
			}
		}()
	}
	if s.opts.View != nil {
		c.view = s.opts.View(ctx, c)
	}
	return s.run(ctx, c)
}

// contained logs a panic and returns what the caller learns of it.
func (s *Server) contained(ctx context.Context, c *Call, p any) error {
	s.log.LogAttrs(ctx, slog.LevelError, "a handler panicked",
		slog.String("method", c.Method), slog.String("name", c.Name),
		slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	return errInternal
}

// A Handler for a notification or request that needs nothing done.
func ignore(context.Context, *Call) (any, error) { return nil, nil }

// protocolMethods is what the protocol lets a client send, in any revision.
func (s *Server) protocolMethods() map[string]Handler {
	return map[string]Handler{
		mcp.MethodInitialize:             s.initialize,
		mcp.NotificationInitialized:      s.initialized,
		mcp.MethodServerDiscover:         s.discover,
		mcp.MethodPing:                   ignore,
		mcp.MethodLoggingSetLevel:        s.setLevel,
		mcp.MethodToolsList:              s.listTools,
		mcp.MethodToolsCall:              s.callTool,
		mcp.MethodPromptsList:            s.listPrompts,
		mcp.MethodPromptsGet:             s.getPrompt,
		mcp.MethodResourcesList:          s.listResources,
		mcp.MethodResourcesTemplatesList: s.listTemplates,
		mcp.MethodResourcesRead:          s.readResource,
		mcp.MethodResourcesSubscribe:     s.subscribe,
		mcp.MethodResourcesUnsubscribe:   s.unsubscribe,
		mcp.MethodSubscriptionsListen:    s.listen,
		mcp.MethodCompletionComplete:     s.completion,
		mcp.NotificationCancelled:        ignore, // acted on where the requests in flight are known
		mcp.NotificationProgress:         ignore,
		mcp.NotificationRootsListChanged: ignore,
	}
}

// mustMarshal encodes a value that cannot fail to encode.
func mustMarshal(v any) json.RawMessage {
	raw, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return raw
}

// errorResponse answers a request that was refused before it was handled.
func errorResponse(id jsonrpc.ID, err *jsonrpc.Error) *Response {
	if id.IsZero() {
		return nil
	}
	return &Response{ID: id, Error: err, Refused: true}
}
