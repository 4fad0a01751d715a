package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	if err := params.Validate(); err != nil {
		return nil, invalidQuestion("params: %v", err)
	}
	result, err := contained(ctx, c, c.opts.OnSample, params)
	if err != nil {
		return nil, err
	}
	return sampleAnswer(declared, result)
}

// sampleAnswer returns what a model said as the server may have it: of the kinds
// of blocks that the protocol has, and calls of tools only if they are declared.
func sampleAnswer(declared *mcp.SamplingCapability, result *mcp.CreateMessageResult) (*mcp.CreateMessageResult, error) {
	if len(result.Content) == 0 {
		return nil, errors.New("the handler returned a message without content")
	}
	answer := *result
	answer.ResultType = ""
	answer.Role = cmp.Or(answer.Role, mcp.RoleAssistant)
	if err := answer.Validate(); err != nil {
		return nil, fmt.Errorf("what the handler returned: %w", err)
	}
	if declared.Tools == nil && slices.ContainsFunc(answer.Content, func(b mcp.Content) bool { return b.Type == mcp.TypeToolUse || b.Type == mcp.TypeToolResult }) {
		return nil, errors.New("the handler returned calls of tools, which the client has not declared")
	}
	return &answer, nil
}
