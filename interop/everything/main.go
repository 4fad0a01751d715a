// Everything is the server that clients of other implementations talk to in the
// tests: some of each feature, on standard input and output, or on HTTP with
//
//	everything -http 127.0.0.1:0
//
// which prints the URL as its first line; HTTP+SSE is at /sse beside it. The servers in ../js offer the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/server"
)

func main() {
	addr := flag.String("http", "", "serve HTTP at this address instead of standard input and output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	srv := newServer()
	run := srv.ServeStdio
	if *addr != "" {
		run = func(ctx context.Context) error { return serveHTTP(ctx, srv, *addr) }
	}
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, srv *server.Server, addr string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	handler := httpserver.New(srv, nil)
	old := legacysse.New(srv, &legacysse.Options{MessagePath: "/message"})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/sse", old)
	mux.Handle("/message", old)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		_ = handler.Close()
		_ = old.Close()
		_ = web.Close()
	})
	defer stop()
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
