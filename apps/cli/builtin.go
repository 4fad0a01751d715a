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

// builtin makes a server that comes with the program. It must be closed. Errors
// are about what the user asked for.
func builtin(name, dir string, readOnly bool) (*server.Server, io.Closer, error) {
	switch name {
	case "files":
		dir, err := workingDir(dir)
		if err != nil {
			return nil, nil, err
		}
		srv, err := files.New(dir, &files.Options{ReadOnly: readOnly})
		if err != nil {
			return nil, nil, &usageError{err: err}
		}
		return srv.Server, srv, nil
	case "time":
		srv, err := clock.New(nil)
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

// builtinTarget is a server that comes with the program, in this process. Its
// argument is the folder, as seen from dir.
func (p *program) builtinTarget(s config.Server, dir string) (*target, error) {
	readOnly := false
	for _, arg := range s.Args {
		switch {
		case arg == "--read-only":
			readOnly = true
		case filepath.IsAbs(arg):
			dir = arg
		default:
			dir = filepath.Join(dir, arg)
		}
	}
	srv, closer, err := builtin(s.Command, dir, readOnly)
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
