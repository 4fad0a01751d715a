package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrymcp/ferry/bench/program"
)

// addTyped adds n tools of ten types.
func addTyped(srv *mcp.Server, n int) {
	kinds := []func(*mcp.Server, int){
		search[string], search[bool], search[int], search[int64], search[float64],
		search[[]string], search[[]bool], search[[]int], search[[]int64], search[[]float64],
	}
	for i := range n {
		kinds[i%len(kinds)](srv, i)
	}
}

func search[Kind any](srv *mcp.Server, i int) {
	mcp.AddTool(srv, &mcp.Tool{Name: program.ToolName(i), Description: program.ToolDescription(i)},
		func(context.Context, *mcp.CallToolRequest, program.Search[Kind]) (*mcp.CallToolResult, program.Found, error) {
			return nil, program.Found{Tickets: []string{}}, nil
		})
}

// addChecked adds the tools whose arguments are checked against given schemas.
func addChecked(srv *mcp.Server) {
	accept := func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
		return text("fits"), nil, nil
	}
	mcp.AddTool(srv, &mcp.Tool{Name: program.Typical, InputSchema: program.ToolSchema}, accept)
	mcp.AddTool(srv, &mcp.Tool{Name: program.Hard, InputSchema: program.HardSchema}, accept)
}
