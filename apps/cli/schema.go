package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// maxRefs bounds how many references are followed to find a type.
const maxRefs = 16

// A schema is as much of a JSON Schema as is needed to read arguments from the
// command line and to show them. The server checks them in full.
type schema struct {
	Type        oneOrMore          `json:"type"`
	Description string             `json:"description"`
	Properties  members            `json:"properties"`
	Required    []string           `json:"required"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Const       json.RawMessage    `json:"const"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	AllOf       []*schema          `json:"allOf"`
	Default     json.RawMessage    `json:"default"`
	Ref         string             `json:"$ref"`
	Defs        map[string]*schema `json:"$defs"`
	Definitions map[string]*schema `json:"definitions"`
}

// UnmarshalJSON reads a schema. One that has another form than expected, such
// as true, says nothing: it is not for a client to refuse it.
func (s *schema) UnmarshalJSON(data []byte) error {
	type plainSchema schema
	var read plainSchema
	if json.Unmarshal(data, &read) == nil {
		*s = schema(read)
	}
	return nil
}

// A oneOrMore is a string or several.
type oneOrMore []string

// UnmarshalJSON reads either.
func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// members are the members of an object in their order.
type members []member

type member struct {
	name   string
	schema *schema
}

// UnmarshalJSON reads an object of schemas.
func (m *members) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("not an object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		s := new(schema)
		if err := dec.Decode(s); err != nil {
			return err
		}
		*m = append(*m, member{name, s})
	}
	return nil
}

// parseSchema reads the input schema of a tool.
func parseSchema(raw json.RawMessage) *schema {
	s := new(schema)
	_ = json.Unmarshal(raw, s) // never an error for JSON, and the client has read it as such
	return s
}

// property returns the schema of a property, nil if the schema names none.
func (s *schema) property(name string) *schema {
	for _, m := range s.Properties {
		if m.name == name {
			return m.schema
		}
	}
	return nil
}

// closed reports whether there can be no properties but those named.
func (s *schema) closed() bool { return string(s.Additional) == "false" }

// follow returns the schema that a reference within root names, or s.
func (s *schema) follow(root *schema) *schema {
	for range maxRefs {
		if s.Ref == "" {
			return s
		}
		var to *schema
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			to = root.Defs[name]
		} else if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
			to = root.Definitions[name]
		}
		if to == nil {
			return s
		}
		s = to
	}
	return s
}

// types returns the types a value may have, none if the schema does not say.
func (s *schema) types(root *schema) []string { return s.typesBut(root, map[*schema]bool{}) }

// typesBut is types without looking at a schema twice: references may go in
// circles, and there may be more ways through them than there is time.
func (s *schema) typesBut(root *schema, seen map[*schema]bool) []string {
	if s == nil {
		return nil
	}
	if s = s.follow(root); seen[s] {
		return nil
	}
	seen[s] = true
	if len(s.Type) > 0 {
		return s.Type
	}
	var found []string
	add := func(types ...string) {
		for _, t := range types {
			if !slices.Contains(found, t) {
				found = append(found, t)
			}
		}
	}
	for _, list := range [][]*schema{s.AnyOf, s.OneOf} {
		for _, each := range list {
			add(each.typesBut(root, seen)...)
		}
	}
	for _, each := range s.AllOf {
		if len(found) == 0 {
			add(each.typesBut(root, seen)...)
		}
	}
	for _, v := range s.Enum {
		add(typeOf(v))
	}
	if len(found) == 0 && len(s.Const) > 0 {
		var v any
		if json.Unmarshal(s.Const, &v) == nil {
			add(typeOf(v))
		}
	}
	return found
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// convert makes JSON of what was written for a value: a string where the schema
// allows one, since that needs no guess, and else the type that fits.
func (s *schema) convert(root *schema, text string) (json.RawMessage, error) {
	types := s.types(root)
	if len(types) == 0 || slices.Contains(types, "string") {
		raw, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		return raw, s.among(root, raw)
	}
	text = strings.TrimSpace(text)
	raw := json.RawMessage(text)
	if json.Valid(raw) {
		for _, t := range types {
			if fits(raw, t) {
				return raw, s.among(root, raw)
			}
		}
	}
	return nil, fmt.Errorf("expected %s, got %q", strings.Join(types, " or "), text)
}

// fits reports whether valid JSON has a type.
func fits(raw json.RawMessage, typ string) bool {
	first := raw[0]
	number := first == '-' || first >= '0' && first <= '9'
	switch typ {
	case "integer":
		// Large exponents are left to the server.
		r, ok := new(big.Float).SetString(string(raw))
		return number && ok && r.IsInt()
	case "number":
		return number
	case "boolean":
		return first == 't' || first == 'f'
	case "null":
		return first == 'n'
	case "array":
		return first == '['
	case "object":
		return first == '{'
	default:
		return false
	}
}

// among checks a value against those that the schema lists.
func (s *schema) among(root *schema, raw json.RawMessage) error {
	if s == nil {
		return nil
	}
	s = s.follow(root)
	if len(s.Enum) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Enum, func(allowed any) bool { return reflect.DeepEqual(v, allowed) }) {
		return nil
	}
	return fmt.Errorf("expected one of %s, got %s", s.choices(), raw)
}

// choices lists the values of an enumeration.
func (s *schema) choices() string {
	list := make([]string, len(s.Enum))
	for i, v := range s.Enum {
		list[i] = fmt.Sprint(v)
	}
	return strings.Join(list, ", ")
}

// kind describes the type of a value in a word.
func (s *schema) kind(root *schema) string {
	types := s.types(root)
	if len(types) == 0 {
		return "any"
	}
	list := slices.Clone(types)
	for i, t := range list {
		if items := s.follow(root).Items; t == "array" && items != nil {
			list[i] = strings.Join(items.types(root), "|") + "[]"
		}
	}
	return strings.Join(list, "|")
}

// indent makes JSON readable.
func indent(doc json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return "", err
	}
	return b.String(), nil
}
