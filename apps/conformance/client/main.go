// Command client is what the official conformance suite tests: a client that
// plays one scenario against the suite's server. The suite names the scenario in
// the environment and appends the server's URL to the arguments.
//
//	MCP_CONFORMANCE_SCENARIO=tools_call go run ./conformance/client http://localhost:7333/mcp
//
// The revision is found out by asking the server, as most clients do; with
// -force it is the one that the suite names, and no other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// What the suite says in the environment.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	revisionVariable = "MCP_CONFORMANCE_PROTOCOL_VERSION"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
)

func main() {
	force := flag.Bool("force", false, "speak the suite's revision only")
	trace := flag.Bool("trace", false, "show all messages on standard error")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := play(ctx, flag.Args(), *force, *trace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play connects to the server and does what the scenario wants.
func play(ctx context.Context, args []string, force, trace bool) error {
	if len(args) != 1 {
		return errors.New("usage: client [-force] [-trace] URL")
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	opts := &client.Options{Logger: logger}
	answer(opts)
	if force {
		opts.Revision = os.Getenv(revisionVariable)
	}
	c := client.New(mcp.Implementation{Name: "ferry-conformance", Version: "1.0.0"}, opts)
	name := os.Getenv(scenarioVariable)
	login, err := newLogin(name, logger)
	if err != nil {
		return err
	}
	defer func() { _ = login.Close() }()
	var t transport.Transport = httpclient.New(args[0], &httpclient.Options{Client: login.HTTPClient(args[0])})
	if trace {
		t = transport.Tap(t, func(f transport.Frame) { fmt.Fprintf(os.Stderr, "%v %s\n", f.Direction, f.Data) })
	}
	sess, err := c.Connect(ctx, t)
	if err != nil {
		return err
	}
	return errors.Join(scenario(name)(ctx, sess), sess.Close())
}
