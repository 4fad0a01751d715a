// Command ferry serves MCP servers at one endpoint and talks to them from the
// shell. See package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ferrymcp/ferry/apps/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
