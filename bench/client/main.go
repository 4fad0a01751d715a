// Command client is the measured client made with Ferry.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/ferrymcp/ferry/bench/program"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

func main() {
	s := program.ParseClient()
	s.Run(func() error { return run(context.Background(), s) })
}

func run(ctx context.Context, s program.ClientSettings) error {
	to := transport.Transport(httpclient.New(s.HTTP, nil))
	if s.Stdio {
		to = transport.Dial(func(context.Context) (transport.Conn, error) {
			return transport.Lines(os.Stdin, os.Stdout, nil), nil
		})
	}
	sess, err := client.New(mcp.Implementation{Name: "bench-ferry", Version: "1.0.0"}, nil).Connect(ctx, to)
	if err != nil {
		return err
	}
	defer sess.Close()
	return s.Calls(ctx, func(ctx context.Context, text string) (string, error) {
		arguments, err := json.Marshal(program.Echo{Text: text})
		if err != nil {
			return "", err
		}
		result, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: arguments}, nil)
		if err != nil {
			return "", err
		}
		return result.Content[0].Text, nil
	})
}
