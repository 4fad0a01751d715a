package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func (p *program) serveCommand() *cobra.Command {
	var readOnly bool
	c := &cobra.Command{
		Use:   "serve files [DIR] | serve time",
		Short: "Run one of the servers that come with ferry, on standard input and output",
		Example: `  ferry serve files ~/notes --read-only
  ferry serve time`,
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: builtinNames,
	}
	c.Flags().BoolVar(&readOnly, "read-only", false, "offer no tools that change something")
	c.RunE = func(c *cobra.Command, args []string) error {
		var dir string
		if len(args) == 2 {
			if args[0] != "files" {
				return usagef("unexpected argument %q", args[1])
			}
			dir = args[1]
		}
		srv, closer, err := builtin(args[0], dir, readOnly)
		if err != nil {
			return err
		}
		defer closer.Close()
		return p.serveStdio(c.Context(), srv)
	}
	return c
}

// serveStdio serves until the client goes away or ctx ends, which is no error.
func (p *program) serveStdio(ctx context.Context, srv *server.Server) error {
	conn, err := p.stdio()
	if err != nil {
		return &unreachableError{err: fmt.Errorf("serve on standard input and output: %w", err)}
	}
	err = srv.ServeConn(ctx, conn)
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
