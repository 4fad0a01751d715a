package main

import (
	"context"
	"fmt"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

type profile struct {
	Name  string `json:"name"`
	Color string `json:"color,omitempty" jsonschema:"enum=red|green"`
}

// addQuestions adds the tools that ask the client.
func addQuestions(srv *server.Server) {
	tool := func(name string, run func(ctx context.Context, c *server.Call) (string, error)) {
		server.AddTool(srv, mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) { return run(ctx, c) })
	}
	tool("ask", ask)
	tool("visit", func(ctx context.Context, c *server.Call) (string, error) {
		page := mcp.ElicitParams{Message: "Sign in", URL: "https://example.com/sign-in", ElicitationID: "e1"}
		answer, err := server.ElicitURL(ctx, c, "page", &page)
		if err != nil {
			return "", err
		}
		return answer.Action, nil
	})
	tool("think", func(ctx context.Context, c *server.Call) (string, error) {
		riddle := mcp.SamplingMessage{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("What is 1+1?")}}
		said, err := server.Sample(ctx, c, "riddle", &mcp.CreateMessageParams{MaxTokens: 10, Messages: []mcp.SamplingMessage{riddle}})
		if err != nil {
			return "", err
		}
		return said.Model + " says " + said.Content[0].Text, nil
	})
	tool("where", where)
	tool("both", func(ctx context.Context, c *server.Call) (string, error) {
		var who, root string
		err := server.All(
			func() (err error) { who, err = ask(ctx, c); return err },
			func() (err error) { root, err = where(ctx, c); return err },
		)
		return who + ", " + root, err
	})
}

func ask(ctx context.Context, c *server.Call) (string, error) {
	who, err := server.Elicit[profile](ctx, c, "form", "Who are you?")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %s", who.Action, who.Value.Name, who.Value.Color), nil
}

func where(ctx context.Context, c *server.Call) (string, error) {
	roots, err := server.Roots(ctx, c, "roots")
	if err != nil {
		return "", err
	}
	return roots[0].URI, nil
}
