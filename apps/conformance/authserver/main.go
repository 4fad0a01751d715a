// Command authserver is the authorization server that the official conformance suite
// is run against. Nobody has to sign in or agree: the suite only goes through.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ferrymcp/ferry/auth/authserver"
)

func main() {
	address := flag.String("address", "localhost:0", "`address` to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx is done. Its first line of output is the issuer.
func run(ctx context.Context, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	issuer := "http://" + listener.Addr().String()
	as, err := authserver.New(authserver.Options{
		Issuer:    issuer,
		Resources: []string{issuer + "/mcp"},
		Clients: []authserver.Client{
			{ID: "conformance", RedirectURIs: []string{"http://127.0.0.1/callback"}, Trusted: true},
		},
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "tester"}, true
		},
	})
	if err != nil {
		return err
	}
	defer func() { _ = as.Close() }()
	srv := &http.Server{Handler: as, ReadHeaderTimeout: 10 * time.Second}
	var wg sync.WaitGroup // the one that ends the server
	wg.Go(func() {
		<-ctx.Done()
		_ = srv.Close()
	})
	fmt.Println(issuer)
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	wg.Wait()
	return nil
}
