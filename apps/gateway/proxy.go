package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// callTool passes a tool call on. That the server is not reached is told as a
// tool error, so that the model reads it.
func (g *Gateway) callTool(ctx context.Context, c *server.Call) (any, error) {
	result, err := g.pass(ctx, c, g.host.CallTool)
	if down, ok := errors.AsType[*host.UpstreamError](err); ok {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(down.Error())}, IsError: true}, nil
	}
	return result, err
}

// getPrompt passes prompts/get on.
func (g *Gateway) getPrompt(ctx context.Context, c *server.Call) (any, error) {
	result, err := g.pass(ctx, c, g.host.GetPrompt)
	return result, onWire(err)
}

// readResource passes resources/read on. It stands in for the server's own, which
// knows only what was listed.
func (g *Gateway) readResource(ctx context.Context, c *server.Call) (any, error) {
	if c.Name == "" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "params of %s: uri is missing", c.Method)
	}
	if g.view != nil {
		if v := g.view(ctx, c); v != nil && v.Resource != nil && !v.Resource(c.Name) {
			return nil, &mcp.ResourceNotFoundError{URI: c.Name}
		}
	}
	result, err := g.pass(ctx, c, g.host.ReadResource)
	return result, onWire(err)
}

// complete passes completion/complete on.
func (g *Gateway) complete(ctx context.Context, c *server.Call, _ *mcp.CompleteParams) (*mcp.Completion, error) {
	raw, err := g.host.Complete(ctx, c.Params(), passOn(ctx, c))
	if err != nil {
		return nil, onWire(err)
	}
	var result mcp.CompleteResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "the server's completion is malformed")
	}
	return &result.Completion, nil
}

// passOn makes the options of a call: progress goes to the caller if it asked.
func passOn(ctx context.Context, c *server.Call) *client.CallOptions {
	if !c.WantsProgress() {
		return nil
	}
	return &client.CallOptions{Progress: func(p mcp.ProgressParams) {
		var total float64
		if p.Total != nil {
			total = *p.Total
		}
		// A caller that is gone ends the call through its context.
		_ = c.Progress(ctx, p.Progress, total, p.Message)
	}}
}

// answer gives a raw result to the server. One that asks for input is nothing
// for a caller who has said that it cannot be asked.
func answer(raw json.RawMessage, err error) (any, error) {
	if err != nil {
		return nil, ours(err)
	}
	if asksForInput(raw) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "the server asks for input, which this client has not declared to give")
	}
	return raw, nil
}

// ours keeps errors about the gateway's own requests from its callers: a server
// that refuses their headers or their revision does not mean those of the
// caller, who would believe it.
func ours(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if ok && (e.Code == mcp.CodeHeaderMismatch || e.Code == mcp.CodeUnsupportedVersion) {
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the server refused the gateway's request: %s", e.Message)
	}
	return err
}

// asksForInput decodes a result only when it may be one.
func asksForInput(raw json.RawMessage) bool {
	if !bytes.Contains(raw, []byte(mcp.ResultInputRequired)) {
		return false
	}
	var r struct {
		ResultType string `json:"resultType"`
	}
	return json.Unmarshal(raw, &r) == nil && r.ResultType == mcp.ResultInputRequired
}

// onWire makes errors whose text is meant for the caller into wire errors;
// others would reach it without their text.
func onWire(err error) error {
	if down, ok := errors.AsType[*host.UpstreamError](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: down.Error()}
	}
	if missing, ok := errors.AsType[*host.NotFoundError](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: missing.Error()}
	}
	return err
}

// subscriptions is middleware that asks the servers for the changes that clients
// ask the gateway for. The servers are asked for as long as they are
// connected: several clients may want the same, and what none wants is dropped.
func (g *Gateway) subscriptions(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		switch c.Method {
		case mcp.MethodResourcesSubscribe:
			result, err := next(ctx, c)
			var p mcp.SubscribeParams
			if err == nil && json.Unmarshal(c.Params(), &p) == nil {
				g.follow(ctx, p.URI)
			}
			return result, err
		case mcp.MethodSubscriptionsListen:
			var p mcp.ListenParams
			if json.Unmarshal(c.Params(), &p) == nil {
				for _, uri := range p.Notifications.ResourceSubscriptions {
					g.follow(ctx, uri)
				}
			}
		}
		return next(ctx, c)
	}
}

// follow subscribes at the server that has the resource. That it does not offer
// that is no error: the client then hears of no changes.
func (g *Gateway) follow(ctx context.Context, uri string) {
	if err := g.host.Subscribe(ctx, uri); err != nil {
		g.log.DebugContext(ctx, "not subscribed", slog.String("uri", uri), slog.Any("error", err))
	}
}

// updated tells clients of a change of a resource.
func (g *Gateway) updated(_, uri string) { g.srv.ResourceUpdated(uri) }
