package mcp

import "cmp"

// DisplayName returns the name to show to people: the title, else that of the
// annotations, else the name.
func (t *Tool) DisplayName() string {
	var annotated string
	if t.Annotations != nil {
		annotated = t.Annotations.Title
	}
	return cmp.Or(t.Title, annotated, t.Name)
}

// DisplayName returns the name to show to people: the title, else the name.
func (p *Prompt) DisplayName() string { return cmp.Or(p.Title, p.Name) }

// DisplayName returns the name to show to people: the title, else the name.
func (a *PromptArgument) DisplayName() string { return cmp.Or(a.Title, a.Name) }

// DisplayName returns the name to show to people: the title, else the name.
func (r *Resource) DisplayName() string { return cmp.Or(r.Title, r.Name) }

// DisplayName returns the name to show to people: the title, else the name.
func (t *ResourceTemplate) DisplayName() string { return cmp.Or(t.Title, t.Name) }

// DisplayName returns the name to show to people: the title, else the name.
func (i *Implementation) DisplayName() string { return cmp.Or(i.Title, i.Name) }

// ReadOnly reports whether the tool says that it changes nothing. The hints are
// what a server says of itself: decide by them only if it is trusted. A nil
// receiver, here and below, has no hints.
func (a *ToolAnnotations) ReadOnly() bool { return a != nil && a.ReadOnlyHint }

// Destructive reports whether the tool may destroy something: it changes
// something and does not say that it only adds.
func (a *ToolAnnotations) Destructive() bool {
	return !a.ReadOnly() && (a == nil || a.DestructiveHint == nil || *a.DestructiveHint)
}

// Idempotent reports whether calling the tool again with the same arguments
// changes nothing more: it says so, or that it changes nothing at all.
func (a *ToolAnnotations) Idempotent() bool { return a != nil && (a.ReadOnlyHint || a.IdempotentHint) }

// OpenWorld reports whether the tool may deal with things outside of the server.
func (a *ToolAnnotations) OpenWorld() bool {
	return a == nil || a.OpenWorldHint == nil || *a.OpenWorldHint
}
