package interop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// overSSE is the transport of the oldest revision, which our client finds when a
// server refuses initialize.
const overSSE = "HTTP+SSE"

// theirServers are the servers of others that offer everything.
var theirServers = []struct {
	name    string
	command []string // a script or a program, and its arguments
	carrier string
	speaks  []string
}{
	{first, []string{"server-v1.mjs", "stdio"}, "stdio", legacy},
	{first, []string{"server-v1.mjs", "http"}, "HTTP with sessions", legacy},
	{first, []string{"server-v1.mjs", "sse"}, overSSE, legacy},
	{twin, []string{"server-v2.mjs", "stdio"}, "stdio", all},
	{twin, []string{"server-v2.mjs", "http"}, "HTTP", all},
	{twin, []string{"server-v2.mjs", "sessions"}, "HTTP with sessions", legacy},
	{gosdk, []string{"go-sdk", "serve", "stdio"}, "stdio", all},
	{gosdk, []string{"go-sdk", "serve", "/mcp"}, "HTTP with sessions", legacy},
	{gosdk, []string{"go-sdk", "serve", "/each"}, "HTTP", []string{r5}},
	{gosdk, []string{"go-sdk", "serve", "/sse"}, overSSE, legacy},
	{mcpgo, []string{"mcp-go", "serve", "stdio"}, "stdio", all},
	{mcpgo, []string{"mcp-go", "serve", "/mcp"}, "HTTP", all},
	{mcpgo, []string{"mcp-go", "serve", "/sse"}, overSSE, legacy},
}

// reach returns a transport to a server of others.
func reach(t *testing.T, line []string) transport.Transport {
	t.Helper()
	line = commandOf(t, line...)
	if line[len(line)-1] == "stdio" {
		return command(t, line[0], line[1:]...)
	}
	return httpclient.New(start(t, line[0], line[1:]...), nil)
}

// TestServers lets our client talk to the servers of others: it finds out by
// itself what they speak, and can be told.
func TestServers(t *testing.T) {
	need(t)
	for _, s := range theirServers {
		for _, asked := range append([]string{""}, s.speaks...) {
			m := meeting{ferry, s.name, s.carrier, asked, asked}
			if asked == "" {
				m.asked, m.revision = automatic, s.speaks[len(s.speaks)-1]
			}
			t.Run(short(s.name)+"/"+s.carrier+"/"+m.asked, func(t *testing.T) {
				t.Parallel()
				v := visitAsked(t, reach(t, s.command), asked)
				judge(t, m, v.tour(t.Context()), everythingReport(m.revision))
			})
		}
	}
}

// TestServersThatCannot insists on the stateless revision with servers that do
// not speak it.
func TestServersThatCannot(t *testing.T) {
	need(t)
	for _, s := range theirServers {
		if s.speaks[len(s.speaks)-1] == r5 || s.carrier == overSSE {
			continue // over the latter nothing but a status says so
		}
		t.Run(short(s.name)+"/"+s.carrier, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), slow)
			defer cancel()
			c := client.New(mcp.Implementation{Name: "interop", Version: "1.0.0"}, &client.Options{Revision: r5})
			sess, err := c.Connect(ctx, reach(t, s.command))
			if err == nil {
				sess.Close()
				t.Fatalf("connected, in revision %s", sess.Revision())
			}
			if _, ok := errors.AsType[*client.VersionError](err); !ok {
				t.Errorf("got %v, want a VersionError", err)
			}
		})
	}
}
