package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// For infers the schema of T. See [Infer].
func For[T any]() (json.RawMessage, error) { return Infer(reflect.TypeFor[T]()) }

// Infer returns the schema of the JSON that a Go type is written as.
//
// Structs become objects without further properties, in field order; embedded
// structs are inlined as encoding/json does. A field is optional when it has
// omitempty or omitzero, or is a pointer. A pointer without either may be null,
// because that is what a nil pointer is written as; a pointer inside a slice or
// map may not. Nil slices are written as [], so slices never admit null.
// Fixed arrays have a fixed length, []byte is a base64 string, time.Time a
// date-time, time.Duration an integer of nanoseconds. A type that writes itself
// as text is a string, one that writes its own JSON (json.RawMessage included)
// and any interface admit everything. Types that contain themselves go through
// $defs.
//
// The jsonschema tag of a field is its description. A tag that starts with one
// of the words below and an equals sign is a list of constraints instead, a
// comma separating two of them only where another of these words and an equals
// sign follow:
//
//	description, title, enum (values separated by |), minimum, maximum,
//	exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems,
//	maxItems, pattern, format, default
//
//	Unit string `json:"unit" jsonschema:"description=Unit, metric or not,enum=C|F"`
//
// On a slice, enum, pattern, format and the bounds of numbers and strings
// apply to the items.
//
// Channels, functions, complex numbers and maps whose keys are not text are
// errors that name the field.
func Infer(t reflect.Type) (json.RawMessage, error) {
	in := inferrer{active: map[reflect.Type]bool{}, recursive: map[reflect.Type]string{}, names: map[string]bool{}}
	if t == nil {
		return json.RawMessage("{}"), nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	in.root = t
	root, err := in.schema(t, typeName(t))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(in.pending); i++ { // defining one type may add others
		d := in.pending[i]
		s, err := in.define(d, typeName(d))
		if err != nil {
			return nil, err
		}
		in.defs.set(in.recursive[d], s)
	}
	if len(in.defs) > 0 {
		root.set("$defs", in.defs)
	}
	var buf bytes.Buffer
	if err := root.write(&buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// inferrer holds the state of one inference.
type inferrer struct {
	root      reflect.Type
	active    map[reflect.Type]bool   // types being described, to notice recursion
	recursive map[reflect.Type]string // types that need a definition, with its name
	names     map[string]bool
	pending   []reflect.Type
	defs      object
	count     int // types described
	forms     bool
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	numberType   = reflect.TypeFor[json.Number]()
)

// schema describes t where it is used. A type that is met inside itself
// becomes a reference: to the root, or to a definition.
func (in *inferrer) schema(t reflect.Type, path string) (object, error) {
	for t.Kind() == reflect.Pointer && t.Name() == "" { // a named pointer may contain itself
		t = t.Elem()
	}
	if _, defined := in.recursive[t]; defined || in.active[t] || t == in.root && in.count > 0 {
		return object{{"$ref", in.reference(t)}}, nil
	}
	return in.define(t, path)
}

func (in *inferrer) define(t reflect.Type, path string) (object, error) {
	if in.count++; in.count > maxNodes {
		return nil, fmt.Errorf("%s: type %s needs a schema of more than %d parts", path, in.root, maxNodes)
	}
	in.active[t] = true
	defer delete(in.active, t)
	if s, ok := known(t); ok {
		return s, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{{"type", "boolean"}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{{"type", "integer"}}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return object{{"type", "integer"}, {"minimum", json.RawMessage("0")}}, nil
	case reflect.Float32, reflect.Float64:
		return object{{"type", "number"}}, nil
	case reflect.String:
		return object{{"type", "string"}}, nil
	case reflect.Interface:
		return object{}, nil
	case reflect.Pointer:
		return in.schema(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		return in.list(t, path)
	case reflect.Map:
		return in.dictionary(t, path)
	case reflect.Struct:
		return in.structure(t, path)
	}
	return nil, fmt.Errorf("%s: type %s has no JSON form", path, t)
}

// known describes the types whose JSON form is not that of their kind.
func known(t reflect.Type) (object, bool) {
	switch t {
	case timeType:
		return object{{"type", "string"}, {"format", "date-time"}}, true
	case durationType:
		return object{{"type", "integer"}, {"description", "nanoseconds"}}, true
	case numberType:
		return object{{"type", "number"}}, true
	}
	if t.Kind() == reflect.Interface {
		return nil, false
	}
	if writesJSON(t) {
		return object{}, true
	}
	if implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t) {
		return object{{"type", "string"}}, true
	}
	return nil, false
}

// writesJSON reports whether t has a JSON form of its own. The method of the
// streaming interface is found by name, to keep its package out of here.
func writesJSON(t reflect.Type) bool {
	if implements[json.Marshaler](t) {
		return true
	}
	_, ok := reflect.PointerTo(t).MethodByName("MarshalJSONTo")
	return ok && t.Kind() != reflect.Pointer
}

func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Kind() != reflect.Pointer && (t.Implements(i) || reflect.PointerTo(t).Implements(i))
}

func (in *inferrer) reference(t reflect.Type) string {
	if t == in.root {
		return "#"
	}
	name, ok := in.recursive[t]
	if !ok {
		name = definitionName(t)
		for n := 2; in.names[name]; n++ { // same name in another package
			name = definitionName(t) + strconv.Itoa(n)
		}
		in.names[name] = true
		in.recursive[t] = name
		in.pending = append(in.pending, t)
	}
	return "#/$defs/" + name
}

func (in *inferrer) list(t reflect.Type, path string) (object, error) {
	if e := t.Elem(); e.Kind() == reflect.Uint8 && !implements[json.Marshaler](e) && !implements[encoding.TextMarshaler](e) {
		return object{{"type", "string"}, {"contentEncoding", "base64"}}, nil
	}
	items, err := in.schema(t.Elem(), path+"[]")
	if err != nil {
		return nil, err
	}
	s := object{{"type", "array"}, {"items", items}}
	if t.Kind() == reflect.Array {
		n := json.RawMessage(strconv.Itoa(t.Len()))
		s.set("minItems", n)
		s.set("maxItems", n)
	}
	return s, nil
}

func (in *inferrer) dictionary(t reflect.Type, path string) (object, error) {
	if k := t.Key(); !implements[encoding.TextMarshaler](k) {
		switch k.Kind() {
		case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		default:
			return nil, fmt.Errorf("%s: a map with keys of type %s has no JSON form", path, k)
		}
	}
	s := object{{"type", "object"}}
	values, err := in.schema(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	if len(values) > 0 {
		s.set("additionalProperties", values)
	}
	return s, nil
}

func (in *inferrer) structure(t reflect.Type, path string) (object, error) {
	fields, open, err := fieldsOf(t, path)
	if err != nil {
		return nil, err
	}
	props, required := object{}, []string{}
	for _, f := range fields {
		at := path + "." + f.goName
		s, err := in.field(f, at)
		if err != nil {
			return nil, err
		}
		props.set(f.name, s)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}, {"properties", props}}
	if len(required) > 0 {
		s.set("required", required)
	}
	if !open {
		s.set("additionalProperties", false)
	}
	return s, nil
}

func (in *inferrer) field(f field, path string) (object, error) {
	if f.asString {
		return annotate(object{{"type", "string"}}, f.tag, path)
	}
	s, err := in.schema(f.typ, path)
	if err != nil {
		return nil, err
	}
	if s, err = annotate(s, f.tag, path); err != nil {
		return nil, err
	}
	if !in.forms {
		if err := onlyForms(s, path); err != nil {
			return nil, err
		}
	}
	if f.nullable {
		s = orNull(s)
	}
	return s, nil
}

// orNull admits null besides what s admits.
func orNull(s object) object {
	for i, m := range s {
		switch m.name {
		case "type":
			s[i].value = []string{m.value.(string), "null"}
		case "enum":
			s[i].value = append(m.value.([]json.RawMessage), json.RawMessage("null"))
		case "$ref":
			alternatives := []object{{{"$ref", m.value}}, {{"type", "null"}}}
			s[i] = member{"anyOf", alternatives}
		}
	}
	return s
}
