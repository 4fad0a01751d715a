package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

func (p *program) callCommand() *cobra.Command {
	var arguments, output string
	c := &cobra.Command{
		Use:   "call TARGET TOOL [key=value | key:=json]...",
		Short: "Call a tool",
		Long: `Call a tool. A value is read as the type that the tool's schema says; key:=json
is sent as it is. For a list, write key=value once for each element. A value
@FILE is the content of a file, @- that of standard input.

A server may ask something before it answers. On a terminal you are asked then;
in scripts --answer, --accept and --decline say what to answer. Without either
the server learns that there is nobody to ask.`,
		Example: `  ferry call http://127.0.0.1:7332/mcp files_read_file path=README.md
  ferry call files search_files path=. pattern='**/*.go' 'excludePatterns:=["vendor"]'
  ferry call get_current_time timezone=Asia/Tokyo -- ferry serve time`,
	}
	c.Flags().StringVar(&arguments, "args", "", "arguments as a `JSON` object, @FILE, or - for standard input; not checked before they are sent")
	p.askedFlags(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write images, audio and other bytes to this `file`, or - for standard output")
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.ask(c, args, false, func(ctx context.Context, s *session, rest []string) error {
			if len(rest) == 0 {
				return &usageError{err: errors.New("no TOOL given"), command: c.CommandPath()}
			}
			return s.callTool(ctx, rest[0], arguments, rest[1:], output)
		})
	}
	return c
}

func (s *session) callTool(ctx context.Context, name, base string, args []string, output string) error {
	p := s.program
	given, err := p.parseArguments(args)
	if err != nil {
		return err
	}
	object, err := p.base(base)
	if err != nil {
		return err
	}
	tool, err := s.tool(ctx, name)
	if err != nil {
		return err
	}
	arguments, err := toolArguments(name, parseSchema(tool.InputSchema), object, given)
	if err != nil {
		return err
	}
	var result mcp.CallToolResult
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	raw, err := s.result(ctx, mcp.MethodToolsCall, params, &result, s.callOptions())
	if err != nil {
		return err
	}
	p.err.settle()
	if result.ResultType == mcp.ResultTask {
		return &client.ProtocolError{Method: mcp.MethodToolsCall, Problem: "the server made a task of the call, which was not asked for"}
	}
	if p.flags.json {
		if err := p.printJSON(raw); err != nil {
			return err
		}
	} else if err := p.printToolResult(&result, output); err != nil {
		return err
	}
	if result.IsError {
		return &toolError{text: strings.TrimSpace(textOf(result.Content))}
	}
	return nil
}

// tool finds a tool by its name.
func (s *session) tool(ctx context.Context, name string) (*mcp.Tool, error) {
	return find(ctx, s, kinds[0], name, func(t *mcp.Tool) string { return t.Name })
}

// find finds one thing among those that a server lists.
func find[T any](ctx context.Context, s *session, k kind, name string, nameOf func(*T) string) (*T, error) {
	list, err := s.list(ctx, k)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for _, raw := range list {
		v := new(T)
		if err := json.Unmarshal(raw, v); err != nil {
			return nil, &client.ProtocolError{Method: k.method, Problem: err.Error()}
		}
		if nameOf(v) == name {
			return v, nil
		}
		names = append(names, nameOf(v))
	}
	unknown := usagef("%s has no %s %q", s.target.name, strings.TrimSuffix(k.name, "s"), name)
	unknown.hint = suggest(k.name, name, names)
	return nil, unknown
}

func textOf(blocks []mcp.Content) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == mcp.TypeText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// printToolResult shows a result: its texts, or what it has instead of them.
// What a tool that failed says is no data.
func (p *program) printToolResult(r *mcp.CallToolResult, output string) error {
	w := &contentWriter{program: p, out: p.out, output: output}
	if r.IsError {
		w.out = p.err
	}
	for _, block := range r.Content {
		if err := w.block(block); err != nil {
			return err
		}
	}
	if !w.texts && len(r.StructuredContent) > 0 {
		text, err := indent(r.StructuredContent)
		if err != nil {
			return err
		}
		w.text(text)
	}
	if r.IsError && !w.texts {
		p.err.line(red, "ferry: the tool failed and does not say why")
	}
	return w.finish()
}
