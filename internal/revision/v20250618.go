package revision

import "github.com/ferrymcp/ferry/mcp"

// Batches were removed; the version header in HTTP; structured tool output;
// elicitation; resource links; titles; _meta on more types; lastModified;
// context in completion.
var rev20250618 = &Revision{
	name:     "2025-06-18",
	features: ServerRequests | NotFoundCode | VersionHeader | ObjectOutput | Elicitation | ResumableStreams | SamplingAudio,
	methods: featureMethods.plus(changeNotifications, sessionMethods, methodSet{
		mcp.MethodElicitationCreate: fromServer,
	}),
	undo: undo{
		members: []string{
			"content", "messages", "contents", "structuredContent",
			"tools", "prompts", "resources", "resourceTemplates",
		},
		// Extensions came with the stateless revision, but the capabilities of the
		// ones before are open to them, and hosts look for them there.
		capabilities:   func(c *mcp.ServerCapabilities) { c.Extensions = nil },
		implementation: func(i *mcp.Implementation) { i.Title = "" },
		tool:           untitledTool,
		prompt:         untitledPrompt,
		resource: func(r *mcp.Resource) {
			r.Name, r.Title, r.Meta = displayName(r.Title, r.Name), "", nil
			r.Annotations = undated(r.Annotations)
		},
		template: func(t *mcp.ResourceTemplate) {
			t.Name, t.Title, t.Meta = displayName(t.Title, t.Name), "", nil
			t.Annotations = undated(t.Annotations)
		},
		content:    linkAsText,
		contents:   func(c *mcp.ResourceContents) { c.Meta = nil },
		toolResult: func(r *mcp.CallToolResult) { r.StructuredContent = nil },
		root:       func(r *mcp.Root) { r.Meta = nil },
	},
}

// untitledTool moves the title into the annotations, where the revision
// before has it, and drops the structured output.
func untitledTool(t *mcp.Tool) {
	if t.Title != "" && (t.Annotations == nil || t.Annotations.Title == "") {
		var annotations mcp.ToolAnnotations
		if t.Annotations != nil {
			annotations = *t.Annotations
		}
		annotations.Title = t.Title
		t.Annotations = &annotations
	}
	t.Title, t.OutputSchema, t.Meta = "", nil, nil
}

func untitledPrompt(p *mcp.Prompt) {
	p.Title, p.Meta = "", nil
	arguments := make([]mcp.PromptArgument, len(p.Arguments))
	for i, a := range p.Arguments {
		a.Title = ""
		arguments[i] = a
	}
	if p.Arguments != nil {
		p.Arguments = arguments
	}
}

// displayName puts the title where peers without titles show it. It is only
// for resources: the name of a tool or prompt is its key.
func displayName(title, name string) string {
	if title != "" {
		return title
	}
	return name
}

// undated drops lastModified.
func undated(a *mcp.Annotations) *mcp.Annotations {
	if a == nil || a.LastModified == "" {
		return a
	}
	undated := *a
	undated.LastModified = ""
	return &undated
}

// linkAsText writes a resource link as a text that names it.
func linkAsText(c *mcp.Content) {
	c.Annotations, c.Meta = undated(c.Annotations), nil
	if c.Type != mcp.TypeResourceLink || c.Link == nil {
		return
	}
	annotations := c.Link.Annotations
	if annotations == nil {
		annotations = c.Annotations
	}
	text := c.Link.URI
	if name := displayName(c.Link.Title, c.Link.Name); name != "" {
		text = name + ": " + text
	}
	if c.Link.Description != "" {
		text += "\n" + c.Link.Description
	}
	*c = mcp.Content{Type: mcp.TypeText, Text: text, Annotations: undated(annotations)}
}
