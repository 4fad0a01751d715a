package client

import (
	"context"
	"iter"

	"github.com/ferrymcp/ferry/mcp"
)

// maxPages bounds how many pages of one list are asked for.
const maxPages = 10_000

// Tools goes through the server's tools, page by page as they are needed. The
// first error is yielded and ends it.
func (s *Session) Tools(ctx context.Context) iter.Seq2[mcp.Tool, error] {
	return pages(s, mcp.MethodToolsList, func(p *mcp.PageParams) ([]mcp.Tool, *string, error) {
		r, err := s.ListTools(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return r.Tools, r.NextCursor, nil
	})
}

// Prompts goes through the server's prompts, as Tools does.
func (s *Session) Prompts(ctx context.Context) iter.Seq2[mcp.Prompt, error] {
	return pages(s, mcp.MethodPromptsList, func(p *mcp.PageParams) ([]mcp.Prompt, *string, error) {
		r, err := s.ListPrompts(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return r.Prompts, r.NextCursor, nil
	})
}

// Resources goes through the server's resources, as Tools does.
func (s *Session) Resources(ctx context.Context) iter.Seq2[mcp.Resource, error] {
	return pages(s, mcp.MethodResourcesList, func(p *mcp.PageParams) ([]mcp.Resource, *string, error) {
		r, err := s.ListResources(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return r.Resources, r.NextCursor, nil
	})
}

// ResourceTemplates goes through the server's resource templates, as Tools does.
func (s *Session) ResourceTemplates(ctx context.Context) iter.Seq2[mcp.ResourceTemplate, error] {
	return pages(s, mcp.MethodResourcesTemplatesList, func(p *mcp.PageParams) ([]mcp.ResourceTemplate, *string, error) {
		r, err := s.ListResourceTemplates(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		return r.ResourceTemplates, r.NextCursor, nil
	})
}

// pages yields what the pages of a list hold. A server that gives a cursor
// twice would never come to an end, so that is an error.
func pages[T any](s *Session, method string, fetch func(*mcp.PageParams) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var params *mcp.PageParams
		seen := map[string]bool{}
		for range maxPages {
			items, next, err := fetch(params)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if !s.last().speaks().more(next) {
				return
			}
			if seen[*next] {
				yield(none, malformed(method, "the cursor %q came twice", *next))
				return
			}
			seen[*next] = true
			params = &mcp.PageParams{Cursor: next}
		}
		yield(none, malformed(method, "more than %d pages", maxPages))
	}
}
