// Call starts a server, lists its tools and calls one:
//
//	go run ./examples/call go run ./examples/greeter
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return errors.New("usage: call COMMAND [ARGUMENT...]")
	}
	c := client.New(mcp.Implementation{Name: "call", Version: "1.0.0"}, nil)
	sess, err := c.Connect(ctx, &transport.Command{Path: command[0], Args: command[1:], Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { _ = sess.Close() }()
	for tool, err := range sess.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", tool.Name, tool.Description)
	}
	result, err := sess.CallTool(ctx, &mcp.CallToolParams{
		Name:      "greet",
		Arguments: json.RawMessage(`{"name":"Ada"}`),
	}, nil)
	if err != nil {
		return err
	}
	for _, block := range result.Content {
		fmt.Println(block.Text)
	}
	return nil
}
