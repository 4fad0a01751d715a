package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool describes a function that a server lets models call.
type Tool struct {
	// Name is the key of the tool; see ValidateToolName.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Description tells a model what the tool does.
	Description string `json:"description,omitzero"`
	// InputSchema is the JSON Schema of the arguments, whose type must be
	// object; nil is written as a schema that accepts any object.
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is the JSON Schema of the structured content; nil means
	// none. Older revisions want an object at its root, the oldest do not have
	// it.
	OutputSchema json.RawMessage `json:"outputSchema,omitzero"`
	// Annotations are hints about what the tool does; nil means none.
	Annotations *ToolAnnotations `json:"annotations,omitzero"`
	// Icons are pictures for the tool. Older revisions do not have them.
	Icons []Icon `json:"icons,omitzero"`
	// Execution tells how the tool can be run; nil means only as a plain call.
	// Only the revision with core tasks has it.
	Execution *ToolExecution `json:"execution,omitzero"`
	// Meta is the metadata of the tool; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

type plainTool Tool

var anyObjectSchema = json.RawMessage(`{"type":"object"}`)

// MarshalJSONTo writes the tool straight into enc.
func (t Tool) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t.InputSchema == nil {
		t.InputSchema = anyObjectSchema
	}
	return encode(enc, (*plainTool)(&t))
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (t Tool) MarshalJSON() ([]byte, error) { return marshal(t) }

// UnmarshalJSONFrom reads a tool. Its schemas are kept as they came.
func (t *Tool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = Tool{}
	if err := decode(dec, (*plainTool)(t)); err != nil {
		return err
	}
	dropNull(&t.InputSchema, &t.OutputSchema)
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (t *Tool) UnmarshalJSON(data []byte) error { return unmarshal(data, t) }

// ToolAnnotations are hints about a tool. A client must not trust those of a
// server it does not trust.
type ToolAnnotations struct {
	// Title is the name to show to people; Tool.Title comes first.
	Title string `json:"title,omitzero"`
	// ReadOnlyHint tells that the tool changes nothing.
	ReadOnlyHint bool `json:"readOnlyHint,omitzero"`
	// DestructiveHint tells whether the tool may destroy something; nil means
	// true. It has a meaning only when ReadOnlyHint is false.
	DestructiveHint *bool `json:"destructiveHint,omitzero"`
	// IdempotentHint tells that calling again with the same arguments changes
	// nothing more. It has a meaning only when ReadOnlyHint is false.
	IdempotentHint bool `json:"idempotentHint,omitzero"`
	// OpenWorldHint tells whether the tool deals with things outside of the
	// server; nil means true.
	OpenWorldHint *bool `json:"openWorldHint,omitzero"`
}

// ToolExecution tells how a tool can be run.
type ToolExecution struct {
	// TaskSupport is one of the TaskSupport constants; "" means
	// TaskSupportForbidden.
	TaskSupport string `json:"taskSupport,omitzero"`
}

// The values of ToolExecution.TaskSupport.
const (
	// TaskSupportForbidden is for tools that cannot run as a task.
	TaskSupportForbidden = "forbidden"
	// TaskSupportOptional is for tools that can run as a task.
	TaskSupportOptional = "optional"
	// TaskSupportRequired is for tools that run only as a task.
	TaskSupportRequired = "required"
)

// MaxToolName is the length that a tool name should not exceed, in bytes.
const MaxToolName = 128

// ValidateToolName reports why a tool should not be registered under a name:
// names have 1 to MaxToolName characters out of A-Z a-z 0-9 _ - and the dot.
// It is a rule for those who name tools; peers may use other names and clients
// accept them.
func ValidateToolName(name string) error {
	if name == "" {
		return fmt.Errorf("tool name is empty")
	}
	if len(name) > MaxToolName {
		return fmt.Errorf("tool name has %d bytes, more than %d", len(name), MaxToolName)
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.':
		default:
			return fmt.Errorf("tool name %q contains %q", name, r)
		}
	}
	return nil
}

// ListToolsParams are the parameters of tools/list.
type ListToolsParams = PageParams

// ListToolsResult is the result of tools/list.
type ListToolsResult struct {
	Result
	Cache
	// Tools is one page of tools; nil is written as [].
	Tools []Tool `json:"tools"`
	// NextCursor asks for the next page; nil means that this is the last one.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// CallToolParams are the parameters of tools/call.
type CallToolParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Name is the tool to call.
	Name string `json:"name"`
	// Arguments is a JSON object; nil means that there are none.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// InputResponses answer the input requests of an earlier try. Only the
	// stateless revision has them; nil means none.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	// RequestState is what the server gave with an earlier try; nil means that
	// it gave none.
	RequestState *string `json:"requestState,omitzero"`
	// Task asks to run the call as a task; nil means a plain call. Only the
	// revision with core tasks has it.
	Task *TaskMetadata `json:"task,omitzero"`
}

type plainCallToolParams CallToolParams

// UnmarshalJSONFrom reads the parameters; arguments that are null are absent.
func (p *CallToolParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = CallToolParams{}
	if err := decode(dec, (*plainCallToolParams)(p)); err != nil {
		return err
	}
	dropNull(&p.Arguments)
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (p *CallToolParams) UnmarshalJSON(data []byte) error { return unmarshal(data, p) }

// CallToolResult is the result of tools/call.
type CallToolResult struct {
	Result
	// Content is the output for a model to read; nil is written as [].
	Content []Content `json:"content"`
	// StructuredContent is the output as JSON; nil means none, and null is a
	// value. Older revisions allow only an object, the oldest do not have it.
	StructuredContent json.RawMessage `json:"structuredContent,omitzero"`
	// IsError tells that the tool failed; Content then tells the model why.
	IsError bool `json:"isError,omitzero"`
}
