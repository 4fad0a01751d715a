package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Support is a capability without settings: a pointer to one that is not nil
// means that the thing is supported.
type Support struct{}

// ClientCapabilities is what a client can do. A nil field means that it cannot.
type ClientCapabilities struct {
	// Roots: the client tells which folders a server may work in.
	Roots *RootsCapability
	// Sampling: the client lets servers use its model.
	Sampling *SamplingCapability
	// Elicitation: the client lets servers ask its user. Older revisions do not
	// have it.
	Elicitation *ElicitationCapability
	// Tasks: the client can run requests as tasks. Only the revision with core
	// tasks has it.
	Tasks *TasksCapability
	// Experimental are capabilities outside of any agreement, by name.
	Experimental map[string]json.RawMessage
	// Extensions are the extensions the client supports with their settings, a
	// JSON object each, by identifier. Older revisions do not have it.
	Extensions map[string]json.RawMessage
	// Extra are capabilities that this package does not know, by name. Names
	// that have a field are ignored here.
	Extra map[string]json.RawMessage
}

// ServerCapabilities is what a server can do. A nil field means that it cannot.
type ServerCapabilities struct {
	// Tools: the server has tools.
	Tools *ToolsCapability
	// Prompts: the server has prompts.
	Prompts *PromptsCapability
	// Resources: the server has resources.
	Resources *ResourcesCapability
	// Logging: the server sends log messages.
	Logging *LoggingCapability
	// Completions: the server completes arguments. The oldest revision does not
	// have it: there only asking tells.
	Completions *CompletionsCapability
	// Tasks: the server can run requests as tasks. Only the revision with core
	// tasks has it.
	Tasks *TasksCapability
	// Experimental are capabilities outside of any agreement, by name.
	Experimental map[string]json.RawMessage
	// Extensions are the extensions the server supports with their settings, a
	// JSON object each, by identifier. Older revisions do not have it.
	Extensions map[string]json.RawMessage
	// Extra are capabilities that this package does not know, by name. Names
	// that have a field are ignored here.
	Extra map[string]json.RawMessage
}

// RootsCapability is about telling folders to a server.
type RootsCapability struct {
	// ListChanged tells that the client notifies about changes. Only older
	// revisions have it.
	ListChanged bool `json:"listChanged,omitzero"`
}

// SamplingCapability is about lending a model to a server.
type SamplingCapability struct {
	// Context: servers may ask to include context; nil means no.
	Context *Support `json:"context,omitzero"`
	// Tools: servers may give tools to the model; nil means no.
	Tools *Support `json:"tools,omitzero"`
}

// ElicitationCapability is about asking the user. When both fields are nil,
// forms are supported.
type ElicitationCapability struct {
	// Form: the user can fill in forms.
	Form *Support `json:"form,omitzero"`
	// URL: the user can be sent to a web page. Older revisions do not have it.
	URL *Support `json:"url,omitzero"`
}

// SupportsForm reports whether forms are supported: they are unless only URL is
// declared. A nil capability supports nothing.
func (c *ElicitationCapability) SupportsForm() bool {
	return c != nil && (c.Form != nil || c.URL == nil)
}

// SupportsURL reports whether the user can be sent to a web page.
func (c *ElicitationCapability) SupportsURL() bool { return c != nil && c.URL != nil }

// ToolsCapability is about tools.
type ToolsCapability struct {
	// ListChanged tells that the server notifies about changes of the list.
	ListChanged bool `json:"listChanged,omitzero"`
}

// PromptsCapability is about prompts.
type PromptsCapability struct {
	// ListChanged tells that the server notifies about changes of the list.
	ListChanged bool `json:"listChanged,omitzero"`
}

// ResourcesCapability is about resources.
type ResourcesCapability struct {
	// Subscribe tells that clients can watch single resources.
	Subscribe bool `json:"subscribe,omitzero"`
	// ListChanged tells that the server notifies about changes of the list.
	ListChanged bool `json:"listChanged,omitzero"`
}

// LoggingCapability is about log messages. It has no settings.
type LoggingCapability struct{}

// CompletionsCapability is about completing arguments. It has no settings.
type CompletionsCapability struct{}

// TasksCapability is about running requests as tasks. Only the revision with
// core tasks has it.
type TasksCapability struct {
	// List: tasks/list is supported.
	List *Support `json:"list,omitzero"`
	// Cancel: tasks/cancel is supported.
	Cancel *Support `json:"cancel,omitzero"`
	// Requests are the requests that can run as a task; nil means none.
	Requests *TaskRequests `json:"requests,omitzero"`
}

// TaskRequests names the requests that can run as a task. Tools is for servers,
// the others are for clients.
type TaskRequests struct {
	// Tools is about tools/call.
	Tools *ToolTaskRequests `json:"tools,omitzero"`
	// Sampling is about sampling/createMessage.
	Sampling *SamplingTaskRequests `json:"sampling,omitzero"`
	// Elicitation is about elicitation/create.
	Elicitation *ElicitationTaskRequests `json:"elicitation,omitzero"`
}

// ToolTaskRequests names the tool requests that can run as a task.
type ToolTaskRequests struct {
	// Call: tools/call can.
	Call *Support `json:"call,omitzero"`
}

// SamplingTaskRequests names the sampling requests that can run as a task.
type SamplingTaskRequests struct {
	// CreateMessage: sampling/createMessage can.
	CreateMessage *Support `json:"createMessage,omitzero"`
}

// ElicitationTaskRequests names the elicitation requests that can run as a task.
type ElicitationTaskRequests struct {
	// Create: elicitation/create can.
	Create *Support `json:"create,omitzero"`
}

// A capabilityField is a member of a capability set that has a field: its name,
// a pointer to the field, and whether it is set.
type capabilityField struct {
	name string
	ptr  any
	set  bool
}

func (c *ClientCapabilities) fields() []capabilityField {
	return []capabilityField{
		{"roots", &c.Roots, c.Roots != nil},
		{"sampling", &c.Sampling, c.Sampling != nil},
		{"elicitation", &c.Elicitation, c.Elicitation != nil},
		{"tasks", &c.Tasks, c.Tasks != nil},
		{"experimental", &c.Experimental, c.Experimental != nil},
		{"extensions", &c.Extensions, c.Extensions != nil},
	}
}

func (c *ServerCapabilities) fields() []capabilityField {
	return []capabilityField{
		{"tools", &c.Tools, c.Tools != nil},
		{"prompts", &c.Prompts, c.Prompts != nil},
		{"resources", &c.Resources, c.Resources != nil},
		{"logging", &c.Logging, c.Logging != nil},
		{"completions", &c.Completions, c.Completions != nil},
		{"tasks", &c.Tasks, c.Tasks != nil},
		{"experimental", &c.Experimental, c.Experimental != nil},
		{"extensions", &c.Extensions, c.Extensions != nil},
	}
}

// MarshalJSONTo writes the capabilities, then those in Extra.
func (c ClientCapabilities) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeCapabilities(enc, c.fields(), c.Extra)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (c ClientCapabilities) MarshalJSON() ([]byte, error) { return marshal(c) }

// UnmarshalJSONFrom reads the capabilities; unknown ones go to Extra.
func (c *ClientCapabilities) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = ClientCapabilities{}
	return readCapabilities(dec, c.fields(), &c.Extra)
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (c *ClientCapabilities) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

// MarshalJSONTo writes the capabilities, then those in Extra.
func (c ServerCapabilities) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeCapabilities(enc, c.fields(), c.Extra)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (c ServerCapabilities) MarshalJSON() ([]byte, error) { return marshal(c) }

// UnmarshalJSONFrom reads the capabilities; unknown ones go to Extra.
func (c *ServerCapabilities) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = ServerCapabilities{}
	return readCapabilities(dec, c.fields(), &c.Extra)
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (c *ServerCapabilities) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

func writeCapabilities(enc *jsontext.Encoder, fields []capabilityField, extra map[string]json.RawMessage) error {
	w := beginObject(enc)
	for _, f := range fields {
		if f.set {
			w.value(f.name, f.ptr)
		}
	}
	if len(extra) > 0 {
		for _, name := range slices.Sorted(maps.Keys(extra)) {
			if findCapability(fields, name) == nil {
				w.raw(name, extra[name], "null")
			}
		}
	}
	return w.end()
}

func readCapabilities(dec *jsontext.Decoder, fields []capabilityField, extra *map[string]json.RawMessage) error {
	err := eachMember(dec, func(name string) error {
		if f := findCapability(fields, name); f != nil {
			return decode(dec, f.ptr)
		}
		value, err := dec.ReadValue()
		if err != nil || value.Kind() == 'n' {
			return err
		}
		if *extra == nil {
			*extra = make(map[string]json.RawMessage)
		}
		(*extra)[name] = json.RawMessage(value.Clone())
		return nil
	})
	return err
}

func findCapability(fields []capabilityField, name string) *capabilityField {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}
