package mcp

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// FormSchema is a form for the user to fill in: a flat JSON Schema object whose
// properties keep their order.
type FormSchema struct {
	// Dialect is the $schema member; "" means absent. Older revisions do not
	// have it.
	Dialect string
	// Fields are the fields of the form in the order to show them.
	Fields []FormField
	// Required names the fields that must be filled in; nil means none.
	Required []string
}

// FormField is one field of a form, a JSON Schema of a simple value. Which
// members are in use depends on the kind of field; see Kind.
type FormField struct {
	// Name is the key of the value.
	Name string `json:"-"`
	// Type is string, number, integer, boolean or array.
	Type string `json:"type"`
	// Title is the name to show to the user.
	Title string `json:"title,omitzero"`
	// Description tells the user what to fill in.
	Description string `json:"description,omitzero"`
	// MinLength is the least length of a text, in characters; nil means any.
	MinLength *int64 `json:"minLength,omitzero"`
	// MaxLength is the greatest length of a text, in characters; nil means any.
	MaxLength *int64 `json:"maxLength,omitzero"`
	// Format is email, uri, date or date-time; "" means any text.
	Format string `json:"format,omitzero"`
	// Minimum is the least number; nil means any.
	Minimum *float64 `json:"minimum,omitzero"`
	// Maximum is the greatest number; nil means any.
	Maximum *float64 `json:"maximum,omitzero"`
	// Enum are the values to choose one from, when they have no titles.
	Enum []string `json:"enum,omitzero"`
	// EnumNames are the titles of Enum by index, in the form that older
	// revisions know; it may be shorter than Enum.
	EnumNames []string `json:"enumNames,omitzero"`
	// OneOf are the values to choose one from, with their titles.
	OneOf []FormOption `json:"oneOf,omitzero"`
	// Items are the values to choose several from.
	Items *FormItems `json:"items,omitzero"`
	// MinItems is the least number of choices; nil means any.
	MinItems *int64 `json:"minItems,omitzero"`
	// MaxItems is the greatest number of choices; nil means any.
	MaxItems *int64 `json:"maxItems,omitzero"`
	// Default is the value to begin with; nil means none.
	Default json.RawMessage `json:"default,omitzero"`
}

// FormOption is a value to choose and its title.
type FormOption struct {
	// Const is the value.
	Const string `json:"const"`
	// Title is the name to show to the user.
	Title string `json:"title"`
}

// FormItems are the values that a field with several choices offers: either
// Type and Enum, or AnyOf.
type FormItems struct {
	// Type is "string" when the values have no titles.
	Type string `json:"type,omitzero"`
	// Enum are the values, when they have no titles.
	Enum []string `json:"enum,omitzero"`
	// AnyOf are the values with their titles.
	AnyOf []FormOption `json:"anyOf,omitzero"`
	// OneOf is how some peers write AnyOf. It is for reading.
	OneOf []FormOption `json:"oneOf,omitzero"`
}

// FormKind is what a field of a form looks like to the user.
type FormKind uint8

// The kinds of field.
const (
	// FormUnknown is a field of a type that forms do not have.
	FormUnknown FormKind = iota
	// FormText is a text.
	FormText
	// FormNumber is a number, whole if the type is integer.
	FormNumber
	// FormBoolean is a yes or no.
	FormBoolean
	// FormChoice is one out of several values; see FormField.Options.
	FormChoice
	// FormChoices is any number out of several values; see FormField.Options.
	FormChoices
)

// Kind tells what kind of field it is.
func (f *FormField) Kind() FormKind {
	switch f.Type {
	case "number", "integer":
		return FormNumber
	case "boolean":
		return FormBoolean
	case "array":
		return FormChoices
	case "string":
		if f.OneOf != nil || f.Enum != nil {
			return FormChoice
		}
		return FormText
	}
	return FormUnknown
}

// Options returns the values a field offers to choose from, in whichever way
// they are written. A value without a title has itself as the title. It returns
// nil for fields that are no choice.
func (f *FormField) Options() []FormOption {
	switch {
	case f.Kind() == FormChoice && f.OneOf != nil:
		return f.OneOf
	case f.Kind() == FormChoice:
		return titled(f.Enum, f.EnumNames)
	case f.Kind() != FormChoices || f.Items == nil:
		return nil
	case f.Items.Enum != nil:
		return titled(f.Items.Enum, nil)
	case f.Items.AnyOf != nil:
		return f.Items.AnyOf
	default:
		return f.Items.OneOf
	}
}

func titled(values, titles []string) []FormOption {
	options := make([]FormOption, len(values))
	for i, value := range values {
		options[i] = FormOption{Const: value, Title: value}
		if i < len(titles) {
			options[i].Title = titles[i]
		}
	}
	return options
}

type plainFormField FormField

// UnmarshalJSONFrom reads a field; a default that is null is absent. The name
// is not part of it.
func (f *FormField) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*f = FormField{Name: f.Name}
	if err := decode(dec, (*plainFormField)(f)); err != nil {
		return err
	}
	dropNull(&f.Default)
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (f *FormField) UnmarshalJSON(data []byte) error { return unmarshal(data, f) }

// MarshalJSONTo writes the form as a JSON Schema.
func (s FormSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	if s.Dialect != "" {
		w.string("$schema", s.Dialect)
	}
	w.string("type", "object")
	w.token(jsontext.String("properties"))
	w.token(jsontext.BeginObject)
	for i := range s.Fields {
		w.value(s.Fields[i].Name, &s.Fields[i])
	}
	w.token(jsontext.EndObject)
	if s.Required != nil {
		w.value("required", s.Required)
	}
	return w.end()
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (s FormSchema) MarshalJSON() ([]byte, error) { return marshal(s) }

// UnmarshalJSONFrom reads a JSON Schema; its properties become the fields.
func (s *FormSchema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = FormSchema{}
	err := eachMember(dec, func(name string) error {
		switch name {
		case "$schema":
			return decode(dec, &s.Dialect)
		case "required":
			return decode(dec, &s.Required)
		case "properties":
			err := eachMember(dec, func(name string) error {
				s.Fields = append(s.Fields, FormField{Name: name})
				return decode(dec, &s.Fields[len(s.Fields)-1])
			})
			return err
		default:
			return dec.SkipValue()
		}
	})
	return err
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (s *FormSchema) UnmarshalJSON(data []byte) error { return unmarshal(data, s) }
