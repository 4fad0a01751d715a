package client

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// This file is where a question of the server finds its handler, whichever way
// it came: as a request of the server's own in the revisions with sessions (see
// serve.go), or in an input-required result in the stateless ones (see rounds.go).

// handles reports whether there is a handler for a question.
func (o *Options) handles(method string) bool {
	switch method {
	case mcp.MethodElicitationCreate:
		return o.OnElicit != nil
	case mcp.MethodSamplingCreateMessage:
		return o.OnSample != nil
	case mcp.MethodRootsList:
		return o.OnRoots != nil || o.Roots != nil
	}
	return false
}

// answers reports whether there is a handler for anything.
func (o *Options) answers() bool {
	return o.OnElicit != nil || o.OnSample != nil || o.OnRoots != nil || o.Roots != nil
}

// declared returns what is declared to servers: what the options say, and what
// follows from the handlers that are set.
func (o *Options) declared() mcp.ClientCapabilities {
	c := o.Capabilities
	if c.Elicitation == nil && o.handles(mcp.MethodElicitationCreate) {
		c.Elicitation = &mcp.ElicitationCapability{Form: &mcp.Support{}}
	}
	if c.Sampling == nil && o.handles(mcp.MethodSamplingCreateMessage) {
		c.Sampling = &mcp.SamplingCapability{}
	}
	if c.Roots == nil && o.handles(mcp.MethodRootsList) {
		c.Roots = &mcp.RootsCapability{ListChanged: true}
	}
	return c
}

// question makes a question of a request of the server's.
func question(method string, params stdjson.RawMessage) (mcp.InputRequest, error) {
	q := mcp.InputRequest{Method: method}
	var into any
	switch method {
	case mcp.MethodElicitationCreate:
		into = &q.Elicit
	case mcp.MethodSamplingCreateMessage:
		into = &q.Sampling
	default:
		return q, nil
	}
	if len(params) == 0 {
		return q, nil
	}
	if err := json.Unmarshal(params, into); err != nil {
		return q, invalidQuestion("params: %v", err)
	}
	return q, nil
}

func invalidQuestion(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}

// respond answers a question with the handler for it, in the form of the
// revision. The error of a question that is refused is a *jsonrpc.Error, as is
// that of a handler which chose one.
func (s *Session) respond(ctx context.Context, rev *revision.Revision, q mcp.InputRequest, answer answerer) (any, error) {
	c := s.client
	declared := rev.ClientCapabilities(c.declared)
	var result any
	err := error(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method %q is not supported", q.Method))
	switch {
	case answer != nil && declares(&declared, q.Method):
		if result, err = c.pass(ctx, answer, q); err == nil {
			result, err = proper(rev, &declared, q, result)
		}
	case answer != nil || !c.opts.handles(q.Method):
	case q.Method == mcp.MethodElicitationCreate && declared.Elicitation != nil:
		s.sentTo(rev, q.Elicit)
		result, err = c.elicit(ctx, rev, declared.Elicitation, q.Elicit)
	case q.Method == mcp.MethodSamplingCreateMessage && declared.Sampling != nil:
		result, err = c.sample(ctx, declared.Sampling, q.Sampling)
	case q.Method == mcp.MethodRootsList && declared.Roots != nil:
		result, err = s.listRoots(ctx)
	}
	if err != nil {
		return nil, err
	}
	return rev.Encode(result), nil
}

// declares reports whether a method is among the capabilities.
func declares(c *mcp.ClientCapabilities, method string) bool {
	switch method {
	case mcp.MethodElicitationCreate:
		return c.Elicitation != nil
	case mcp.MethodSamplingCreateMessage:
		return c.Sampling != nil
	case mcp.MethodRootsList:
		return c.Roots != nil
	}
	return false
}

// pass asks CallOptions.Answer, and decodes what is raw: it may be for another
// revision.
func (c *Client) pass(ctx context.Context, answer answerer, q mcp.InputRequest) (any, error) {
	result, err := contained(ctx, c, func(ctx context.Context, q mcp.InputRequest) (*any, error) {
		result, err := answer(ctx, q)
		return &result, err
	}, q)
	if err != nil {
		return nil, err
	}
	raw, ok := (*result).(stdjson.RawMessage)
	if !ok {
		return *result, nil
	}
	var typed any
	switch q.Method {
	case mcp.MethodElicitationCreate:
		typed = new(mcp.ElicitResult)
	case mcp.MethodSamplingCreateMessage:
		typed = new(mcp.CreateMessageResult)
	default:
		typed = new(mcp.ListRootsResult)
	}
	return typed, json.Unmarshal(raw, typed)
}

// proper returns an answer that was passed on as the server may have it.
func proper(rev *revision.Revision, declared *mcp.ClientCapabilities, q mcp.InputRequest, result any) (any, error) {
	switch r := result.(type) {
	case *mcp.ElicitResult:
		asked := q.Elicit
		if asked == nil {
			asked = &mcp.ElicitParams{}
		}
		return elicitAnswer(rev, asked, r)
	case *mcp.CreateMessageResult:
		return sampleAnswer(declared.Sampling, r)
	}
	return result, nil
}

// errNoAnswer is the error of a handler that returned nothing.
var errNoAnswer = errors.New("the handler returned neither a result nor an error")

// contained calls a handler and makes an error of its panic, or of nothing.
func contained[P, R any](ctx context.Context, c *Client, handler func(context.Context, P) (*R, error), params P) (result *R, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("handler panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			result, err = nil, fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	result, err = handler(ctx, params)
	if err == nil && result == nil {
		err = errNoAnswer
	}
	return result, err
}
