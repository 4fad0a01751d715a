package schema

import (
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
	for i := range t.NumField() {
		if err := c.one(t.Field(i), path, depth, optional); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) one(sf reflect.StructField, path string, depth int, optional bool) error {
	tag, hasTag := sf.Tag.Lookup("json")
	if tag == "-" {
		return nil
	}
	name, rest, _ := strings.Cut(tag, ",")
	options := strings.Split(rest, ",")
	at := path + "." + sf.Name
	for _, o := range options {
		if strings.HasPrefix(o, "format:") {
			return fmt.Errorf("%s: json option %q is not supported", at, o)
		}
	}
	if slices.Contains(options, "unknown") {
		c.open = true
		return nil
	}
	elem := sf.Type
	if elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	inlined := sf.Anonymous && name == "" && elem.Kind() == reflect.Struct
	if inlined || slices.Contains(options, "inline") {
		if elem.Kind() == reflect.Struct && !hasOwnForm(elem) {
			return c.collect(elem, at, depth+1, optional || sf.Type.Kind() == reflect.Pointer)
		}
		if !sf.Anonymous { // an inlined map or raw value takes any member
			c.open = true
			return nil
		}
	}
	if !sf.IsExported() {
		return nil
	}
	omits := slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
	f := field{
		name: name, goName: sf.Name, typ: sf.Type, tag: sf.Tag.Get("jsonschema"), depth: depth,
		tagged: hasTag && name != "", optional: optional || omits || sf.Type.Kind() == reflect.Pointer,
		nullable: sf.Type.Kind() == reflect.Pointer && !omits,
		asString: slices.Contains(options, "string") && isNumeric(elem.Kind()),
	}
	if name == "" {
		f.name = sf.Name
	}
	c.fields = append(c.fields, f)
	return nil
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
