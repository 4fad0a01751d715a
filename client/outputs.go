package client

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"log/slog"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/mcp"
)

// outputs are the output schemas of tools, as far as lists that the session has
// read told them. They are for checking what tools return.
//
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
type outputs struct {
	mu    sync.Mutex
	tools map[string]*output
}

// An output is compiled when the tool is first called.
type output struct {
	raw     stdjson.RawMessage
	compile sync.Once
	schema  *schema.Schema // nil when it is not a valid one
}

// maxOutputs bounds the tools whose schemas are known.
const maxOutputs = 10_000

// learn takes note of a page of the list of tools.
func (o *outputs) learn(tools []mcp.Tool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tools == nil {
		o.tools = map[string]*output{}
	}
	for i := range tools {
		name, raw := tools[i].Name, tools[i].OutputSchema
		known := o.tools[name]
		switch {
		case len(raw) == 0:
			delete(o.tools, name)
		case known != nil && bytes.Equal(known.raw, raw), known == nil && len(o.tools) >= maxOutputs:
		default:
			// Copied, so that the rest of the page can be forgotten.
			o.tools[strings.Clone(name)] = &output{raw: bytes.Clone(raw)}
		}
	}
}

func (o *outputs) of(tool string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tools[tool]
}

// check returns what is wrong with a result; nil for one of a tool without a
// schema, and for that of a tool that failed.
func (o *output) check(s *Session, tool string, r *mcp.CallToolResult) error {
	if o == nil || r.IsError {
		return nil
	}
	o.compile.Do(func() {
		var err error
		if o.schema, err = schema.Compile(o.raw); err != nil {
			s.log.Warn("output schema not understood, results are not checked", slog.String("tool", tool), slog.Any("error", err))
		}
	})
	if o.schema == nil {
		return nil
	}
	if len(r.StructuredContent) == 0 {
		return malformed(mcp.MethodToolsCall, "tool %q has an output schema, and its result no structured content", tool)
	}
	if err := o.schema.Validate(r.StructuredContent); err != nil {
		return malformed(mcp.MethodToolsCall, "the structured content of tool %q does not fit its output schema: %v", tool, err)
	}
	return nil
}

// checkOutput is check that reads the list of tools anew before it finds fault:
// the tool may have changed.
func (s *Session) checkOutput(ctx context.Context, tool string, r *mcp.CallToolResult) error {
	known := s.outputs.of(tool)
	wrong := known.check(s, tool, r)
	if wrong == nil {
		return nil
	}
	if s.relist(ctx, tool) != nil {
		return wrong
	}
	if now := s.outputs.of(tool); now != known {
		return now.check(s, tool, r)
	}
	return wrong
}
