package everything

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// pace is how often something is sent.
const pace = 5 * time.Second

// maxFollowed is how many resources of a client are told to have changed.
const maxFollowed = 1000

// A beat sends log messages and changes of resources to the clients that want them.
type beat struct {
	srv      *server.Server
	sessions session.Store[listener]

	mu        sync.Mutex
	stateless listener // of all callers without a session
	active    map[weak.Pointer[server.Session]]bool
	running   bool
	closed    bool
	reading   int // pages
	stop      chan struct{}
	wg        sync.WaitGroup // the goroutine that sends, and one for each page
}

// A listener is what a client has asked for. It is guarded by the beat.
type listener struct {
	logs, updates bool
	followed      map[string]int // URIs, and how often
}

func newBeat(srv *server.Server) *beat {
	b := &beat{srv: srv, active: map[weak.Pointer[server.Session]]bool{}, stop: make(chan struct{})}
	srv.Use(b.watch)
	return b
}

// addToggles adds the tools that begin and end what is sent.
func (b *beat) addToggles(srv *server.Server) {
	add(srv, mcp.Tool{
		Name: "toggle-simulated-logging", Title: "Log messages", Annotations: hints(false, false, false),
		Description: "Begins to send a log message of a random level every 5 seconds, or ends it. Without a session, sends one of each level now.",
	}, ``, nil, b.toggleLogs)
	add(srv, mcp.Tool{
		Name: "toggle-subscriber-updates", Title: "Changed resources", Annotations: hints(false, false, false),
		Description: "Begins to tell every 5 seconds that the resources which the client has subscribed to have changed, or ends it.",
	}, ``, nil, b.toggleUpdates)
}

// messages are one for each level.
var messages = []struct {
	level mcp.LoggingLevel
	text  string
}{
	{mcp.LevelDebug, "Debug-level message"},
	{mcp.LevelInfo, "Info-level message"},
	{mcp.LevelNotice, "Notice-level message"},
	{mcp.LevelWarning, "Warning-level message"},
	{mcp.LevelError, "Error-level message"},
	{mcp.LevelCritical, "Critical-level message"},
	{mcp.LevelAlert, "Alert-level message"},
	{mcp.LevelEmergency, "Emergency-level message"},
}

func (b *beat) toggleLogs(ctx context.Context, c *server.Call, _ none) (*mcp.CallToolResult, error) {
	sess := c.Session()
	if sess == nil {
		for _, m := range messages {
			if err := c.Log(ctx, m.level, "", m.text); err != nil {
				return nil, err
			}
		}
		return texts("Sent one log message of each level that the request asks for: without a session there is no way to send more later.")
	}
	if b.toggle(sess, func(l *listener) *bool { return &l.logs }) {
		return texts("Started simulated, random-leveled logging at a 5 second pace. Messages below the level that the client has set are not sent.")
	}
	return texts("Stopped simulated logging")
}

func (b *beat) toggleUpdates(_ context.Context, c *server.Call, _ none) (*mcp.CallToolResult, error) {
	if b.toggle(c.Session(), func(l *listener) *bool { return &l.updates }) {
		return texts("Started simulated resource updated notifications at a 5 second pace, for the resources that the client has subscribed to.")
	}
	return texts("Stopped simulated resource updates")
}

// of returns what is remembered of a client; nil is one without a session. It holds mu.
func (b *beat) ofLocked(sess *server.Session) *listener {
	if sess == nil {
		return &b.stateless
	}
	return b.sessions.Of(sess)
}

// toggle changes what a client gets, reports whether it gets it now, and has the
// first sent at once.
func (b *beat) toggle(sess *server.Session, field func(*listener) *bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ofLocked(sess)
	on := field(l)
	*on = !*on
	if sess != nil {
		if key := weak.Make(sess); l.logs || l.updates {
			b.active[key] = true
		} else {
			delete(b.active, key)
		}
	}
	if *on && !b.running && !b.closed {
		b.running = true
		b.wg.Go(b.run)
	}
	return *on
}

// run sends until there is nobody to send to.
func (b *beat) run() {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for b.send() {
		select {
		case <-ticker.C:
		case <-b.stop:
			return
		}
	}
}

// send sends once and reports whether there is anybody.
func (b *beat) send() bool {
	var logs []*server.Session
	changed := map[string]bool{}
	b.mu.Lock()
	for key := range b.active {
		sess := key.Value()
		if sess == nil || !sess.Ready() {
			delete(b.active, key)
			continue
		}
		l := b.ofLocked(sess)
		if l.logs {
			logs = append(logs, sess)
		}
		if l.updates {
			maps.Copy(changed, keys(l.followed))
		}
	}
	if b.stateless.updates {
		maps.Copy(changed, keys(b.stateless.followed))
	}
	b.running = len(b.active) > 0 || b.stateless.updates
	running := b.running
	b.mu.Unlock()
	for _, sess := range logs {
		m := messages[rand.IntN(len(messages))]
		_ = sess.Log(m.level, "", m.text) // a client that has gone is left out next time
	}
	for _, uri := range slices.Sorted(maps.Keys(changed)) {
		b.srv.ResourceUpdated(uri)
	}
	return running
}

func keys(m map[string]int) map[string]bool {
	set := make(map[string]bool, len(m))
	for key := range m {
		set[key] = true
	}
	return set
}

// readingTime is how long a user takes to read a page. The page is not ours, so
// nobody tells when it was read.
const readingTime = time.Second

// maxReading is how many pages are read at the same time.
const maxReading = 100

// visited tells a client, in a moment, that the user is done with a page.
func (b *beat) visited(sess *server.Session, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.reading >= maxReading {
		return
	}
	b.reading++
	b.wg.Go(func() {
		timer := time.NewTimer(readingTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			_ = sess.ElicitationComplete(id) // a client that has gone does not wait for it
		case <-b.stop:
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reading--
	})
}

// watch notes what clients subscribe to.
func (b *beat) watch(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		var p struct {
			URI           string `json:"uri"`
			Notifications struct {
				URIs []string `json:"resourceSubscriptions"`
			} `json:"notifications"`
		}
		switch c.Method {
		case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
			r, err := next(ctx, c)
			if err == nil && decode(c, &p) {
				step, what := 1, "Received Subscribe Resource request for URI: "
				if c.Method == mcp.MethodResourcesUnsubscribe {
					step, what = -1, "Received Unsubscribe Resource request: "
				}
				b.follow(c.Session(), step, p.URI)
				_ = c.Log(ctx, mcp.LevelInfo, "", what+p.URI) // that the client has gone shows elsewhere
			}
			return r, err
		case mcp.MethodSubscriptionsListen:
			if decode(c, &p) {
				b.follow(nil, 1, p.Notifications.URIs...)
				defer b.follow(nil, -1, p.Notifications.URIs...)
			}
		}
		return next(ctx, c)
	}
}

// follow counts who follows resources.
func (b *beat) follow(sess *server.Session, step int, uris ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ofLocked(sess)
	if l.followed == nil {
		l.followed = map[string]int{}
	}
	for _, uri := range uris {
		n, known := l.followed[uri]
		switch {
		case sess != nil && step > 0 && known:
		case n+step <= 0:
			delete(l.followed, uri)
		case known || len(l.followed) < maxFollowed:
			l.followed[uri] = n + step
		}
	}
}

// close ends what is sent, and waits for it.
func (b *beat) close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.stop)
	}
	b.mu.Unlock()
	b.wg.Wait()
}

// decode reads the parameters of a request.
func decode(c *server.Call, v any) bool { return json.Unmarshal(c.Params(), v) == nil }
