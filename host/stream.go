package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
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
	case mcp.NotificationSubscriptionsAcknowledged:
		u.acknowledged()
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
	case mcp.NotificationResourcesUpdated:
		var p mcp.ResourceUpdatedParams
		if err := json.Unmarshal(params, &p); err != nil || p.URI == "" {
			return
		}
		u.host.each(func(w *Hooks) {
			if w.ResourceUpdated != nil {
				w.ResourceUpdated(u.conf.Name, p.URI)
			}
		})
	}
}

// firstAck is how long the first reading of the lists waits for the stream of
// changes, so that no change falls between the two.
const firstAck = time.Second

// A stream keeps subscriptions/listen open at a stateless server, which tells
// of changes only there.
type stream struct {
	up   *upstream
	sess *client.Session

	once  sync.Once
	begun chan struct{} // closed when the first attempt is acknowledged or over
	again chan struct{} // of size 1: the subscriptions have changed

	fetching bool // guarded by host.mu: the first reading of the lists has begun
}

// newStream returns nil when the server tells of changes without one, or of none.
func (u *upstream) newStream(sess *client.Session) *stream {
	if !sess.Stateless() {
		return nil
	}
	st := &stream{up: u, sess: sess, begun: make(chan struct{}), again: make(chan struct{}, 1)}
	u.host.mu.Lock()
	u.stream = st
	u.host.mu.Unlock()
	return st
}

// awaitFirst waits until changes are told of.
func (st *stream) awaitFirst(ctx context.Context) {
	timer := time.NewTimer(firstAck)
	defer timer.Stop()
	select {
	case <-st.begun:
	case <-timer.C:
	case <-st.sess.Done():
	case <-ctx.Done():
	}
}

// acknowledged notes that changes are told of from here on. What changed before
// that has to be looked for.
func (u *upstream) acknowledged() {
	u.host.mu.Lock()
	st := u.stream
	late := st != nil && st.fetching
	u.host.mu.Unlock()
	if st == nil {
		return
	}
	st.once.Do(func() { close(st.begun) })
	if late {
		u.mark(kindAll, true)
	}
}

func (u *upstream) setFetching() {
	u.host.mu.Lock()
	defer u.host.mu.Unlock()
	if u.stream != nil {
		u.stream.fetching = true
	}
}

// run opens the stream, and again when it ends or what to listen for changes.
func (st *stream) run(ctx context.Context) {
	pause := newBackoff(&st.up.host.opts)
	defer st.once.Do(func() { close(st.begun) })
	for ctx.Err() == nil && st.sess.Err() == nil {
		began := time.Now()
		params, some := st.filter()
		if !some {
			st.once.Do(func() { close(st.begun) })
			select {
			case <-st.again:
				continue
			case <-st.sess.Done():
			case <-ctx.Done():
			}
			return
		}
		changed, err := st.listen(ctx, params)
		if changed {
			continue
		}
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok && (e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidParams) {
			st.up.log.Info("server tells of no changes", slog.Any("error", err))
			return
		}
		st.once.Do(func() { close(st.begun) })
		if time.Since(began) > st.up.host.opts.MaxRetry {
			pause.reset()
		}
		pause.wait(ctx)
	}
}

// listen holds one request open. It reports whether it was ended because
// the subscriptions have changed.
func (st *stream) listen(ctx context.Context, params *mcp.ListenParams) (changed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-st.again:
			changed = true
			cancel()
		case <-ctx.Done():
		}
	})
	_, err = st.sess.Call(ctx, mcp.MethodSubscriptionsListen, params, &client.CallOptions{Timeout: -1, MaxTimeout: -1})
	cancel()
	wg.Wait()
	return changed, err
}

// filter says what to listen for, and whether there is anything.
func (st *stream) filter() (*mcp.ListenParams, bool) {
	caps := st.sess.ServerCapabilities()
	var f mcp.SubscriptionFilter
	f.ToolsListChanged = caps.Tools != nil && caps.Tools.ListChanged
	f.PromptsListChanged = caps.Prompts != nil && caps.Prompts.ListChanged
	f.ResourcesListChanged = caps.Resources != nil && caps.Resources.ListChanged
	if caps.Resources != nil && caps.Resources.Subscribe {
		st.up.host.mu.Lock()
		f.ResourceSubscriptions = slices.Sorted(maps.Keys(st.up.watched))
		st.up.host.mu.Unlock()
	}
	some := f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged || len(f.ResourceSubscriptions) > 0
	return &mcp.ListenParams{Notifications: f}, some
}

// reopen makes the stream begin anew with other subscriptions.
func (st *stream) reopen() {
	select {
	case st.again <- struct{}{}:
	default:
	}
}
