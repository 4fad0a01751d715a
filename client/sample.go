package client

import (
	"cmp"
	"context"
	"errors"

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
	if len(result.Content) == 0 {
		return nil, errors.New("the handler returned a message without content")
	}
	answer := *result
	answer.ResultType = ""
	answer.Role = cmp.Or(answer.Role, mcp.RoleAssistant)
	return &answer, nil
}
