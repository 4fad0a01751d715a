package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/mcp"
)

func (p *program) promptCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "prompt TARGET NAME [key=value]...",
		Short: "Fill in a prompt and print its messages",
	}
	p.askedFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.ask(c, args, false, func(ctx context.Context, s *session, rest []string) error {
			if len(rest) == 0 {
				return &usageError{err: errors.New("no NAME given"), command: c.CommandPath()}
			}
			return s.prompt(ctx, rest[0], rest[1:])
		})
	}
	return c
}

func (s *session) prompt(ctx context.Context, name string, args []string) error {
	p := s.program
	given, err := p.parseArguments(args)
	if err != nil {
		return err
	}
	prompt, err := find(ctx, s, kinds[1], name, func(pr *mcp.Prompt) string { return pr.Name })
	if err != nil {
		return err
	}
	values, err := promptArguments(*prompt, given)
	if err != nil {
		return err
	}
	var result mcp.GetPromptResult
	params := &mcp.GetPromptParams{Name: name, Arguments: values}
	raw, err := s.result(ctx, mcp.MethodPromptsGet, params, &result, s.callOptions())
	if err != nil {
		return err
	}
	p.err.settle()
	if p.flags.json {
		return p.printJSON(raw)
	}
	w := &contentWriter{program: p, out: p.out}
	for _, m := range result.Messages {
		if len(result.Messages) > 1 || m.Role != mcp.RoleUser {
			w.heading(string(m.Role) + ":")
		}
		if err := w.block(m.Content); err != nil {
			return err
		}
	}
	return w.finish()
}

func (p *program) completeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "complete TARGET prompt:NAME|resource:TEMPLATE ARGUMENT [VALUE] [key=value]...",
		Short: "Ask for values that an argument could have",
		Long: `Ask a server for values that an argument of a prompt or of a resource template
could have, beginning with VALUE. The arguments that are known already may
follow as key=value.`,
		Example: `  ferry complete docs prompt:review language py
  ferry complete docs 'resource:repo://{owner}/{name}' name f owner=me`,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.ask(c, args, false, func(ctx context.Context, s *session, rest []string) error {
			params, err := p.completeParams(rest)
			if err != nil {
				err.command = c.CommandPath()
				return err
			}
			return s.complete(ctx, params)
		})
	}
	return c
}

// completeParams makes the parameters of completion/complete from the command
// line.
func (p *program) completeParams(args []string) (*mcp.CompleteParams, *usageError) {
	if len(args) < 2 {
		return nil, usagef("a prompt or resource template and an ARGUMENT are needed")
	}
	params := &mcp.CompleteParams{Argument: mcp.CompleteArgument{Name: args[1]}}
	what, name, _ := strings.Cut(args[0], ":")
	switch {
	case what == "prompt" && name != "":
		params.Ref = mcp.PromptRef(name)
	case what == "resource" && name != "":
		params.Ref = mcp.ResourceRef(name)
	default:
		return nil, usagef("%q must be prompt:NAME or resource:TEMPLATE", args[0])
	}
	if len(args) > 2 {
		params.Argument.Value = args[2]
	}
	if len(args) > 3 {
		known, err := p.parseArguments(args[3:])
		if err != nil {
			return nil, &usageError{err: err}
		}
		params.Context = &mcp.CompleteContext{Arguments: map[string]string{}}
		for _, a := range known {
			params.Context.Arguments[a.key] = a.text()
		}
	}
	return params, nil
}

func (s *session) complete(ctx context.Context, params *mcp.CompleteParams) error {
	p := s.program
	var result mcp.CompleteResult
	raw, err := s.result(ctx, mcp.MethodCompletionComplete, params, &result, nil)
	if err != nil {
		return err
	}
	if p.flags.json {
		return p.printJSON(raw)
	}
	for _, value := range result.Completion.Values {
		p.out.line(plain, value)
	}
	shown := int64(len(result.Completion.Values))
	switch total := result.Completion.Total; {
	case total != nil && *total > shown:
		p.err.line(dim, fmt.Sprintf("and %d more", *total-shown))
	case result.Completion.HasMore:
		p.err.line(dim, "and more")
	}
	return nil
}
