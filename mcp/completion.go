package mcp

// CompleteParams are the parameters of completion/complete, which asks for
// values that an argument could have.
type CompleteParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Ref is the prompt or resource template that has the argument.
	Ref Reference `json:"ref"`
	// Argument is the argument and what has been typed so far.
	Argument CompleteArgument `json:"argument"`
	// Context are the arguments that are filled in already; nil means nothing is
	// said. Older revisions do not have it.
	Context *CompleteContext `json:"context,omitzero"`
}

// Reference names a prompt or a resource template; PromptRef and ResourceRef
// make one.
type Reference struct {
	// Type is RefPrompt or RefResource.
	Type string `json:"type"`
	// Name is the key of a prompt.
	Name string `json:"name,omitzero"`
	// Title is the name of a prompt to show to people. Older revisions do not
	// have it.
	Title string `json:"title,omitzero"`
	// URI is the URI, or the URI template, of a resource.
	URI string `json:"uri,omitzero"`
}

// The values of Reference.Type.
const (
	// RefPrompt is for prompts.
	RefPrompt = "ref/prompt"
	// RefResource is for resources and resource templates.
	RefResource = "ref/resource"
)

// PromptRef returns a reference to a prompt.
func PromptRef(name string) Reference { return Reference{Type: RefPrompt, Name: name} }

// ResourceRef returns a reference to a resource by its URI or URI template.
func ResourceRef(uri string) Reference { return Reference{Type: RefResource, URI: uri} }

// CompleteArgument is an argument to complete.
type CompleteArgument struct {
	// Name is the key of the argument.
	Name string `json:"name"`
	// Value is what has been typed so far.
	Value string `json:"value"`
}

// CompleteContext is what is known besides the argument to complete.
type CompleteContext struct {
	// Arguments are the values of other arguments, by name; nil means none.
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult is the result of completion/complete.
type CompleteResult struct {
	Result
	// Completion are the values.
	Completion Completion `json:"completion"`
}

// MaxCompletionValues is how many values one completion may have.
const MaxCompletionValues = 100

// Completion are values that an argument could have.
type Completion struct {
	// Values are at most MaxCompletionValues values; nil is written as [].
	Values []string `json:"values"`
	// Total is how many there are in all; nil means unknown.
	Total *int64 `json:"total,omitzero"`
	// HasMore tells that there are more than Values.
	HasMore bool `json:"hasMore,omitzero"`
}
