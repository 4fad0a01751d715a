// Command server is the measured server made with Ferry.
package main

import (
	"context"
	"errors"
	"sync"

	"github.com/ferrymcp/ferry/bench/program"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
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
			return srv.ServeStdio(context.Background())
		}
		return serveHTTP(s, srv)
	})
}

// ownTools is how many tools there are without those that are asked for.
const ownTools = 4

func newServer(tools int) *server.Server {
	srv := server.New(mcp.Implementation{Name: "bench-ferry", Version: "1.0.0"},
		&server.Options{
			ProgressRate: -1,                        // every step is counted
			PageSize:     max(1000, tools+ownTools), // a list is one page
		})
	server.AddTool(srv, mcp.Tool{Name: "echo", Description: program.EchoDescription},
		func(_ context.Context, _ *server.Call, in program.Echo) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(in.Text)}}, nil
		})
	server.AddTool(srv, mcp.Tool{Name: "add", Description: program.AddDescription},
		func(_ context.Context, _ *server.Call, in program.Add) (program.Sum, error) {
			return program.Sum{Sum: in.A + in.B}, nil
		})
	server.AddTool(srv, mcp.Tool{Name: "progress", Description: program.ProgressDescription},
		func(ctx context.Context, c *server.Call, in program.Progress) (string, error) {
			for i := range in.N {
				if err := c.Progress(ctx, float64(i+1), float64(in.N), ""); err != nil {
					return "", err
				}
			}
			return "done", nil
		})
	server.AddTool(srv, mcp.Tool{Name: "poke", Description: program.PokeDescription}, poke(srv))
	extra := make([]server.RawTool, tools)
	for i := range extra {
		extra[i] = server.RawTool{
			Tool: mcp.Tool{
				Name: program.ToolName(i), Description: program.ToolDescription(i), InputSchema: program.ToolSchema,
			},
			Handler: nothing,
		}
	}
	srv.AddRawTools(extra...)
	return srv
}

func nothing(context.Context, *server.Call) (any, error) {
	return nil, errors.New("this tool is only there to be listed")
}

// poke adds a tool, and removes it the next time.
func poke(srv *server.Server) func(context.Context, *server.Call, struct{}) (string, error) {
	var mu sync.Mutex
	there := false
	return func(context.Context, *server.Call, struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; there {
			srv.AddRawTool(mcp.Tool{Name: program.Poked}, nothing)
			return "added", nil
		}
		srv.RemoveTools(program.Poked)
		return "removed", nil
	}
}
