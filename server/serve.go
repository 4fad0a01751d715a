package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// serve handles one decoded request or notification. The response is nil for
// notifications.
func (s *Server) serve(ctx context.Context, from caller, rq *Request, sink Sink) *Response {
	c := &Call{Request: rq, srv: s, from: from, sink: sink}
	result, err := s.handle(ctx, c)
	c.finish()
	if rq.ID.IsZero() {
		return nil
	}
	// Asked after the handler has run: initialize settles the revision.
	rev := from.revision()
	if err == nil {
		if result, err = s.encode(rev, rq.Method, result); err == nil {
			return &Response{ID: rq.ID, Result: result}
		}
	}
	return &Response{ID: rq.ID, Error: s.toWire(ctx, rev, rq.Method, err)}
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
	return (*s.handler.Load())(ctx, c)
}

// contained logs a panic and returns what the caller learns of it.
func (s *Server) contained(ctx context.Context, c *Call, p any) error {
	s.log.LogAttrs(ctx, slog.LevelError, "a handler panicked",
		slog.String("method", c.Method), slog.String("name", c.Name),
		slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	return errInternal
}

// encode prepares a handler's result for a peer of the revision, without
// changing the handler's value.
func (s *Server) encode(rev *revision.Revision, method string, result any) (any, error) {
	switch result := result.(type) {
	case json.RawMessage:
		return rev.EncodeRaw(method, result)
	case *mcp.ListToolsResult:
		return s.tools.render(rev, result)
	case *mcp.ListPromptsResult:
		return s.prompts.render(rev, result)
	case *mcp.ListResourcesResult:
		return s.resources.render(rev, result)
	case *mcp.ListResourceTemplatesResult:
		return s.templates.render(rev, result)
	}
	if rev.Modern() {
		return s.complete(result), nil
	}
	if result == nil {
		return &mcp.EmptyResult{}, nil
	}
	return rev.Encode(result), nil
}

// complete adds what every stateless result carries: its type and the server's
// identity; cacheable results also say for how long.
func (s *Server) complete(result any) any {
	switch r := result.(type) {
	case nil:
		empty := &mcp.EmptyResult{}
		s.stamp(&empty.Result)
		return empty
	case *mcp.CallToolResult:
		copied := *r
		s.stamp(&copied.Result)
		return &copied
	case *mcp.GetPromptResult:
		copied := *r
		s.stamp(&copied.Result)
		return &copied
	case *mcp.ReadResourceResult:
		copied := *r
		s.stamp(&copied.Result)
		s.cacheable(&copied.Cache, true)
		return &copied
	case *mcp.CompleteResult:
		copied := *r
		s.stamp(&copied.Result)
		return &copied
	case *mcp.DiscoverResult:
		copied := *r
		s.stamp(&copied.Result)
		s.cacheable(&copied.Cache, false)
		return &copied
	case *mcp.ListenResult:
		copied := *r
		s.stamp(&copied.Result)
		return &copied
	case *mcp.EmptyResult:
		copied := *r
		s.stamp(&copied.Result)
		return &copied
	}
	return result
}

// stamp fills the result type and the server's identity where the handler left
// them open.
func (s *Server) stamp(r *mcp.Result) {
	if r.ResultType == "" {
		r.ResultType = mcp.ResultComplete
	}
	if r.Meta == nil {
		r.Meta = s.resultMeta
		return
	}
	if _, ok := r.Meta[mcp.MetaServerInfo]; ok {
		return
	}
	meta := make(mcp.Meta, len(r.Meta)+1)
	for key, value := range r.Meta {
		meta[key] = value
	}
	meta[mcp.MetaServerInfo] = s.resultMeta[mcp.MetaServerInfo]
	r.Meta = meta
}

// cacheable fills the time to live and the scope where the handler left them
// open. What depends on the caller is private.
func (s *Server) cacheable(c *mcp.Cache, personal bool) {
	if c.TTLMs == nil {
		ttl := s.opts.TTL.Milliseconds()
		c.TTLMs = &ttl
	}
	if c.CacheScope == "" {
		c.CacheScope = mcp.CachePublic
		if personal || s.opts.View != nil {
			c.CacheScope = mcp.CachePrivate
		}
	}
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
	return &Response{ID: id, Error: err}
}
