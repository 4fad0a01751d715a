package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func (p *program) serveCommand() *cobra.Command {
	var address string
	var readOnly, remote bool
	c := &cobra.Command{
		Use:   "serve files [DIR] | serve time [ZONE]",
		Short: "Run one of the servers that come with ferry, on standard input and output",
		Example: `  ferry serve files ~/notes --read-only
  ferry serve time
  ferry serve time --http 127.0.0.1:7333`,
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: builtinNames,
	}
	c.Flags().BoolVar(&readOnly, "read-only", false, "offer no tools that change something")
	c.Flags().StringVar(&address, "http", "", "serve at this `address` over HTTP instead")
	c.Flags().BoolVar(&remote, "allow-remote", false, "let other machines connect, which anybody there can then do")
	c.RunE = func(c *cobra.Command, args []string) error {
		name, rest := args[0], args[1:]
		if readOnly {
			if name != "files" {
				return usagef("--read-only is for files")
			}
			rest = append(rest, readOnlyFlag)
		}
		srv, closer, err := builtin(name, rest, "")
		if err != nil {
			return err
		}
		defer closer.Close()
		if address == "" {
			return p.serveStdio(c.Context(), srv)
		}
		l, err := listen(c.Context(), address, remote)
		if err != nil {
			return err
		}
		e := &endpoint{listener: l, server: srv, log: p.logger(slog.LevelWarn)}
		p.err.linef(plain, "ferry serves %s at %s", name, e.url())
		return e.serve(c.Context())
	}
	return c
}

// serveStdio serves until the client goes away or ctx ends, which is no error.
func (p *program) serveStdio(ctx context.Context, srv *server.Server) error {
	conn, err := p.stdio()
	if err != nil {
		return &unreachableError{err: fmt.Errorf("serve on standard input and output: %w", err)}
	}
	return p.serveConn(ctx, srv, conn)
}

func (p *program) serveConn(ctx context.Context, srv *server.Server, conn transport.Conn) error {
	err := srv.ServeConn(ctx, conn)
	if err != nil && ctx.Err() == nil && !errors.Is(err, transport.ErrClosed) {
		return &unreachableError{err: fmt.Errorf("serve on standard input and output: %w", err)}
	}
	return nil
}

// stdio is the connection to the client that started this program.
func (p *program) stdio() (transport.Conn, error) {
	if p.stdin == os.Stdin && p.stdout == os.Stdout {
		return transport.Stdio()
	}
	return transport.Lines(readCloser(p.stdin), writeCloser(p.stdout), nil), nil
}
