package files

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

const (
	// settle is how long a file has to be quiet before its change is told: programs
	// write in several steps.
	settle = 100 * time.Millisecond
	// maxWatched is how many files are watched.
	maxWatched = 1000
)

// A watch tells of changes of files. It looks at the folders that they are in, so
// that it sees them come, go, and be replaced.
type watch struct {
	log  *slog.Logger
	tell func(uri string)

	wg sync.WaitGroup // of the goroutine that follows the folders

	mu      sync.Mutex
	files   *fsnotify.Watcher   // nil until something is watched
	uris    map[string][]string // addresses by path
	count   int
	closed  bool
	closing error
}

func newWatch(log *slog.Logger, tell func(uri string)) *watch {
	return &watch{log: log, tell: tell, uris: map[string][]string{}}
}

// subscriptions begins to watch what somebody wants to know of.
func (t *tools) subscriptions(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		switch c.Method {
		case mcp.MethodResourcesSubscribe:
			var p mcp.SubscribeParams
			if json.Unmarshal(c.Params(), &p) == nil {
				t.follow(ctx, c, p.URI)
			}
		case mcp.MethodSubscriptionsListen:
			var p mcp.ListenParams
			if json.Unmarshal(c.Params(), &p) == nil {
				for _, uri := range p.Notifications.ResourceSubscriptions {
					t.follow(ctx, c, uri)
				}
			}
		}
		return next(ctx, c)
	}
}

// follow watches a file. What cannot be watched is never told of, and that is all.
func (t *tools) follow(ctx context.Context, c *server.Call, uri string) {
	name, err := folder.PathOf(uri)
	if err != nil {
		return
	}
	set, done, err := t.listable(ctx, c)
	if err != nil || len(set.Folders()) == 0 {
		return
	}
	defer done()
	f, rel, err := set.At(name)
	if err == nil {
		err = t.watch.add(ctx, f.Full(rel), uri)
	}
	if err != nil {
		t.log.DebugContext(ctx, "file not watched", slog.String("uri", uri), slog.Any("error", err))
	}
}

// add watches one more file.
func (w *watch) add(ctx context.Context, full, uri string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.count >= maxWatched || slices.Contains(w.uris[full], uri) {
		return nil
	}
	if w.files == nil {
		files, err := fsnotify.NewWatcher()
		if err != nil {
			return err
		}
		w.files = files
		w.wg.Go(func() { w.run(context.WithoutCancel(ctx), files) })
	}
	if err := w.files.Add(filepath.Dir(full)); err != nil {
		return err
	}
	w.uris[full] = append(w.uris[full], uri)
	w.count++
	return nil
}

// run tells of changes when nothing has happened for a moment, until the watcher is
// closed.
func (w *watch) run(ctx context.Context, files *fsnotify.Watcher) {
	pending := map[string]bool{} // no more than are watched
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	for {
		select {
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			if w.watches(e.Name) && !e.Has(fsnotify.Chmod) {
				pending[e.Name] = true
				quiet.Reset(settle)
			}
		case err, ok := <-files.Errors:
			if !ok {
				return
			}
			w.log.DebugContext(ctx, "watch files", slog.Any("error", err))
		case <-quiet.C:
			for name := range pending {
				w.changed(name)
			}
			clear(pending)
		}
	}
}

func (w *watch) watches(full string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.uris[full]) > 0
}

// changed tells of one file.
func (w *watch) changed(full string) {
	w.mu.Lock()
	uris := w.uris[full]
	w.mu.Unlock()
	for _, uri := range uris {
		w.tell(uri)
	}
}

// close ends it. It may be called again.
func (w *watch) close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		if w.files != nil {
			w.closing = w.files.Close()
		}
	}
	w.mu.Unlock()
	w.wg.Wait()
	return w.closing
}
