package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// InferForm returns the form whose content a struct is read from. Its fields
// are texts, numbers, booleans, choices (texts with an enum) and lists of
// choices, described by the same tags as for [Infer]; `titles`, separated by |,
// are the titles of the enum by index. A field must be filled in unless it is
// a pointer or has omitempty or omitzero. Everything else is an error that names
// the field.
func InferForm(t reflect.Type) (*mcp.FormSchema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, own := known(t); own || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a form needs a struct with its fields, not %s", t)
	}
	fields, open, err := fieldsOf(t, typeName(t))
	if err != nil {
		return nil, err
	}
	if open {
		return nil, fmt.Errorf("%s: a form cannot have unknown fields", typeName(t))
	}
	in := inferrer{
		root: t, forms: true,
		active: map[reflect.Type]bool{t: true}, recursive: map[reflect.Type]string{}, names: map[string]bool{},
	}
	form := &mcp.FormSchema{Fields: make([]mcp.FormField, len(fields))}
	for i, f := range fields {
		path := typeName(t) + "." + f.goName
		f.nullable = false
		s, err := in.field(f, path)
		if err != nil {
			return nil, err
		}
		if form.Fields[i], err = formField(f.name, s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := (&mcp.FormSchema{Fields: form.Fields[i : i+1]}).Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !f.optional {
			form.Required = append(form.Required, f.name)
		}
	}
	return form, form.Validate()
}

// titles is the keyword that only forms have.
const titles = "titles"

// inForms are the keywords of the fields of forms.
var inForms = map[string]bool{
	"type": true, "title": true, "description": true, "default": true, "enum": true, "items": true, "format": true,
	"minLength": true, "maxLength": true, "minimum": true, "maximum": true, "minItems": true, "maxItems": true, titles: true,
}

// formField makes a field of a form of the schema of its value.
func formField(name string, s object) (mcp.FormField, error) {
	f := mcp.FormField{Name: name}
	items, _ := s.member("items").(object)
	for _, m := range append(append(object{}, s...), items...) {
		if !inForms[m.name] {
			return f, fmt.Errorf("forms have no %s", m.name)
		}
	}
	var buf bytes.Buffer
	if err := s.write(&buf); err != nil {
		return f, err
	}
	if err := ijson.Unmarshal(buf.Bytes(), &f); err != nil {
		return f, fmt.Errorf("not a field of a form: %w", err)
	}
	if names, ok := s.member(titles).([]string); ok {
		options, err := titled(f.Enum, names)
		f.Enum, f.OneOf = nil, options
		return f, err
	}
	if names, ok := items.member(titles).([]string); ok {
		options, err := titled(f.Items.Enum, names)
		f.Items = &mcp.FormItems{AnyOf: options}
		return f, err
	}
	return f, nil
}

// titled pairs the values to choose from with their titles.
func titled(values, names []string) ([]mcp.FormOption, error) {
	if len(values) != len(names) {
		return nil, fmt.Errorf("%d titles for %d values of the enum", len(names), len(values))
	}
	options := make([]mcp.FormOption, len(values))
	for i, value := range values {
		options[i] = mcp.FormOption{Const: value, Title: names[i]}
	}
	return options, nil
}

// member returns the value of a member; nil when there is none.
func (s object) member(name string) any {
	for _, m := range s {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// onlyForms returns the error for titles outside of a form.
func onlyForms(s object, path string) error {
	items, _ := s.member("items").(object)
	if s.member(titles) != nil || items.member(titles) != nil {
		return fmt.Errorf("%s: jsonschema tag: titles are for the fields of forms", path)
	}
	return nil
}

// titleList reads the value of the keyword in a tag.
func titleList(text string) []string { return strings.Split(text, "|") }
