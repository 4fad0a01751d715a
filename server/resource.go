package server

import (
	"context"
	"errors"
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
	s.templates.add(&entry[mcp.ResourceTemplate]{key: t.URITemplate, shown: t, handler: reading(h, template)})
}

// RemoveResources removes resources by URI; others are ignored.
func (s *Server) RemoveResources(uris ...string) { s.resources.remove(uris...) }

// RemoveResourceTemplates removes templates by their text; others are ignored.
func (s *Server) RemoveResourceTemplates(templates ...string) { s.templates.remove(templates...) }

// errNoMatch is what the handler of a template returns for a URI of another.
var errNoMatch = errors.New("the URI does not match the template")

// reading makes a handler of a resource handler.
func reading(h ResourceHandler, template *uritemplate.Template) Handler {
	return func(ctx context.Context, c *Call) (any, error) {
		var vars map[string]string
		if template != nil {
			var ok bool
			if vars, ok = template.Match(c.Name); !ok {
				return nil, errNoMatch
			}
		}
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

// readResource answers resources/read: the resource with that URI, else the
// first template, in the order of their texts, that matches it.
func (s *Server) readResource(ctx context.Context, c *Call) (any, error) {
	if c.Name == "" {
		return nil, invalidParams("params of %s: uri is missing", c.Method)
	}
	exact, templates, err := s.findResource(c, c.Name)
	if err != nil {
		return nil, err
	}
	if exact != nil {
		return exact.handler(ctx, c)
	}
	for _, t := range templates {
		if result, err := t.handler(ctx, c); !errors.Is(err, errNoMatch) {
			return result, err
		}
	}
	return nil, &mcp.ResourceNotFoundError{URI: c.Name}
}

// findResource returns the resource with the URI if the caller may see it, or
// the templates it may try.
func (s *Server) findResource(c *Call, uri string) (*entry[mcp.Resource], []*entry[mcp.ResourceTemplate], error) {
	notFound := &mcp.ResourceNotFoundError{URI: uri}
	if c.view != nil && c.view.Resource != nil && !c.view.Resource(uri) {
		return nil, nil, notFound
	}
	if r, ok := s.resources.snapshot().entries[uri]; ok {
		return r, nil, nil
	}
	var templates []*entry[mcp.ResourceTemplate]
	for _, t := range s.templates.snapshot().sorted {
		if shows(c.view.template(), t.shown) {
			templates = append(templates, t)
		}
	}
	if len(templates) == 0 {
		return nil, nil, notFound
	}
	return nil, templates, nil
}
