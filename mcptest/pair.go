package mcptest

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// ClientInfo is what the clients of this package introduce themselves as.
var ClientInfo = mcp.Implementation{Name: "mcptest", Version: "1.0.0"}

// Pair connects a client to srv in memory and returns its session. The server
// value may be shared by many pairs. The test fails at once when they cannot
// agree, and when the connection does not end cleanly.
func Pair(t testing.TB, srv *server.Server, opts *client.Options) *client.Session {
	t.Helper()
	return Connect(t, InMemory(t, srv), opts)
}

// Connect connects a client over any transport; the session is closed with the
// test.
func Connect(t testing.TB, via transport.Transport, opts *client.Options) *client.Session {
	t.Helper()
	sess, err := client.New(ClientInfo, opts).Connect(t.Context(), via)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := sess.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	return sess
}

// InMemory returns a transport that reaches srv within the process. Each time
// it is opened the server gets another connection. The connections have ended
// when the test has.
func InMemory(t testing.TB, srv *server.Server) transport.Transport {
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return transport.Dial(func(context.Context) (transport.Conn, error) {
		near, far := transport.Pipe()
		wg.Go(func() {
			if err := srv.ServeConn(ctx, far); err != nil {
				t.Errorf("serve the connection: %v", err)
			}
		})
		return near, nil
	})
}

// overSocket returns a transport that reaches srv over a TCP socket in the
// framing of stdio, with everything on the way disturbed.
func overSocket(t testing.TB, srv *server.Server, chaos *Chaos) transport.Transport {
	t.Helper()
	listener := listen(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			// That a connection breaks is what chaos is about.
			wg.Go(func() { _ = srv.ServeConn(ctx, lines(conn)) })
		}
	})
	address := chaos.Proxy(t, listener.Addr().String())
	return transport.Dial(func(ctx context.Context) (transport.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return chaos.Conn(lines(conn)), nil
	})
}

// lines frames with newlines over a socket, which is closed once.
func lines(conn net.Conn) transport.Conn {
	return transport.Lines(io.NopCloser(conn), conn, nil)
}

// Serve serves srv over HTTP on a loopback port and returns the URL of the
// endpoint.
func Serve(t testing.TB, srv *server.Server, opts *httpserver.Options) string {
	t.Helper()
	return serve(t, httpserver.New(srv, opts)) + "/mcp"
}

// ServeSSE serves srv over HTTP+SSE on a loopback port and returns the URL of
// the event stream.
func ServeSSE(t testing.TB, srv *server.Server, opts *legacysse.Options) string {
	t.Helper()
	return serve(t, legacysse.New(srv, opts)) + "/sse"
}

type closingHandler interface {
	http.Handler
	Close() error
}

// serve serves a handler on a loopback port, at any path, until the test ends.
func serve(t testing.TB, handler closingHandler) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = web.Serve(listener) })
	t.Cleanup(func() {
		if err := handler.Close(); err != nil {
			t.Errorf("close the endpoint: %v", err)
		}
		_ = web.Close()
		wg.Wait()
	})
	return "http://" + listener.Addr().String()
}
