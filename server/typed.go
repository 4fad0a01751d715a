package server

import (
	"context"
	"reflect"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/mcp"
)

// describeTool completes a typed tool.
func describeTool[In, Out any](t *mcp.Tool) (input *schema.Schema, present presenter[Out], params []httpwire.Param, err error) {
	if err = compactSchemas(t); err != nil {
		return nil, nil, nil, err
	}
	if input, err = inputOf[In](t); err != nil {
		return nil, nil, nil, err
	}
	if present, err = outputOf[Out](t); err != nil {
		return nil, nil, nil, err
	}
	params, err = checkTool(t)
	return input, present, params, err
}

// inputOf returns the schema that arguments are validated with: the tool's, or
// the one inferred from In, which the tool then shows.
func inputOf[In any](t *mcp.Tool) (*schema.Schema, error) {
	if len(t.InputSchema) > 0 {
		return schema.Compile(t.InputSchema)
	}
	in := reflect.TypeFor[In]()
	if in.Kind() == reflect.Interface {
		t.InputSchema = anyObject
		return schema.Compile(anyObject)
	}
	inferred, err := schema.ForType(in)
	if err != nil {
		return nil, err
	}
	t.InputSchema = inferred.Raw()
	return inferred, nil
}

// A presenter turns what a typed handler returned into a tool result.
type presenter[Out any] func(ctx context.Context, c *Call, out Out) (any, error)

// outputOf returns how results of type Out are presented, and gives the tool
// its output schema.
func outputOf[Out any](t *mcp.Tool) (presenter[Out], error) {
	out := reflect.TypeFor[Out]()
	if out == reflect.TypeFor[*mcp.CallToolResult]() || out == reflect.TypeFor[mcp.CallToolResult]() {
		return asIs[Out], nil
	}
	if len(t.OutputSchema) > 0 {
		output, err := schema.Compile(t.OutputSchema)
		if err != nil {
			return nil, err
		}
		return structured[Out](output), nil
	}
	switch {
	case out.Kind() == reflect.String:
		return asText[Out], nil
	case out.Kind() == reflect.Interface:
		return structured[Out](nil), nil
	}
	inferred, err := schema.ForType(out)
	if err != nil {
		return nil, err
	}
	t.OutputSchema = inferred.Raw()
	if out.Kind() == reflect.Pointer {
		return structured[Out](inferred), nil // the type does not rule out nil
	}
	return structured[Out](nil), nil // the type is its own proof
}

func asIs[Out any](_ context.Context, _ *Call, out Out) (any, error) {
	return out, nil
}

func asText[Out any](_ context.Context, _ *Call, out Out) (any, error) {
	text := reflect.ValueOf(out).String()
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}}, nil
}

// structured presents a value as structured content, with its JSON as text for
// clients that know only text. A non-nil schema checks it first.
func structured[Out any](output *schema.Schema) presenter[Out] {
	return func(ctx context.Context, c *Call, out Out) (any, error) {
		if result, ok := any(out).(*mcp.CallToolResult); ok {
			return result, nil // behind an interface
		}
		if result, ok := any(out).(*mcp.InputRequiredResult); ok {
			return result, nil
		}
		raw, err := marshal(out)
		if err != nil {
			return nil, c.srv.logOutput(ctx, c, err)
		}
		if output != nil {
			if err := output.Validate(raw); err != nil {
				return nil, c.srv.logOutput(ctx, c, err)
			}
		}
		return &mcp.CallToolResult{
			Content:           []mcp.Content{mcp.Text(string(raw))},
			StructuredContent: raw,
		}, nil
	}
}
