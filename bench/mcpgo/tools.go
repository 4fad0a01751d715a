package main

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrymcp/ferry/bench/program"
)

// addTyped adds n tools of ten types.
func addTyped(srv *server.MCPServer, n int) {
	kinds := []func(*server.MCPServer, int){
		search[string], search[bool], search[int], search[int64], search[float64],
		search[[]string], search[[]bool], search[[]int], search[[]int64], search[[]float64],
	}
	for i := range n {
		kinds[i%len(kinds)](srv, i)
	}
}

func search[Kind any](srv *server.MCPServer, i int) {
	srv.AddTool(
		mcp.NewTool(program.ToolName(i), mcp.WithDescription(program.ToolDescription(i)),
			mcp.WithInputSchema[program.Search[Kind]](), mcp.WithOutputSchema[program.Found]()),
		mcp.NewStructuredToolHandler(func(context.Context, mcp.CallToolRequest, program.Search[Kind]) (program.Found, error) {
			return program.Found{Tickets: []string{}}, nil
		}))
}

// addChecked adds the tools whose arguments are checked against given schemas.
func addChecked(srv *server.MCPServer) {
	accept := mcp.NewTypedToolHandler(func(context.Context, mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("fits"), nil
	})
	srv.AddTool(mcp.NewToolWithRawSchema(program.Typical, "", program.ToolSchema), accept)
	srv.AddTool(mcp.NewToolWithRawSchema(program.Hard, "", program.HardSchema), accept)
}
