// Mcpgo is the peer of the tests made with mcp-go: a server that offers what
// ../everything offers, and a client that goes through all of it. See tour.Main
// for its command line.
package main

import (
	"context"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrymcp/ferry/interop/tour"
)

func main() {
	tour.Main(context.Background(), tour.Peer{
		Stdio: func(ctx context.Context) error {
			return server.NewStdioServer(newServer()).Listen(ctx, os.Stdin, os.Stdout)
		},
		Handlers: func() map[string]http.Handler {
			srv := newServer()
			old := server.NewSSEServer(srv)
			return map[string]http.Handler{
				"/mcp":     server.NewStreamableHTTPServer(srv, server.WithStateful(true)),
				"/sse":     old.SSEHandler(),
				"/message": old.MessageHandler(),
			}
		},
		Connect: connect,
	})
}
