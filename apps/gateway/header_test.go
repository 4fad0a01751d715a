package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// TestHeaders calls a tool that wants an argument in a header, through a gateway
// that is reached over HTTP and reaches the tool over HTTP.
func TestHeaders(t *testing.T) {
	t.Parallel()
	up := server.New(info, nil)
	server.AddTool(up, mcp.Tool{
		Name:        "route",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
	}, func(_ context.Context, c *server.Call, _ map[string]any) (string, error) {
		return strings.Join(c.Header["Mcp-Param-Region"], ","), nil
	})
	t.Cleanup(func() { _ = up.Close() })
	g := open(t, nil, host.Upstream{Name: "up", Transport: httpclient.New(mcptest.Serve(t, up, nil), nil)})
	for name, via := range map[string]transport.Transport{
		"http":   httpclient.New(mcptest.Serve(t, g.Server(), nil), nil),
		"memory": serve(t, g.Server(), false),
	} {
		for _, revision := range revisions {
			t.Run(name+"/"+revision, func(t *testing.T) {
				sess := mcptest.Connect(t, via, &client.Options{Revision: revision})
				result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_route", Arguments: json.RawMessage(`{"region":"eu"}`)}, nil)
				if err != nil || result.IsError || result.Content[0].Text != "eu" {
					t.Errorf("got %+v, %v; want the header of the upstream call", result, err)
				}
				for tool, err := range sess.Tools(t.Context()) {
					if err != nil || !strings.Contains(string(tool.InputSchema), `"x-mcp-header":"Region"`) {
						t.Errorf("tool %+v, %v; want its schema unchanged", tool, err)
					}
				}
			})
		}
	}
}
