package server

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A change is something that clients may have read and that is not so any more.
type change uint8

const (
	changedTools change = 1 << iota
	changedPrompts
	changedResources
)

// changeNotification gives the notification for each kind of change.
var changeNotification = []struct {
	what   change
	method string
}{
	{changedTools, mcp.NotificationToolsListChanged},
	{changedPrompts, mcp.NotificationPromptsListChanged},
	{changedResources, mcp.NotificationResourcesListChanged},
}

// The hub tells subscribers about changes. What is still to be told to a
// subscriber is a set, not a queue: a slow one hears of several changes at
// once, and nobody waits for it.
type hub struct {
	log func(msg string, args ...any)

	mu          sync.Mutex // guards the below and all subscribers
	subscribers map[*subscriber]struct{}
	closed      bool
}

// A subscriber is a sink that outlives requests: that of a session, or that of
// one subscriptions/listen.
type subscriber struct {
	out  Sink
	sess *Session // nil for a listen stream
	// tag is the id that a listen stream's notifications carry.
	tag json.RawMessage

	view       *View // what the client may see; nil for everything
	wants      change
	uris       map[string]bool // subscribed resources
	size       int             // of their URIs, in bytes
	pending    change
	updated    map[string]bool // subscribed resources that have changed
	held       bool            // nothing is delivered yet
	delivering bool
	gone       bool
	wg         sync.WaitGroup // the delivery under way; whoever owns the sink waits
}

// maxSubscribedURIs bounds the resources one subscriber can follow, and
// maxSubscribedBytes the memory that their URIs take: a template may match any.
const (
	maxSubscribedURIs  = 10_000
	maxSubscribedBytes = 1 << 20
)

func (h *hub) init(s *Server) {
	h.log = s.log.Warn
	h.subscribers = map[*subscriber]struct{}{}
}

// add registers a session's standing sink. It hears of all list changes.
func (h *hub) add(out Sink, sess *Session) *subscriber {
	sub := &subscriber{out: out, sess: sess, wants: changedTools | changedPrompts | changedResources}
	h.enter(sub)
	return sub
}

func (h *hub) enter(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.subscribers[sub] = struct{}{}
	}
}

func (h *hub) remove(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub.gone = true
	delete(h.subscribers, sub)
}

// changed tells everybody who wants to know, and through whose view something of
// it can be seen, that a list has changed.
func (h *hub) changed(what change, seen func(*View) bool) {
	hidden := h.views(what)
	for v := range hidden {
		hidden[v] = !seen(v) // without the lock, because views are the user's
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subscribers {
		if sub.wants&what != 0 && !hidden[sub.view] && sub.introduced() {
			sub.pending |= what
			h.deliverLocked(sub)
		}
	}
}

// views returns the views of those who want to know of a change.
func (h *hub) views(what change) map[*View]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	views := map[*View]bool{}
	for sub := range h.subscribers {
		if sub.view != nil && sub.wants&what != 0 {
			views[sub.view] = false
		}
	}
	return views
}

// look gives a subscriber the view of the caller.
func (h *hub) look(sub *subscriber, v *View) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub.view = v
}

// resourceUpdated tells those who subscribed to the resource.
func (h *hub) resourceUpdated(uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subscribers {
		if sub.uris[uri] {
			if sub.updated == nil {
				sub.updated = map[string]bool{}
			}
			sub.updated[uri] = true
			h.deliverLocked(sub)
		}
	}
}

// release lets a subscriber that was held have what has come meanwhile.
func (h *hub) release(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub.held = false
	if sub.pending != 0 || len(sub.updated) > 0 {
		h.deliverLocked(sub)
	}
}

// introduced reports whether the subscriber may be sent notifications: a
// session must have finished its handshake.
func (sub *subscriber) introduced() bool { return sub.sess == nil || sub.sess.introduced() }

// deliverLocked makes sure that a delivery is under way.
func (h *hub) deliverLocked(sub *subscriber) {
	if sub.delivering || sub.held || sub.gone || h.closed {
		return
	}
	sub.delivering = true
	sub.wg.Go(func() { h.deliver(sub) })
}

// deliver sends what is pending until nothing is. A subscriber whose sink
// fails is dropped.
func (h *hub) deliver(sub *subscriber) {
	for {
		lists, updated, ok := h.take(sub)
		if !ok {
			return
		}
		for _, n := range changeNotification {
			if lists&n.what != 0 && !h.send(sub, n.method, sub.params("")) {
				return
			}
		}
		for uri := range updated {
			if !h.send(sub, mcp.NotificationResourcesUpdated, sub.params(uri)) {
				return
			}
		}
	}
}

// take empties what is pending, or ends the delivery.
func (h *hub) take(sub *subscriber) (change, map[string]bool, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sub.gone || h.closed || sub.pending == 0 && len(sub.updated) == 0 {
		sub.delivering = false
		return 0, nil, false
	}
	lists, updated := sub.pending, sub.updated
	sub.pending, sub.updated = 0, nil
	return lists, updated, true
}

func (sub *subscriber) params(uri string) any {
	var meta mcp.Meta
	if sub.tag != nil {
		meta = mcp.Meta{mcp.MetaSubscriptionID: sub.tag}
	}
	if uri != "" {
		return &mcp.ResourceUpdatedParams{Meta: meta, URI: uri}
	}
	if meta == nil {
		return nil
	}
	return &mcp.EmptyParams{Meta: meta}
}

func (h *hub) send(sub *subscriber, method string, params any) bool {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	err := jsonrpc.WriteNotification(buf, method, params)
	if err == nil {
		err = sub.out(buf.Bytes())
	}
	if err != nil {
		h.log("subscriber dropped", "notification", method, "error", err)
		h.remove(sub)
		return false
	}
	return true
}

// close ends all subscriptions. Deliveries under way end with their carrier.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	clear(h.subscribers)
}

// follow adds and removes resources that a subscriber hears of.
func (h *hub) follow(sub *subscriber, uri string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !sub.followLocked(uri) {
		return invalidParams("too many subscriptions: at most %d, whose URIs take %d bytes", maxSubscribedURIs, maxSubscribedBytes)
	}
	return nil
}

// followLocked reports whether there was room.
func (sub *subscriber) followLocked(uri string) bool {
	if sub.uris[uri] {
		return true
	}
	if len(sub.uris) >= maxSubscribedURIs || sub.size+len(uri) > maxSubscribedBytes {
		return false
	}
	if sub.uris == nil {
		sub.uris = map[string]bool{}
	}
	sub.uris[uri] = true
	sub.size += len(uri)
	return true
}

func (h *hub) unfollow(sub *subscriber, uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sub.uris[uri] {
		delete(sub.uris, uri)
		sub.size -= len(uri)
	}
	delete(sub.updated, uri)
}

// ResourceUpdated tells clients that subscribed to the resource that it has
// changed. It does not wait for them.
func (s *Server) ResourceUpdated(uri string) { s.hub.resourceUpdated(uri) }

// subscribe makes a session hear of a resource.
func (s *Server) subscribe(_ context.Context, c *Call) (any, error) {
	var p mcp.SubscribeParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if err := s.canSubscribe(c, p.URI); err != nil {
		return nil, err
	}
	return nil, s.hub.follow(c.Session().sub, p.URI)
}

func (s *Server) canSubscribe(c *Call, uri string) error {
	if sess := c.Session(); sess == nil || sess.sub == nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "there is no session to subscribe")
	}
	if uri == "" {
		return invalidParams("params of %s: uri is missing", c.Method)
	}
	_, err := s.findResource(c, uri)
	return err
}

// unsubscribe undoes subscribe. It does not mind when there was none.
func (s *Server) unsubscribe(_ context.Context, c *Call) (any, error) {
	var p mcp.SubscribeParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if sess := c.Session(); sess != nil && sess.sub != nil {
		s.hub.unfollow(sess.sub, p.URI)
	}
	return nil, nil
}
