package main

import (
	"context"

	"github.com/ferrymcp/ferry/bench/program"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// addTyped adds n tools of ten types.
func addTyped(srv *server.Server, n int) {
	kinds := []func(*server.Server, int){
		search[string], search[bool], search[int], search[int64], search[float64],
		search[[]string], search[[]bool], search[[]int], search[[]int64], search[[]float64],
	}
	for i := range n {
		kinds[i%len(kinds)](srv, i)
	}
}

func search[Kind any](srv *server.Server, i int) {
	server.AddTool(srv, mcp.Tool{Name: program.ToolName(i), Description: program.ToolDescription(i)},
		func(context.Context, *server.Call, program.Search[Kind]) (program.Found, error) {
			return program.Found{Tickets: []string{}}, nil
		})
}

// addChecked adds the tools whose arguments are checked against given schemas.
func addChecked(srv *server.Server) {
	accept := func(context.Context, *server.Call, map[string]any) (string, error) { return "fits", nil }
	server.AddTool(srv, mcp.Tool{Name: program.Typical, InputSchema: program.ToolSchema}, accept)
	server.AddTool(srv, mcp.Tool{Name: program.Hard, InputSchema: program.HardSchema}, accept)
	server.AddTool(srv, mcp.Tool{Name: program.Ask}, ask)
}

// ask remembers something and asks: what it knows by then travels sealed, for
// clients without a session.
func ask(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
	if _, err := server.Once(ctx, c, "ticket", func(context.Context) (string, error) { return "T-0001", nil }); err != nil {
		return "", err
	}
	answer, err := server.Elicit[program.Confirmation](ctx, c, "confirm", "Go on?")
	if err != nil {
		return "", err
	}
	if !answer.Accepted() || !answer.Value.Sure {
		return "stopped", nil
	}
	return "fits", nil
}
