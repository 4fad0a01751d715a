package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/mcp"
)

func (p *program) readCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "read TARGET URI",
		Short:   "Read a resource",
		Example: `  ferry read files file:///home/me/project/README.md`,
	}
	p.askedFlags(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write bytes to this `file`, or - for standard output")
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.ask(c, args, false, func(ctx context.Context, s *session, rest []string) error {
			if len(rest) != 1 {
				return &usageError{err: errors.New("one URI is needed"), command: c.CommandPath()}
			}
			var result mcp.ReadResourceResult
			raw, err := s.result(ctx, mcp.MethodResourcesRead, &mcp.ReadResourceParams{URI: rest[0]}, &result, s.callOptions())
			if err != nil {
				return err
			}
			p.err.settle()
			if p.flags.json {
				return p.printJSON(raw)
			}
			w := &contentWriter{program: p, out: p.out, output: output}
			for _, contents := range result.Contents {
				if err := w.resource(contents); err != nil {
					return err
				}
			}
			return w.finish()
		})
	}
	return c
}
