package server

import (
	"context"

	"github.com/ferrymcp/ferry/mcp"
)

// maxCompletions is the most values a completion may hold.
const maxCompletions = 100

// completion answers completion/complete. What the caller may not see is not
// completed.
func (s *Server) completion(ctx context.Context, c *Call) (any, error) {
	if s.opts.Complete == nil {
		return nil, methodNotFound(c.Method)
	}
	var p mcp.CompleteParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if err := s.canComplete(c, &p.Ref); err != nil {
		return nil, err
	}
	found, err := s.opts.Complete(ctx, c, &p)
	if err != nil {
		return nil, err
	}
	result := &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}
	if found != nil {
		result.Completion = *found
	}
	if values := result.Completion.Values; len(values) > maxCompletions {
		result.Completion.Values = values[:maxCompletions:maxCompletions]
		result.Completion.HasMore = true
	}
	return result, nil
}

// canComplete checks the reference to a prompt or resource.
func (s *Server) canComplete(c *Call, ref *mcp.Reference) error {
	switch ref.Type {
	case mcp.RefPrompt:
		if prompt, ok := s.prompts.snapshot().entries[ref.Name]; !ok || !shows(c.view.prompt(), prompt.shown) {
			return invalidParams("unknown prompt %q", ref.Name)
		}
	case mcp.RefResource:
		if t, ok := s.templates.snapshot().entries[ref.URI]; ok && shows(c.view.template(), t.shown) {
			return nil
		}
		_, err := s.findResource(c, ref.URI)
		return err
	default:
		return invalidParams("params of %s: ref.type %q is neither %q nor %q", c.Method, ref.Type, mcp.RefPrompt, mcp.RefResource)
	}
	return nil
}
