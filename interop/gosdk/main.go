// Gosdk is the peer of the tests made with the official Go package: a server that
// offers what ../everything offers, and a client that goes through all of it. See
// tour.Main for its command line.
package main

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrymcp/ferry/interop/tour"
)

func main() {
	tour.Main(context.Background(), tour.Peer{
		Stdio: func(ctx context.Context) error { return newServer().Run(ctx, &mcp.StdioTransport{}) },
		Handlers: func() map[string]http.Handler {
			srv := newServer()
			choose := func(*http.Request) *mcp.Server { return srv }
			return map[string]http.Handler{
				"/mcp":  mcp.NewStreamableHTTPHandler(choose, nil),
				"/each": mcp.NewStreamableHTTPHandler(choose, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}),
				"/sse":  mcp.NewSSEHandler(choose, nil),
			}
		},
		Connect: connect,
	})
}
