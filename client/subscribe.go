package client

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// Subscribe asks the server to tell of changes, in any revision, and returns when
// it does: lists and resources read after that are followed without a gap. The
// caller must close the subscription. There may be any number of them.
//
// A *NotOfferedError tells that the server tells of nothing that was asked for;
// if it tells of some, Granted says which. Other errors are those of a call.
func (s *Session) Subscribe(ctx context.Context, filter *mcp.SubscriptionFilter) (*Subscription, error) {
	if filter == nil || nothingIn(filter) {
		return nil, errors.New("subscribe: the filter asks for nothing")
	}
	l, err := s.current("subscribe")
	if err != nil {
		return nil, err
	}
	sub := newSubscription(s, filter)
	started := s.tasks.start(func() {
		defer close(sub.ended)
		sub.cancel(l.speaks().feed(sub))
	})
	if !started {
		return nil, fmt.Errorf("subscribe: %w", ErrClosed)
	}
	select {
	case <-sub.opened:
		return sub, nil
	case <-sub.ended:
		return nil, fmt.Errorf("subscribe: %w", sub.Err())
	case <-ctx.Done():
		_ = sub.Close() // always nil
		return nil, fmt.Errorf("subscribe: %w", context.Cause(ctx))
	}
}

func nothingIn(f *mcp.SubscriptionFilter) bool {
	return !f.ToolsListChanged && !f.PromptsListChanged && !f.ResourcesListChanged && len(f.ResourceSubscriptions) == 0
}

// changeKinds are the notifications that tell of changes.
var changeKinds = map[string]ChangeKind{
	mcp.NotificationToolsListChanged:     ToolsChanged,
	mcp.NotificationPromptsListChanged:   PromptsChanged,
	mcp.NotificationResourcesListChanged: ResourcesChanged,
	mcp.NotificationResourcesUpdated:     ResourceUpdated,
}

// subscriptions are those of a session, and what the server was told for them.
type subscriptions struct {
	turn chan struct{} // of size 1: held while the server is told

	mu       sync.Mutex
	joined   map[*Subscription]struct{} // fed with what the session hears
	listened map[jsonrpc.ID]*listening  // fed by a request of their own
	uris     map[string]int             // how many follow a resource, of those joined
}

func newSubscriptions() subscriptions {
	return subscriptions{
		turn:     make(chan struct{}, 1),
		joined:   map[*Subscription]struct{}{},
		listened: map[jsonrpc.ID]*listening{},
		uris:     map[string]int{},
	}
}

// A listening is one subscriptions/listen request.
type listening struct {
	sub   *Subscription
	alarm *time.Timer // cancels the request
}

// hear takes one of the server's notifications to whom it is for. It is called
// by the reader and does not wait.
func (ss *subscriptions) hear(m jsonrpc.Message, related jsonrpc.ID) {
	kind, isChange := changeKinds[m.Method]
	switch {
	case isChange:
	case m.Method == mcp.NotificationSubscriptionsAcknowledged:
		if e := ss.find(m.Params, related); e != nil {
			e.acknowledge(m.Params)
		}
		return
	case m.Method == mcp.NotificationCancelled:
		ss.tornDown(m.Params)
		return
	default:
		return
	}
	c := Change{Kind: kind}
	if kind == ResourceUpdated {
		var p mcp.ResourceUpdatedParams
		if json.Unmarshal(m.Params, &p) != nil || p.URI == "" {
			return
		}
		c.URI = p.URI
	}
	if e := ss.find(m.Params, related); e != nil {
		if e.sub.wants(c) {
			e.sub.push(c)
		}
		return
	}
	ss.tell(func(sub *Subscription) bool { return sub.wants(c) }, c)
}

// tell hands a change to those of the session's listeners who want it.
func (ss *subscriptions) tell(wants func(*Subscription) bool, c Change) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for sub := range ss.joined {
		if wants(sub) {
			sub.push(c)
		}
	}
}

// some reports whether there are any.
func (ss *subscriptions) some() bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return len(ss.joined) > 0
}

// missed tells the session's listeners that the server was not heard for a while.
func (ss *subscriptions) missed() {
	ss.tell(func(*Subscription) bool { return true }, Change{Kind: Missed})
}

// find returns the request that a notification belongs to: the one it names,
// else the one on whose stream it came; nil for none.
func (ss *subscriptions) find(params stdjson.RawMessage, related jsonrpc.ID) *listening {
	id := related
	if meta, ok := json.Member(params, metaMember); ok {
		if raw, ok := json.Member(meta, mcp.MetaSubscriptionID); ok {
			if named, err := jsonrpc.ParseID(raw); err == nil {
				id = named
			}
		}
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if id.IsZero() && len(ss.listened) == 1 {
		for _, e := range ss.listened {
			return e // the server has forgotten to say so
		}
	}
	return ss.listened[id]
}

// tornDown notes that the server ends a request. Its answer should follow.
func (ss *subscriptions) tornDown(params stdjson.RawMessage) {
	raw, _ := json.Member(params, "requestId")
	id, err := jsonrpc.ParseID(raw)
	if err != nil {
		return
	}
	ss.mu.Lock()
	e := ss.listened[id]
	ss.mu.Unlock()
	if e != nil {
		e.alarm.Reset(sendTime)
	}
}

func (e *listening) acknowledge(params stdjson.RawMessage) {
	var p mcp.AcknowledgedParams
	if err := json.Unmarshal(params, &p); err != nil {
		e.sub.sess.log.Warn("malformed acknowledgement of a subscription", slog.Any("error", err))
		return
	}
	if nothingIn(&p.Notifications) {
		e.sub.cancel(&NotOfferedError{Asked: e.sub.asked})
		return
	}
	e.alarm.Stop()
	e.sub.open(&p.Notifications)
}

// feed keeps a subscriptions/listen open for the subscription until it is over.
func (d *modern) feed(sub *Subscription) error {
	for wait := minRelisten; ; wait = min(2*wait, maxRelisten) {
		l, err := sub.sess.current(mcp.MethodSubscriptionsListen)
		if err != nil {
			return err
		}
		began := time.Now()
		err = sub.listen(l)
		wire, remote := errors.AsType[*jsonrpc.Error](err)
		switch {
		case sub.ctx.Err() != nil:
			return nil
		case remote && wire.Code == jsonrpc.CodeMethodNotFound:
			return &NotOfferedError{Asked: sub.asked, Err: err}
		case remote && wire.Code == jsonrpc.CodeInvalidParams, err != nil && sub.unopened():
			return err
		case sub.unopened():
			return malformed(mcp.MethodSubscriptionsListen, "it ended without an acknowledgement")
		}
		sub.sess.log.Debug("subscription ended, it is opened again", slog.Any("error", err))
		if time.Since(began) > maxRelisten {
			wait = minRelisten
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-timer.C:
		case <-sub.ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

func (sub *Subscription) unopened() bool {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	return sub.granted == nil
}

// listen makes one request and returns when it ends; without an error when the
// server ends it regularly.
func (sub *Subscription) listen(l *link) error {
	s := sub.sess
	ctx, cancel := context.WithCancelCause(sub.ctx)
	defer cancel(nil)
	m := &transport.Outgoing{
		ID:     s.nextID(),
		Method: mcp.MethodSubscriptionsListen,
		Params: &mcp.ListenParams{Notifications: sub.asked},
	}
	patience := s.client.opts.Timeout
	if patience == 0 {
		patience = defaultTimeout
	}
	e := &listening{sub: sub, alarm: time.AfterFunc(patience, func() {
		cancel(&TimeoutError{Method: m.Method, Limit: patience})
	})}
	defer e.alarm.Stop()
	s.subs.mu.Lock()
	s.subs.listened[m.ID] = e
	s.subs.mu.Unlock()
	defer func() {
		s.subs.mu.Lock()
		delete(s.subs.listened, m.ID)
		s.subs.mu.Unlock()
	}()
	_, err := s.transact(ctx, l, m, jsonrpc.ID{}, &CallOptions{Timeout: -1, MaxTimeout: -1})
	return err
}

// feed makes the subscription hear what the session hears, and the server tell of
// resources, until it is over.
func (l *legacy) feed(sub *Subscription) error {
	ss := &sub.sess.subs
	granted := declared(sub.sess.ServerCapabilities(), &sub.asked)
	uris := granted.ResourceSubscriptions
	granted.ResourceSubscriptions = nil
	ss.mu.Lock()
	ss.joined[sub] = struct{}{}
	ss.mu.Unlock()
	defer func() {
		ss.mu.Lock()
		delete(ss.joined, sub)
		ss.mu.Unlock()
		sub.unfollow(granted.ResourceSubscriptions)
	}()
	var refusal error
	for _, uri := range uris {
		err := sub.sess.follow(sub.ctx, uri)
		switch {
		case err == nil:
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		case IsRemote(err):
			refusal = err
		default:
			return err
		}
	}
	if nothingIn(&granted) {
		return &NotOfferedError{Asked: sub.asked, Err: refusal}
	}
	sub.open(new(granted))
	<-sub.ctx.Done()
	return nil
}

// declared narrows a filter to what a server with a session says it tells of.
func declared(caps mcp.ServerCapabilities, asked *mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	f := mcp.SubscriptionFilter{
		ToolsListChanged:     asked.ToolsListChanged && caps.Tools != nil && caps.Tools.ListChanged,
		PromptsListChanged:   asked.PromptsListChanged && caps.Prompts != nil && caps.Prompts.ListChanged,
		ResourcesListChanged: asked.ResourcesListChanged && caps.Resources != nil && caps.Resources.ListChanged,
	}
	if caps.Resources != nil && caps.Resources.Subscribe {
		f.ResourceSubscriptions = asked.ResourceSubscriptions
	}
	return f
}

// follow makes the server tell of a resource, unless it does already.
func (s *Session) follow(ctx context.Context, uri string) error {
	return s.tellOf(ctx, mcp.MethodResourcesSubscribe, uri, 1)
}

// unfollow undoes follow for resources. The server gets little time for it.
func (sub *Subscription) unfollow(uris []string) {
	if sub.sess.ctx.Err() != nil {
		return // the server forgets them with the session
	}
	ctx, cancel := context.WithTimeout(sub.sess.ctx, closeTime)
	defer cancel()
	for _, uri := range uris {
		if err := sub.sess.tellOf(ctx, mcp.MethodResourcesUnsubscribe, uri, -1); err != nil {
			sub.sess.log.Debug("not unsubscribed", slog.String("uri", uri), slog.Any("error", err))
		}
	}
}

// tellOf counts who follows a resource, and tells the server when the first one
// comes or the last one goes. One at a time does, so that what the server is
// told last is right.
func (s *Session) tellOf(ctx context.Context, method, uri string, more int) error {
	ss := &s.subs
	select {
	case ss.turn <- struct{}{}:
		defer func() { <-ss.turn }()
	case <-ctx.Done():
		ss.count(uri, min(more, 0))
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	before := ss.count(uri, more)
	if before != 0 && before+more != 0 {
		return nil
	}
	_, err := ask[mcp.EmptyResult](ctx, s, method, &mcp.SubscribeParams{URI: uri}, nil)
	if err != nil && more > 0 {
		ss.count(uri, -more)
	}
	return err
}

// count changes how many follow a resource and returns how many did.
func (ss *subscriptions) count(uri string, more int) (before int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	before = ss.uris[uri]
	if ss.uris[uri] = before + more; ss.uris[uri] <= 0 {
		delete(ss.uris, uri)
	}
	return before
}
