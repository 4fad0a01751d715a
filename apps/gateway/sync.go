package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"github.com/ferrymcp/ferry/ext/apps"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// shown is what the server shows of the catalog, by key.
type shown struct {
	tools     map[string]host.Tool
	prompts   map[string]host.Prompt
	resources map[string]host.Resource
	templates map[string]host.Template
}

// sync makes the server show what the catalog has: only differences are
// changed, so that clients hear of nothing when nothing is different. Calls
// that come together do the work once: each takes the newest catalog.
func (g *Gateway) sync() {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.host.Catalog()
	if slices.ContainsFunc(c.Tools, hasPage) {
		g.srv.Extend(apps.Extension, nil)
	}

	tools := diff(&g.shown.tools, c.Tools, func(t host.Tool) string { return t.Tool.Name })
	g.srv.RemoveTools(tools.gone...)
	g.addTools(tools.fresh)

	prompts := diff(&g.shown.prompts, c.Prompts, func(p host.Prompt) string { return p.Prompt.Name })
	g.srv.RemovePrompts(prompts.gone...)
	for _, p := range prompts.fresh {
		g.try(p.Upstream, "prompt", p.Prompt.Name, func() { g.srv.AddRawPrompt(p.Prompt, g.getPrompt) })
	}

	resources := diff(&g.shown.resources, c.Resources, func(r host.Resource) string { return r.Resource.URI })
	g.srv.RemoveResources(resources.gone...)
	for _, r := range resources.fresh {
		if r.Resource.Name == "" {
			r.Resource.Name = r.Resource.URI
		}
		g.try(r.Upstream, "resource", r.Resource.URI, func() { g.srv.AddResource(r.Resource, unused) })
	}

	templates := diff(&g.shown.templates, c.Templates, func(t host.Template) string { return t.Template.URITemplate })
	g.srv.RemoveResourceTemplates(templates.gone...)
	for _, t := range templates.fresh {
		if t.Template.Name == "" {
			t.Template.Name = t.Template.URITemplate
		}
		g.try(t.Upstream, "resource template", t.Template.URITemplate, func() { g.srv.AddResourceTemplate(t.Template, unused) })
	}
}

// hasPage reports whether a tool's results are shown in a page.
func hasPage(t host.Tool) bool {
	_, ok := apps.OfTool(t.Tool)
	return ok
}

// A difference is what has to be added, new or changed, and removed.
type difference[T any] struct {
	fresh []T
	gone  []string
}

// diff compares what is shown with what there is, and notes the latter.
func diff[T any](shown *map[string]T, now []T, key func(T) string) difference[T] {
	var d difference[T]
	next := make(map[string]T, len(now))
	for _, feature := range now {
		k := key(feature)
		next[k] = feature
		if old, ok := (*shown)[k]; !ok || !reflect.DeepEqual(old, feature) {
			d.fresh = append(d.fresh, feature)
		}
	}
	for k := range *shown {
		if _, ok := next[k]; !ok {
			d.gone = append(d.gone, k)
		}
	}
	*shown = next
	return d
}

// addTools adds tools in one change.
func (g *Gateway) addTools(tools []host.Tool) {
	if len(tools) == 0 {
		return
	}
	raw := make([]server.RawTool, len(tools))
	for i, t := range tools {
		raw[i] = server.RawTool{Tool: presentable(t.Tool), Handler: g.callTool}
	}
	if refused := attempt(func() { g.srv.AddRawTools(raw...) }); refused == nil {
		return
	}
	for i, t := range tools { // to find the one
		g.try(t.Upstream, "tool", t.Original, func() { g.srv.AddRawTools(raw[i]) })
	}
}

// presentable mends what would make the server refuse a tool, and leaves out
// what the gateway cannot do for it.
func presentable(t mcp.Tool) mcp.Tool {
	t.Execution = nil // tasks are not passed on
	var members map[string]json.RawMessage
	switch err := json.Unmarshal(t.InputSchema, &members); {
	case len(t.InputSchema) == 0:
	case err != nil || members == nil:
		t.InputSchema = nil
	case members["type"] == nil:
		opening := `{"type":"object"`
		if len(members) > 0 {
			opening += ","
		}
		rest := bytes.TrimLeft(t.InputSchema, " \t\r\n{")
		t.InputSchema = slices.Concat([]byte(opening), rest)
	case string(members["type"]) != `"object"`:
		t.InputSchema = nil
	}
	if out := bytes.TrimSpace(t.OutputSchema); len(out) > 0 && out[0] != '{' {
		t.OutputSchema = nil
	}
	return t
}

// try adds a feature that a server has described. The server package panics
// for what is wrong with a feature, since mostly it is the program that is
// wrong; here it is a peer, which must not be able to end the program.
func (g *Gateway) try(upstream, what, name string, add func()) {
	if refused := attempt(add); refused != nil {
		g.log.Warn("feature left out", slog.String("server", upstream),
			slog.String(what, name), slog.String("reason", fmt.Sprint(refused)))
	}
}

func attempt(add func()) (refused any) {
	defer func() { refused = recover() }()
	add()
	return nil
}

// unused is the handler of resources, which are read by Gateway.readResource.
func unused(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
	return nil, &mcp.ResourceNotFoundError{URI: uri}
}
