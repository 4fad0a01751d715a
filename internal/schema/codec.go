package schema

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// A codec decodes the values of one Go type that one rule of a plan admits, in the
// walk that holds them against the rule. It decodes what the JSON package would,
// with the same outcome. What it does not know is left to that package.
type codec struct {
	rule *rule
	kind reflect.Kind // Invalid when a value is checked first and then decoded
	null bool         // null is admitted, of which a pointer is nil
	elem *codec       // of a pointer or slice

	members []codecMember
	byName  map[string]int
}

type codecMember struct {
	name  string
	field int
	value *codec
	bit   int // place among the required properties, or -1
}

// A codecPlace is a type where a rule applies to it.
type codecPlace struct {
	rule *rule
	typ  reflect.Type
}

type codecs map[codecPlace]*codec

// of returns the codec for a type. Types and rules that contain themselves meet
// the codec that is being made.
func (all codecs) of(r *rule, t reflect.Type) *codec {
	place := codecPlace{r, t}
	if c := all[place]; c != nil {
		return c
	}
	c := &codec{rule: r}
	all[place] = c
	target, null := r, r.types&typeNull != 0
	for target.target() != nil {
		null = null || target.orNull != nil
		target = target.target()
	}
	if ownForm(t) || target.enum != nil && target.types&^typeString != 0 {
		return c
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		c.kind = t.Kind()
	case reflect.Pointer:
		c.kind, c.null, c.elem = reflect.Pointer, null, all.of(target, t.Elem())
		return c
	case reflect.Slice:
		if target.items != nil && t.Elem().Kind() != reflect.Uint8 {
			c.kind, c.elem = reflect.Slice, all.of(target.items, t.Elem())
		}
	case reflect.Struct:
		if all.structure(c, target, t) {
			c.kind = reflect.Struct
		}
	}
	if c.kind != reflect.Invalid {
		c.rule = target
	}
	return c
}

// ownForm reports whether a type is decoded in another way than its kind.
func ownForm(t reflect.Type) bool {
	if _, ok := known(t); ok {
		return true
	}
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return false
	}
	_, streams := reflect.PointerTo(t).MethodByName("UnmarshalJSONFrom")
	return streams || implements[stdjson.Unmarshaler](t) || implements[encoding.TextUnmarshaler](t)
}

// structure adds the members of a struct. It reports false for one with fields
// that are more than members of the object.
func (all codecs) structure(c *codec, r *rule, t reflect.Type) bool {
	if r.additional == nil || r.additional.types != 0 {
		return false
	}
	c.byName = make(map[string]int, t.NumField())
	for field := range t.Fields() {
		tag, tagged := field.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !field.IsExported() && !tagged && !field.Anonymous:
			continue
		case field.Anonymous || !field.IsExported() || strings.ContainsRune(name, '\'') || !plainOptions(options):
			return false
		case name == "":
			name = field.Name
		}
		p, ok := r.props[name]
		if !ok || p.rule == nil {
			return false
		}
		c.byName[name] = len(c.members)
		c.members = append(c.members, codecMember{name, field.Index[0], all.of(p.rule, field.Type), p.bit})
	}
	return len(c.members) == len(r.props)
}

// plainOptions reports whether the options of a field say nothing about reading it.
func plainOptions(options string) bool {
	return options == "" || !slices.ContainsFunc(strings.Split(options, ","), func(o string) bool {
		return o != "omitempty" && o != "omitzero"
	})
}

// Decode validates a JSON value, as Validate does, and decodes it into v, a
// pointer. For the type that the schema was inferred from that is one walk.
func (s *Schema) Decode(instance []byte, v any) error {
	if err := s.read(); err != nil {
		return err
	}
	if s.codec != nil {
		to := reflect.ValueOf(v).Elem()
		if to.Type() == s.typ {
			if s.codec.decode(instance, to) {
				return nil
			}
			to.SetZero()
		}
	}
	if err := s.Validate(instance); err != nil {
		return err
	}
	return json.Unmarshal(instance, v)
}

// decode reports false when the value has to be looked at in the general way.
func (k *codec) decode(data []byte, to reflect.Value) bool {
	c := checker{data: data}
	if !c.decode(k, to) {
		return false
	}
	c.space()
	return c.pos == len(data)
}
