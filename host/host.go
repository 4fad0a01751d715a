package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/mcp"
)

// Options says how a Host behaves. The zero value, and nil, mean the defaults.
type Options struct {
	// Separator stands between a server's prefix and a name; "_" by default.
	Separator string
	// MaxName is the length of the longest name shown, in bytes. 0 means 64,
	// which is what models accept; the most is mcp.MaxToolName, the least 24.
	MaxName int
	// Grace is how long Start waits for servers that are slow to connect. 0 means
	// three seconds, a negative value not at all.
	Grace time.Duration
	// ConnectTimeout bounds one attempt to connect, and the reading of each list
	// after that. 0 means one minute. A server that has not said anything in half
	// of it is taken for one of the older revisions; see client.Options.ProbeTimeout.
	ConnectTimeout time.Duration
	// MinRetry and MaxRetry bound the pauses between attempts to connect, which
	// double from the one to the other. 0 means half a second and 30 seconds.
	MinRetry, MaxRetry time.Duration
	// Ping is how often a server is asked for a sign of life, to notice the loss
	// of one that is reached without a standing connection. 0 means never: then
	// the next call notices.
	Ping time.Duration
	// Capabilities are declared to every server, as far as its revision knows
	// them. What servers with sessions ask goes to CallOptions.Answer of the call.
	Capabilities mcp.ClientCapabilities
	// Logger gets what nobody else is told; nil discards it.
	Logger *slog.Logger
	// Hooks are the first to be called; see [Host.Watch].
	Hooks Hooks
}

// Hooks are called when something happens; nil ones are not. They may be
// called concurrently and hold up the server they are about: they should be
// quick, and must not call [Host.Close].
type Hooks struct {
	// Changed is called after the catalog or the status of a server has changed.
	Changed func()
	// Log gets the log messages of servers.
	Log func(upstream string, message mcp.LoggingMessageParams)
	// ResourceUpdated gets the changes of resources that were subscribed to.
	ResourceUpdated func(upstream, uri string)
	// ElicitationComplete gets the ids of elicitations whose web page the user is
	// done with.
	ElicitationComplete func(upstream, id string)
}

// The defaults of Options.
const (
	defaultSeparator      = "_"
	defaultMaxName        = 64
	leastMaxName          = 24
	defaultGrace          = 3 * time.Second
	defaultConnectTimeout = time.Minute
	defaultMinRetry       = 500 * time.Millisecond
	defaultMaxRetry       = 30 * time.Second
)

// closeTime bounds Close when a transport or a hook does not return.
const closeTime = 1500 * time.Millisecond

// ErrClosed is returned by the methods of a Host that was closed.
var ErrClosed = errors.New("host is closed")

// A Host owns the connections to any number of servers. Its methods may be
// called concurrently.
type Host struct {
	info mcp.Implementation
	opts Options
	log  *slog.Logger

	wg     sync.WaitGroup // one goroutine for each server, and those they start
	waiter sync.WaitGroup // the one that waits for them in Close

	catalog atomic.Pointer[Catalog]

	mu        sync.Mutex
	ctx       context.Context // of all connections; nil before Start
	cancel    context.CancelFunc
	closed    bool
	upstreams []*upstream
	watchers  []*Hooks
}

// New returns a host that presents itself to servers as info. It connects to
// nothing before Start.
func New(info mcp.Implementation, opts *Options) *Host {
	h := &Host{info: info}
	if opts != nil {
		h.opts = *opts
	}
	o := &h.opts
	o.Separator = cmp.Or(o.Separator, defaultSeparator)
	o.MaxName = max(leastMaxName, min(cmp.Or(o.MaxName, defaultMaxName), mcp.MaxToolName))
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.MinRetry = cmp.Or(o.MinRetry, defaultMinRetry)
	o.MaxRetry = max(cmp.Or(o.MaxRetry, defaultMaxRetry), o.MinRetry)
	h.log = o.Logger
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.watchers = []*Hooks{&o.Hooks}
	h.catalog.Store(&Catalog{})
	return h
}

// Add adds a server. Its name must be one that no other has. The order of
// adding decides who keeps a name that two servers have. After Start the
// server is connected at once, without waiting for it.
func (h *Host) Add(conf Upstream) error {
	if conf.Name == "" || conf.Transport == nil {
		return fmt.Errorf("add server %q: it needs a name and a transport", conf.Name)
	}
	u := newUpstream(h, conf)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if h.findLocked(conf.Name) != nil {
		return fmt.Errorf("add server %q: there is one with that name", conf.Name)
	}
	h.upstreams = append(h.upstreams, u)
	if h.ctx != nil {
		h.startLocked(u)
	}
	return nil
}

// Start connects to all servers at once. It returns when each of them is ready
// or has failed once, and no later than Options.Grace; the others go on
// connecting. A server that fails is not an error: see [Host.Status]. The end
// of ctx ends the wait, not the connections: those last until Close.
func (h *Host) Start(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return ErrClosed
	}
	if h.ctx == nil {
		h.ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
		for _, u := range h.upstreams {
			h.startLocked(u)
		}
	}
	upstreams := h.upstreams
	h.mu.Unlock()
	if h.opts.Grace < 0 {
		return nil
	}
	grace := time.NewTimer(h.opts.Grace)
	defer grace.Stop()
	for _, u := range upstreams {
		select {
		case <-u.settled:
		case <-grace.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (h *Host) startLocked(u *upstream) {
	ctx := h.ctx
	h.wg.Go(func() { u.run(ctx) })
}

// Catalog returns what all servers offer at this moment. It is shared and must
// not be changed.
func (h *Host) Catalog() *Catalog { return h.catalog.Load() }

// Status returns how each server is doing, in the order of adding.
func (h *Host) Status() []UpstreamStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]UpstreamStatus, len(h.upstreams))
	for i, u := range h.upstreams {
		list[i] = u.statusLocked()
	}
	return list
}

// Watch adds hooks. The function it returns removes them; calls under way may
// still end after that.
func (h *Host) Watch(hooks Hooks) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &hooks
	// Copied, because calls go through the list without the lock.
	h.watchers = append(slices.Clip(h.watchers), w)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		var kept []*Hooks
		for _, other := range h.watchers {
			if other != w {
				kept = append(kept, other)
			}
		}
		h.watchers = kept
	}
}

// each calls f for all hooks, without the lock.
func (h *Host) each(f func(*Hooks)) {
	h.mu.Lock()
	watchers := h.watchers
	h.mu.Unlock()
	for _, w := range watchers {
		f(w)
	}
}

func (h *Host) tellChanged() {
	h.each(func(w *Hooks) {
		if w.Changed != nil {
			w.Changed()
		}
	})
}

// update changes the state of a server, makes the catalog anew and tells
// everybody. change is called with the lock held.
func (h *Host) update(change func()) {
	h.mu.Lock()
	change()
	c := buildCatalog(h.upstreams, &h.opts)
	before := h.catalog.Swap(c)
	h.mu.Unlock()
	for _, w := range c.newWarnings(before) {
		h.log.Warn(w)
	}
	h.tellChanged()
}

func (h *Host) findLocked(name string) *upstream {
	for _, u := range h.upstreams {
		if u.conf.Name == name {
			return u
		}
	}
	return nil
}

// Close ends all connections at once and waits for everything the host has
// started, but no longer than a moment for a transport or hook that does not
// return; it then says so. It may be called more than once.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	if h.cancel != nil {
		h.cancel()
	} else {
		for _, u := range h.upstreams {
			u.state = Stopped
		}
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	h.waiter.Go(func() {
		h.wg.Wait()
		close(ended)
	})
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	select {
	case <-ended:
		h.waiter.Wait()
		return nil
	case <-limit.C:
		return fmt.Errorf("close host: servers still ending: %q", h.ending())
	}
}

// ending names the servers that are not stopped.
func (h *Host) ending() []string {
	var names []string
	for _, s := range h.Status() {
		if s.State != Stopped {
			names = append(names, s.Name)
		}
	}
	return names
}
