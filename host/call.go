package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// CallTool calls the tool that is shown under a name. Params are those of
// tools/call; their name is replaced by the server's own, and everything
// else goes to the server as it is. So does the result come back: it may be one
// that asks for input. The end of ctx cancels the call. Options may be nil; their
// Answer gets what a server with a session asks during the call.
//
// Errors are a *jsonrpc.Error that is the server's, an *UpstreamError, a
// *NotFoundError, or wrap the cause of ctx. Ask for the *UpstreamError first: it
// may wrap what the server said when it refused to be connected.
func (h *Host) CallTool(ctx context.Context, name string, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	r, ok := h.Catalog().tools[name]
	if !ok {
		return nil, &NotFoundError{What: "tool", Name: name}
	}
	return r.up.call(ctx, mcp.MethodToolsCall, params, "name", quote(r.original), opts)
}

// GetPrompt is [Host.CallTool] for prompts.
func (h *Host) GetPrompt(ctx context.Context, name string, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	r, ok := h.Catalog().prompts[name]
	if !ok {
		return nil, &NotFoundError{What: "prompt", Name: name}
	}
	return r.up.call(ctx, mcp.MethodPromptsGet, params, "name", quote(r.original), opts)
}

// ReadResource reads a resource; params are those of resources/read, whose uri
// is set to the one given. A resource that is in the catalog is read at its
// server. Any other is asked for at the servers with a template that
// may stand for it, then at those that have shown a resource or template of
// the same scheme, in their order, until one has it. Other servers do not
// learn of the URI. A resource that none has is a *mcp.ResourceNotFoundError. A
// result that asks for input has a state, with which the answers go to the
// server that has asked and to no other.
func (h *Host) ReadResource(ctx context.Context, uri string, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	if name, rest := whoAsked(params); name != "" {
		h.mu.Lock()
		u := h.findLocked(name)
		h.mu.Unlock()
		if u == nil {
			return nil, &mcp.ResourceNotFoundError{URI: uri}
		}
		return u.read(ctx, uri, rest, opts)
	}
	c := h.Catalog()
	if u := c.resources[uri]; u != nil {
		return u.read(ctx, uri, params, opts)
	}
	var first error
	for _, u := range c.mayHave(uri) {
		result, err := u.read(ctx, uri, params, opts)
		if err == nil || ctx.Err() != nil {
			return result, err
		}
		if first == nil && !notFound(err) {
			first = err
		}
	}
	if first == nil {
		first = &mcp.ResourceNotFoundError{URI: uri}
	}
	return nil, first
}

func (u *upstream) read(ctx context.Context, uri string, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	result, err := u.call(ctx, mcp.MethodResourcesRead, params, "uri", quote(uri), opts)
	if err != nil {
		return nil, err
	}
	return askedBy(u.conf.Name, result), nil
}

// notFound reports whether a server says that it does not have a resource.
// Newer revisions say it with the code for invalid parameters.
func notFound(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && (e.Code == mcp.CodeResourceNotFound || e.Code == jsonrpc.CodeInvalidParams)
}

// mayHave returns the servers to ask for a resource that no list has.
func (c *Catalog) mayHave(uri string) []*upstream {
	var found []*upstream
	seen := map[*upstream]bool{}
	add := func(u *upstream) {
		if !seen[u] {
			seen[u] = true
			found = append(found, u)
		}
	}
	for _, t := range c.templates {
		if t.matches.match(uri) {
			add(t.up)
		}
	}
	for _, u := range c.schemes[scheme(uri)] {
		add(u)
	}
	return found
}

// Complete asks for values that an argument of a prompt or resource template
// could have; params are those of completion/complete. A server that
// completes nothing gives an empty result.
func (h *Host) Complete(ctx context.Context, params json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	var p struct {
		Ref mcp.Reference `json:"ref"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s: ref is malformed", mcp.MethodCompletionComplete)
	}
	r, err := h.Catalog().completer(p.Ref)
	if err != nil {
		return nil, err
	}
	var ref json.RawMessage
	if p.Ref.Type == mcp.RefPrompt {
		p.Ref.Name = r.original
		if ref, err = json.Marshal(p.Ref); err != nil {
			return nil, err
		}
	}
	result, err := r.up.call(ctx, mcp.MethodCompletionComplete, params, "ref", ref, opts)
	if errors.Is(err, errMethodNotFound) {
		return json.RawMessage(`{"completion":{"values":[]}}`), nil
	}
	return result, err
}

// completer returns the server that has what a reference names.
func (c *Catalog) completer(ref mcp.Reference) (route, error) {
	if ref.Type == mcp.RefPrompt {
		if r, ok := c.prompts[ref.Name]; ok {
			return r, nil
		}
		return route{}, &NotFoundError{What: "prompt", Name: ref.Name}
	}
	if u := c.owners[ref.URI]; u != nil {
		return route{up: u}, nil
	}
	if u := c.resources[ref.URI]; u != nil {
		return route{up: u}, nil
	}
	return route{}, &mcp.ResourceNotFoundError{URI: ref.URI}
}

// call makes one call at the server, or says why it cannot be made.
func (u *upstream) call(ctx context.Context, method string, params json.RawMessage, name string, value json.RawMessage, opts *client.CallOptions) (json.RawMessage, error) {
	sess, err := u.connected()
	if err != nil {
		return nil, err
	}
	params, err = rewrite(params, name, value, sess.Stateless())
	if err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s: not a JSON object", method)
	}
	var relayed client.CallOptions
	if opts != nil {
		relayed = *opts
	}
	relayed.Relay = true
	result, err := sess.Call(ctx, method, params, &relayed)
	if err != nil {
		return nil, u.failure(ctx, err)
	}
	return result, nil
}

// connected returns the session, or why there is none.
func (u *upstream) connected() (*client.Session, error) {
	u.host.mu.Lock()
	defer u.host.mu.Unlock()
	if u.session != nil {
		return u.session, nil
	}
	if u.host.closed {
		return nil, &UpstreamError{Upstream: u.conf.Name, Err: ErrClosed}
	}
	return nil, &UpstreamError{Upstream: u.conf.Name, Err: u.err}
}
