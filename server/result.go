package server

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// encode prepares a handler's result for a peer of the revision, without
// changing the handler's value.
func (s *Server) encode(rev *revision.Revision, method string, result any) (any, error) {
	switch result := pointed(result).(type) {
	case nil:
		return s.finish(rev, &mcp.EmptyResult{}), nil
	case json.RawMessage:
		return rev.EncodeRaw(method, result)
	case *mcp.ListToolsResult:
		return s.list(rev, result, &s.tools.lists)
	case *mcp.ListPromptsResult:
		return s.list(rev, result, &s.prompts.lists)
	case *mcp.ListResourcesResult:
		return s.list(rev, result, &s.resources.lists)
	case *mcp.ListResourceTemplatesResult:
		return s.list(rev, result, &s.templates.lists)
	case *mcp.InputRequiredResult:
		if !rev.Modern() {
			return nil, &revision.ResultTypeError{Type: mcp.ResultInputRequired, Revision: rev.Name()}
		}
		return s.finish(rev, result), nil
	case *mcp.CallToolResult:
		return s.finish(rev, readable(result)), nil
	case *mcp.GetPromptResult, *mcp.ReadResourceResult, *mcp.CompleteResult,
		*mcp.InitializeResult, *mcp.DiscoverResult, *mcp.ListenResult, *mcp.EmptyResult:
		return s.finish(rev, result), nil
	default:
		// Encoded here and not by the carrier, because a type that is not ours
		// may fail in its own ways.
		raw, err := marshal(result)
		if err != nil {
			return nil, err
		}
		return rev.EncodeRaw(method, raw)
	}
}

// pointed returns a struct as a pointer to a copy of it, and a nil pointer as
// one to the zero value, so that the rest has to know one form only.
func pointed(result any) any {
	switch v := reflect.ValueOf(result); {
	case v.Kind() == reflect.Struct:
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return p.Interface()
	case v.Kind() == reflect.Pointer && v.IsNil():
		return reflect.New(v.Type().Elem()).Interface()
	}
	return result
}

// finish prepares a result that is not shared.
func (s *Server) finish(rev *revision.Revision, result any) any {
	if rev.Modern() {
		result = s.complete(result)
	}
	return rev.Encode(result)
}

// readable adds the JSON of structured content as text when the content is no
// object, which older clients cannot be given in any other form, and no text
// says it already (tools, "Structured Content").
func readable(r *mcp.CallToolResult) *mcp.CallToolResult {
	value := bytes.TrimSpace(r.StructuredContent)
	if len(value) == 0 || value[0] == '{' ||
		slices.ContainsFunc(r.Content, func(c mcp.Content) bool { return c.Type == mcp.TypeText }) {
		return r
	}
	copied := *r
	copied.Content = append(slices.Clip(r.Content), mcp.Text(string(value)))
	return &copied
}

// list prepares a list. One that is not kept, because middleware or another
// handler made it, is finished like any other result.
func (s *Server) list(rev *revision.Revision, list any, kept *pageCache) (any, error) {
	if shared, ok, err := kept.render(rev, list); ok {
		return shared, err
	}
	return s.finish(rev, list), nil
}

// complete adds what every stateless result carries: its type and the server's
// identity; cacheable results also say for how long.
func (s *Server) complete(result any) any {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return completed(s, *r, func(r *mcp.CallToolResult) (*mcp.Result, *mcp.Cache) { return &r.Result, nil })
	case *mcp.GetPromptResult:
		return completed(s, *r, func(r *mcp.GetPromptResult) (*mcp.Result, *mcp.Cache) { return &r.Result, nil })
	case *mcp.ReadResourceResult:
		return completed(s, *r, func(r *mcp.ReadResourceResult) (*mcp.Result, *mcp.Cache) { return &r.Result, &r.Cache })
	case *mcp.CompleteResult:
		return completed(s, *r, func(r *mcp.CompleteResult) (*mcp.Result, *mcp.Cache) { return &r.Result, nil })
	case *mcp.ListToolsResult:
		return completed(s, *r, func(r *mcp.ListToolsResult) (*mcp.Result, *mcp.Cache) { return &r.Result, &r.Cache })
	case *mcp.ListPromptsResult:
		return completed(s, *r, func(r *mcp.ListPromptsResult) (*mcp.Result, *mcp.Cache) { return &r.Result, &r.Cache })
	case *mcp.ListResourcesResult:
		return completed(s, *r, func(r *mcp.ListResourcesResult) (*mcp.Result, *mcp.Cache) { return &r.Result, &r.Cache })
	case *mcp.ListResourceTemplatesResult:
		return completed(s, *r, func(r *mcp.ListResourceTemplatesResult) (*mcp.Result, *mcp.Cache) { return &r.Result, &r.Cache })
	case *mcp.ListenResult:
		return completed(s, *r, func(r *mcp.ListenResult) (*mcp.Result, *mcp.Cache) { return &r.Result, nil })
	case *mcp.EmptyResult:
		return completed(s, *r, func(r *mcp.EmptyResult) (*mcp.Result, *mcp.Cache) { return &r.Result, nil })
	case *mcp.InputRequiredResult:
		copied := *r
		copied.ResultType = mcp.ResultInputRequired
		s.stamp(&copied.Result)
		return &copied
	case *mcp.DiscoverResult:
		copied := *r
		s.stamp(&copied.Result)
		s.cacheable(&copied.Cache, false)
		return &copied
	}
	return result
}

// completed fills the parts of a copy that all results, or all cacheable ones,
// share. What a handler made may depend on the caller: it is private.
func completed[T any](s *Server, copied T, parts func(*T) (*mcp.Result, *mcp.Cache)) *T {
	common, cache := parts(&copied)
	s.stamp(common)
	if cache != nil {
		s.cacheable(cache, true)
	}
	return &copied
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
	maps.Copy(meta, r.Meta)
	meta[mcp.MetaServerInfo] = s.resultMeta[mcp.MetaServerInfo]
	r.Meta = meta
}

// cacheable fills the time to live and the scope where the handler left them
// open, or said what is none. What depends on the caller is private.
func (s *Server) cacheable(c *mcp.Cache, personal bool) {
	switch {
	case c.TTLMs == nil:
		c.TTLMs = mcp.Ptr(s.opts.TTL.Milliseconds())
	case *c.TTLMs < 0:
		c.TTLMs = mcp.Ptr[int64](0)
	}
	switch {
	case c.CacheScope == mcp.CachePublic || c.CacheScope == mcp.CachePrivate:
	case personal:
		c.CacheScope = mcp.CachePrivate
	default:
		c.CacheScope = s.opts.CacheScope
	}
}
