package cli

import (
	"context"
	"io"
	"path/filepath"
	"sync"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/servers/clock"
	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// builtinNames are the servers that come with the program.
var builtinNames = []string{"files", "time"}

// builtin makes a server that comes with the program. It must be closed. Files
// takes a folder, as seen from dir, and --read-only; time takes the local time
// zone. Errors are about what the user asked for.
func builtin(name string, args []string, dir string) (*server.Server, io.Closer, error) {
	switch name {
	case "files":
		return filesServer(args, dir)
	case "time", "clock":
		opts := new(clock.Options)
		if len(args) > 0 {
			opts.Local = args[0]
		}
		if len(args) > 1 {
			return nil, nil, usagef("unexpected argument %q", args[1])
		}
		srv, err := clock.New(opts)
		if err != nil {
			return nil, nil, &usageError{err: err}
		}
		return srv, srv, nil
	default:
		unknown := usagef("no server %q comes with ferry", name)
		unknown.hint = suggest("servers", name, builtinNames)
		return nil, nil, unknown
	}
}

// readOnlyFlag is the argument of the server "files" that takes away the tools
// that change something.
const readOnlyFlag = "--read-only"

func filesServer(args []string, dir string) (*server.Server, io.Closer, error) {
	opts := new(files.Options)
	var folder string
	for _, arg := range args {
		switch {
		case arg == readOnlyFlag:
			opts.ReadOnly = true
		case folder != "":
			return nil, nil, usagef("unexpected argument %q", arg)
		default:
			folder = arg
		}
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, err
	}
	srv, err := files.New(folder, opts)
	if err != nil {
		return nil, nil, &usageError{err: err}
	}
	return srv.Server, srv, nil
}

// builtinTarget is a server that comes with the program, in this process.
func (p *program) builtinTarget(s config.Server, dir string) (*target, error) {
	srv, closer, err := builtin(s.Command, s.Args, dir)
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
			_ = closer.Close()
			serving.Wait()
		},
	}, nil
}
