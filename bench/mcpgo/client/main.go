// Command client is the measured client made with mark3labs/mcp-go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ferrymcp/ferry/bench/program"
)

func main() {
	s := program.ParseClient()
	s.Run(func() error { return run(context.Background(), s) })
}

func run(ctx context.Context, s program.ClientSettings) error {
	var to transport.Interface = transport.NewIO(os.Stdin, os.Stdout, io.NopCloser(strings.NewReader("")))
	if s.HTTP != "" {
		var err error
		if to, err = transport.NewStreamableHTTP(s.HTTP); err != nil {
			return err
		}
	}
	c := client.NewClient(to)
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer c.Close()
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "bench-mcpgo", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return err
	}
	return s.Calls(ctx, func(ctx context.Context, text string) (string, error) {
		call := mcp.CallToolRequest{}
		call.Params.Name, call.Params.Arguments = "echo", program.Echo{Text: text}
		result, err := c.CallTool(ctx, call)
		if err != nil {
			return "", err
		}
		content, ok := result.Content[0].(mcp.TextContent)
		if !ok {
			return "", fmt.Errorf("content is %T", result.Content[0])
		}
		return content.Text, nil
	})
}
