// Command gosdk is the measured server made with the official Go SDK.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
			return srv.Run(context.Background(), &mcp.StdioTransport{})
		}
		return s.ListenAndServe(mcp.NewStreamableHTTPHandler(
			func(*http.Request) *mcp.Server { return srv },
			&mcp.StreamableHTTPOptions{Stateless: s.Stateless},
		))
	})
}

func newServer(tools int) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "bench-gosdk", Version: "1.0.0"},
		&mcp.ServerOptions{PageSize: max(1000, tools+4)}) // a list is one page
	mcp.AddTool(srv, &mcp.Tool{Name: "echo", Description: program.EchoDescription},
		func(_ context.Context, _ *mcp.CallToolRequest, in program.Echo) (*mcp.CallToolResult, any, error) {
			return text(in.Text), nil, nil
		})
	mcp.AddTool(srv, &mcp.Tool{Name: "add", Description: program.AddDescription},
		func(_ context.Context, _ *mcp.CallToolRequest, in program.Add) (*mcp.CallToolResult, program.Sum, error) {
			return nil, program.Sum{Sum: in.A + in.B}, nil
		})
	mcp.AddTool(srv, &mcp.Tool{Name: "progress", Description: program.ProgressDescription}, progress)
	mcp.AddTool(srv, &mcp.Tool{Name: "poke", Description: program.PokeDescription}, poke(srv))
	for i := range tools {
		srv.AddTool(&mcp.Tool{
			Name: program.ToolName(i), Description: program.ToolDescription(i), InputSchema: program.ToolSchema,
		}, nothing)
	}
	return srv
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func nothing(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("this tool is only there to be listed")
}

func progress(ctx context.Context, req *mcp.CallToolRequest, in program.Progress) (*mcp.CallToolResult, any, error) {
	token := req.Params.GetProgressToken()
	for i := range in.N {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i + 1), Total: float64(in.N),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("done"), nil, nil
}

// poke adds a tool, and removes it the next time.
func poke(srv *mcp.Server) mcp.ToolHandlerFor[struct{}, any] {
	var mu sync.Mutex
	there := false
	return func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; there {
			srv.AddTool(&mcp.Tool{Name: program.Poked, InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
			return text("added"), nil, nil
		}
		srv.RemoveTools(program.Poked)
		return text("removed"), nil, nil
	}
}
