package schema

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// plan is a schema whose every keyword the fast check knows, as the schemas of
// Go types are: ready to be held against raw JSON in one walk.
type plan struct{ root *rule }

// types is a set of JSON types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
	typeAny = typeNull | typeBoolean | typeInteger | typeNumber | typeString | typeArray | typeObject
)

var typeNames = map[string]types{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeNumber | typeInteger,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// rule is one schema of a plan.
type rule struct {
	types  types
	same   *rule // a reference: this rule and nothing else applies
	orNull *rule // this rule applies unless the value is null
	enum   *enum

	props      map[string]prop
	required   []string
	additional *rule // for properties not in props; nil admits all

	items              *rule
	minItems, maxItems int

	minLength, maxLength int
	pattern              *pattern

	min, max     float64 // -Inf and +Inf when there is no bound
	above, below float64
}

type prop struct {
	rule *rule // nil admits all
	bit  int   // place among the required properties, or -1
}

// enum holds the allowed scalars.
type enum struct {
	literals literals
	numbers  []float64
	strings  map[string]struct{}
}

// literals is a set of the three words of JSON.
type literals uint8

const (
	enumNull literals = 1 << iota
	enumTrue
	enumFalse
)

// target is the rule that applies instead, if any.
func (r *rule) target() *rule {
	if r.same != nil {
		return r.same
	}
	return r.orNull
}

// never is the schema false.
var never = &rule{}

// maxRequired is how many required properties of one object are tracked.
const maxRequired = 128

// newPlan returns nil when doc uses a keyword the fast check does not know, or
// uses one in a way that the library must judge. The document has been guarded:
// references exist and do not loop.
func newPlan(doc any) *plan {
	p := planner{doc: doc, rules: map[string]*rule{}}
	root := p.rule(doc, "")
	if p.failed {
		return nil
	}
	return &plan{root}
}

type planner struct {
	doc    any
	rules  map[string]*rule
	failed bool
}

func (p *planner) rule(v any, place string) *rule {
	if r, ok := p.rules[place]; ok {
		return r
	}
	r := &rule{
		types: typeAny, maxItems: math.MaxInt, maxLength: math.MaxInt,
		min: math.Inf(-1), max: math.Inf(1), above: math.Inf(-1), below: math.Inf(1),
	}
	p.rules[place] = r // before its parts, which may refer to it
	switch v := v.(type) {
	case bool:
		if !v {
			*r = *never
		}
	case map[string]any:
		if !simple(v) {
			p.failed = true
			return r
		}
		for k, e := range v {
			if !p.keyword(r, k, e, place, v) {
				p.failed = true
				return r
			}
		}
	default:
		p.failed = true
	}
	return r
}

// simple reports whether a reference or anyOf stands alone. Next to other
// keywords the value would have to be walked twice, and on recursive schemas
// that doubles at each level.
func simple(m map[string]any) bool {
	_, ref := m["$ref"]
	_, anyOf := m["anyOf"]
	if !ref && !anyOf {
		return true
	}
	checks := 0
	for k := range m {
		if !annotations[k] {
			checks++
		}
	}
	return checks == 1
}

var annotations = map[string]bool{
	"title": true, "description": true, "$comment": true, "format": true, "contentEncoding": true, "contentMediaType": true,
	"deprecated": true, "readOnly": true, "writeOnly": true, "examples": true, "default": true, "$defs": true, "$schema": true,
}

// keyword adds one keyword to r. It reports whether it knows it well.
func (p *planner) keyword(r *rule, k string, v any, place string, in map[string]any) bool {
	switch k {
	case "$schema":
		return place == "" && strings.TrimSuffix(text(v), "#") == "https://json-schema.org/draft/2020-12/schema"
	case "title", "description", "$comment", "format", "contentEncoding", "contentMediaType":
		_, ok := v.(string)
		return ok
	case "deprecated", "readOnly", "writeOnly":
		_, ok := v.(bool)
		return ok
	case "examples":
		_, ok := v.([]any)
		return ok
	case "default":
		return true
	case "type":
		return r.setTypes(v)
	case "enum":
		return r.setEnum(v)
	case "minItems", "maxItems", "minLength", "maxLength":
		return r.setCount(k, v)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return r.setBound(k, v)
	case "pattern":
		re, err := newPattern(text(v))
		r.pattern = re
		_, ok := v.(string)
		return ok && err == nil
	}
	return p.applicator(r, k, v, place, in)
}

// applicator adds one keyword that holds schemas.
func (p *planner) applicator(r *rule, k string, v any, place string, in map[string]any) bool {
	switch k {
	case "$defs":
		defs, ok := v.(map[string]any)
		for name, d := range defs {
			p.rule(d, place+pointer([]string{k, name}))
		}
		return ok
	case "$ref":
		return p.reference(r, text(v))
	case "anyOf":
		return p.nullable(r, v, place)
	case "properties":
		return p.properties(r, v, place, in["required"])
	case "required":
		list, ok := stringsOf(v)
		r.required = list
		if in["properties"] == nil {
			return ok && p.properties(r, map[string]any{}, place, v)
		}
		return ok
	case "additionalProperties":
		r.additional = p.rule(v, place+"/additionalProperties")
		return true
	case "items":
		r.items = p.rule(v, place+"/items")
		return true
	}
	return strings.HasPrefix(k, "x-")
}

// properties adds the named properties, the required ones among them. A
// property that is required without being described is left to the library.
func (p *planner) properties(r *rule, v any, place string, required any) bool {
	named, ok := v.(map[string]any)
	if !ok {
		return false
	}
	r.props = make(map[string]prop, len(named))
	for name, s := range named {
		r.props[name] = prop{p.rule(s, place+pointer([]string{"properties", name})), -1}
	}
	if required == nil {
		return true
	}
	list, ok := stringsOf(required)
	if !ok || len(list) > maxRequired {
		return false
	}
	for i, name := range list {
		known, ok := r.props[name]
		if !ok || known.bit >= 0 {
			return false
		}
		known.bit = i
		r.props[name] = known
	}
	return true
}

var plainRef = regexp.MustCompile(`^#(/\$defs/[A-Za-z0-9_.-]+)?$`)

// reference follows the two kinds of reference that inference writes.
func (p *planner) reference(r *rule, ref string) bool {
	if !plainRef.MatchString(ref) {
		return false
	}
	v, place, ok := lookup(p.doc, strings.TrimPrefix(ref, "#"))
	if !ok {
		return false
	}
	r.same = p.rule(v, place)
	return true
}

// nullable reads anyOf with two forms, the second of which is null. In general
// anyOf needs backtracking, and then one walk no longer does.
func (p *planner) nullable(r *rule, v any, place string) bool {
	forms, ok := v.([]any)
	if !ok || len(forms) != 2 {
		return false
	}
	null, ok := forms[1].(map[string]any)
	if !ok || len(null) != 1 || null["type"] != "null" {
		return false
	}
	r.orNull = p.rule(forms[0], place+"/anyOf/0")
	return true
}

func (r *rule) setTypes(v any) bool {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	list, ok := stringsOf(v)
	r.types = 0
	for _, name := range list {
		t, known := typeNames[name]
		ok = ok && known
		r.types |= t
	}
	return ok && len(list) > 0
}

func (r *rule) setEnum(v any) bool {
	list, ok := v.([]any)
	e := &enum{strings: map[string]struct{}{}}
	for _, v := range list {
		switch v := v.(type) {
		case nil:
			e.literals |= enumNull
		case bool:
			e.literals |= map[bool]literals{true: enumTrue, false: enumFalse}[v]
		case float64:
			e.numbers = append(e.numbers, v)
		case string:
			e.strings[v] = struct{}{}
		default:
			return false
		}
	}
	slices.Sort(e.numbers)
	r.enum = e
	return ok
}

func (r *rule) setCount(k string, v any) bool {
	f, ok := v.(float64)
	n := int(f)
	if !ok || f < 0 || f > math.MaxInt32 || float64(n) != f {
		return false
	}
	switch k {
	case "minItems":
		r.minItems = n
	case "maxItems":
		r.maxItems = n
	case "minLength":
		r.minLength = n
	case "maxLength":
		r.maxLength = n
	}
	return true
}

func (r *rule) setBound(k string, v any) bool {
	f, ok := v.(float64)
	switch k {
	case "minimum":
		r.min = f
	case "maximum":
		r.max = f
	case "exclusiveMinimum":
		r.above = f
	case "exclusiveMaximum":
		r.below = f
	}
	return ok
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// stringsOf returns a list of distinct strings.
func stringsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		s, isString := e.(string)
		ok = ok && isString && !seen[s]
		seen[s] = true
		out = append(out, s)
	}
	return out, ok
}
