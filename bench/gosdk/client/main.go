// Command client is the measured client made with the official Go SDK.
package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrymcp/ferry/bench/program"
)

func main() {
	s := program.ParseClient()
	s.Run(func() error { return run(context.Background(), s) })
}

func run(ctx context.Context, s program.ClientSettings) error {
	var to mcp.Transport = &mcp.StdioTransport{}
	if s.HTTP != "" {
		to = &mcp.StreamableClientTransport{Endpoint: s.HTTP}
	}
	sess, err := mcp.NewClient(&mcp.Implementation{Name: "bench-gosdk", Version: "1.0.0"}, nil).Connect(ctx, to, nil)
	if err != nil {
		return err
	}
	defer sess.Close()
	return s.Calls(ctx, func(ctx context.Context, text string) (string, error) {
		result, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: program.Echo{Text: text}})
		if err != nil {
			return "", err
		}
		content, ok := result.Content[0].(*mcp.TextContent)
		if !ok {
			return "", fmt.Errorf("content is %T", result.Content[0])
		}
		return content.Text, nil
	})
}
