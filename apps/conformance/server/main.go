// Command server is what the official conformance suite tests: one server value
// behind one URL, for clients of every revision. It has the tools, resources and
// prompts that the suite asks for by name, and nothing else.
//
//	go run ./conformance/server -address localhost:7333
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// grace is how long running requests may take to end when the program does.
const grace = 2 * time.Second

func main() {
	address := flag.String("address", "localhost:7333", "`address` to serve at; port 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve serves until ctx ends. It prints the URL once clients can connect.
func serve(ctx context.Context, address string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	srv, err := newServer(log)
	if err != nil {
		return err
	}
	defer func() { _ = srv.Close() }()
	handler := httpserver.New(srv, &httpserver.Options{Logger: log})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: grace}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	fmt.Printf("http://localhost:%s/mcp\n", port)
	done := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = handler.Shutdown(ctx)
		_ = web.Close()
	})
	defer done()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newServer returns a server with all that the suite asks for.
func newServer(log *slog.Logger) (*server.Server, error) {
	info := mcp.Implementation{Name: "ferry-conformance", Version: "1.0.0"}
	srv := server.New(info, &server.Options{Logger: log, Complete: complete})
	addTools(srv)
	addStatelessTools(srv)
	addHeaderTool(srv)
	addAskingTools(srv)
	addSchemaTool(srv)
	addResources(srv)
	addPrompts(srv)
	return srv, addSkills(srv)
}

// complete completes any argument by what has been typed and an ending.
func complete(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{p.Argument.Value + "-one", p.Argument.Value + "-two"}}, nil
}
