package memory

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrymcp/ferry/apps/servers/memory/store"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// settle is how long the file has to be quiet before others are told: programs
// write in several steps.
const settle = 50 * time.Millisecond

// A watch tells of changes of the graph, by this process and by others. It looks at
// the file from the first subscription on.
type watch struct {
	store store.Store
	log   *slog.Logger
	tell  func()

	wg sync.WaitGroup // of the goroutine that follows the file

	mu      sync.Mutex
	stop    context.CancelFunc // nil unless the file is followed
	files   *fsnotify.Watcher
	stamp   string // of what was told last
	closed  bool
	closing error
}

func newWatch(s store.Store, log *slog.Logger, tell func()) *watch {
	return &watch{store: s, log: log, tell: tell}
}

// changed tells of a change.
func (w *watch) changed(ctx context.Context) { w.look(ctx) }

// look tells of a change, and reports whether there was one that was not told yet.
func (w *watch) look(ctx context.Context) bool {
	stamp, err := w.store.Stamp(ctx)
	if err != nil {
		w.log.DebugContext(ctx, "memory not looked at", slog.Any("error", err))
	}
	w.mu.Lock()
	told := err == nil && stamp == w.stamp
	w.stamp = stamp
	w.mu.Unlock()
	if !told {
		w.tell()
	}
	return !told
}

// subscriptions begins to follow the file when somebody wants to know.
func (w *watch) subscriptions(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		switch c.Method {
		case mcp.MethodResourcesSubscribe:
			w.follow(ctx)
		case mcp.MethodSubscriptionsListen:
			var p mcp.ListenParams
			if json.Unmarshal(c.Params(), &p) == nil && slices.ContainsFunc(p.Notifications.ResourceSubscriptions, func(uri string) bool {
				return uri == graphURI || uri == linesURI
			}) {
				w.follow(ctx)
			}
		}
		return next(ctx, c)
	}
}

// follow follows the file, if it is not followed yet. Where that is impossible, only
// the changes of this process are told.
func (w *watch) follow(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil || w.closed {
		return
	}
	dir := filepath.Dir(w.store.Path())
	files, err := fsnotify.NewWatcher()
	if err == nil {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = files.Add(dir)
		}
		if err != nil {
			err = errors.Join(err, files.Close())
		}
	}
	if err != nil {
		w.log.WarnContext(ctx, "changes of the memory by other programs will not be noticed", slog.Any("error", err))
		return
	}
	if w.stamp, err = w.store.Stamp(ctx); err != nil {
		w.log.WarnContext(ctx, "memory not looked at", slog.Any("error", err))
	}
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop, w.files = stop, files
	w.wg.Go(func() { w.run(following, files) })
}

// looks is how often, after a sign of a change, it is looked for one: a database
// shows it only when it is on the disk, and gives no sign of that.
const looks = 5

// run tells of changes when the file has been quiet for a moment.
func (w *watch) run(ctx context.Context, files *fsnotify.Watcher) {
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	left := looks
	for {
		select {
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			if strings.HasPrefix(filepath.Base(e.Name), filepath.Base(w.store.Path())) && !strings.HasSuffix(e.Name, ".lock") {
				left = looks
				quiet.Reset(settle)
			}
		case err, ok := <-files.Errors:
			if !ok {
				return
			}
			w.log.DebugContext(ctx, "watch the memory", slog.Any("error", err))
			left = looks
			quiet.Reset(settle) // something may have been missed
		case <-quiet.C:
			if left--; !w.look(ctx) && left > 0 {
				quiet.Reset(settle << (2 * (looks - left)))
			}
		case <-ctx.Done():
			return
		}
	}
}

// close ends it. It may be called again.
func (w *watch) close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		if w.stop != nil {
			w.stop()
			w.closing = w.files.Close()
		}
	}
	w.mu.Unlock()
	w.wg.Wait()
	return w.closing
}
