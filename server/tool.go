package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ferrymcp/ferry/internal/httpwire"
	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// anyObject is the input schema of tools that give none.
var anyObject = json.RawMessage(`{"type":"object"}`)

// A RawTool is a tool for [Server.AddRawTools]: its description, and a handler
// that gets the arguments undecoded.
type RawTool struct {
	mcp.Tool
	Handler Handler
}

// AddRawTool adds a tool whose handler reads [Call.Arguments] itself and
// returns a *mcp.CallToolResult or a json.RawMessage. Arguments are not
// validated: it is for gateways, and for tools whose shape is not known to Go.
// Use [AddTool] for all others. It panics when the name or a schema is invalid.
func (s *Server) AddRawTool(t mcp.Tool, h Handler) {
	s.AddRawTools(RawTool{Tool: t, Handler: h})
}

// AddRawTools is [Server.AddRawTool] for many tools in one change. Schemas are
// only checked to be objects: those of other servers need not be compiled to
// be passed on.
func (s *Server) AddRawTools(tools ...RawTool) {
	entries := make([]*entry[mcp.Tool], len(tools))
	for i, t := range tools {
		if t.Handler == nil {
			panic(fmt.Sprintf("server.AddRawTool: tool %q has no handler", t.Name))
		}
		if err := compactSchemas(&t.Tool); err != nil {
			panic(fmt.Sprintf("server.AddRawTool: tool %q: %v", t.Name, err))
		}
		params, err := checkTool(&t.Tool)
		if err != nil {
			panic(fmt.Sprintf("server.AddRawTool: tool %q: %v", t.Name, err))
		}
		entries[i] = &entry[mcp.Tool]{key: t.Name, shown: t.Tool, handler: t.Handler, params: params}
	}
	s.tools.add(entries...)
}

// RemoveTools removes tools by name; names that are not there are ignored.
func (s *Server) RemoveTools(names ...string) { s.tools.remove(names...) }

// checkTool finds what is wrong with a tool whose schemas are compact, and gives it
// one if it has none. It returns the arguments that callers over HTTP repeat in headers.
func checkTool(t *mcp.Tool) ([]httpwire.Param, error) {
	if err := mcp.ValidateToolName(t.Name); err != nil {
		return nil, err
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = anyObject
	}
	if kind, _ := ijson.Member(t.InputSchema, "type"); string(kind) != `"object"` {
		return nil, errors.New(`input schema: "type" must be "object"`)
	}
	params, err := httpwire.Params(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return params, nil
}

// compactSchemas copies the schemas that a tool was given, without whitespace.
func compactSchemas(t *mcp.Tool) (err error) {
	if t.InputSchema, err = compactSchema(t.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if t.OutputSchema, err = compactSchema(t.OutputSchema); err != nil {
		return fmt.Errorf("output schema: %w", err)
	}
	return nil
}

func compactSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	compact, err := ijson.Compact(raw)
	if err != nil {
		return nil, err
	}
	if compact[0] != '{' {
		return nil, errors.New("must be a JSON object")
	}
	return compact, nil
}

// listTools answers tools/list.
func (s *Server) listTools(_ context.Context, c *Call) (any, error) {
	return listed(c, s.tools, c.view.tool(), func(tools []mcp.Tool, next *string) *mcp.ListToolsResult {
		l := &mcp.ListToolsResult{Tools: tools, NextCursor: next}
		s.head(&l.Result, &l.Cache)
		return l
	})
}

// callTool answers tools/call. What goes wrong inside the tool is a result
// that the model can read; only a call that reaches no tool is an error.
func (s *Server) callTool(ctx context.Context, c *Call) (any, error) {
	if err := c.needName(); err != nil {
		return nil, err
	}
	tool, ok := s.tools.snapshot().entries[c.Name]
	if !ok || !shows(c.view.tool(), tool.shown) {
		return nil, invalidParams("unknown tool %q", c.Name)
	}
	if len(c.arguments) > 0 && c.arguments[0] != '{' {
		return nil, invalidParams("params of tools/call: arguments must be an object")
	}
	if err := c.checkHeaders(tool.params); err != nil {
		return nil, err
	}
	result, err := s.runTool(ctx, c, tool.handler)
	if err == nil {
		return result, nil
	}
	if text := c.legible(err); text != "" {
		return failed(text), nil
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[wireError](err); ok || blames(err) || errors.Is(err, ErrInputRequired) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return failed(err.Error()), nil
}

// failed is the result of a tool whose error is for the model to read.
func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}, IsError: true}
}

// runTool contains a panic of the tool itself as a tool error.
func (s *Server) runTool(ctx context.Context, c *Call, h Handler) (result any, err error) {
	if !s.opts.PanicThrough {
		defer func() {
			if p := recover(); p != nil {
				_ = s.contained(ctx, c, p) // the model learns of it as a result
				result, err = nil, fmt.Errorf("tool %q failed: internal error", c.Name)
			}
		}()
	}
	return h(ctx, c)
}

// AddTool adds a tool whose arguments are decoded into In and whose result is
// an Out. Where the tool gives no schema they are inferred from the types:
// fields are required unless they are pointers or tagged omitempty or
// omitzero, and a `jsonschema:"…"` tag describes a field. Arguments that do
// not fit are answered with a tool error that says why; fn never sees them.
//
// An Out that is a *mcp.CallToolResult is sent as it is, a string as text, and
// anything else as structured content with its JSON as text beside it. An error of
// fn becomes a tool error with its text, for the model to read; a
// *jsonrpc.Error fails the request itself.
//
// A property of the input schema with an "x-mcp-header" is repeated by clients in
// a header of HTTP requests, and calls that do not are refused.
//
// AddTool panics when the name or a schema is invalid or a type cannot be
// described. A tool of the same name is replaced.
func AddTool[In, Out any](s *Server, t mcp.Tool, fn func(ctx context.Context, c *Call, in In) (Out, error)) {
	input, present, params, err := describeTool[In, Out](&t)
	if err != nil {
		panic(fmt.Sprintf("server.AddTool: tool %q: %v", t.Name, err))
	}
	handler := func(ctx context.Context, c *Call) (any, error) {
		var in In
		if err := decodeArguments(input, c.arguments, &in); err != nil {
			return nil, err
		}
		out, err := fn(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return present(ctx, c, out)
	}
	s.tools.add(&entry[mcp.Tool]{key: t.Name, shown: t, handler: handler, params: params})
}

var emptyObject = json.RawMessage("{}")

// decodeArguments validates the arguments and decodes them.
func decodeArguments(input *schema.Schema, arguments json.RawMessage, in any) error {
	if len(arguments) == 0 {
		arguments = emptyObject
	}
	if err := input.Decode(arguments, in); err != nil {
		return fmt.Errorf("invalid arguments: %w", err)
	}
	return nil
}

// logOutput reports a result that does not fit the tool's own output schema.
func (s *Server) logOutput(ctx context.Context, c *Call, err error) error {
	s.log.LogAttrs(ctx, slog.LevelError, "a tool's result does not fit its output schema",
		slog.String("tool", c.Name), slog.Any("error", err))
	return errInternal
}
