package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/apps/servers"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func (p *program) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve NAME",
		Short: "Run one of the servers that come with ferry, on standard input and output",
		Example: `  ferry serve files ~/notes --read-only
  ferry serve time
  ferry serve time --http 127.0.0.1:7333`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which server? There are %s", strings.Join(servers.Names(), ", "))
			}
			return noBuiltin(args[0])
		},
	}
	for i := range servers.All {
		c.AddCommand(p.serveBuiltin(&servers.All[i]))
	}
	return c
}

// serveBuiltin is the command for one server.
func (p *program) serveBuiltin(b *servers.Builtin) *cobra.Command {
	var address string
	var remote bool
	c := &cobra.Command{Use: b.Name + " " + b.Usage, Short: b.Short, Args: cobra.ArbitraryArgs}
	if b.Also != "" {
		c.Aliases = []string{b.Also}
	}
	open := b.Flags(c.Flags())
	c.Flags().StringVar(&address, "http", "", "serve at this `address` over HTTP instead")
	c.Flags().BoolVar(&remote, "allow-remote", false, "let other machines connect, which anybody there can then do")
	c.RunE = func(c *cobra.Command, args []string) error {
		srv, err := open(c.Context(), &servers.Setup{Stderr: p.stderr, Launched: address == ""}, args)
		if err != nil {
			return &usageError{err: err}
		}
		defer func() { _ = srv.Close() }()
		if address = cmp.Or(address, srv.Address); address == "" {
			return p.serveStdio(c.Context(), srv.Server)
		}
		l, err := listen(c.Context(), address, remote)
		if err != nil {
			return err
		}
		e := &endpoint{listener: l, server: srv.Server, log: p.logger(slog.LevelWarn)}
		p.err.linef(plain, "ferry serves %s at %s", b.Name, e.url())
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
