package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// Handlers ask the client with [Elicit], [Sample] and [Roots], in the same way
// whatever revision it speaks:
//
//	session     the question is a request; the function waits for the response
//	stateless   the function returns ErrInputRequired; the result of the call
//	            is input_required with the question; the client calls again with
//	            the answer; the handler runs from its beginning and this time
//	            the function returns the answer
//
// Answers of earlier rounds and the journal of [Once] travel through the
// client, sealed: the server keeps nothing between the rounds.

// ErrInputRequired is what asking returns when the client has to answer first,
// and calls again with the answer. A handler returns it, or an error that wraps
// it. Whatever it returns instead, the client is asked.
var ErrInputRequired = errors.New("the client has to answer first")

// An AnswerError tells that the client has answered a question with an error,
// or with something that is no answer to it.
type AnswerError struct {
	// Key is the key of the question.
	Key string
	// Err is the client's error, a *jsonrpc.Error, or what is wrong with the
	// answer.
	Err error
}

// Error implements the error interface.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the client's answer to %q: %v", e.Key, e.Err)
}

// Unwrap returns Err.
func (e *AnswerError) Unwrap() error { return e.Err }

// All asks several questions in one round: it calls every function, each of
// which asks one, even if answers are missing. It returns the first error that
// is not ErrInputRequired, else ErrInputRequired if there was one.
func All(ask ...func() error) error {
	var missing error
	for _, f := range ask {
		switch err := f(); {
		case errors.Is(err, ErrInputRequired):
			missing = err
		case err != nil:
			return err
		}
	}
	return missing
}

// ask puts a question to the client and gives its answer to read, which
// reports what is wrong with it.
func (c *Call) ask(ctx context.Context, key string, in mcp.InputRequest, read func(json.RawMessage) error) error {
	if key == "" {
		return fmt.Errorf("ask for %s: the key is empty", in.Method)
	}
	in, err := c.askable(in)
	if err != nil {
		return err
	}
	r, err := c.inputs()
	if err != nil {
		return err
	}
	raw, ok := r.answer(key)
	if !ok {
		if raw, err = c.put(ctx, r, key, in); err != nil {
			return err
		}
	}
	if err := read(raw); err != nil {
		return &AnswerError{Key: key, Err: err}
	}
	r.keep(key, raw)
	return nil
}

// put asks what has not been answered yet.
func (c *Call) put(ctx context.Context, r *round, key string, in mcp.InputRequest) (json.RawMessage, error) {
	if sess := c.Session(); sess != nil {
		return c.demand(ctx, sess, key, in)
	}
	if !asking(c.Method) {
		return nil, fmt.Errorf("handlers of %s cannot ask the client: only those of tools, prompts and resources can", c.Method)
	}
	if err := r.want(key, in); err != nil {
		return nil, err
	}
	return nil, ErrInputRequired
}

// demand asks the client of a session and waits.
func (c *Call) demand(ctx context.Context, sess *Session, key string, in mcp.InputRequest) (json.RawMessage, error) {
	raw, err := c.request(ctx, sess, in.Method, in.Params())
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, &AnswerError{Key: key, Err: refused}
	}
	return raw, err
}

// asking reports whether requests of a method may be answered with a question.
func asking(method string) bool { return nameMember(method) != "" }

// askable returns a question as it may be put to the client, whoever made it.
// The error tells that the protocol has no such question, or that this client
// has not declared that it can be asked.
func (c *Call) askable(in mcp.InputRequest) (mcp.InputRequest, error) {
	var err error
	switch {
	case in.Elicit != nil && in.Elicit.IsURL():
		in.Elicit, err = pageOf(in.Elicit)
	case in.Elicit != nil:
		in.Elicit, err = formToAsk(in.Elicit)
	case in.Sampling != nil:
		in.Sampling, err = c.sampleToAsk(in.Sampling)
	}
	if err != nil {
		return in, err
	}
	return in, c.lacks(&in)
}

// lacks returns the error for a question that the client cannot be asked.
func (c *Call) lacks(in *mcp.InputRequest) error {
	have := c.from.capabilities()
	var need mcp.ClientCapabilities
	switch {
	case in.Method == mcp.MethodElicitationCreate && in.Elicit != nil:
		need.Elicitation = c.lacksElicitation(in.Elicit, have.Elicitation)
	case in.Method == mcp.MethodSamplingCreateMessage && in.Sampling != nil:
		need.Sampling = c.lacksSampling(in.Sampling, have.Sampling)
	case in.Method == mcp.MethodRootsList:
		if have.Roots == nil {
			need.Roots = &mcp.RootsCapability{}
		}
	default:
		return fmt.Errorf("a client cannot be asked for %q, or not without parameters", in.Method)
	}
	if need.Elicitation == nil && need.Sampling == nil && need.Roots == nil {
		return nil
	}
	return &mcp.MissingCapabilityError{Required: need}
}

// lacksElicitation returns what it takes to ask; nil when the client has it.
func (c *Call) lacksElicitation(p *mcp.ElicitParams, have *mcp.ElicitationCapability) *mcp.ElicitationCapability {
	rev := c.from.revision()
	switch {
	case !p.IsURL() && rev.Has(revision.Elicitation) && have.SupportsForm(),
		p.IsURL() && rev.Has(revision.URLElicitation) && have.SupportsURL():
		return nil
	case p.IsURL():
		return &mcp.ElicitationCapability{URL: &mcp.Support{}}
	}
	return &mcp.ElicitationCapability{Form: &mcp.Support{}}
}

// lacksSampling returns what it takes to ask; nil when the client has it.
func (c *Call) lacksSampling(p *mcp.CreateMessageParams, have *mcp.SamplingCapability) *mcp.SamplingCapability {
	switch {
	case !usesTools(p) && have != nil,
		usesTools(p) && have != nil && have.Tools != nil && c.from.revision().Has(revision.SamplingTools):
		return nil
	case usesTools(p):
		return &mcp.SamplingCapability{Tools: &mcp.Support{}}
	}
	return &mcp.SamplingCapability{}
}

// has reports that an answer lacks a member that it must have.
func has(raw json.RawMessage, name string) error {
	if value, _ := ijson.Member(raw, name); unlessNull(value) == nil {
		return fmt.Errorf("%s is missing", name)
	}
	return nil
}
