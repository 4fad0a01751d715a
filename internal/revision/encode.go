package revision

import (
	"maps"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// undo is what it takes to show a value to a peer of the revision before.
// Each function changes its argument in place; Encode calls them on copies,
// so only what lies behind pointers, slices and maps has to be copied. A nil
// function means that nothing changed for that type.
type undo struct {
	result         func(*mcp.Result)
	cache          func(*mcp.Cache)
	implementation func(*mcp.Implementation)
	capabilities   func(*mcp.ServerCapabilities)
	tool           func(*mcp.Tool)
	prompt         func(*mcp.Prompt)
	resource       func(*mcp.Resource)
	template       func(*mcp.ResourceTemplate)
	content        func(*mcp.Content)
	contents       func(*mcp.ResourceContents)
	toolResult     func(*mcp.CallToolResult)
	progress       func(*mcp.ProgressParams)
	sampled        func(*mcp.CreateMessageResult)
	root           func(*mcp.Root)
	elicit         func(*mcp.ElicitParams)
	sampling       func(*mcp.CreateMessageParams)
	// members names the members of results that the functions above may
	// change, so that raw results without them need not be decoded.
	members []string
	// dropped names the members that results of any method lose.
	dropped []string
}

// Encode returns v, a pointer, as a peer of revision r expects it: what newer
// revisions added is dropped or reshaped, on copies. Values that are the same
// in all revisions, raw JSON, and nearly everything for the newest revision are
// returned as they are.
func (r *Revision) Encode(v any) any {
	if len(r.older) == 0 {
		return r.forget(v)
	}
	switch v := v.(type) {
	case *mcp.InitializeResult:
		return encode(v, r.initialize)
	case *mcp.ListToolsResult:
		return encode(v, func(l *mcp.ListToolsResult) {
			r.list(&l.Result, &l.Cache)
			l.Tools = each(r, l.Tools, func(u *undo) func(*mcp.Tool) { return u.tool })
		})
	case *mcp.ListPromptsResult:
		return encode(v, func(l *mcp.ListPromptsResult) {
			r.list(&l.Result, &l.Cache)
			l.Prompts = each(r, l.Prompts, func(u *undo) func(*mcp.Prompt) { return u.prompt })
		})
	case *mcp.ListResourcesResult:
		return encode(v, func(l *mcp.ListResourcesResult) {
			r.list(&l.Result, &l.Cache)
			l.Resources = each(r, l.Resources, func(u *undo) func(*mcp.Resource) { return u.resource })
		})
	case *mcp.ListResourceTemplatesResult:
		return encode(v, func(l *mcp.ListResourceTemplatesResult) {
			r.list(&l.Result, &l.Cache)
			l.ResourceTemplates = each(r, l.ResourceTemplates, func(u *undo) func(*mcp.ResourceTemplate) { return u.template })
		})
	case *mcp.ReadResourceResult:
		return encode(v, func(l *mcp.ReadResourceResult) {
			r.list(&l.Result, &l.Cache)
			l.Contents = each(r, l.Contents, func(u *undo) func(*mcp.ResourceContents) { return u.contents })
		})
	case *mcp.CallToolResult:
		return encode(v, r.toolResult)
	case *mcp.GetPromptResult:
		return encode(v, r.promptResult)
	case *mcp.CompleteResult:
		return encode(v, func(c *mcp.CompleteResult) { r.list(&c.Result, nil) })
	case *mcp.EmptyResult:
		return encode(v, func(e *mcp.EmptyResult) { r.list(&e.Result, nil) })
	case *openResult:
		return r.open(v)
	}
	return r.encodeParams(v)
}

// encodeParams is Encode for what servers send that is no result.
func (r *Revision) encodeParams(v any) any {
	switch v := v.(type) {
	case *mcp.ProgressParams:
		if !slices.ContainsFunc(r.older, func(u *undo) bool { return u.progress != nil }) {
			return v // there are many
		}
		return encode(v, func(p *mcp.ProgressParams) {
			apply(r, p, func(u *undo) func(*mcp.ProgressParams) { return u.progress })
		})
	case *mcp.ElicitParams:
		return encode(v, func(p *mcp.ElicitParams) {
			apply(r, p, func(u *undo) func(*mcp.ElicitParams) { return u.elicit })
		})
	case *mcp.CreateMessageParams:
		return encode(v, r.samplingParams)
	}
	return r.encodeAnswer(v)
}

// encodeAnswer is Encode for what clients answer to servers.
func (r *Revision) encodeAnswer(v any) any {
	switch v := v.(type) {
	case *mcp.ElicitResult:
		return encode(v, func(e *mcp.ElicitResult) { r.list(&e.Result, nil) })
	case *mcp.CreateMessageResult:
		return encode(v, func(c *mcp.CreateMessageResult) {
			r.list(&c.Result, nil)
			apply(r, c, func(u *undo) func(*mcp.CreateMessageResult) { return u.sampled })
		})
	case *mcp.ListRootsResult:
		return encode(v, func(l *mcp.ListRootsResult) {
			r.list(&l.Result, nil)
			l.Roots = each(r, l.Roots, func(u *undo) func(*mcp.Root) { return u.root })
		})
	}
	return v
}

// forget drops what the newest revision no longer has.
func (r *Revision) forget(v any) any {
	switch v := v.(type) {
	case *mcp.ListToolsResult:
		for _, t := range v.Tools {
			if t.Execution != nil {
				return encode(v, func(l *mcp.ListToolsResult) {
					l.Tools = slices.Clone(l.Tools)
					for i := range l.Tools {
						r.gone.tool(&l.Tools[i])
					}
				})
			}
		}
	case *mcp.DiscoverResult:
		return encode(v, func(d *mcp.DiscoverResult) { r.gone.capabilities(&d.Capabilities) })
	case *mcp.ElicitParams:
		return encode(v, r.gone.elicit)
	case *mcp.CreateMessageParams:
		return encode(v, r.gone.sampling)
	}
	return v
}

// open drops members from a result of a method this package does not know.
func (r *Revision) open(result *openResult) *openResult {
	changed := maps.Clone(*result)
	r.openMeta(changed)
	for _, u := range r.older {
		for _, name := range u.dropped {
			delete(changed, name)
		}
	}
	return &changed
}

// openMeta undoes the changes to the metadata of a result.
func (r *Revision) openMeta(result openResult) {
	var common mcp.Result
	if json.Unmarshal(result["_meta"], &common.Meta) != nil {
		return
	}
	before := len(common.Meta)
	r.list(&common, nil)
	if len(common.Meta) == before {
		return
	}
	delete(result, "_meta")
	if meta, err := json.Marshal(common.Meta); err == nil && len(common.Meta) > 0 {
		result["_meta"] = meta
	}
}

// encode calls change on a shallow copy of v.
func encode[T any](v *T, change func(*T)) *T {
	changed := *v
	change(&changed)
	return &changed
}

// apply undoes the changes to one part, newest first.
func apply[T any](r *Revision, part *T, of func(*undo) func(*T)) {
	for _, u := range r.older {
		if f := of(u); f != nil {
			f(part)
		}
	}
}

// each undoes the changes to every element, on a copy of the slice if there are
// any for elements of the kind.
func each[T any](r *Revision, parts []T, of func(*undo) func(*T)) []T {
	if !slices.ContainsFunc(r.older, func(u *undo) bool { return of(u) != nil }) {
		return parts
	}
	parts = slices.Clone(parts)
	for i := range parts {
		apply(r, &parts[i], of)
	}
	return parts
}

// list undoes the changes to the members that all results, or all cacheable
// ones, share.
func (r *Revision) list(result *mcp.Result, cache *mcp.Cache) {
	apply(r, result, func(u *undo) func(*mcp.Result) { return u.result })
	if cache != nil {
		apply(r, cache, func(u *undo) func(*mcp.Cache) { return u.cache })
	}
}

func (r *Revision) initialize(i *mcp.InitializeResult) {
	r.list(&i.Result, nil)
	apply(r, &i.ServerInfo, func(u *undo) func(*mcp.Implementation) { return u.implementation })
	apply(r, &i.Capabilities, func(u *undo) func(*mcp.ServerCapabilities) { return u.capabilities })
}

func (r *Revision) toolResult(t *mcp.CallToolResult) {
	r.list(&t.Result, nil)
	t.Content = each(r, t.Content, r.block)
	apply(r, t, func(u *undo) func(*mcp.CallToolResult) { return u.toolResult })
}

func (r *Revision) promptResult(p *mcp.GetPromptResult) {
	r.list(&p.Result, nil)
	p.Messages = slices.Clone(p.Messages)
	for i := range p.Messages {
		apply(r, &p.Messages[i].Content, r.block)
	}
}

func (r *Revision) samplingParams(p *mcp.CreateMessageParams) {
	p.Messages = slices.Clone(p.Messages)
	for i := range p.Messages {
		p.Messages[i].Content = each(r, p.Messages[i].Content, r.block)
	}
	p.Tools = each(r, p.Tools, func(u *undo) func(*mcp.Tool) { return u.tool })
	apply(r, p, func(u *undo) func(*mcp.CreateMessageParams) { return u.sampling })
}

// block undoes the changes to a content block and to the contents embedded in it.
func (r *Revision) block(u *undo) func(*mcp.Content) {
	if u.content == nil && u.contents == nil {
		return nil
	}
	return func(c *mcp.Content) {
		if u.content != nil {
			u.content(c)
		}
		if u.contents != nil && c.Resource != nil {
			contents := *c.Resource
			u.contents(&contents)
			c.Resource = &contents
		}
	}
}
