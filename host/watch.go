package host

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// maxWatched bounds the resources of one server that are subscribed to.
const maxWatched = 10_000

var errNotTold = errors.New("the server does not tell of the resource")

// A telling is an attempt to tell a server which resources are watched. All who
// have asked meanwhile share it.
type telling struct {
	done    chan struct{}
	granted map[string]bool // valid when done is closed, like err
	err     error
}

// Subscribe asks the server that has a resource to tell of its changes, which
// go to Hooks.ResourceUpdated. It is asked again after each loss of the
// connection, until Unsubscribe.
func (h *Host) Subscribe(ctx context.Context, uri string) error {
	u := h.owner(uri)
	if u == nil {
		return &mcp.ResourceNotFoundError{URI: uri}
	}
	sess, err := u.connected()
	if err != nil {
		return err
	}
	h.mu.Lock()
	known, full := u.watched[uri], len(u.watched) >= maxWatched
	var t *telling
	if !known && !full {
		u.watched[uri] = true
		t = u.tellLocked()
	}
	h.mu.Unlock()
	switch {
	case known:
		return nil
	case full:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "too many subscriptions: at most %d", maxWatched)
	}
	select {
	case <-t.done:
		if t.granted[uri] {
			return nil
		}
		err = t.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-sess.Done():
		err = sess.Err()
	}
	h.mu.Lock()
	delete(u.watched, uri)
	h.mu.Unlock()
	return u.failure(ctx, err)
}

// Unsubscribe undoes Subscribe. It does not wait for the server.
func (h *Host) Unsubscribe(_ context.Context, uri string) error {
	u := h.owner(uri)
	if u == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if u.watched[uri] {
		delete(u.watched, uri)
		u.tellLocked()
	}
	return nil
}

// tellLocked asks for the server to be told. Without a connection that happens
// when there is one.
func (u *upstream) tellLocked() *telling {
	if u.telling == nil {
		u.telling = &telling{done: make(chan struct{})}
	}
	select {
	case u.retell <- struct{}{}:
	default:
	}
	return u.telling
}

// watch keeps a connected server told of which resources are watched, until ctx
// ends.
func (u *upstream) watch(ctx context.Context, sess *client.Session) {
	var hearing sync.WaitGroup
	defer hearing.Wait()
	var sub *client.Subscription
	defer func() {
		if sub != nil {
			_ = sub.Close()
		}
	}()
	for first := true; ; first = false {
		u.host.mu.Lock()
		uris := slices.Sorted(maps.Keys(u.watched))
		t := u.telling
		u.telling = nil
		u.host.mu.Unlock()
		if t != nil || first && len(uris) > 0 {
			next, granted, err := u.subscribe(ctx, sess, uris)
			if t != nil {
				t.granted, t.err = granted, err
				close(t.done)
			}
			// The new one is there before the old one goes, so nothing is missed.
			if next != nil || len(uris) == 0 {
				if sub != nil {
					_ = sub.Close()
				}
				sub = next
			}
			if next != nil {
				hearing.Go(func() { u.suspectResources(ctx, next) })
			}
		}
		select {
		case <-u.retell:
		case <-sess.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// subscribe makes a subscription to resources, nil for none. It returns those
// that the server tells of, and why not of others.
func (u *upstream) subscribe(ctx context.Context, sess *client.Session, uris []string) (*client.Subscription, map[string]bool, error) {
	if len(uris) == 0 {
		return nil, nil, nil
	}
	sub, err := sess.Subscribe(ctx, &mcp.SubscriptionFilter{ResourceSubscriptions: uris})
	if err != nil {
		u.log.Warn("server does not tell of resources", slog.Any("error", err))
		return nil, nil, err
	}
	granted := map[string]bool{}
	for _, uri := range sub.Granted().ResourceSubscriptions {
		granted[uri] = true
	}
	if len(granted) < len(uris) {
		u.log.Warn("server does not tell of some resources", slog.Int("of", len(uris)), slog.Int("told", len(granted)))
	}
	return sub, granted, errNotTold
}

// suspectResources takes all watched resources for updated when something may
// have been missed.
func (u *upstream) suspectResources(ctx context.Context, sub *client.Subscription) {
	for c, err := range sub.Changes(ctx) {
		if err != nil || c.Kind != client.Missed {
			continue
		}
		for _, uri := range sub.Granted().ResourceSubscriptions {
			u.tellUpdated(uri)
		}
	}
}

func (u *upstream) tellUpdated(uri string) {
	u.host.each(func(w *Hooks) {
		if w.ResourceUpdated != nil {
			w.ResourceUpdated(u.conf.Name, uri)
		}
	})
}

// owner returns the server that has a resource, or is the first that may.
func (h *Host) owner(uri string) *upstream {
	c := h.Catalog()
	if u := c.resources[uri]; u != nil {
		return u
	}
	if found := c.mayHave(uri); len(found) > 0 {
		return found[0]
	}
	return nil
}
