package tour

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A Peer is what others provide.
type Peer struct {
	// Stdio serves on standard input and output until ctx ends or input does.
	Stdio func(ctx context.Context) error
	// Handlers serve over HTTP, by pattern of http.ServeMux.
	Handlers func() map[string]http.Handler
	// Connect connects a client to a URL or a command; an empty revision leaves
	// the choice to it. The client tells of notifications and questions with heard.
	Connect func(ctx context.Context, revision string, target []string, heard *Heard) (c Client, stop func(), err error)
}

// Main is the main function of a program that is such a peer:
//
//	PROGRAM serve stdio
//	PROGRAM serve PATH                               prints the URL with the path as its first line
//	PROGRAM tour REVISION URL | COMMAND [ARG...]     prints the steps as JSON
func Main(ctx context.Context, p Peer) {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 3 {
		log.Fatalf("usage: %s serve stdio|PATH, or tour REVISION URL | COMMAND [ARG...]", os.Args[0])
	}
	run := p.Stdio
	switch {
	case os.Args[1] == "tour":
		run = p.tour
	case os.Args[2] != "stdio":
		run = func(ctx context.Context) error { return p.http(ctx, os.Args[2]) }
	}
	if err := run(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func (p *Peer) tour(ctx context.Context) error {
	var heard Heard
	c, stop, err := p.Connect(ctx, os.Args[2], os.Args[3:], &heard)
	if err != nil {
		return err
	}
	steps := Take(ctx, c, &heard)
	stop()
	return json.NewEncoder(os.Stdout).Encode(steps)
}

// http serves until ctx ends, and prints the URL of a path.
func (p *Peer) http(ctx context.Context, path string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for pattern, handler := range p.Handlers() {
		mux.Handle(pattern, handler)
	}
	web := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	fmt.Printf("http://%s%s\n", listener.Addr(), path)
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
