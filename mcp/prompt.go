package mcp

// Role is who says something.
type Role string

// The roles.
const (
	// RoleUser is the person.
	RoleUser Role = "user"
	// RoleAssistant is the model.
	RoleAssistant Role = "assistant"
)

// Prompt describes a template of messages that a server offers to people.
type Prompt struct {
	// Name is the key of the prompt.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Description tells what the prompt is for.
	Description string `json:"description,omitzero"`
	// Arguments are the values the template takes; nil means none.
	Arguments []PromptArgument `json:"arguments,omitzero"`
	// Icons are pictures for the prompt. Older revisions do not have them.
	Icons []Icon `json:"icons,omitzero"`
	// Meta is the metadata of the prompt; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

// PromptArgument is a value that a prompt takes. Values are always strings.
type PromptArgument struct {
	// Name is the key of the argument.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Description tells what to put there.
	Description string `json:"description,omitzero"`
	// Required tells that the prompt cannot do without it.
	Required bool `json:"required,omitzero"`
}

// PromptMessage is one message of a prompt. Its content is always one block.
type PromptMessage struct {
	// Role is who says it.
	Role Role `json:"role"`
	// Content is what is said.
	Content Content `json:"content"`
}

// ListPromptsParams are the parameters of prompts/list.
type ListPromptsParams = PageParams

// ListPromptsResult is the result of prompts/list.
type ListPromptsResult struct {
	Result
	Cache
	// Prompts is one page of prompts; nil is written as [].
	Prompts []Prompt `json:"prompts"`
	// NextCursor asks for the next page; nil means that this is the last one.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// GetPromptParams are the parameters of prompts/get.
type GetPromptParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Name is the prompt to get.
	Name string `json:"name"`
	// Arguments are the values for the template; nil means none.
	Arguments map[string]string `json:"arguments,omitzero"`
	// InputResponses answer the input requests of an earlier try. Only the
	// stateless revision has them; nil means none.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	// RequestState is what the server gave with an earlier try; nil means that
	// it gave none.
	RequestState *string `json:"requestState,omitzero"`
}

// GetPromptResult is the result of prompts/get.
type GetPromptResult struct {
	Result
	// Description tells what the prompt is for.
	Description string `json:"description,omitzero"`
	// Messages are the messages of the prompt; nil is written as [].
	Messages []PromptMessage `json:"messages"`
}
