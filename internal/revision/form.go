package revision

import (
	stdjson "encoding/json"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// plainForm rewrites a form for peers whose forms have texts, numbers, booleans
// and choices only: choices get their titles in the older way, and each choice
// of a list becomes a boolean. Only booleans keep their default.
func plainForm(s *mcp.FormSchema) *mcp.FormSchema {
	if s == nil {
		return nil
	}
	plain := &mcp.FormSchema{}
	for _, f := range s.Fields {
		if f.Kind() == mcp.FormChoices {
			plain.Fields = append(plain.Fields, splitChoices(&f)...)
			continue
		}
		if slices.Contains(s.Required, f.Name) {
			plain.Required = append(plain.Required, f.Name)
		}
		if f.OneOf != nil {
			f.Enum, f.EnumNames = nil, nil
			for _, o := range f.OneOf {
				f.Enum, f.EnumNames = append(f.Enum, o.Const), append(f.EnumNames, o.Title)
			}
			f.OneOf = nil
		}
		if f.Kind() != mcp.FormBoolean {
			f.Default = nil
		}
		plain.Fields = append(plain.Fields, f)
	}
	return plain
}

// choiceName is the name of the boolean that stands for one choice of a list.
func choiceName(f *mcp.FormField, choice string) string { return f.Name + "." + choice }

func splitChoices(f *mcp.FormField) []mcp.FormField {
	var chosen []string
	if f.Default != nil {
		_ = json.Unmarshal(f.Default, &chosen) // one that is no list chooses nothing
	}
	title := f.Title
	if title == "" {
		title = f.Name
	}
	options := f.Options()
	fields := make([]mcp.FormField, len(options))
	for i, o := range options {
		fields[i] = mcp.FormField{
			Name: choiceName(f, o.Const), Type: "boolean", Title: title + ": " + o.Title, Description: f.Description,
		}
		if slices.Contains(chosen, o.Const) {
			fields[i].Default = stdjson.RawMessage("true")
		}
	}
	return fields
}

// JoinChoices turns what was filled in to a form without [FormLists] into what
// fits the form that was meant: the booleans of a list become the list again.
// Content that is no object stays as it is.
func JoinChoices(s *mcp.FormSchema, content stdjson.RawMessage) stdjson.RawMessage {
	var given map[string]stdjson.RawMessage
	if len(content) == 0 || json.Unmarshal(content, &given) != nil || given == nil {
		return content
	}
	joined := false
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Kind() != mcp.FormChoices || given[f.Name] != nil {
			continue
		}
		chosen := []string{}
		for _, o := range f.Options() {
			if string(given[choiceName(f, o.Const)]) == "true" {
				chosen = append(chosen, o.Const)
			}
		}
		raw, err := json.Marshal(chosen)
		if err != nil {
			return content
		}
		given[f.Name], joined = raw, true
	}
	if !joined {
		return content
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return content
	}
	return raw
}

// singleBlocks rewrites messages for peers whose messages have one block each:
// what has several becomes several messages of the same role.
func singleBlocks(messages []mcp.SamplingMessage) []mcp.SamplingMessage {
	single := make([]mcp.SamplingMessage, 0, len(messages))
	for _, m := range messages {
		for _, block := range m.Content {
			single = append(single, mcp.SamplingMessage{Role: m.Role, Content: mcp.SamplingContent{block}})
		}
	}
	return single
}
