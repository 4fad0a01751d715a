package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is one property of an object, as the JSON package sees it.
type field struct {
	name     string
	goName   string
	typ      reflect.Type
	tag      string // the jsonschema tag
	depth    int
	tagged   bool // the name comes from the json tag
	optional bool
	nullable bool
	asString bool
}

// fieldsOf lists the properties of a struct in order, embedded structs
// inlined. Open means that a field collects unknown members.
func fieldsOf(t reflect.Type, path string) (fields []field, open bool, err error) {
	c := collector{inside: map[reflect.Type]bool{}}
	if err := c.collect(t, path, 0, false); err != nil {
		return nil, false, err
	}
	return dominant(c.fields), c.open, nil
}

type collector struct {
	fields []field
	inside map[reflect.Type]bool
	open   bool
}

func (c *collector) collect(t reflect.Type, path string, depth int, optional bool) error {
	if c.inside[t] {
		return nil // an embedded cycle adds only shadowed fields
	}
	c.inside[t] = true
	defer delete(c.inside, t)
	for field := range t.Fields() {
		if err := c.one(field, path, depth, optional); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) one(sf reflect.StructField, path string, depth int, optional bool) error {
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return nil
	}
	name, rest, _ := strings.Cut(tag, ",")
	has := strings.Split(rest, ",")
	at := path + "." + sf.Name
	for _, o := range has {
		if strings.HasPrefix(o, "format:") {
			return fmt.Errorf("%s: json option %q is not supported", at, o)
		}
	}
	pointer := sf.Type.Kind() == reflect.Pointer
	elem := sf.Type
	if pointer {
		elem = elem.Elem()
	}
	switch placeOf(sf, elem, name, has) {
	case inlined:
		return c.collect(elem, at, depth+1, optional || pointer)
	case collecting:
		c.open = true
		return nil
	case hidden:
		return nil
	}
	omits := slices.Contains(has, "omitempty") || slices.Contains(has, "omitzero")
	c.fields = append(c.fields, field{
		name: cmp.Or(name, sf.Name), goName: sf.Name, typ: sf.Type, tag: sf.Tag.Get("jsonschema"), depth: depth,
		tagged: name != "", optional: optional || omits || pointer, nullable: pointer && !omits,
		asString: slices.Contains(has, "string") && isNumeric(elem.Kind()),
	})
	return nil
}

// position says what becomes of a field.
type position int

const (
	property   position = iota
	inlined             // its own fields are properties
	collecting          // takes members that are no property
	hidden
)

func placeOf(sf reflect.StructField, elem reflect.Type, name string, options []string) position {
	if slices.Contains(options, "unknown") {
		return collecting
	}
	if sf.Anonymous && name == "" || slices.Contains(options, "inline") {
		if elem.Kind() == reflect.Struct && !hasOwnForm(elem) {
			return inlined
		}
		if !sf.Anonymous { // a map or raw value
			return collecting
		}
	}
	if !sf.IsExported() {
		return hidden
	}
	return property
}

func hasOwnForm(t reflect.Type) bool {
	_, ok := known(t)
	return ok
}

func isNumeric(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Float64
}

// dominant applies Go's rule for embedded names: the shallowest wins, among
// those the one named by a tag, and if several remain, none.
func dominant(all []field) []field {
	byName := map[string][]field{}
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	return slices.DeleteFunc(slices.Clone(all), func(f field) bool {
		rivals := 0
		for _, g := range byName[f.name] {
			if g.depth < f.depth || g.depth == f.depth && g.tagged && !f.tagged {
				return true
			}
			if g.depth == f.depth && g.tagged == f.tagged {
				rivals++
			}
		}
		return rivals > 1
	})
}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return definitionName(t)
	}
	return t.Kind().String()
}

// definitionName is the name of a type without the packages of its type
// arguments, restricted to characters that need no escape in a reference.
func definitionName(t reflect.Type) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(t.Name(), func(r rune) bool { return r == '[' || r == ']' || r == ',' }) {
		part = part[strings.LastIndexAny(part, "./")+1:]
		for _, r := range part {
			if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
				b.WriteRune(r)
			}
		}
	}
	if b.Len() == 0 {
		return "type"
	}
	return b.String()
}
