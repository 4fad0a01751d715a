package server

import "github.com/ferrymcp/ferry/mcp"

// A View is what some callers may see. It governs lists, calls, reads,
// completion and subscriptions alike: what is not visible does not exist. A
// nil function shows everything of its kind.
//
// Lists are kept for each *View, so an Options.View function should return the
// same pointer for callers who see the same.
type View struct {
	Tool     func(mcp.Tool) bool
	Prompt   func(mcp.Prompt) bool
	Template func(mcp.ResourceTemplate) bool
	// Resource is asked for the URI of every resource, also of those that
	// come from templates.
	Resource func(uri string) bool
}

func (v *View) tool() func(mcp.Tool) bool {
	if v == nil {
		return nil
	}
	return v.Tool
}

func (v *View) prompt() func(mcp.Prompt) bool {
	if v == nil {
		return nil
	}
	return v.Prompt
}

func (v *View) template() func(mcp.ResourceTemplate) bool {
	if v == nil {
		return nil
	}
	return v.Template
}

func (v *View) resource() func(mcp.Resource) bool {
	if v == nil || v.Resource == nil {
		return nil
	}
	return func(r mcp.Resource) bool { return v.Resource(r.URI) }
}

// shows reports whether a feature is visible; a nil function shows all.
func shows[T any](visible func(T) bool, feature T) bool {
	return visible == nil || visible(feature)
}
