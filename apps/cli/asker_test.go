package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// askForm asks for something of everything and says what was answered.
func askForm(ctx context.Context, c *server.Call) (string, error) {
	form := &mcp.FormSchema{
		Required: []string{"name", "size"},
		Fields: []mcp.FormField{
			{Name: "name", Title: "Your name", Type: "string", MaxLength: mcp.Ptr(int64(5))},
			{Name: "size", Type: "string", Description: "How big?", OneOf: []mcp.FormOption{
				{Const: "s", Title: "Small"}, {Const: "m", Title: "Medium"}, {Const: "l", Title: "Large"},
			}},
			{Name: "count", Type: "integer", Minimum: mcp.Ptr(1.0), Default: json.RawMessage("3")},
			{Name: "likes", Type: "array", Items: &mcp.FormItems{Type: "string", Enum: []string{"tea", "coffee"}}},
			{Name: "sure", Type: "boolean"},
		},
	}
	answer, err := server.ElicitForm(ctx, c, "who", "Who are you?", form)
	if err != nil {
		return "", err
	}
	return answer.Action + " " + string(answer.Content), nil
}

// serveAsker serves newAsker on standard input and output.
func serveAsker() {
	if err := newAsker().ServeStdio(context.Background()); err != nil {
		os.Exit(1)
	}
}

// newAsker makes a server that asks before it answers.
func newAsker() *server.Server {
	srv := server.New(mcp.Implementation{Name: "asker", Version: "1"}, nil)
	tool := func(name string, h func(context.Context, *server.Call) (string, error)) {
		srv.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *server.Call) (any, error) {
			text, err := h(ctx, c)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}}, nil
		})
	}
	tool("ask", askForm)
	tool("visit", func(ctx context.Context, c *server.Call) (string, error) {
		answer, err := server.ElicitURL(ctx, c, "page", &mcp.ElicitParams{Message: "Please log in.", URL: "https://login.example/start"})
		if err != nil {
			return "", err
		}
		return answer.Action + " " + string(answer.Content), nil
	})
	tool("where", func(ctx context.Context, c *server.Call) (string, error) {
		roots, err := server.Roots(ctx, c, "roots")
		var lines []string
		for _, r := range roots {
			lines = append(lines, r.Name+" "+r.URI)
		}
		return strings.Join(lines, "\n"), err
	})
	srv.AddPrompt(mcp.Prompt{Name: "asking"}, func(ctx context.Context, c *server.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
		text, err := askForm(ctx, c)
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(text)}}}, err
	})
	srv.AddResource(mcp.Resource{URI: "asker://me", Name: "asking"},
		func(ctx context.Context, c *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			text, err := askForm(ctx, c)
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", text)}}, err
		})
	return srv
}
