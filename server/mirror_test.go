package server_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// Package httpwire tests each rule for itself.
func TestHeaderAnnotationsAreChecked(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-XMCP-TOKEN", "HTTP-XMCP-TYPE", "HTTP-XMCP-UNIQUE", "HTTP-XMCP-REACHABLE", "TOOL-XMCPHEADER-TOKEN", "TOOL-XMCPHEADER-PRIMITIVE", "TOOL-XMCPHEADER-UNIQUE", "TOOL-XMCPHEADER-REACHABLE")
	srv := newServer(t, nil)
	raw := func(context.Context, *server.Call) (any, error) { return nil, nil }
	typed := func(context.Context, *server.Call, map[string]any) (string, error) { return "", nil }
	for why, property := range map[string]string{
		`property "p": it is empty`: `"p":{"type":"string","x-mcp-header":""}`,
		`header name`:               `"p":{"type":"string","x-mcp-header":"a b"}`,
		`only strings`:              `"p":{"type":"number","x-mcp-header":"P"}`,
		`another property`:          `"p":{"type":"string","x-mcp-header":"P"},"q":{"type":"string","x-mcp-header":"p"}`,
		`alone leads to`:            `"p":{"type":"array","items":{"type":"string","x-mcp-header":"P"}}`,
	} {
		tool := mcp.Tool{Name: "routed", InputSchema: json.RawMessage(`{"type":"object","properties":{` + property + `}}`)}
		panics(t, why, func() { srv.AddRawTool(tool, raw) })
		panics(t, why, func() { server.AddTool(srv, tool, typed) })
	}
}
