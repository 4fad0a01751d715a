package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/mcp"
)

// ErrUnsubscribed is the error of a subscription that was closed with Close.
var ErrUnsubscribed = errors.New("subscription is closed")

// A ChangeKind says what has changed.
type ChangeKind uint8

// The kinds of changes.
const (
	// ToolsChanged, PromptsChanged and ResourcesChanged tell that a list is
	// not any more what it was. ResourcesChanged is about templates as well.
	ToolsChanged ChangeKind = iota + 1
	PromptsChanged
	ResourcesChanged
	// ResourceUpdated tells that the resource Change.URI can be read anew.
	ResourceUpdated
	// Missed tells that the server could not be heard for a while, or told more
	// than was taken: everything subscribed to may have changed.
	Missed
)

// String returns the name of the kind.
func (k ChangeKind) String() string {
	switch k {
	case ToolsChanged:
		return "tools changed"
	case PromptsChanged:
		return "prompts changed"
	case ResourcesChanged:
		return "resources changed"
	case ResourceUpdated:
		return "resource updated"
	case Missed:
		return "changes missed"
	default:
		return fmt.Sprintf("change %d", uint8(k))
	}
}

// A Change is what a subscription tells.
type Change struct {
	Kind ChangeKind
	// URI is the resource that was updated, empty for other kinds. It may be a
	// part of the one that was subscribed to.
	URI string
}

// maxPending bounds the changes that wait to be taken. When there are more, all
// of them give way to one Missed.
const maxPending = 1024

// A Subscription tells what changes at a server. It is opened again by itself
// when the server ends it or loses the session, and lasts until Close or the
// end of the session. Its methods may be called concurrently.
type Subscription struct {
	sess   *Session
	asked  mcp.SubscriptionFilter
	ctx    context.Context // ends with the subscription, its cause says why
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when the server has granted something
	ended  chan struct{} // closed when nothing comes any more
	ready  chan struct{} // of size 1: there may be something pending

	mu      sync.Mutex
	granted *mcp.SubscriptionFilter // nil before the first time it was opened
	queue   []Change
	pending map[Change]bool // what is in the queue
}

func newSubscription(s *Session, asked *mcp.SubscriptionFilter) *Subscription {
	sub := &Subscription{
		sess:    s,
		asked:   *asked,
		opened:  make(chan struct{}),
		ended:   make(chan struct{}),
		ready:   make(chan struct{}, 1),
		pending: map[Change]bool{},
	}
	sub.asked.ResourceSubscriptions = slices.Clone(asked.ResourceSubscriptions)
	sub.ctx, sub.cancel = context.WithCancelCause(s.ctx)
	return sub
}

// Granted returns what the server tells of, which may be less than was asked for.
func (sub *Subscription) Granted() mcp.SubscriptionFilter {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	return *sub.granted
}

// Next waits for the next change. Changes come in the order in which the server
// told them, but one that is told again before it was taken comes once. The
// error is the cause of ctx, or why the subscription is over: see Err.
func (sub *Subscription) Next(ctx context.Context) (Change, error) {
	for {
		if c, ok := sub.take(); ok {
			return c, nil
		}
		select {
		case <-sub.ready:
		case <-sub.ended:
			if c, ok := sub.take(); ok {
				return c, nil
			}
			return Change{}, sub.Err()
		case <-ctx.Done():
			return Change{}, context.Cause(ctx)
		}
	}
}

// Changes goes through the changes as they come. It ends without an error when
// the subscription is closed; any other end of it, and that of ctx, is yielded.
func (sub *Subscription) Changes(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for {
			c, err := sub.Next(ctx)
			if errors.Is(err, ErrUnsubscribed) || !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Err says why the subscription is over: ErrUnsubscribed, what the session's Err
// says, or the error with which the server refused to open it again. It is nil
// while it is not over.
func (sub *Subscription) Err() error {
	if sub.ctx.Err() == nil {
		return nil
	}
	return context.Cause(sub.ctx)
}

// Close ends the subscription and tells the server, for which it waits no longer
// than a second. It may be called more than once; the error is always nil.
func (sub *Subscription) Close() error {
	sub.cancel(ErrUnsubscribed)
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-sub.ended:
	case <-timer.C:
	}
	return nil
}

// open notes what the server grants. From the second time on something may have
// been missed.
func (sub *Subscription) open(granted *mcp.SubscriptionFilter) {
	sub.mu.Lock()
	first := sub.granted == nil
	sub.granted = granted
	sub.mu.Unlock()
	if first {
		close(sub.opened)
		return
	}
	sub.push(Change{Kind: Missed})
}

// push adds a change to those that wait to be taken. It does not wait.
func (sub *Subscription) push(c Change) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.pending[c] {
		return
	}
	if len(sub.queue) >= maxPending {
		c = Change{Kind: Missed}
	}
	if c.Kind == Missed {
		sub.queue = nil
		clear(sub.pending)
	}
	sub.queue = append(sub.queue, c)
	sub.pending[c] = true
	sub.wakeLocked()
}

func (sub *Subscription) take() (Change, bool) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if len(sub.queue) == 0 {
		return Change{}, false
	}
	c := sub.queue[0]
	sub.queue = sub.queue[1:]
	delete(sub.pending, c)
	if len(sub.queue) > 0 {
		sub.wakeLocked() // whoever else waits
	}
	return c, true
}

func (sub *Subscription) wakeLocked() {
	select {
	case sub.ready <- struct{}{}:
	default:
	}
}

// wants reports whether a change is one of those that were asked for.
func (sub *Subscription) wants(c Change) bool {
	switch c.Kind {
	case ToolsChanged:
		return sub.asked.ToolsListChanged
	case PromptsChanged:
		return sub.asked.PromptsListChanged
	case ResourcesChanged:
		return sub.asked.ResourcesListChanged
	case ResourceUpdated:
		for _, uri := range sub.asked.ResourceSubscriptions {
			if within(c.URI, uri) {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// within reports whether a URI is a resource or a part of it.
func within(uri, resource string) bool {
	rest, ok := strings.CutPrefix(uri, resource)
	return ok && (rest == "" || strings.HasSuffix(resource, "/") || strings.ContainsRune("/?#", rune(rest[0])))
}
