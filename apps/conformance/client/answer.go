package main

import (
	"context"
	"encoding/json"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// answer makes the client one that answers all questions of a server.
func answer(opts *client.Options) {
	opts.OnElicit = fillIn
	opts.OnSample = func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{
			Model: "none", Content: mcp.SamplingContent{mcp.Text(sampleText)}, StopReason: mcp.StopEndTurn,
		}, nil
	}
	opts.Roots = []mcp.Root{{URI: "file:///tmp", Name: sampleText}}
}

// fillIn accepts a form with plausible values in the fields without a default.
func fillIn(_ context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	values := map[string]any{}
	for _, field := range params.RequestedSchema.Fields {
		if field.Default == nil {
			values[field.Name] = fieldValue(&field)
		}
	}
	content, err := json.Marshal(values)
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, err
}

func fieldValue(field *mcp.FormField) any {
	options := field.Options()
	switch kind := field.Kind(); {
	case kind == mcp.FormChoice && len(options) > 0:
		return options[0].Const
	case kind == mcp.FormChoices && len(options) > 0:
		return []string{options[0].Const}
	default:
		return sampleOf(field.Type)
	}
}
