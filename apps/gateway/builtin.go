package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/servers"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// builtins owns the servers that run in this process.
type builtins struct {
	ctx    context.Context // of their connections
	cancel context.CancelFunc
	wg     sync.WaitGroup // one for each connection
	log    *slog.Logger

	mu     sync.Mutex
	closed bool
	list   []opened
}

// opened is a server and the name of its entry.
type opened struct {
	*servers.Opened
	name string
}

func newBuiltins(ctx context.Context, log *slog.Logger) *builtins {
	b := &builtins{log: log}
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// open makes the server that an entry names and returns the way to it.
func (b *builtins) open(s *config.Server, dir string) (transport.Transport, error) {
	builtin, ok := servers.Find(s.Command)
	if !ok {
		return nil, fmt.Errorf("there is no builtin server %q, only %s", s.Command, strings.Join(servers.Names(), ", "))
	}
	made, err := builtin.Open(b.ctx, &servers.Setup{
		Dir: dir, Behind: true,
		Env:    func(name string) string { return cmp.Or(s.Env[name], os.Getenv(name)) },
		Server: &server.Options{Logger: b.log.With(slog.String("server", s.Name))},
	}, s.Args)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.list = append(b.list, opened{made, s.Name})
	b.mu.Unlock()
	return transport.Dial(func(context.Context) (transport.Conn, error) { return b.connect(made) }), nil
}

// connect serves one more connection.
func (b *builtins) connect(made *servers.Opened) (transport.Conn, error) {
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

// where tells where a server keeps what it is told.
func (b *builtins) where(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.list {
		if o.name == name {
			return o.Where
		}
	}
	return ""
}

// close ends the servers.
func (b *builtins) close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	var errs []error
	for _, made := range b.list {
		errs = append(errs, made.Close())
	}
	b.wg.Wait()
	return errors.Join(errs...)
}
