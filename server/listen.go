package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// listen answers subscriptions/listen: it acknowledges what it grants, tells
// of changes for as long as the request lives, and ends with an empty result
// when the server closes.
func (s *Server) listen(ctx context.Context, c *Call) (any, error) {
	sub, ack, err := s.subscription(ctx, c)
	if err != nil {
		return nil, err
	}
	// Entered before the acknowledgement, so that no change is missed, and told
	// only after it.
	s.hub.enter(sub)
	defer sub.wg.Wait()
	defer s.hub.remove(sub)
	if err := c.Notify(ctx, mcp.NotificationSubscriptionsAcknowledged, ack); err != nil {
		return nil, err
	}
	s.hub.release(sub)
	closing := make(chan struct{})
	defer s.ends.add(func() { close(closing) })()
	select {
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, ErrClosing) {
			return nil, err
		}
	case <-closing:
	}
	return ended(ctx, c, sub), nil
}

// subscription returns the subscriber that the caller asks to be, and what it is
// told of that. It is apart from listen, which holds its stack for as long as the
// subscription lives.
func (s *Server) subscription(ctx context.Context, c *Call) (*subscriber, *mcp.AcknowledgedParams, error) {
	var p mcp.ListenParams
	if err := c.params(&p); err != nil {
		return nil, nil, err
	}
	out := func(frame []byte) error {
		if ctx.Err() != nil {
			return nil // nothing is written for a request that was cancelled
		}
		return c.send(bytes.NewBuffer(frame))
	}
	sub := &subscriber{out: out, view: c.view, tag: json.RawMessage(c.ID.String()), held: true}
	granted := s.grant(ctx, c, sub, &p.Notifications)
	return sub, &mcp.AcknowledgedParams{
		Meta:          mcp.Meta{mcp.MetaSubscriptionID: sub.tag},
		Notifications: granted,
	}, nil
}

// ended tells the subscriber that the server ends the subscription.
func ended(ctx context.Context, c *Call, sub *subscriber) *mcp.ListenResult {
	if c.shared {
		// On a stream of its own the end says it.
		_ = c.Notify(context.WithoutCancel(ctx), mcp.NotificationCancelled, &mcp.CancelledParams{
			Meta: mcp.Meta{mcp.MetaSubscriptionID: sub.tag}, RequestID: c.ID, Reason: "the server is closing",
		}) // the result says it as well
	}
	return &mcp.ListenResult{Result: mcp.Result{Meta: mcp.Meta{mcp.MetaSubscriptionID: sub.tag}}}
}

// grant narrows a filter to what the server can tell and the caller may see.
func (s *Server) grant(ctx context.Context, c *Call, sub *subscriber, filter *mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	caps := s.capabilities()
	var granted mcp.SubscriptionFilter
	if filter.ToolsListChanged && caps.Tools != nil {
		granted.ToolsListChanged, sub.wants = true, sub.wants|changedTools
	}
	if filter.PromptsListChanged && caps.Prompts != nil {
		granted.PromptsListChanged, sub.wants = true, sub.wants|changedPrompts
	}
	if caps.Resources == nil {
		return granted
	}
	if filter.ResourcesListChanged {
		granted.ResourcesListChanged, sub.wants = true, sub.wants|changedResources
	}
	for _, uri := range filter.ResourceSubscriptions {
		if ctx.Err() != nil || len(sub.uris) >= maxSubscribedURIs {
			break
		}
		// Nobody else knows the subscriber yet.
		if _, err := s.findResource(c, uri); err == nil && !sub.uris[uri] && sub.followLocked(uri) {
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		}
	}
	return granted
}

// marshal encodes a value that goes into a message.
func marshal(v any) (json.RawMessage, error) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if err := ijson.Write(buf, v); err != nil {
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
}
