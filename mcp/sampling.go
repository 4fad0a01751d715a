package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// CreateMessageParams are the parameters of sampling/createMessage, with which a
// server uses the client's model.
type CreateMessageParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// Messages are what the model gets; nil is written as [].
	Messages []SamplingMessage `json:"messages"`
	// ModelPreferences are wishes about the model; nil means none.
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitzero"`
	// SystemPrompt is the system prompt. The client may change or ignore it.
	SystemPrompt string `json:"systemPrompt,omitzero"`
	// IncludeContext is one of the IncludeContext constants; "" means none. All
	// but IncludeContextNone need the client's capability.
	IncludeContext string `json:"includeContext,omitzero"`
	// Temperature is the temperature; nil leaves it to the client.
	Temperature *float64 `json:"temperature,omitzero"`
	// MaxTokens is how long the answer may be, in tokens.
	MaxTokens int64 `json:"maxTokens"`
	// StopSequences are texts that end the answer; nil means none.
	StopSequences []string `json:"stopSequences,omitzero"`
	// Metadata is a JSON object for the provider of the model; nil means none.
	Metadata json.RawMessage `json:"metadata,omitzero"`
	// Tools are what the model may call; nil means none. They need the client's
	// capability, and older revisions do not have them.
	Tools []Tool `json:"tools,omitzero"`
	// ToolChoice tells how to use the tools; nil means as the model likes.
	ToolChoice *ToolChoice `json:"toolChoice,omitzero"`
	// Task asks to run the request as a task; nil means plainly. Only the
	// revision with core tasks has it.
	Task *TaskMetadata `json:"task,omitzero"`
}

// The values of CreateMessageParams.IncludeContext.
const (
	// IncludeContextNone includes nothing.
	IncludeContextNone = "none"
	// IncludeContextThisServer includes the context of the server that asks.
	IncludeContextThisServer = "thisServer"
	// IncludeContextAllServers includes the context of all servers.
	IncludeContextAllServers = "allServers"
)

// Validate reports what the protocol forbids in the parameters: messages whose
// blocks a model cannot take, calls of tools and their results that do not
// belong together, numbers out of their range.
func (p *CreateMessageParams) Validate() error {
	if p.MaxTokens <= 0 {
		return fmt.Errorf("maxTokens is %d, must be greater than 0", p.MaxTokens)
	}
	if c := p.ToolChoice; c != nil && !slices.Contains([]string{"", ToolChoiceAuto, ToolChoiceRequired, ToolChoiceNone}, c.Mode) {
		return fmt.Errorf("toolChoice.mode is %q", c.Mode)
	}
	if m := p.ModelPreferences; m != nil {
		for _, priority := range []*float64{m.CostPriority, m.SpeedPriority, m.IntelligencePriority} {
			if priority != nil && (*priority < 0 || *priority > 1) {
				return fmt.Errorf("a priority of modelPreferences is %v, must be from 0 to 1", *priority)
			}
		}
	}
	calls := map[string]bool{} // those of the message before, which want a result
	for i := range p.Messages {
		next, err := p.Messages[i].check(calls)
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		calls = next
	}
	if len(calls) > 0 {
		return errors.New("the last message calls tools; a message with the results must follow")
	}
	return nil
}

// check reports what is wrong with a message that follows one with the given
// calls of tools, and returns its own.
func (m *SamplingMessage) check(calls map[string]bool) (own map[string]bool, err error) {
	if m.Role != RoleUser && m.Role != RoleAssistant {
		return nil, fmt.Errorf("role is %q, must be %q or %q", m.Role, RoleUser, RoleAssistant)
	}
	own, results := map[string]bool{}, map[string]bool{}
	for i := range m.Content {
		switch block := &m.Content[i]; block.Type {
		case TypeText, TypeImage, TypeAudio:
			continue
		case TypeToolUse:
			if block.ToolUse != nil && m.Role == RoleAssistant {
				own[block.ToolUse.ID] = true
				continue
			}
		case TypeToolResult:
			if block.ToolResult != nil && m.Role == RoleUser {
				results[block.ToolResult.ToolUseID] = true
				continue
			}
		}
		return nil, fmt.Errorf("content[%d]: a message of the %s cannot have a block of type %q", i, m.Role, m.Content[i].Type)
	}
	if len(results) > 0 && slices.ContainsFunc(m.Content, func(c Content) bool { return c.Type != TypeToolResult }) {
		return nil, errors.New("a message with results of tools must have nothing else")
	}
	return own, balanced(calls, results)
}

// balanced reports calls of tools without a result, and results without a call.
func balanced(calls, results map[string]bool) error {
	for id := range calls {
		if !results[id] {
			return fmt.Errorf("must have the result of the call %q in the message before", id)
		}
	}
	for id := range results {
		if !calls[id] {
			return fmt.Errorf("the result of the call %q does not follow that call", id)
		}
	}
	return nil
}

type plainCreateMessageParams CreateMessageParams

// UnmarshalJSONFrom reads the parameters; provider metadata that is null is
// absent.
func (p *CreateMessageParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = CreateMessageParams{}
	if err := decode(dec, (*plainCreateMessageParams)(p)); err != nil {
		return err
	}
	dropNull(&p.Metadata)
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (p *CreateMessageParams) UnmarshalJSON(data []byte) error { return unmarshal(data, p) }

// SamplingMessage is one message to or from a model.
type SamplingMessage struct {
	// Role is who says it.
	Role Role `json:"role"`
	// Content is what is said.
	Content SamplingContent `json:"content"`
	// Meta is the metadata of the message; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

// SamplingContent is the content of a message to or from a model: one block or
// several. A single block crosses the wire as an object, which all revisions
// understand, and anything else as an array, which older ones do not.
type SamplingContent []Content

// MarshalJSONTo writes one block as an object and any other number as an array.
func (c SamplingContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(c) == 1 {
		return c[0].MarshalJSONTo(enc)
	}
	return encode(enc, []Content(c))
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (c SamplingContent) MarshalJSON() ([]byte, error) { return marshal(c) }

// UnmarshalJSONFrom reads an object or an array of them.
func (c *SamplingContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = nil
	if dec.PeekKind() != '{' {
		return decode(dec, (*[]Content)(c))
	}
	*c = make(SamplingContent, 1)
	return (*c)[0].UnmarshalJSONFrom(dec)
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (c *SamplingContent) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

// ModelPreferences are wishes about the model, from 0, unimportant, to 1, most
// important; nil means that nothing is said.
type ModelPreferences struct {
	// Hints name models to prefer, the best first; nil means none.
	Hints []ModelHint `json:"hints,omitzero"`
	// CostPriority is how important a low price is.
	CostPriority *float64 `json:"costPriority,omitzero"`
	// SpeedPriority is how important a quick answer is.
	SpeedPriority *float64 `json:"speedPriority,omitzero"`
	// IntelligencePriority is how important an able model is.
	IntelligencePriority *float64 `json:"intelligencePriority,omitzero"`
}

// ModelHint names a model to prefer.
type ModelHint struct {
	// Name is a name, or a part of one, that the client matches freely.
	Name string `json:"name,omitzero"`
}

// ToolChoice tells how a model is to use tools.
type ToolChoice struct {
	// Mode is one of the ToolChoice constants; "" means ToolChoiceAuto.
	Mode string `json:"mode,omitzero"`
}

// The values of ToolChoice.Mode.
const (
	// ToolChoiceAuto lets the model decide.
	ToolChoiceAuto = "auto"
	// ToolChoiceRequired makes the model call a tool.
	ToolChoiceRequired = "required"
	// ToolChoiceNone keeps the model from calling a tool.
	ToolChoiceNone = "none"
)

// CreateMessageResult is the result of sampling/createMessage.
type CreateMessageResult struct {
	Result
	// Role is who speaks, usually RoleAssistant.
	Role Role `json:"role"`
	// Content is what the model said.
	Content SamplingContent `json:"content"`
	// Model is the model that said it.
	Model string `json:"model"`
	// StopReason is why it stopped: one of the Stop constants or anything else;
	// "" means unknown.
	StopReason string `json:"stopReason,omitzero"`
}

// Validate reports what the protocol forbids in what a model said: a speaker that
// there is not, and blocks of other kinds than text, image, audio and the use of
// tools. Any stop reason is fine.
func (r *CreateMessageResult) Validate() error {
	if r.Role != RoleUser && r.Role != RoleAssistant {
		return fmt.Errorf("role is %q, must be %q or %q", r.Role, RoleUser, RoleAssistant)
	}
	for i := range r.Content {
		switch block := &r.Content[i]; block.Type {
		case TypeText, TypeImage, TypeAudio, TypeToolUse, TypeToolResult:
		default:
			return fmt.Errorf("content[%d]: a model does not say blocks of type %q", i, block.Type)
		}
	}
	return nil
}

// The usual values of CreateMessageResult.StopReason.
const (
	// StopEndTurn means that the model was done.
	StopEndTurn = "endTurn"
	// StopSequence means that a stop sequence came up.
	StopSequence = "stopSequence"
	// StopMaxTokens means that the answer became too long.
	StopMaxTokens = "maxTokens"
	// StopToolUse means that the model wants to call tools.
	StopToolUse = "toolUse"
)
