package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// notified takes what the server sends by itself.
func (u *upstream) notified(method string, params json.RawMessage) {
	switch method {
	case mcp.NotificationToolsListChanged:
		u.mark(kindTools, true)
	case mcp.NotificationPromptsListChanged:
		u.mark(kindPrompts, true)
	case mcp.NotificationResourcesListChanged:
		u.mark(kindResources|kindTemplates, true)
	case mcp.NotificationMessage:
		var p mcp.LoggingMessageParams
		if err := json.Unmarshal(params, &p); err != nil {
			u.log.Debug("malformed log message dropped", slog.Any("error", err))
			return
		}
		u.host.each(func(w *Hooks) {
			if w.Log != nil {
				w.Log(u.conf.Name, p)
			}
		})
	case mcp.NotificationElicitationComplete:
		var p mcp.ElicitationCompleteParams
		if err := json.Unmarshal(params, &p); err != nil || p.ElicitationID == "" {
			return
		}
		u.host.each(func(w *Hooks) {
			if w.ElicitationComplete != nil {
				w.ElicitationComplete(u.conf.Name, p.ElicitationID)
			}
		})
	case mcp.NotificationResourcesUpdated:
		var p mcp.ResourceUpdatedParams
		if err := json.Unmarshal(params, &p); err != nil || p.URI == "" {
			return
		}
		u.tellUpdated(p.URI)
	}
}

// firstAck is how long the first reading of the lists waits until changes are
// told of, so that none falls between the two.
const firstAck = time.Second

// A follower has a server tell of changes to its lists. What it tells comes to
// notified, like everything that a server sends by itself; the follower sees to
// what was missed.
type follower struct {
	up    *upstream
	sess  *client.Session
	begun chan struct{} // closed when the first attempt is acknowledged or over
	late  atomic.Bool   // the lists are read without waiting for it any longer
}

func (u *upstream) newFollower(sess *client.Session) *follower {
	return &follower{up: u, sess: sess, begun: make(chan struct{})}
}

// awaitFirst waits until changes are told of.
func (f *follower) awaitFirst(ctx context.Context) {
	timer := time.NewTimer(firstAck)
	defer timer.Stop()
	select {
	case <-f.begun:
	case <-timer.C:
		f.late.Store(true)
	case <-f.sess.Done():
	case <-ctx.Done():
	}
}

// run follows the lists until ctx or the session ends, or the server says that
// it tells of no changes.
func (f *follower) run(ctx context.Context) {
	begin := sync.OnceFunc(func() { close(f.begun) })
	defer begin()
	filter := f.filter()
	pause := newBackoff(&f.up.host.opts)
	for filter != nil && ctx.Err() == nil && f.sess.Err() == nil {
		sub, err := f.sess.Subscribe(ctx, filter)
		begin()
		if err == nil {
			if f.late.Load() {
				f.up.mark(kindAll, true)
			}
			err = f.hear(ctx, sub)
		}
		if refused(err) {
			f.up.log.Info("server tells of no changes", slog.Any("error", err))
			return
		}
		pause.wait(ctx)
	}
}

// hear reads all lists again whenever something may have been missed. It returns
// why the subscription is over.
func (f *follower) hear(ctx context.Context, sub *client.Subscription) error {
	defer func() { _ = sub.Close() }()
	for {
		c, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if c.Kind == client.Missed {
			f.up.mark(kindAll, true)
		}
	}
}

// refused reports whether a server does not tell of changes, rather than not now.
func refused(err error) bool {
	if _, ok := errors.AsType[*client.NotOfferedError](err); ok {
		return true
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && (e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidParams)
}

// filter says which lists to follow; nil for none.
func (f *follower) filter() *mcp.SubscriptionFilter {
	caps := f.sess.ServerCapabilities()
	filter := &mcp.SubscriptionFilter{
		ToolsListChanged:     caps.Tools != nil && caps.Tools.ListChanged,
		PromptsListChanged:   caps.Prompts != nil && caps.Prompts.ListChanged,
		ResourcesListChanged: caps.Resources != nil && caps.Resources.ListChanged,
	}
	if !filter.ToolsListChanged && !filter.PromptsListChanged && !filter.ResourcesListChanged {
		return nil
	}
	return filter
}
