package server

import (
	"context"
	"fmt"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// A PromptHandler fills in a prompt.
type PromptHandler func(ctx context.Context, c *Call, args map[string]string) (*mcp.GetPromptResult, error)

// AddPrompt adds a prompt. Required arguments are checked before h is called.
// It panics when the name is missing. A prompt of the same name is replaced.
func (s *Server) AddPrompt(p mcp.Prompt, h PromptHandler) {
	if h == nil {
		panic(fmt.Sprintf("server.AddPrompt: prompt %q has no handler", p.Name))
	}
	s.AddRawPrompt(p, func(ctx context.Context, c *Call) (any, error) {
		args, err := promptArguments(&p, c)
		if err != nil {
			return nil, err
		}
		result, err := h(ctx, c, args)
		if err != nil {
			return nil, err
		}
		if result == nil {
			result = &mcp.GetPromptResult{}
		}
		return result, nil
	})
}

// AddRawPrompt adds a prompt whose handler reads [Call.Arguments] itself and
// returns a *mcp.GetPromptResult or a json.RawMessage. It is for gateways.
func (s *Server) AddRawPrompt(p mcp.Prompt, h Handler) {
	if p.Name == "" || h == nil {
		panic(fmt.Sprintf("server.AddRawPrompt: prompt %q needs a name and a handler", p.Name))
	}
	s.prompts.add(&entry[mcp.Prompt]{key: p.Name, shown: p, handler: h})
}

// RemovePrompts removes prompts by name; names that are not there are ignored.
func (s *Server) RemovePrompts(names ...string) { s.prompts.remove(names...) }

// promptArguments decodes the arguments, which are strings, and checks that
// the required ones are there.
func promptArguments(p *mcp.Prompt, c *Call) (map[string]string, error) {
	args := map[string]string{}
	if len(c.arguments) > 0 {
		if err := ijson.Unmarshal(c.arguments, &args); err != nil {
			return nil, invalidParams("arguments of prompt %q: %v", p.Name, err)
		}
	}
	for _, a := range p.Arguments {
		if _, ok := args[a.Name]; a.Required && !ok {
			return nil, invalidParams("argument %q of prompt %q is missing", a.Name, p.Name)
		}
	}
	return args, nil
}

// listPrompts answers prompts/list.
func (s *Server) listPrompts(_ context.Context, c *Call) (any, error) {
	return listed(c, s.prompts, c.view.prompt(), func(prompts []mcp.Prompt, next *string) *mcp.ListPromptsResult {
		l := &mcp.ListPromptsResult{Prompts: prompts, NextCursor: next}
		s.head(&l.Result, &l.Cache)
		return l
	})
}

// getPrompt answers prompts/get.
func (s *Server) getPrompt(ctx context.Context, c *Call) (any, error) {
	if err := c.needName(); err != nil {
		return nil, err
	}
	prompt, ok := s.prompts.snapshot().entries[c.Name]
	if !ok || !shows(c.view.prompt(), prompt.shown) {
		return nil, invalidParams("unknown prompt %q", c.Name)
	}
	return prompt.handler(ctx, c)
}
