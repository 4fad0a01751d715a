package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

var tools = mcp.SubscriptionFilter{ToolsListChanged: true}

// acknowledge grants a listen request a filter, given as JSON.
func (p *peer) acknowledge(m jsonrpc.Message, granted string) {
	p.tagged(m, mcp.NotificationSubscriptionsAcknowledged, `"notifications":`+granted)
}

// tagged sends a notification that belongs to a listen request.
func (p *peer) tagged(m jsonrpc.Message, method, members string) {
	if members != "" {
		members += ","
	}
	p.notify(method, fmt.Sprintf(`{%s"_meta":{%q:%s}}`, members, mcp.MetaSubscriptionID, m.ID))
}

// subscribe opens a subscription that the test closes.
func subscribe(t *testing.T, sess *client.Session, filter mcp.SubscriptionFilter) *client.Subscription {
	t.Helper()
	sub, err := sess.Subscribe(t.Context(), &filter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	return sub
}

// wantNext takes changes, which must be those given.
func wantNext(t *testing.T, sub *client.Subscription, want ...client.Change) {
	t.Helper()
	for _, want := range want {
		if got, err := sub.Next(t.Context()); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func TestSubscriptionOfAStatelessServer(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SUB-ABRUPT-END", "SUB-STATE-PER-REQUEST", "RES-UPDATED-SUBRESOURCE", "ARCH-UPDATES-NEED-LISTEN",
		"STDIO-SUBSCRIPTION-CORRELATE")
	bubble(t, "told apart by their ids", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			one := p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(one, `{"toolsListChanged":true}`)
			two := p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(two, `{"toolsListChanged":true}`)
			p.tagged(two, mcp.NotificationToolsListChanged, "")
			p.next()
		}), nil)
		one, two := subscribe(t, sess, tools), subscribe(t, sess, tools)
		wantNext(t, two, client.Change{Kind: client.ToolsChanged})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := one.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v for what the other subscription was told", got, err)
		}
	})
	bubble(t, "several on one connection", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			one := p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(one, `{"toolsListChanged":true}`)
			two := p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(two, `{"resourceSubscriptions":["x:1"]}`)
			p.tagged(two, mcp.NotificationResourcesUpdated, `"uri":"x:1"`)
			p.tagged(one, mcp.NotificationToolsListChanged, "")
			p.tagged(one, mcp.NotificationToolsListChanged, "") // again before it was taken
			p.tagged(one, mcp.NotificationPromptsListChanged, "")
			p.tagged(two, mcp.NotificationResourcesUpdated, `"uri":"x:1/part"`)
			m := p.want(mcp.NotificationCancelled)
			if !strings.Contains(string(m.Params), `"requestId":`+one.ID.String()) {
				t.Errorf("cancelled %s, want %s", m.Params, one.ID)
			}
			p.tagged(two, mcp.NotificationResourcesUpdated, `"uri":"x:1"`)
			p.next()
		}), nil)
		one := subscribe(t, sess, tools)
		two := subscribe(t, sess, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:1", "x:2"}})
		synctest.Wait()
		wantNext(t, one, client.Change{Kind: client.ToolsChanged})
		wantNext(t, two, client.Change{Kind: client.ResourceUpdated, URI: "x:1"}, client.Change{Kind: client.ResourceUpdated, URI: "x:1/part"})
		if got := two.Granted().ResourceSubscriptions; !slices.Equal(got, []string{"x:1"}) {
			t.Errorf("granted %v, want [x:1]", got)
		}
		_ = one.Close()
		if _, err := one.Next(t.Context()); !errors.Is(err, client.ErrUnsubscribed) {
			t.Errorf("after Close: got %v, want %v", err, client.ErrUnsubscribed)
		}
		for range one.Changes(t.Context()) {
			t.Error("a change after Close")
		}
		wantNext(t, two, client.Change{Kind: client.ResourceUpdated, URI: "x:1"})
	})
	bubble(t, "opened again", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			m := p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(m, `{"toolsListChanged":true}`)
			p.result(m, `{"resultType":"complete"}`)
			m = p.want(mcp.MethodSubscriptionsListen)
			p.fail(m, jsonrpc.CodeInternal, "")
			m = p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(m, `{"toolsListChanged":true}`)
			p.tagged(m, mcp.NotificationToolsListChanged, "")
			p.notify(mcp.NotificationCancelled, fmt.Sprintf(`{"requestId":%s}`, m.ID)) // and no answer
			p.want(mcp.NotificationCancelled)
			m = p.want(mcp.MethodSubscriptionsListen)
			p.acknowledge(m, `{"toolsListChanged":true}`)
			p.result(m, `{}`)
			m = p.want(mcp.MethodSubscriptionsListen)
			p.fail(m, jsonrpc.CodeMethodNotFound, "")
			p.next()
		}), nil)
		sub := subscribe(t, sess, tools)
		wantNext(t, sub, client.Change{Kind: client.Missed}, client.Change{Kind: client.ToolsChanged}, client.Change{Kind: client.Missed})
		_, err := sub.Next(t.Context())
		if _, ok := errors.AsType[*client.NotOfferedError](err); !ok || sub.Err() == nil {
			t.Errorf("got %v, %v, want a NotOfferedError", err, sub.Err())
		}
	})
	bubble(t, "never acknowledged", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			p.want(mcp.MethodSubscriptionsListen)
			p.want(mcp.NotificationCancelled)
			p.next()
		}), &client.Options{Timeout: time.Second})
		_, err := sess.Subscribe(t.Context(), &tools)
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || e.Limit != time.Second {
			t.Errorf("got %v, want a TimeoutError", err)
		}
		synctest.Wait()
	})
	bubble(t, "given up", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			p.want(mcp.MethodSubscriptionsListen)
			p.want(mcp.NotificationCancelled)
			p.next()
		}), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := sess.Subscribe(ctx, &tools); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		synctest.Wait()
	})
}

func TestSubscriptionOfASession(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ARCH-RESPECT-CAPABILITIES")
	bubble(t, "counts who follows a resource", func(t *testing.T) {
		var told []string
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			told = append(told, m.Method+" "+string(m.Params))
			if strings.Contains(string(m.Params), "x:bad") {
				p.fail(m, mcp.CodeResourceNotFound, "")
				return
			}
			p.result(m, `{}`)
			if m.Method == mcp.MethodResourcesSubscribe {
				p.notify(mcp.NotificationResourcesUpdated, `{"uri":"x:1"}`)
				p.notify(mcp.NotificationToolsListChanged, `{}`)
			}
		})), nil)
		one := subscribe(t, sess, mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"x:1", "x:bad"}})
		two := subscribe(t, sess, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:1"}, PromptsListChanged: true})
		synctest.Wait()
		wantNext(t, one, client.Change{Kind: client.ResourceUpdated, URI: "x:1"}, client.Change{Kind: client.ToolsChanged})
		if g := one.Granted(); !g.ToolsListChanged || len(g.ResourceSubscriptions) != 1 {
			t.Errorf("one: granted %+v", g)
		}
		if g := two.Granted(); g.PromptsListChanged || len(g.ResourceSubscriptions) != 1 {
			t.Errorf("two: granted %+v", g)
		}
		_, _ = one.Close(), two.Close()
		want := []string{
			`resources/subscribe {"uri":"x:1"}`, `resources/subscribe {"uri":"x:bad"}`, `resources/unsubscribe {"uri":"x:1"}`,
		}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
	bubble(t, "not offered", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) { p.fail(m, jsonrpc.CodeInvalidParams, "") })), nil)
		for _, filter := range []mcp.SubscriptionFilter{{PromptsListChanged: true}, {ResourceSubscriptions: []string{"x:1"}}} {
			_, err := sess.Subscribe(t.Context(), &filter)
			e, ok := errors.AsType[*client.NotOfferedError](err)
			if !ok || client.IsRemote(err) != (filter.ResourceSubscriptions != nil) {
				t.Errorf("%+v: got %v, %v, want a NotOfferedError", filter, err, e)
			}
		}
		if _, err := sess.Subscribe(t.Context(), nil); err == nil {
			t.Error("subscribed to nothing")
		}
	})
	bubble(t, "a dead server", func(t *testing.T) {
		stuck := make(chan struct{})
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			if m.Method == mcp.MethodResourcesUnsubscribe {
				<-stuck
			}
			p.result(m, `{}`)
		})), nil)
		sub := subscribe(t, sess, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:1"}})
		began := time.Now()
		_ = sub.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("Close took %v", took)
		}
		close(stuck)
	})
	bubble(t, "the end of the session", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) { p.result(m, `{}`) })), nil)
		sub := subscribe(t, sess, tools)
		_ = sess.Close()
		if _, err := sub.Next(t.Context()); !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v, want %v", err, client.ErrClosed)
		}
		if _, err := sess.Subscribe(t.Context(), &tools); !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v, want %v", err, client.ErrClosed)
		}
	})
	bubble(t, "more than is taken", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			p.result(m, `{}`)
			for i := range 1025 {
				p.notify(mcp.NotificationResourcesUpdated, fmt.Sprintf(`{"uri":"x:1/%d"}`, i))
			}
		})), nil)
		sub := subscribe(t, sess, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:1"}})
		synctest.Wait()
		wantNext(t, sub, client.Change{Kind: client.Missed})
	})
	bubble(t, "a stream that is opened again", func(t *testing.T) {
		end := make(chan struct{})
		via := &fakeHTTP{
			answer: (&forgetful{}).answer,
			listen: func(ctx context.Context, _ transport.Receiver, opened func()) error {
				opened()
				select {
				case <-end:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			},
		}
		sub := subscribe(t, connect(t, via, &client.Options{Revision: r4}), tools)
		end <- struct{}{}
		wantNext(t, sub, client.Change{Kind: client.Missed})
	})
}
