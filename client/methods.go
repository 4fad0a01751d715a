package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrymcp/ferry/mcp"
)

// ask makes a typed call. A result must have one of the members named.
func ask[R any](ctx context.Context, s *Session, method string, params any, opts *CallOptions, members ...string) (*R, error) {
	l, err := s.current(method)
	if err != nil {
		return nil, err
	}
	if rev := l.speaks().revision(); !rev.Defines(method) {
		return nil, &UnsupportedError{Method: method, Revision: rev.Name()}
	}
	raw, err := s.result(ctx, method, params, opts)
	if err != nil {
		return nil, err
	}
	result := new(R)
	if err := decodeResult(method, raw, result, members...); err != nil {
		s.cache.drop(method, "") // it must not come again
		return nil, err
	}
	return result, nil
}

// result returns the result of a typed call, a kept one if it is fresh.
func (s *Session) result(ctx context.Context, method string, params any, opts *CallOptions) (json.RawMessage, error) {
	key, keeps := keyOf(method, params)
	if !keeps || opts != nil && (opts.Reload || opts.varies()) {
		return s.fetch(ctx, method, params, opts)
	}
	kept, fresh := s.cache.get(ctx, key)
	if fresh {
		return kept, nil
	}
	raw, err := s.fetch(ctx, method, params, opts)
	if err != nil && kept != nil && s.cache.opts.StaleOnError && notReached(err) {
		return kept, nil
	}
	return raw, err
}

func (s *Session) fetch(ctx context.Context, method string, params any, opts *CallOptions) (json.RawMessage, error) {
	raw, d, err := s.converse(ctx, method, params, opts)
	if err != nil {
		return nil, err
	}
	return raw, d.final(method, raw)
}

// notReached reports whether an error says nothing about what the server would
// have answered.
func notReached(err error) bool {
	if _, ok := errors.AsType[*TimeoutError](err); ok {
		return true
	}
	_, ok := errors.AsType[*UnreachableError](err)
	return ok
}

// optional returns params as what to send: nothing for a nil pointer.
func optional[P any](params *P) any {
	if params == nil {
		return nil
	}
	return params
}

// Discover asks what the server is and can do now. Only the stateless revisions
// have it; others give an *UnsupportedError.
func (s *Session) Discover(ctx context.Context) (*mcp.DiscoverResult, error) {
	return ask[mcp.DiscoverResult](ctx, s, mcp.MethodServerDiscover, nil, nil, "supportedVersions")
}

// ListTools returns one page of the server's tools; nil params ask for the
// first. Tools goes through all of them.
func (s *Session) ListTools(ctx context.Context, params *mcp.ListToolsParams) (*mcp.ListToolsResult, error) {
	result, err := ask[mcp.ListToolsResult](ctx, s, mcp.MethodToolsList, optional(params), nil, "tools")
	if err == nil && !s.client.opts.TrustOutput {
		s.outputs.learn(result.Tools)
	}
	return result, err
}

// CallTool calls a tool. That the tool failed is not an error: see IsError of
// the result. An *InputRequiredError tells that the server wants input first,
// for which there is no handler, and a *mcp.URLElicitationRequiredError that the
// user must visit web pages first: with an OnElicit handler in URL mode the user
// is sent there and the call repeated when the server says that this is done.
// Structured content is checked against the
// output schema if the session has listed the tool, unless Options.TrustOutput
// is set.
func (s *Session) CallTool(ctx context.Context, params *mcp.CallToolParams, opts *CallOptions) (*mcp.CallToolResult, error) {
	if params != nil && !isObject(params.Arguments) {
		return nil, fmt.Errorf("%s: arguments of %q must be a JSON object", mcp.MethodToolsCall, params.Name)
	}
	result, err := ask[mcp.CallToolResult](ctx, s, mcp.MethodToolsCall, optional(params), opts, "content", "structuredContent")
	if err != nil || params == nil || s.client.opts.TrustOutput {
		return result, err
	}
	if err := s.checkOutput(ctx, params.Name, result); err != nil {
		return nil, err
	}
	return result, nil
}

// isObject reports whether JSON that may be absent begins as an object; the rest
// is checked when it is written.
func isObject(arguments json.RawMessage) bool {
	return arguments == nil || bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{"))
}

// ListPrompts returns one page of the server's prompts; nil params ask for the
// first. Prompts goes through all of them.
func (s *Session) ListPrompts(ctx context.Context, params *mcp.ListPromptsParams) (*mcp.ListPromptsResult, error) {
	return ask[mcp.ListPromptsResult](ctx, s, mcp.MethodPromptsList, optional(params), nil, "prompts")
}

// GetPrompt fills in a prompt. An *InputRequiredError tells that the server
// wants input first.
func (s *Session) GetPrompt(ctx context.Context, params *mcp.GetPromptParams, opts *CallOptions) (*mcp.GetPromptResult, error) {
	return ask[mcp.GetPromptResult](ctx, s, mcp.MethodPromptsGet, optional(params), opts, "messages")
}

// ListResources returns one page of the server's resources; nil params ask for
// the first. Resources goes through all of them.
func (s *Session) ListResources(ctx context.Context, params *mcp.ListResourcesParams) (*mcp.ListResourcesResult, error) {
	return ask[mcp.ListResourcesResult](ctx, s, mcp.MethodResourcesList, optional(params), nil, "resources")
}

// ListResourceTemplates returns one page of the server's resource templates; nil
// params ask for the first. ResourceTemplates goes through all of them.
func (s *Session) ListResourceTemplates(ctx context.Context, params *mcp.ListResourceTemplatesParams) (*mcp.ListResourceTemplatesResult, error) {
	return ask[mcp.ListResourceTemplatesResult](ctx, s, mcp.MethodResourcesTemplatesList, optional(params), nil, "resourceTemplates")
}

// ReadResource reads a resource. An *InputRequiredError tells that the server
// wants input first.
func (s *Session) ReadResource(ctx context.Context, params *mcp.ReadResourceParams, opts *CallOptions) (*mcp.ReadResourceResult, error) {
	return ask[mcp.ReadResourceResult](ctx, s, mcp.MethodResourcesRead, optional(params), opts, "contents")
}

// Complete asks for values that an argument could have. What the server leaves
// out of its answer, all of it even, counts as nothing to suggest.
func (s *Session) Complete(ctx context.Context, params *mcp.CompleteParams) (*mcp.CompleteResult, error) {
	return ask[mcp.CompleteResult](ctx, s, mcp.MethodCompletionComplete, optional(params), nil)
}

// Ping asks the server for a sign of life. In the revisions without a ping the
// server is asked what it is instead.
func (s *Session) Ping(ctx context.Context) error {
	l, err := s.current(mcp.MethodPing)
	if err != nil {
		return err
	}
	_, _, err = s.call(ctx, l.speaks().ping(), nil, nil)
	return err
}

// SetLogLevel asks for log messages from a level on; they come as notifications.
// In a stateless revision they come with the calls made from now on.
func (s *Session) SetLogLevel(ctx context.Context, level mcp.LoggingLevel) error {
	l, err := s.current(mcp.MethodLoggingSetLevel)
	if err != nil {
		return err
	}
	if !l.speaks().level(level) {
		return nil
	}
	_, err = ask[mcp.EmptyResult](ctx, s, mcp.MethodLoggingSetLevel, &mcp.SetLevelParams{Level: level}, nil)
	if err == nil {
		s.mu.Lock()
		s.logLevel = level
		s.mu.Unlock()
	}
	return err
}
