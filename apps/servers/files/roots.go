package files

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// A RootsPolicy says what the roots of a client are for, which are the folders that
// it works in.
type RootsPolicy string

// The policies.
const (
	// RootsNarrow lets the client use what is both in its roots and in the folders of
	// the server. It is what the zero value means.
	RootsNarrow RootsPolicy = "narrow"
	// RootsReplace lets the client use its roots instead of the folders of the server, if
	// it has some. It is for a client that has started this program: it could have named
	// the folders then.
	RootsReplace RootsPolicy = "replace"
	// RootsIgnore does not ask for roots.
	RootsIgnore RootsPolicy = "ignore"
)

// maxRoots is how many roots of a client count.
const maxRoots = 100

// roots are what the clients of sessions have said.
type roots struct{ sessions session.Store[known] }

// known are the roots of a session, for as long as they are the same.
type known struct {
	mu    sync.Mutex
	asked bool
	dirs  []string
	// changes counts how often the client has said that they are others.
	changes int
}

// rootsChanged hears of changes.
func (t *tools) rootsChanged(next server.Handler) server.Handler {
	return func(ctx context.Context, c *server.Call) (any, error) {
		if sess := c.Session(); sess != nil && c.Method == mcp.NotificationRootsListChanged {
			k := t.roots.sessions.Of(sess)
			k.mu.Lock()
			k.asked = false
			k.changes++
			k.mu.Unlock()
		}
		return next(ctx, c)
	}
}

// folders are those that a call may use, until done is called.
func (t *tools) folders(ctx context.Context, c *server.Call) (set *folder.Set, done func(), err error) {
	own := func() (*folder.Set, func(), error) {
		if t.own == nil {
			return nil, nil, errors.New("there are no allowed folders: this server was started without one, and the client names none as its roots; start it with the folder as argument")
		}
		return t.own, func() {}, nil
	}
	if t.opts.Roots == RootsIgnore || c.ClientCapabilities().Roots == nil {
		return own()
	}
	dirs, err := t.asked(ctx, c)
	switch {
	case err != nil:
		return nil, nil, err
	case len(dirs) == 0:
		return own() // it has none, or none here
	}
	if t.opts.Roots != RootsReplace {
		if dirs = t.narrow(dirs); len(dirs) == 0 {
			return nil, nil, fmt.Errorf("none of the client's roots is in the allowed folders %s: open one of these folders in the client, or start this server with the folder that is needed",
				strings.Join(t.own.Dirs(), ", "))
		}
	}
	set, err = folder.OpenSet(dirs, t.opts.Limits, &t.writing)
	switch {
	case set == nil && t.opts.Roots == RootsReplace:
		t.log.DebugContext(ctx, "no root of the client can be used", slog.Any("error", err))
		return own()
	case set == nil:
		return nil, nil, errors.New("none of the client's roots is a folder that can be opened here")
	}
	return set, func() { _ = set.Close() }, nil
}

// asked returns the folders that the client names. Those of a session are asked for
// once if the client says when they change, the others each time.
func (t *tools) asked(ctx context.Context, c *server.Call) ([]string, error) {
	sess := c.Session()
	if sess == nil || !c.ClientCapabilities().Roots.ListChanged {
		return t.ask(ctx, c)
	}
	k := t.roots.sessions.Of(sess)
	k.mu.Lock()
	dirs, asked, before := k.dirs, k.asked, k.changes
	k.mu.Unlock()
	if asked {
		return dirs, nil
	}
	dirs, err := t.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes == before {
		k.dirs, k.asked = dirs, true
	}
	return dirs, nil
}

// ask asks the client.
func (t *tools) ask(ctx context.Context, c *server.Call) ([]string, error) {
	list, err := server.Roots(ctx, c, "roots")
	if _, wrong := errors.AsType[*server.AnswerError](err); wrong {
		// As if it had none: what it may use then is what the server was started with.
		t.log.WarnContext(ctx, "roots of the client", slog.Any("error", err))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, root := range list[:min(len(list), maxRoots)] {
		if name, err := folder.PathOf(root.URI); err == nil && !slices.Contains(dirs, name) {
			dirs = append(dirs, name)
		}
	}
	return dirs, nil
}

// narrow returns what of the client's roots is in the folders of the server, and what of
// those is in the roots.
func (t *tools) narrow(dirs []string) []string {
	var both []string
	for _, dir := range dirs {
		if f, rel, err := t.own.At(dir); err == nil {
			both = append(both, f.Full(rel))
			continue
		}
		for _, own := range t.own.Folders() {
			if own.Below(dir) {
				both = append(both, own.Full("."))
			}
		}
	}
	return both
}
