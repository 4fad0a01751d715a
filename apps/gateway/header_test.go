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

// TestTraceContext checks that the context of a trace passes through unchanged,
// between clients of every revision and servers of both eras.
func TestTraceContext(t *testing.T) {
	t.Parallel()
	const parent = `"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`
	for _, sessions := range []bool{false, true} {
		up := server.New(info, nil)
		up.AddRawTool(mcp.Tool{Name: "trace"}, func(_ context.Context, c *server.Call) (any, error) {
			meta := c.Meta()
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(string(meta["traceparent"]) + string(meta["baggage"]))}}, nil
		})
		g := open(t, nil, host.Upstream{Name: "up", Transport: serve(t, up, sessions)})
		for _, revision := range revisions {
			sess := connect(t, g, &client.Options{Revision: revision})
			opts := &client.CallOptions{Meta: mcp.Meta{"traceparent": json.RawMessage(parent), "baggage": json.RawMessage(`"a=b"`)}}
			result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_trace"}, opts)
			if err != nil || result.Content[0].Text != parent+`"a=b"` {
				t.Errorf("%s, server with sessions %v: got %+v, %v", revision, sessions, result, err)
			}
		}
	}
}
