package interop_test

import (
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/transport"
)

// Programs that carry the protocol from one carrier to another.
const (
	mcpRemote    = "mcp-remote"
	supergateway = "supergateway"
)

// behind is what the table calls our server when a bridge is before it.
const behind = ferry + " behind "

// TestBridges lets our client talk to our server across programs of others, which
// pass on what they know: supergateway the revisions with sessions.
func TestBridges(t *testing.T) {
	need(t)
	bridges := []struct {
		name, carrier string
		open          func(t *testing.T) transport.Transport
		speaks        []string
	}{
		{mcpRemote, "stdio to HTTP", func(t *testing.T) transport.Transport {
			return remote(t, start(t, program("everything"), "-http", "127.0.0.1:0"))
		}, []string{r3, r4, r5}},
		{mcpRemote, "stdio to " + overSSE, func(t *testing.T) transport.Transport {
			url := start(t, program("everything"), "-http", "127.0.0.1:0")
			return remote(t, strings.TrimSuffix(url, "/mcp")+"/sse", "--transport", "sse-only")
		}, []string{r1}},
		{supergateway, "HTTP to stdio", func(t *testing.T) transport.Transport {
			port := freePort(t)
			background(t, nil, "node", absolute(t, "node_modules", supergateway, "dist", "index.js"), "--stdio", program("everything"),
				"--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none")
			waitForPort(t, port)
			return httpclient.New("http://127.0.0.1:"+port+"/mcp", nil)
		}, []string{r3, r4}},
	}
	for _, b := range bridges {
		for _, revision := range b.speaks {
			t.Run(b.name+"/"+b.carrier+"/"+revision, func(t *testing.T) {
				t.Parallel()
				v := visitAsked(t, b.open(t), revision)
				judge(t, meeting{ferry, behind + b.name, b.carrier, revision, revision}, v.tour(t.Context()), downgraded(revision))
			})
		}
	}
}

// remote is the transport to a URL through mcp-remote.
func remote(t *testing.T, url string, options ...string) *transport.Command {
	t.Helper()
	args := append([]string{absolute(t, "node_modules", mcpRemote, "dist", "proxy.js"), url, "--allow-http"}, options...)
	c := command(t, "node", args...)
	c.Env = []string{"MCP_REMOTE_CONFIG_DIR=" + t.TempDir()}
	return c
}
