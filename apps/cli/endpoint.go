package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/server"
)

// How the endpoint is served. Long answers are bounded by the handler.
const (
	endpointPath  = "/mcp"
	ssePath       = "/sse" // for clients that know only the oldest transport
	messagePath   = "/message"
	healthPath    = "/healthz"
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute // for a body; streams are not cut
	writeTimeout  = time.Minute // for what the handler does not write itself
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	shutdownTime  = 3 * time.Second
)

// listen listens at an address. Addresses that other machines reach need the
// user's word for it, since there is no login.
func listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, usagef("address %q: must be host:port, such as %s", address, defaultAddress)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, &usageError{err: err}
	}
	if !resolved.IP.IsLoopback() && !remote {
		refused := usagef("%s can be reached from other machines, and there is no login: "+
			"whoever reaches it can use all tools", address)
		refused.hint = "Use a loopback address such as " + defaultAddress + ", or allow it with --allow-remote."
		return nil, refused
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &unreachableError{
			err:  fmt.Errorf("the address %s is in use, maybe by another ferry", address),
			hint: "End the program that uses it, or choose another address: --address 127.0.0.1:0 takes a free one.",
		}
	default:
		return nil, &unreachableError{err: err}
	}
}

// An endpoint serves a server over HTTP.
type endpoint struct {
	listener net.Listener
	server   *server.Server
	health   http.HandlerFunc // may be nil
	public   string           // the URL that clients know, if it is another one
	auth     *protection      // nil: none
	log      *slog.Logger
}

// url is where clients find the endpoint: those on this machine, if nothing else is
// said.
func (e *endpoint) url() string {
	if e.public != "" {
		return e.public
	}
	addr, ok := e.listener.Addr().(*net.TCPAddr)
	if !ok {
		return e.listener.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port)) + endpointPath
}

// hosts are the names under which requests may come, if they are not only those of
// this machine.
func (e *endpoint) hosts() []string {
	u, err := url.Parse(e.public)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host, u.Hostname(), e.listener.Addr().String(), "localhost", "127.0.0.1"}
}

// loopback reports whether only this machine reaches the endpoint.
func (e *endpoint) loopback() bool {
	addr, ok := e.listener.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// serve serves until ctx ends, and then gives requests that are running a
// moment to end.
func (e *endpoint) serve(ctx context.Context) error {
	handler := httpserver.New(e.server, &httpserver.Options{AllowedHosts: e.hosts(), Logger: e.log})
	old := legacysse.New(e.server, &legacysse.Options{MessagePath: messagePath, AllowedHosts: e.hosts(), Logger: e.log})
	mux := http.NewServeMux()
	mux.Handle(endpointPath, e.auth.around(handler))
	mux.Handle(ssePath, e.auth.around(old))
	mux.Handle(messagePath, e.auth.around(old))
	if e.health != nil {
		mux.Handle("GET "+healthPath, e.auth.around(e.guard(e.health)))
	}
	e.auth.mount(mux, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the MCP endpoint is "+endpointPath, http.StatusNotFound)
	}))
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
	}
	var shutdown sync.WaitGroup
	serving, ended := context.WithCancel(ctx)
	shutdown.Go(func() {
		<-serving.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		// What does not end in time is cut off.
		var both sync.WaitGroup
		both.Go(func() { _ = handler.Shutdown(limited) })
		both.Go(func() { _ = old.Shutdown(limited) })
		both.Wait()
		if srv.Shutdown(limited) != nil {
			_ = srv.Close()
		}
	})
	err := srv.Serve(e.listener)
	ended()
	shutdown.Wait()
	if !errors.Is(err, http.ErrServerClosed) {
		return &unreachableError{err: fmt.Errorf("serve %s: %w", e.listener.Addr(), err)}
	}
	return nil
}

// guard refuses requests under foreign names on loopback: a web page could let
// its own name point here to read the answer.
func (e *endpoint) guard(next http.Handler) http.Handler {
	if !e.loopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "unknown host", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// logger logs to standard error; --verbose shows everything.
func (p *program) logger(level slog.Level) *slog.Logger {
	if p.flags.verbose {
		level = slog.LevelDebug
	}
	w := writerFunc(func(b []byte) (int, error) {
		p.err.line(dim, strings.TrimRight(string(b), "\n"))
		return len(b), nil
	})
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey && !p.flags.verbose {
				return slog.Attr{}
			}
			return a
		},
	}))
}
