package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/mcp"
)

// A Completer proposes values for one argument. value is what was typed so far,
// known are other arguments that are filled in already; it may be nil. The
// values may be more than fit: those that do not contain what was typed, upper
// and lower case being the same, are left out, those that begin with it come
// first, then those in which a word does, and otherwise the order is kept. The
// client is sent 100 and the number of all.
//
// A completer must not propose what the caller may not see.
type Completer func(ctx context.Context, c *Call, value string, known map[string]string) ([]string, error)

// OneOf completes an argument that has one of a few values.
func OneOf(values ...string) Completer {
	values = slices.Clone(values)
	return func(context.Context, *Call, string, map[string]string) ([]string, error) { return values, nil }
}

// CompletePrompt completes an argument of a prompt, instead of Options.Complete.
// It panics when there is no such prompt or argument. A prompt that is removed
// or replaced takes its completers with it.
func (s *Server) CompletePrompt(prompt, argument string, f Completer) {
	added := f != nil && s.prompts.complete(prompt, argument, f, func(e *entry[mcp.Prompt]) bool { return declares(e.shown, argument) })
	if !added {
		panic(fmt.Sprintf("server.CompletePrompt: there is no argument %q of a prompt %q, or nothing to complete it", argument, prompt))
	}
	s.completes.Store(true)
}

// CompleteResource is [Server.CompletePrompt] for a variable of a resource
// template, which is named by its text.
func (s *Server) CompleteResource(template, variable string, f Completer) {
	added := f != nil && s.templates.complete(template, variable, f, func(e *entry[mcp.ResourceTemplate]) bool {
		return slices.Contains(e.variables, variable)
	})
	if !added {
		panic(fmt.Sprintf("server.CompleteResource: there is no variable %q in a template %q, or nothing to complete it", variable, template))
	}
	s.completes.Store(true)
}

// complete gives a feature a completer, and reports whether it has that argument.
func (r *registry[T]) complete(key, argument string, f Completer, has func(*entry[T]) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.entries[key]
	if !ok || !has(old) {
		return false
	}
	e := *old
	e.completers = maps.Clone(old.completers)
	if e.completers == nil {
		e.completers = map[string]Completer{}
	}
	e.completers[argument] = f
	r.entries[key] = &e
	r.current.Store(nil)
	return true
}

func declares(p mcp.Prompt, argument string) bool {
	return slices.ContainsFunc(p.Arguments, func(a mcp.PromptArgument) bool { return a.Name == argument })
}

// completion answers completion/complete. What the caller may not see is not
// completed.
func (s *Server) completion(ctx context.Context, c *Call) (any, error) {
	if !s.canComplete() {
		return nil, &unknownMethodError{c.Method}
	}
	var p mcp.CompleteParams
	if err := c.params(&p); err != nil {
		return nil, err
	}
	if p.Argument.Name == "" {
		return nil, invalidParams("params of %s: argument.name is missing", c.Method)
	}
	completer, err := s.completer(c, &p)
	if err != nil {
		return nil, err
	}
	result := &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}
	if completer != nil {
		var known map[string]string
		if p.Context != nil {
			known = p.Context.Arguments
		}
		values, err := completer(ctx, c, p.Argument.Value, known)
		if err != nil {
			return nil, err
		}
		result.Completion = ranked(values, p.Argument.Value)
	} else if s.opts.Complete != nil {
		found, err := s.opts.Complete(ctx, c, &p)
		if err != nil {
			return nil, err
		}
		if found != nil {
			result.Completion = *found
		}
	}
	if values := result.Completion.Values; len(values) > mcp.MaxCompletionValues {
		result.Completion.Values = values[:mcp.MaxCompletionValues:mcp.MaxCompletionValues]
		result.Completion.HasMore = true
	}
	return result, nil
}

// canComplete reports whether anything is completed at all.
func (s *Server) canComplete() bool { return s.opts.Complete != nil || s.completes.Load() }

// completer checks what a request refers to and returns who completes its
// argument; nil when the feature does not.
func (s *Server) completer(c *Call, p *mcp.CompleteParams) (Completer, error) {
	argument := p.Argument.Name
	switch p.Ref.Type {
	case mcp.RefPrompt:
		prompt, ok := s.prompts.snapshot().entries[p.Ref.Name]
		if !ok || !shows(c.view.prompt(), prompt.shown) {
			return nil, invalidParams("unknown prompt %q", p.Ref.Name)
		}
		if s.opts.Complete == nil && !declares(prompt.shown, argument) {
			return nil, invalidParams("prompt %q has no argument %q", p.Ref.Name, argument)
		}
		return prompt.completers[argument], nil
	case mcp.RefResource:
		t, err := s.referred(c, p.Ref.URI)
		if t == nil {
			return nil, err
		}
		if s.opts.Complete == nil && !slices.Contains(t.variables, argument) {
			return nil, invalidParams("resource template %q has no variable %q", t.key, argument)
		}
		return t.completers[argument], nil
	default:
		return nil, invalidParams("params of %s: ref.type %q is neither %q nor %q", c.Method, p.Ref.Type, mcp.RefPrompt, mcp.RefResource)
	}
}

// referred returns the template that a reference names by its text or by the URI
// of one of its resources; nil for a resource without a template.
func (s *Server) referred(c *Call, uri string) (*entry[mcp.ResourceTemplate], error) {
	templates := s.templates.snapshot()
	if t, ok := templates.entries[uri]; ok && shows(c.view.template(), t.shown) {
		return t, nil
	}
	if _, err := s.findResource(c, uri); err != nil {
		return nil, invalidParams("unknown resource %q", uri)
	}
	if _, ok := s.resources.snapshot().entries[uri]; ok {
		return nil, nil
	}
	for _, t := range templates.sorted {
		if shows(c.view.template(), t.shown) && t.match(uri) != nil {
			return t, nil
		}
	}
	return nil, nil
}

// ranked returns the values that contain what was typed, the likeliest first.
func ranked(values []string, typed string) mcp.Completion {
	typed = strings.ToLower(typed)
	var ranks [3][]string
	for _, value := range values {
		if r, ok := rank(strings.ToLower(value), typed); ok {
			ranks[r] = append(ranks[r], value)
		}
	}
	found := slices.Concat(ranks[:]...)
	if found == nil {
		found = []string{}
	}
	return mcp.Completion{Values: found, Total: new(int64(len(found)))}
}

// rank is 0 for a value that begins with what was typed, 1 if a word in it does,
// and 2 if it stands elsewhere.
func rank(value, typed string) (int, bool) {
	if strings.HasPrefix(value, typed) {
		return 0, true
	}
	rest, offset := value, 0
	for {
		i := strings.Index(rest, typed)
		if i < 0 {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(value[:offset+i])
		if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return 1, true
		}
		_, size := utf8.DecodeRuneInString(rest[i:])
		offset += i + size
		rest = value[offset:]
	}
	return 2, offset > 0
}
