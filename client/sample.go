package client

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ferrymcp/ferry/mcp"
)

// sample asks the user's model with the handler.
func (c *Client) sample(ctx context.Context, declared *mcp.SamplingCapability, params *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if params == nil {
		return nil, invalidQuestion("params are missing")
	}
	if declared.Tools == nil && (params.Tools != nil || params.ToolChoice != nil) {
		return nil, invalidQuestion("the client has not declared tools in sampling")
	}
	if problem := checkMessages(params.Messages); problem != "" {
		return nil, invalidQuestion("messages: %s", problem)
	}
	result, err := contained(ctx, c, c.opts.OnSample, params)
	if err != nil {
		return nil, err
	}
	if len(result.Content) == 0 {
		return nil, errors.New("the handler returned a message without content")
	}
	answer := *result
	answer.ResultType = ""
	answer.Role = cmp.Or(answer.Role, mcp.RoleAssistant)
	return &answer, nil
}

// checkMessages tells what is wrong with the order of messages: every use of a
// tool has its result in the next message, which holds nothing else.
func checkMessages(messages []mcp.SamplingMessage) string {
	var open []string // the uses of the message before
	for _, m := range messages {
		var uses, results []string
		for _, block := range m.Content {
			switch {
			case block.ToolUse != nil:
				uses = append(uses, block.ToolUse.ID)
			case block.ToolResult != nil:
				results = append(results, block.ToolResult.ToolUseID)
			}
		}
		switch {
		case m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant:
			return "unknown role"
		case len(results) > 0 && len(results) != len(m.Content):
			return "results of tools are mixed with other content"
		}
		for _, id := range open {
			if !slices.Contains(results, id) {
				return "a use of a tool has no result"
			}
		}
		open = uses
	}
	if len(open) > 0 {
		return "a use of a tool has no result"
	}
	return ""
}
