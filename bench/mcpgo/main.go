// Command mcpgo is the measured server made with mark3labs/mcp-go. Validation
// is on, as it is in the other two SDKs.
package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrymcp/ferry/bench/program"
)

func main() {
	s := program.Parse()
	srv := newServer(s.Tools)
	addTyped(srv, s.Typed)
	if s.Checked {
		addChecked(srv)
	}
	s.Run(func() error {
		if s.Stdio {
			return server.NewStdioServer(srv).Listen(context.Background(), os.Stdin, os.Stdout)
		}
		return s.ListenAndServe(server.NewStreamableHTTPServer(srv, server.WithStateLess(s.Stateless)))
	})
}

func newServer(tools int) *server.MCPServer {
	srv := server.NewMCPServer("bench-mcpgo", "1.0.0",
		server.WithToolCapabilities(true), server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	srv.AddTool(tool("echo", program.EchoDescription),
		mcp.NewTypedToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in program.Echo) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(in.Text), nil
		}))
	srv.AddTool(mcp.NewTool("add", mcp.WithDescription(program.AddDescription),
		mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required()), mcp.WithOutputSchema[program.Sum]()),
		mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in program.Add) (program.Sum, error) {
			return program.Sum{Sum: in.A + in.B}, nil
		}))
	srv.AddTool(tool("progress", program.ProgressDescription), mcp.NewTypedToolHandler(progress))
	srv.AddTool(tool("poke", program.PokeDescription), poke(srv))
	for i := range tools {
		srv.AddTool(mcp.NewToolWithRawSchema(program.ToolName(i), program.ToolDescription(i), program.ToolSchema), nothing)
	}
	return srv
}

func tool(name, description string) mcp.Tool {
	return mcp.NewToolWithRawSchema(name, description, program.ObjectSchemas[name])
}

func nothing(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("this tool is only there to be listed")
}

func progress(ctx context.Context, req mcp.CallToolRequest, in program.Progress) (*mcp.CallToolResult, error) {
	srv := server.ServerFromContext(ctx)
	if req.Params.Meta == nil {
		return mcp.NewToolResultText("done"), nil
	}
	for i := range in.N {
		params := map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": float64(i + 1), "total": float64(in.N),
		}
		// Sending fails while its queue of notifications is full.
		for srv.SendNotificationToClient(ctx, "notifications/progress", params) != nil {
			time.Sleep(20 * time.Microsecond)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	return mcp.NewToolResultText("done"), nil
}

// poke adds a tool, and removes it the next time.
func poke(srv *server.MCPServer) server.ToolHandlerFunc {
	var mu sync.Mutex
	there := false
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; there {
			srv.AddTool(mcp.NewTool(program.Poked), nothing)
			return mcp.NewToolResultText("added"), nil
		}
		srv.DeleteTools(program.Poked)
		return mcp.NewToolResultText("removed"), nil
	}
}
