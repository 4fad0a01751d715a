package cli

import (
	"cmp"
	"context"
	"os"
	"sync"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/servers"
	"github.com/ferrymcp/ferry/transport"
)

// openBuiltin makes a server that comes with the program. It must be closed.
// Errors are about what the user asked for.
func (p *program) openBuiltin(ctx context.Context, s config.Server, dir string) (*servers.Opened, error) {
	b, ok := servers.Find(s.Command)
	if !ok {
		return nil, noBuiltin(s.Command)
	}
	opened, err := b.Open(ctx, &servers.Setup{
		Dir: dir,
		Env: func(name string) string { return cmp.Or(s.Env[name], os.Getenv(name)) },
	}, s.Args)
	if err != nil {
		return nil, &usageError{err: err}
	}
	return opened, nil
}

// noBuiltin tells that a name is none of a server that comes with the program.
func noBuiltin(name string) error {
	unknown := usagef("no server %q comes with ferry", name)
	unknown.hint = suggest("servers", name, servers.Names())
	return unknown
}

// builtinTarget is a server that comes with the program, in this process.
func (p *program) builtinTarget(ctx context.Context, s config.Server, dir string) (*target, error) {
	srv, err := p.openBuiltin(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	var serving sync.WaitGroup
	dial := func(ctx context.Context) (transport.Conn, error) {
		near, far := transport.Pipe()
		serving.Go(func() {
			// How it ends shows at the other end of the pipe.
			_ = srv.ServeConn(context.WithoutCancel(ctx), far)
		})
		return near, nil
	}
	return &target{
		name:      s.Name,
		carrier:   "memory",
		transport: transport.Dial(dial),
		close: func() {
			_ = srv.Close()
			serving.Wait()
		},
	}, nil
}
