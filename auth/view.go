package auth

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// View is a server.Options.View: callers see only what they have the scopes for, as
// Options.Tools, Prompts, Resources and Needs say. Whoever did not come through the
// resource, such as a client on stdio, sees everything.
//
// Without it everything is listed, and a call that lacks scopes tells which ones.
func (r *Resource) View(ctx context.Context, _ *server.Call) *server.View {
	if v, ok := admission.From(ctx).(*visitor); ok && v.resource == r {
		return v.view
	}
	return nil
}

// maxViews bounds how many views are kept: issuers have few combinations of scopes.
const maxViews = 1000

// A viewCache has one view for all callers with the same scopes, because servers
// keep lists for each view.
type viewCache struct {
	mu    sync.Mutex
	views map[string]*server.View
}

func (c *viewCache) of(r *Resource, scopes []string) *server.View {
	scopes = slices.Sorted(slices.Values(scopes))
	key := strings.Join(scopes, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	view, ok := c.views[key]
	if ok {
		return view
	}
	if c.views == nil || len(c.views) >= maxViews {
		c.views = map[string]*server.View{}
	}
	view = r.viewOf(scopes)
	c.views[key] = view
	return view
}

func (r *Resource) viewOf(scopes []string) *server.View {
	shows := func(method, name string) bool { return covers(scopes, r.needsOf(method, name)) }
	return &server.View{
		Tool:     func(t mcp.Tool) bool { return shows(mcp.MethodToolsCall, t.Name) },
		Prompt:   func(p mcp.Prompt) bool { return shows(mcp.MethodPromptsGet, p.Name) },
		Template: func(t mcp.ResourceTemplate) bool { return shows(mcp.MethodResourcesRead, t.URITemplate) },
		Resource: func(uri string) bool { return shows(mcp.MethodResourcesRead, uri) },
	}
}
