package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/servers/clock"
	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// A builtin is a server that comes with this program.
type builtin struct {
	*server.Server
	close func() error
}

// makers make the servers that come with this program, by name.
var makers = map[string]func(s *config.Server, dir string, opts *server.Options) (builtin, error){
	"time":  newClock,
	"clock": newClock,
	"files": newFiles,
}

// newClock takes the local time zone as its argument.
func newClock(s *config.Server, _ string, opts *server.Options) (builtin, error) {
	o := &clock.Options{Server: opts}
	switch len(s.Args) {
	case 0:
	case 1:
		o.Local = s.Args[0]
	default:
		return builtin{}, errors.New("it takes one argument, the local time zone")
	}
	srv, err := clock.New(o)
	if err != nil {
		return builtin{}, err
	}
	return builtin{srv, srv.Close}, nil
}

// newFiles takes a folder as its argument, the workspace if none, and
// "--read-only".
func newFiles(s *config.Server, dir string, opts *server.Options) (builtin, error) {
	o := &files.Options{Server: opts}
	given := false
	for _, arg := range s.Args {
		switch {
		case arg == "--read-only":
			o.ReadOnly = true
		case given || strings.HasPrefix(arg, "-"):
			return builtin{}, fmt.Errorf("it takes one folder and --read-only, not %q", arg)
		default:
			dir, given = arg, true
		}
	}
	srv, err := files.New(dir, o)
	if err != nil {
		return builtin{}, err
	}
	return builtin{srv.Server, srv.Close}, nil
}

// builtins owns the servers that run in this process.
type builtins struct {
	ctx    context.Context // of their connections
	cancel context.CancelFunc
	wg     sync.WaitGroup // one for each connection
	log    *slog.Logger

	mu     sync.Mutex
	closed bool
	list   []builtin
}

func newBuiltins(ctx context.Context, log *slog.Logger) *builtins {
	b := &builtins{log: log}
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// open makes the server that an entry names and returns the way to it.
func (b *builtins) open(s *config.Server, dir string) (transport.Transport, error) {
	build := makers[s.Command]
	if build == nil {
		return nil, fmt.Errorf("there is no builtin server %q, only %s", s.Command,
			strings.Join(slices.Sorted(maps.Keys(makers)), ", "))
	}
	made, err := build(s, dir, &server.Options{Logger: b.log.With(slog.String("server", s.Name))})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.list = append(b.list, made)
	b.mu.Unlock()
	return transport.Dial(func(context.Context) (transport.Conn, error) { return b.connect(made) }), nil
}

// connect serves one more connection.
func (b *builtins) connect(made builtin) (transport.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, transport.ErrClosed
	}
	near, far := transport.Pipe()
	b.wg.Go(func() {
		if err := made.ServeConn(b.ctx, far); err != nil && b.ctx.Err() == nil {
			b.log.Warn("serve builtin", slog.Any("error", err))
		}
	})
	return near, nil
}

// close ends the servers.
func (b *builtins) close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	var errs []error
	for _, made := range b.list {
		errs = append(errs, made.close())
	}
	b.wg.Wait()
	return errors.Join(errs...)
}
