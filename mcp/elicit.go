package mcp

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// ElicitParams are the parameters of elicitation/create, which asks the user
// something: with a form, or by sending them to a web page.
type ElicitParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Mode is ElicitForm or ElicitURL; "" means ElicitForm.
	Mode string `json:"mode,omitzero"`
	// Message tells the user what is asked and why.
	Message string `json:"message"`
	// RequestedSchema is the form. It is nil in URL mode.
	RequestedSchema *FormSchema `json:"requestedSchema,omitzero"`
	// URL is where to send the user in URL mode.
	URL string `json:"url,omitzero"`
	// ElicitationID names a request in URL mode, for
	// notifications/elicitation/complete. The stateless revision does not have
	// it.
	ElicitationID string `json:"elicitationId,omitzero"`
	// Task asks to run the request as a task; nil means plainly. Only the
	// revision with core tasks has it.
	Task *TaskMetadata `json:"task,omitzero"`
}

// The values of ElicitParams.Mode.
const (
	// ElicitForm shows a form.
	ElicitForm = "form"
	// ElicitURL sends the user to a web page. Older revisions do not have it.
	ElicitURL = "url"
)

// IsURL reports whether the user is to be sent to a web page. Only the mode
// decides, not the presence of a URL.
func (p *ElicitParams) IsURL() bool { return p.Mode == ElicitURL }

// ElicitResult is the result of elicitation/create.
type ElicitResult struct {
	Result
	// Action is one of the Elicit actions.
	Action string `json:"action"`
	// Content is what the user filled in, a JSON object by field name. It is nil
	// unless a form was accepted.
	Content json.RawMessage `json:"content,omitzero"`
}

// The values of ElicitResult.Action.
const (
	// ElicitAccept means that the user agreed.
	ElicitAccept = "accept"
	// ElicitDecline means that the user said no.
	ElicitDecline = "decline"
	// ElicitCancel means that the user went away without a choice.
	ElicitCancel = "cancel"
)

// Accepted reports whether the user agreed.
func (r *ElicitResult) Accepted() bool { return r.Action == ElicitAccept }

// Decode decodes what the user filled in into v, a pointer to a struct or a map.
// It leaves v alone when there is nothing.
func (r *ElicitResult) Decode(v any) error {
	if r.Content == nil {
		return nil
	}
	return unmarshal(r.Content, v)
}

type plainElicitResult ElicitResult

// UnmarshalJSONFrom reads the result; content that is null is absent.
func (r *ElicitResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*r = ElicitResult{}
	if err := decode(dec, (*plainElicitResult)(r)); err != nil {
		return err
	}
	dropNull(&r.Content)
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (r *ElicitResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

// ElicitationCompleteParams are the parameters of
// notifications/elicitation/complete.
type ElicitationCompleteParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// ElicitationID is the request that is done.
	ElicitationID string `json:"elicitationId"`
}
