package server

import (
	"context"
	"fmt"

	"github.com/ferrymcp/ferry/internal/uritemplate"
	"github.com/ferrymcp/ferry/mcp"
)

// A ResourceHandler reads the resource at a URI. vars holds the values of the
// template's variables; it is nil for a resource without a template. A
// resource that does not exist is a *mcp.ResourceNotFoundError.
type ResourceHandler func(ctx context.Context, c *Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error)

// AddResource adds a resource. It panics when the URI or the name is missing.
// A resource with the same URI is replaced.
func (s *Server) AddResource(r mcp.Resource, h ResourceHandler) {
	if r.URI == "" || r.Name == "" || h == nil {
		panic(fmt.Sprintf("server.AddResource: resource %q needs a URI, a name and a handler", r.URI))
	}
	s.resources.add(&entry[mcp.Resource]{key: r.URI, shown: r, handler: reading(h, nil)})
}

// AddResourceTemplate adds all resources whose URI matches an RFC 6570
// template. It panics when the template is invalid.
func (s *Server) AddResourceTemplate(t mcp.ResourceTemplate, h ResourceHandler) {
	template, err := uritemplate.Parse(t.URITemplate)
	if err != nil {
		panic(fmt.Sprintf("server.AddResourceTemplate: %v", err))
	}
	if t.Name == "" || h == nil {
		panic(fmt.Sprintf("server.AddResourceTemplate: template %q needs a name and a handler", t.URITemplate))
	}
	match := func(uri string) Handler {
		if vars, ok := template.Match(uri); ok {
			return reading(h, vars)
		}
		return nil
	}
	s.templates.add(&entry[mcp.ResourceTemplate]{key: t.URITemplate, shown: t, match: match, variables: template.Names()})
}

// RemoveResources removes resources by URI; others are ignored.
func (s *Server) RemoveResources(uris ...string) { s.resources.remove(uris...) }

// RemoveResourceTemplates removes templates by their text; others are ignored.
func (s *Server) RemoveResourceTemplates(templates ...string) { s.templates.remove(templates...) }

// reading makes a handler of a resource handler.
func reading(h ResourceHandler, vars map[string]string) Handler {
	return func(ctx context.Context, c *Call) (any, error) {
		result, err := h(ctx, c, c.Name, vars)
		if err != nil {
			return nil, err
		}
		if result == nil {
			return nil, &mcp.ResourceNotFoundError{URI: c.Name}
		}
		return result, nil
	}
}

// listResources answers resources/list.
func (s *Server) listResources(_ context.Context, c *Call) (any, error) {
	return listed(c, s.resources, c.view.resource(), func(resources []mcp.Resource, next *string) *mcp.ListResourcesResult {
		l := &mcp.ListResourcesResult{Resources: resources, NextCursor: next}
		s.head(&l.Result, &l.Cache)
		return l
	})
}

// listTemplates answers resources/templates/list.
func (s *Server) listTemplates(_ context.Context, c *Call) (any, error) {
	return listed(c, s.templates, c.view.template(), func(templates []mcp.ResourceTemplate, next *string) *mcp.ListResourceTemplatesResult {
		l := &mcp.ListResourceTemplatesResult{ResourceTemplates: templates, NextCursor: next}
		s.head(&l.Result, &l.Cache)
		return l
	})
}

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, c *Call) (any, error) {
	if err := c.needName(); err != nil {
		return nil, err
	}
	h, err := s.findResource(c, c.Name)
	if err != nil {
		return nil, err
	}
	return h(ctx, c)
}

// findResource returns the handler that reads a URI: that of the resource with
// the URI, else that of the first template, in the order of their texts, that
// matches it. What the caller may not see is not found.
func (s *Server) findResource(c *Call, uri string) (Handler, error) {
	if c.view != nil && c.view.Resource != nil && !c.view.Resource(uri) {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	if r, ok := s.resources.snapshot().entries[uri]; ok {
		return r.handler, nil
	}
	for _, t := range s.templates.snapshot().sorted {
		if !shows(c.view.template(), t.shown) {
			continue
		}
		if h := t.match(uri); h != nil {
			return h, nil
		}
	}
	return nil, &mcp.ResourceNotFoundError{URI: uri}
}
