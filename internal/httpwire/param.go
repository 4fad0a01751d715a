package httpwire

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// paramKeyword is the keyword of a tool's input schema that asks for a header.
const paramKeyword = "x-mcp-header"

// A Param is a tool argument that requests repeat in a header, because the
// tool's input schema asks for it.
type Param struct {
	// Name is what follows HeaderParamPrefix, as the schema spells it.
	Name string
	// Header is the whole name in canonical form.
	Header string
	// Path leads to the argument: the names of properties, outermost first.
	Path []string
}

// Params returns the arguments that an input schema, which must be valid JSON,
// wants repeated. The error tells which annotation breaks which rule; then
// the tool must not be used over HTTP.
func Params(inputSchema []byte) ([]Param, error) {
	if !bytes.Contains(inputSchema, []byte(paramKeyword)) && bytes.IndexByte(inputSchema, '\\') < 0 {
		return nil, nil // almost all tools
	}
	w := paramWalk{taken: map[string]bool{}}
	if err := w.schema(inputSchema, nil, true); err != nil {
		return nil, err
	}
	return w.found, nil
}

// A paramWalk goes through a schema in search of annotations.
type paramWalk struct {
	found []Param
	taken map[string]bool // header names
	depth int
}

// maxParamDepth bounds how deep schemas are looked into: each level reads what is
// below it once more.
const maxParamDepth = 64

var errParamDepth = fmt.Errorf("%s: the schema is nested more than %d levels deep", paramKeyword, maxParamDepth)

// The keywords that hold other schemas, by their form. An argument behind one of
// them may or may not be there, so it cannot have a header.
var (
	schemaKeywords = set("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items",
		"not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
		"allOf", "anyOf", "oneOf", "prefixItems")
	schemaMapKeywords = set("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// schema looks at one schema. Fixed tells that path leads to what it describes
// in all arguments.
func (w *paramWalk) schema(raw []byte, path []string, fixed bool) error {
	if annotation, ok := json.Member(raw, paramKeyword); ok {
		if err := w.enter(raw, annotation, path, fixed); err != nil {
			return fmt.Errorf("%s of %s: %w", paramKeyword, described(path), err)
		}
	}
	if w.depth++; w.depth > maxParamDepth {
		return errParamDepth
	}
	defer func() { w.depth-- }()
	for keyword, value := range json.Members(raw) {
		var err error
		switch {
		case keyword == "properties":
			err = w.each(value, path, fixed)
		case schemaMapKeywords[keyword]:
			err = w.each(value, path, false)
		case schemaKeywords[keyword]:
			err = w.schemas(value, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each looks at the schemas in an object.
func (w *paramWalk) each(object []byte, path []string, fixed bool) error {
	for name, value := range json.Members(object) {
		if err := w.schema(value, append(slices.Clip(path), name), fixed); err != nil {
			return err
		}
	}
	return nil
}

// schemas looks at a schema or a list of them.
func (w *paramWalk) schemas(value []byte, path []string) error {
	if len(value) == 0 || value[0] != '[' {
		return w.schema(value, path, false)
	}
	var list []stdjson.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return err
	}
	for _, item := range list {
		if err := w.schema(item, path, false); err != nil {
			return err
		}
	}
	return nil
}

// enter notes an annotated property, or says what is wrong with it.
func (w *paramWalk) enter(schema, annotation []byte, path []string, fixed bool) error {
	name, ok := json.Unquote(annotation)
	switch {
	case !ok:
		return errors.New("it is not a string")
	case name == "":
		return errors.New("it is empty")
	case !ValidToken(name):
		return fmt.Errorf("%q cannot be part of a header name", name)
	case !fixed || len(path) == 0:
		return errors.New("only what \"properties\" alone leads to can have a header")
	case !primitive(schema):
		return errors.New("only strings, integers and booleans can have a header")
	}
	header := HeaderParamPrefix + canonical(name)
	if w.taken[header] {
		return fmt.Errorf("%q is the header of another property", name)
	}
	w.taken[header] = true
	w.found = append(w.found, Param{Name: strings.Clone(name), Header: header, Path: cloneAll(path)})
	return nil
}

// primitive reports whether a schema is of one type that headers can show. It
// may also be nullable: null has no header.
func primitive(schema []byte) bool {
	value, _ := json.Member(schema, "type")
	var types []string
	if name, ok := json.Unquote(value); ok {
		types = []string{name}
	} else if json.Unmarshal(value, &types) != nil {
		return false
	}
	good := 0
	for _, name := range types {
		switch name {
		case "string", "integer", "boolean":
			good++
		case "null":
		default:
			return false
		}
	}
	return good == 1
}

func described(path []string) string {
	if len(path) == 0 {
		return "the schema itself"
	}
	return fmt.Sprintf("property %q", strings.Join(path, "."))
}

// cloneAll copies a path whose names refer to the schema's bytes.
func cloneAll(path []string) []string {
	out := make([]string, len(path))
	for i, name := range path {
		out[i] = strings.Clone(name)
	}
	return out
}

// canonical writes the name of a header as package net/http does.
func canonical(name string) string {
	out := []byte(name)
	first := true
	for i, c := range out {
		switch {
		case first && 'a' <= c && c <= 'z':
			out[i] = c - 'a' + 'A'
		case !first && 'A' <= c && c <= 'Z':
			out[i] = c - 'A' + 'a'
		}
		first = c == '-'
	}
	return string(out)
}

// The reasons why an argument cannot be repeated in a header.
var (
	errParamTwice = errors.New("it is there twice")
	errParamKind  = errors.New("it is neither a string nor a number nor a boolean")
	errParamRange = errors.New("it is outside the range of integers that all peers can read, 2^53-1 either way")
)

// Text returns what the header says for these arguments, before EncodeValue. It
// reports false when they have no value for it, or null: then there is no
// header. The error says why a value cannot be put into a header.
func (p *Param) Text(arguments []byte) (text string, ok bool, err error) {
	value, err := p.value(arguments)
	switch {
	case err != nil:
		return "", false, p.wrong(err)
	case value == nil:
		return "", false, nil
	}
	switch value[0] {
	case '"':
		text, ok = json.Unquote(value)
	case 't', 'f':
		text, ok = string(value), true
	case '{', '[':
	default:
		text, err = number(string(value))
		ok = err == nil
	}
	if err == nil && !ok {
		err = errParamKind
	}
	if err != nil {
		return "", false, p.wrong(err)
	}
	return text, true, nil
}

func (p *Param) wrong(err error) error {
	return fmt.Errorf("argument %q cannot be repeated in a header: %w", strings.Join(p.Path, "."), err)
}

// value returns the argument, nil when there is none.
func (p *Param) value(arguments []byte) (stdjson.RawMessage, error) {
	at := stdjson.RawMessage(arguments)
	for _, step := range p.Path {
		var found stdjson.RawMessage
		for name, value := range json.Members(at) {
			if name != step {
				continue
			}
			if found != nil {
				return nil, errParamTwice // readers do not agree on which one counts
			}
			found = value
		}
		if at = found; at == nil {
			return nil, nil
		}
	}
	if string(at) == "null" {
		return nil, nil
	}
	return at, nil
}

// Check compares what a request's headers say for the argument, all values
// under p.Header, with the arguments. The error tells the peer the difference.
func (p *Param) Check(values []string, arguments []byte) error {
	want, ok, err := p.Text(arguments)
	switch {
	case err != nil:
		return err
	case len(values) > 1:
		return fmt.Errorf("there are several %s headers", p.Header)
	case len(values) == 0 && ok:
		return fmt.Errorf("the %s header is missing", p.Header)
	case len(values) == 0:
		return nil
	}
	got, err := DecodeValue(values[0])
	if err != nil {
		return fmt.Errorf("%s: %w", p.Header, err)
	}
	if !ok {
		return fmt.Errorf("%s is %q, but there is no such argument", p.Header, got)
	}
	if got == want || p.sameNumber(got, want, arguments) {
		return nil
	}
	return fmt.Errorf("%s is %q, but the argument is another", p.Header, got)
}

// sameNumber compares numbers by value: 42.0 is 42.
func (p *Param) sameNumber(got, want string, arguments []byte) bool {
	value, err := p.value(arguments)
	if err != nil || value == nil || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return false
	}
	got, err = number(got)
	return err == nil && got == want
}

// maxInteger is the largest integer that all peers can read exactly.
const maxInteger = 1<<53 - 1

// number returns a JSON number in its one form: integers in decimal.
func number(text string) (string, error) {
	if !isNumber(text) {
		return "", errParamKind
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.Abs(f) > maxInteger:
		return "", errParamRange
	case f == math.Trunc(f):
		return strconv.FormatInt(int64(f), 10), nil
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}

// isNumber reports whether text is a number as JSON writes them.
func isNumber(text string) bool {
	rest := strings.TrimPrefix(text, "-")
	whole, rest := digits(rest)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		var fraction string
		if fraction, rest = digits(after); fraction == "" {
			return false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		var exponent string
		if exponent, rest = digits(rest); exponent == "" {
			return false
		}
	}
	return rest == ""
}

// digits cuts the digits off the front of text.
func digits(text string) (front, rest string) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:end], text[end:]
}
