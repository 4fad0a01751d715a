package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"
)

// The fast check and the library must agree. This test is inside the package
// because from outside only their combination can be seen.

type fruit struct {
	Name  string            `json:"name" jsonschema:"minLength=1,maxLength=4"`
	Color string            `json:"color,omitempty" jsonschema:"enum=red|green"`
	Count int               `json:"count" jsonschema:"minimum=-1,maximum=9007199254740993"`
	Sweet *float64          `json:"sweet" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
	Size  int               `json:"size,omitzero" jsonschema:"enum=1|2|30"`
	Seeds []fruit           `json:"seeds,omitempty" jsonschema:"maxItems=3"`
	Pair  [2]bool           `json:"pair,omitzero"`
	Next  *fruit            `json:"next"`
	Tags  map[string]uint8  `json:"tags,omitempty"`
	Any   any               `json:"any,omitempty"`
	Code  string            `json:"code,omitempty" jsonschema:"pattern=^[a-z]+$"`
	More  map[string]*fruit `json:"a\"b,omitempty"`
}

func mustCompile(t testing.TB, raw string) *Schema {
	t.Helper()
	s, err := Compile([]byte(raw))
	if err != nil {
		t.Fatalf("Compile(%s): %v", raw, err)
	}
	if s.plan == nil {
		t.Fatalf("Compile(%s) has no fast check", raw)
	}
	return s
}

func fastSchemas(t testing.TB) []*Schema {
	t.Helper()
	raw, err := Infer(reflect.TypeFor[fruit]())
	if err != nil {
		t.Fatal(err)
	}
	return []*Schema{
		mustCompile(t, string(raw)),
		mustCompile(t, `{"$schema":"https://json-schema.org/draft/2020-12/schema","enum":[null,true,1,2.5,"a"]}`),
		mustCompile(t, `{"type":["number","string","null"],"minimum":0.1,"maxLength":2}`),
		mustCompile(t, `{"properties":{"a":false,"b":true,"c":{"items":{"$ref":"#"}}},"additionalProperties":{"type":"integer"}}`),
		mustCompile(t, `{"additionalProperties":false,"items":false,"enum":[false]}`),
		mustCompile(t, `{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"type":"array","items":{"$ref":"#"},"minItems":1}}}`),
		mustCompile(t, `{}`),
		mustCompile(t, `{"type":"integer","x-mcp-header":"A","deprecated":true,"examples":[1],"default":"x"}`),
	}
}

var seedValues = []string{
	`{"name":"a","count":1}`, `{"name":"a","count":1,"sweet":null,"next":{"name":"b","count":-1}}`,
	`{"name":"","count":1}`, `{"name":"abcde","count":1}`, `{"n\u0061me":"a\u00e9\ud83d\ude00","count":1.0}`, `{"name":"a","count":1.5}`,
	`{"name":"a","count":9007199254740993}`, `{"name":"a","count":9007199254740994}`, `{"name":"a","count":9007199254740996}`, `{"name":"a","count":-2}`,
	`{"name":"a","count":1,"sweet":0}`, `{"name":"a","count":1,"sweet":0.5}`, `{"name":"a","count":1,"sweet":1e0}`, `{"name":"a","count":1,"sweet":1e-400}`,
	`{"name":"a","count":1e400}`, `{"name":"a","count":1,"any":[1e400]}`, `{"name":"a","count":1,"any":{"a":[1,{"b":"\""}]}}`,
	`{"name":"a","count":1,"size":2,"color":"red","pair":[true,false],"code":"abc"}`, `{"name":"a","count":1,"size":3}`,
	`{"name":"a","count":1,"pair":[true]}`, `{"name":"a","count":1,"code":"A"}`, `{"name":"a","count":1,"color":"r\u0065d"}`, `{"name":"a","count":1,"color":"blue"}`,
	`{"name":"a","count":1,"tags":{"x":0,"y":-1}}`, `{"name":"a","count":1,"seeds":[{"name":"s","count":0}]}`, `{"name":"a","count":1,"a\"b":{"k":{"name":"s","count":0}}}`,
	`null`, `true`, `false`, `1`, `-0`, `2.5`, `0.1`, `0.09`, `"a"`, `"abc"`, `[]`, `[[]]`, `[[[null]]]`, `[1]`, `{}`, `{"a":1}`, `{"b":1,"c":[{"d":1},{"d":1.5}]}`, ` [ null ] `, `{"z":1E1}`,
}

func TestFastCheckAgrees(t *testing.T) {
	t.Parallel()
	for _, s := range fastSchemas(t) {
		for _, v := range seedValues {
			agree(t, s, []byte(v))
		}
	}
}

func FuzzFastCheck(f *testing.F) {
	schemas := fastSchemas(f)
	for _, v := range seedValues {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, s := range schemas {
			fast := s.plan.ok(value) // must not panic on anything
			if !json.Valid(value) || !utf8.Valid(value) {
				continue
			}
			slow := s.explain(value) == nil
			if fast && !slow {
				t.Errorf("fast check admits %s against %s, library says %v", value, s.raw, s.explain(value))
			}
			if !fast && slow && !repeatsNames(value) {
				t.Errorf("fast check refuses %s against %s, library admits it", value, s.raw)
			}
		}
	})
}

func agree(t *testing.T, s *Schema, value []byte) {
	t.Helper()
	if fast, slow := s.plan.ok(value), s.explain(value); fast != (slow == nil) {
		t.Errorf("%s against %s: fast check says %v, library says %v", value, s.raw, fast, slow)
	}
}

// repeatsNames reports whether an object has a name twice, which strict
// decoding refuses and the two checks read differently.
func repeatsNames(value []byte) bool {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return true
	}
	members := 0
	dec := json.NewDecoder(bytes.NewReader(value))
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if d, ok := tok.(json.Delim); !ok || d == '{' || d == '[' {
			members++
		}
	}
	return members != tokens(v)
}

func tokens(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += 1 + tokens(e)
		}
	case []any:
		for _, e := range v {
			n += tokens(e)
		}
	}
	return n
}

// These use a keyword, or a use of one, that only the library judges.
func TestNoFastCheck(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"minProperties":1}`, `{"const":1}`, `{"required":["a"]}`, `{"enum":[[]]}`, `{"minLength":1e20}`, `{"unknown":1}`, `{"$id":"x"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"anyOf":[{},{"type":"null"},{}]}`, `{"anyOf":[{"type":"null"},{}]}`,
		`{"anyOf":[{},{"type":"null"}],"type":"object"}`, `{"$ref":"#/$defs/a","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{"$ref":"#"}}}}`,
		`{"$ref":"#/$defs/a%20b","$defs":{"a b":{}}}`, `{"$ref":"#/properties/a","properties":{"a":{}}}`,
	} {
		s, err := Compile([]byte(raw))
		if err != nil {
			t.Errorf("Compile(%s): %v", raw, err)
		} else if s.plan != nil {
			t.Errorf("Compile(%s) has a fast check, want none", raw)
		}
	}
}

// Whatever is thrown at Compile, it ends, and so does checking a value.
func FuzzCompile(f *testing.F) {
	for _, raw := range []string{
		`{"$ref":"#"}`, `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"items":{"$ref":"#"}}}}`, `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
		`{"$id":"http://a/b","$ref":"c","$defs":{"x":{"$id":"c","$anchor":"d"}}}`, `{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a"}`,
		`{"patternProperties":{"^a":{}},"propertyNames":{"pattern":"b"},"dependentSchemas":{"a":{}},"if":{},"then":{},"else":false}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#","$recursiveAnchor":true}`, `{"$ref":"http://json-schema.org/draft-07/schema#"}`,
		`{"prefixItems":[{}],"contains":{},"unevaluatedItems":false,"unevaluatedProperties":{"type":"null"},"multipleOf":0.1,"uniqueItems":true}`, `{"minimum":1e999}`,
	} {
		f.Add([]byte(raw), []byte(`{"a":[1,{"a":"b"}]}`))
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		s, err := Compile(raw)
		if err != nil {
			return
		}
		err = s.Validate(value)
		var problems *ValidationError
		if errors.As(err, &problems) && len(problems.Problems) == 0 {
			t.Errorf("Validate(%s) against %s has no problems to show", value, raw)
		}
		if s.plan != nil && json.Valid(value) {
			if _, err := s.library(); err != nil {
				t.Errorf("Compile(%s) succeeds, but the library says %v", raw, err)
			}
			if s.plan.ok(value) && s.explain(value) != nil {
				t.Errorf("fast check admits %s against %s, library says %v", value, raw, s.explain(value))
			}
		}
	})
}
