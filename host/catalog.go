package host

import (
	"fmt"
	"slices"

	"github.com/ferrymcp/ferry/mcp"
)

// A Catalog is what all servers that are ready offer, at one moment. It is
// in the order of the servers, and of each server's own lists.
type Catalog struct {
	Tools     []Tool
	Prompts   []Prompt
	Resources []Resource
	Templates []Template
	// Warnings tell of names that could not be shown as they should have been.
	Warnings []string

	tools     map[string]route // by the name shown; with those of servers that are down
	prompts   map[string]route
	resources map[string]*upstream // by URI
	templates []template
	owners    map[string]*upstream   // the first with a template, by its text
	schemes   map[string][]*upstream // who has shown URIs of a scheme
}

// A Tool is a tool of a server. Tool.Name is the name it is shown under.
type Tool struct {
	Upstream string
	Original string // the server's own name for it
	Tool     mcp.Tool
}

// A Prompt is a prompt of a server. Prompt.Name is the name it is shown under.
type Prompt struct {
	Upstream string
	Original string // the server's own name for it
	Prompt   mcp.Prompt
}

// A Resource is a resource of a server, under its own URI.
type Resource struct {
	Upstream string
	Resource mcp.Resource
}

// A Template is a resource template of a server, as it is.
type Template struct {
	Upstream string
	Template mcp.ResourceTemplate
}

// A route says where a name leads.
type route struct {
	up       *upstream
	original string
}

// A template is where reads of resources that no list has may lead.
type template struct {
	up      *upstream
	matches *pattern
}

// A catalogBuilder collects what the servers have, the first server first.
type catalogBuilder struct {
	*Catalog
	opts *Options
}

// buildCatalog makes the catalog. The caller holds the lock of the host.
func buildCatalog(upstreams []*upstream, opts *Options) *Catalog {
	b := &catalogBuilder{opts: opts, Catalog: &Catalog{
		tools:     map[string]route{},
		prompts:   map[string]route{},
		resources: map[string]*upstream{},
		owners:    map[string]*upstream{},
		schemes:   map[string][]*upstream{},
	}}
	for _, u := range upstreams {
		b.addTools(u)
		b.addPrompts(u)
		b.addResources(u)
		b.addTemplates(u)
	}
	return b.Catalog
}

// warn notes something about a server that is ready.
func (b *catalogBuilder) warn(u *upstream, format string, args ...any) {
	if u.session != nil {
		b.Warnings = append(b.Warnings, fmt.Sprintf("server %q: ", u.conf.Name)+fmt.Sprintf(format, args...))
	}
}

func (b *catalogBuilder) addTools(u *upstream) {
	names := b.namer("tool", u, b.tools)
	for _, t := range u.lists.tools {
		if u.conf.Show != nil && !u.conf.Show(t.Name) {
			continue
		}
		b.addPage(u, t)
		shown, ok := names.take(t.Name)
		if !ok || u.session == nil {
			continue
		}
		original := t.Name
		t.Name = shown
		b.Tools = append(b.Tools, Tool{Upstream: u.conf.Name, Original: original, Tool: t})
	}
}

func (b *catalogBuilder) addPrompts(u *upstream) {
	names := b.namer("prompt", u, b.prompts)
	for _, p := range u.lists.prompts {
		shown, ok := names.take(p.Name)
		if !ok || u.session == nil {
			continue
		}
		original := p.Name
		p.Name = shown
		b.Prompts = append(b.Prompts, Prompt{Upstream: u.conf.Name, Original: original, Prompt: p})
	}
}

func (b *catalogBuilder) addResources(u *upstream) {
	for _, r := range u.lists.resources {
		b.addScheme(u, r.URI)
		if owner := b.resources[r.URI]; owner != nil {
			b.warn(u, "resource %q is hidden by that of server %q", r.URI, owner.conf.Name)
			continue
		}
		b.resources[r.URI] = u
		if u.session != nil {
			b.Resources = append(b.Resources, Resource{Upstream: u.conf.Name, Resource: r})
		}
	}
}

func (b *catalogBuilder) addTemplates(u *upstream) {
	for _, t := range u.lists.templates {
		b.addScheme(u, t.URITemplate)
		b.templates = append(b.templates, template{up: u, matches: newPattern(t.URITemplate)})
		if owner := b.owners[t.URITemplate]; owner != nil {
			b.warn(u, "resource template %q is hidden by that of server %q", t.URITemplate, owner.conf.Name)
			continue
		}
		b.owners[t.URITemplate] = u
		if u.session != nil {
			b.Templates = append(b.Templates, Template{Upstream: u.conf.Name, Template: t})
		}
	}
}

// addScheme notes that a server has shown a URI. Servers are added one after
// the other, so that only the last in the list may be the same.
func (b *catalogBuilder) addScheme(u *upstream, uri string) {
	s := scheme(uri)
	if known := b.schemes[s]; s != "" && (len(known) == 0 || known[len(known)-1] != u) {
		b.schemes[s] = append(known, u)
	}
}

// addPage notes that a server has shown the page that goes with a tool: pages need
// not be in the list of resources.
func (b *catalogBuilder) addPage(u *upstream, t mcp.Tool) {
	var ui struct {
		ResourceURI string `json:"resourceUri"`
	}
	if found, err := t.Meta.Get("ui", &ui); found && err == nil {
		b.addScheme(u, ui.ResourceURI)
	}
}

// newWarnings returns the warnings that the catalog before did not have.
func (c *Catalog) newWarnings(before *Catalog) []string {
	known := map[string]bool{}
	for _, w := range before.Warnings {
		known[w] = true
	}
	return slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return known[w] })
}
