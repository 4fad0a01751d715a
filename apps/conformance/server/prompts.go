package main

import (
	"context"
	"fmt"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// addPrompt adds a prompt whose messages are the blocks, said by the user.
func addPrompt(srv *server.Server, p mcp.Prompt, blocks func(args map[string]string) []mcp.Content) {
	srv.AddPrompt(p, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		result := &mcp.GetPromptResult{Description: p.Description}
		for _, block := range blocks(args) {
			result.Messages = append(result.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: block})
		}
		return result, nil
	})
}

func addPrompts(srv *server.Server) {
	addPrompt(srv, mcp.Prompt{Name: "test_simple_prompt", Description: "Has no arguments"},
		func(map[string]string) []mcp.Content {
			return []mcp.Content{mcp.Text("This is a simple prompt for testing.")}
		})
	addPrompt(srv, mcp.Prompt{
		Name: "test_prompt_with_arguments", Description: "Repeats its arguments",
		Arguments: []mcp.PromptArgument{
			{Name: "arg1", Description: "First test argument", Required: true},
			{Name: "arg2", Description: "Second test argument", Required: true},
		},
	}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{mcp.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))}
	})
	addPrompt(srv, mcp.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "Embeds a resource",
		Arguments: []mcp.PromptArgument{{Name: "resourceUri", Description: "URI of the resource to embed", Required: true}},
	}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{
			mcp.Embed(mcp.TextResource(args["resourceUri"], "text/plain", "Embedded resource content for testing.")),
			mcp.Text("Please process the embedded resource above."),
		}
	})
	addPrompt(srv, mcp.Prompt{Name: "test_prompt_with_image", Description: "Shows an image"},
		func(map[string]string) []mcp.Content {
			return []mcp.Content{mcp.Image(pixel, "image/png"), mcp.Text("Please analyze the image above.")}
		})
}
