package everything

import (
	"context"
	"fmt"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// teams are who works where.
var teams = map[string][]string{
	"Engineering": {"Alice", "Bob", "Charlie"},
	"Sales":       {"David", "Eve", "Frank"},
	"Marketing":   {"Grace", "Henry", "Iris"},
	"Support":     {"John", "Kim", "Lee"},
}

// addPrompts adds prompts, without arguments, with some, with completion, and with a
// resource.
func addPrompts(srv *server.Server) {
	srv.AddPrompt(mcp.Prompt{
		Name: "simple-prompt", Title: "Simple prompt", Icons: icons,
		Description: "A prompt without arguments",
	}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return says("This is a simple prompt without arguments."), nil
	})
	srv.AddPrompt(mcp.Prompt{
		Name: "args-prompt", Title: "Prompt with arguments", Icons: icons,
		Description: "A prompt with an argument that it needs and one that it can do without",
		Arguments: []mcp.PromptArgument{
			{Name: "city", Description: "a city", Required: true},
			{Name: "state", Description: "the state that it is in"},
		},
	}, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		where := args["city"]
		if state := args["state"]; state != "" {
			where += ", " + state
		}
		return says("What's weather in " + where + "?"), nil
	})
	srv.AddPrompt(mcp.Prompt{
		Name: "completable-prompt", Title: "Prompt with completion", Icons: icons,
		Description: "A prompt whose arguments are completed, the second by what the first is",
		Arguments: []mcp.PromptArgument{
			{Name: "department", Description: "a department", Required: true},
			{Name: "name", Description: "somebody who works there", Required: true},
		},
	}, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		return says(fmt.Sprintf("Please promote %s to the head of the %s team.", args["name"], args["department"])), nil
	})
	srv.CompletePrompt("completable-prompt", "department", server.OneOf("Engineering", "Sales", "Marketing", "Support"))
	srv.CompletePrompt("completable-prompt", "name",
		func(_ context.Context, _ *server.Call, _ string, known map[string]string) ([]string, error) {
			return teams[known["department"]], nil
		})
	srv.AddPrompt(mcp.Prompt{
		Name: "resource-prompt", Title: "Prompt with a resource", Icons: icons,
		Description: "A prompt that holds a resource",
		Arguments: []mcp.PromptArgument{
			{Name: "resourceType", Description: "Text or Blob", Required: true},
			{Name: "resourceId", Description: "number of the resource", Required: true},
		},
	}, resourcePrompt)
	srv.CompletePrompt("resource-prompt", "resourceType", server.OneOf("Text", "Blob"))
	srv.CompletePrompt("resource-prompt", "resourceId", completeID)
}

func resourcePrompt(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
	kind := args["resourceType"]
	if kind != "Text" && kind != "Blob" {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid resourceType: %s. Must be Text or Blob.", kind)
	}
	id, ok := wholeText(args["resourceId"])
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid resourceId: %s. Must be a finite positive integer.", args["resourceId"])
	}
	r := says(fmt.Sprintf("This prompt includes the %s resource with id: %s. Please analyze the following resource:", kind, id))
	r.Messages = append(r.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: mcp.Embed(dynamic(kind == "Blob", id))})
	return r, nil
}

// says is a prompt of one message.
func says(text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(text)}}}
}
