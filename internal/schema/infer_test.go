package schema_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/internal/schema"
)

type (
	base struct {
		ID   int    `json:"id"`
		Kind string `json:"kind"`
	}
	other struct {
		Note string `json:"note"`
		Both string
	}
	second struct{ Both string }
	node   struct {
		Name string `json:"name"`
		Kids []node `json:"kids,omitempty"`
		Up   *node  `json:"up"`
		To   []edge `json:"to"`
		Also *edge  `json:"also,omitzero"`
	}
	edge struct {
		From *node `json:"from"`
		Next *edge `json:"next,omitempty"`
	}
	holder struct {
		N node            `json:"n"`
		M map[string]node `json:"m"`
	}
	list           []list
	celsius        float64
	text           struct{ a, b int }
	custom         struct{ A int }
	stream         struct{ A int }
	generic[T any] struct {
		V T           `json:"v"`
		N *generic[T] `json:"n,omitempty"`
	}
)

func (text) MarshalText() ([]byte, error)    { return nil, nil }
func (*custom) MarshalJSON() ([]byte, error) { return nil, nil }
func (stream) MarshalJSONTo(int) error       { return nil }

func TestInfer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		of   any
		want string
	}{
		{"bool", true, `{"type":"boolean"}`},
		{"int", int8(1), `{"type":"integer"}`},
		{"uint", uint64(1), `{"type":"integer","minimum":0}`},
		{"float", celsius(1), `{"type":"number"}`},
		{"string", "", `{"type":"string"}`},
		{"bytes", []byte{}, `{"type":"string","contentEncoding":"base64"}`},
		{"slice", []string{}, `{"type":"array","items":{"type":"string"}}`},
		{"array", [2]int{}, `{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}`},
		{"map", map[string]int{}, `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"map of anything", map[string]any{}, `{"type":"object"}`},
		{"map with number keys", map[int]bool{}, `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"map with text keys", map[netip.Addr]bool{}, `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"time", time.Time{}, `{"type":"string","format":"date-time"}`},
		{"duration", time.Second, `{"type":"integer","description":"nanoseconds"}`},
		{"raw", json.RawMessage{}, `{}`},
		{"number", json.Number(""), `{"type":"number"}`},
		{"text", text{}, `{"type":"string"}`},
		{"own JSON", custom{}, `{}`},
		{"own JSON, streaming", stream{}, `{}`},
		{"pointer", new(int), `{"type":"integer"}`},
		{"nil", nil, `{}`},
		{"recursive list", list{}, `{"type":"array","items":{"$ref":"#"}}`},
		{"empty struct", struct{}{}, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"field order and tags", struct {
			Z  int    `json:"z" jsonschema:"the last letter"`
			A  string `json:"a,omitempty"`
			P  *bool  `json:"p"`
			O  *bool  `json:"o,omitempty"`
			D  int    `json:"-"`
			E  int    `json:"-,"`
			u  int
			N  int
			S  int    `json:"s,string"`
			An any    `json:"an,omitzero"`
			H  string `json:"h,omitempty" jsonschema:"a < b & \"c\""`
		}{u: 1}, `{"type":"object","properties":{"z":{"type":"integer","description":"the last letter"},"a":{"type":"string"},` +
			`"p":{"type":["boolean","null"]},"o":{"type":"boolean"},"-":{"type":"integer"},"N":{"type":"integer"},"s":{"type":"string"},"an":{},` +
			`"h":{"type":"string","description":"a < b & \"c\""}},"required":["z","-","N","s"],"additionalProperties":false}`},
		{"embedded", struct {
			base
			*other
			second
			Kind bool `json:"kind"`
		}{}, `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"},"kind":{"type":"boolean"}},"required":["id","kind"],"additionalProperties":false}`},
		{"embedded with a name", struct {
			other `json:"o"`
			Base  base `json:",inline"`
		}{}, `{"type":"object","properties":{"id":{"type":"integer"},"kind":{"type":"string"}},"required":["id","kind"],"additionalProperties":false}`},
		{"unknown members kept", struct {
			A int                        `json:"a"`
			X map[string]json.RawMessage `json:",unknown"`
		}{}, `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`},
		{"constraints", struct {
			U string   `json:"u" jsonschema:"description=Unit, metric or not,enum=C|F,default=C"`
			N int      `json:"n" jsonschema:"minimum=0,maximum=10,title=N"`
			F *float64 `json:"f,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1.5"`
			S string   `json:"s" jsonschema:"minLength=1,maxLength=3,pattern=^[a-z]{1,3}$,format=slug"`
			L []string `json:"l" jsonschema:"minItems=1,maxItems=2,enum=a|b"`
			E *string  `json:"e" jsonschema:"enum=x"`
			Z []int    `json:"z" jsonschema:"minimum=1"`
		}{}, `{"type":"object","properties":{"u":{"type":"string","description":"Unit, metric or not","enum":["C","F"],"default":"C"},` +
			`"n":{"type":"integer","minimum":0,"maximum":10,"title":"N"},"f":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.5},` +
			`"s":{"type":"string","minLength":1,"maxLength":3,"pattern":"^[a-z]{1,3}$","format":"slug"},` +
			`"l":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2},` +
			`"e":{"type":["string","null"],"enum":["x",null]},"z":{"type":"array","items":{"type":"integer","minimum":1}}},` +
			`"required":["u","n","s","l","z"],"additionalProperties":false}`},
		{"recursive", edge{}, `{"type":"object","properties":{"from":{"type":["object","null"],"properties":{"name":{"type":"string"},` +
			`"kids":{"type":"array","items":{"$ref":"#/$defs/node"}},"up":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]},` +
			`"to":{"type":"array","items":{"$ref":"#"}},"also":{"$ref":"#"}},"required":["name","to"],"additionalProperties":false},` +
			`"next":{"$ref":"#"}},"additionalProperties":false,"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},` +
			`"kids":{"type":"array","items":{"$ref":"#/$defs/node"}},"up":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]},` +
			`"to":{"type":"array","items":{"$ref":"#"}},"also":{"$ref":"#"}},"required":["name","to"],"additionalProperties":false}}}`},
		{"generic", generic[string]{}, `{"type":"object","properties":{"v":{"type":"string"},"n":{"$ref":"#"}},"required":["v"],"additionalProperties":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := schema.Infer(reflect.TypeOf(tt.of))
			if err != nil || string(got) != tt.want {
				t.Fatalf("Infer(%T)\n got %s, %v\nwant %s", tt.of, got, err, tt.want)
			}
			if _, err := schema.ForType(reflect.TypeOf(tt.of)); err != nil {
				t.Errorf("ForType(%T): %v", tt.of, err)
			}
		})
	}
}

func TestInferErrors(t *testing.T) {
	t.Parallel()
	type deep struct {
		A struct{ B []map[string]chan int }
	}
	tests := []struct {
		name string
		of   any
		want string
	}{
		{"channel", deep{}, "deep.A.B[]{}: type chan int has no JSON form"},
		{"function", struct{ F func() }{}, "struct.F: type func() has no JSON form"},
		{"complex", complex(1, 1), "type complex128 has no JSON form"},
		{"map key", map[bool]int{}, "keys of type bool"},
		{"format option", struct {
			T time.Time `json:"t,format:unix"`
		}{}, `struct.T: json option "format:unix" is not supported`},
		{"unknown word", struct {
			A int `jsonschema:"required=true"`
		}{}, `struct.A: jsonschema tag starts with an unknown word "required="`},
		{"bound on text", struct {
			A string `jsonschema:"minimum=1"`
		}{}, "minimum needs a number"},
		{"length of a number", struct {
			A int `jsonschema:"minLength=1"`
		}{}, "minLength needs a string"},
		{"count", struct {
			A string `jsonschema:"minLength=x"`
		}{}, "whole number"},
		{"enum of numbers", struct {
			A int `jsonschema:"enum=1|x"`
		}{}, "not a JSON value"},
		{"number that is too large", struct {
			A map[string]any `jsonschema:"default={\"a\":1e999}"`
		}{}, "not a JSON value"},
		{"fraction", struct {
			A int `jsonschema:"default=1.5"`
		}{}, "not of type integer"},
		{"pattern", struct {
			A string `jsonschema:"pattern=("`
		}{}, "RE2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := schema.Infer(reflect.TypeOf(tt.of))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Infer(%T) = %s, %v, want an error with %q", tt.of, got, err, tt.want)
			}
		})
	}
}

// TestDeepTypes has a type whose schema is beyond the bounds be refused when it is
// described, though schemas of types are read later.
func TestDeepTypes(t *testing.T) {
	t.Parallel()
	deep := reflect.TypeFor[int]()
	for range 40 {
		deep = reflect.StructOf([]reflect.StructField{{Name: "A", Type: deep}})
	}
	if _, err := schema.ForType(deep); err != nil {
		t.Errorf("ForType of 40 structs inside each other: %v", err)
	}
	for range 40 {
		deep = reflect.StructOf([]reflect.StructField{{Name: "A", Type: deep}})
	}
	if _, err := schema.ForType(deep); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("ForType of 80 structs inside each other: %v, want an error", err)
	}
}

func TestSchemasOfTypesAreShared(t *testing.T) {
	t.Parallel()
	type shared struct{ A int }
	schemas := make([]*schema.Schema, 8)
	var wg sync.WaitGroup
	for i := range schemas {
		wg.Go(func() {
			s, err := schema.ForType(reflect.TypeFor[shared]())
			if err != nil {
				t.Error(err)
			} else if err := s.Validate([]byte(`{"A":1}`)); err != nil {
				t.Error(err)
			}
			schemas[i] = s
		})
	}
	wg.Wait()
	for _, s := range schemas {
		if s != schemas[0] {
			t.Error("two schemas of one type")
		}
	}
}

func TestInferredSchemaChecks(t *testing.T) {
	t.Parallel()
	s, err := schema.ForType(reflect.TypeFor[holder]())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ value, want string }{
		{`{"n":{"name":"a","up":null,"to":[]},"m":{}}`, ""},
		{`{"n":{"name":"a","up":{"name":"b","to":[{"from":null}]},"to":[]},"m":{"k":{"name":"c","to":[]}}}`, ""},
		{`{"n":{"name":"a","to":[{"next":{"next":{}}}]},"m":{}}`, ""},
		{`{"n":{"name":"a","to":[{"next":{"next":3}}]},"m":{}}`, "/n/to/0/next/next: expected object, got number"},
		{`{"n":{"name":"a","up":3,"to":[]},"m":{}}`, "/n/up: expected null or object, got number"},
		{`{"n":{"name":"a","to":null},"m":{}}`, "/n/to: expected array, got null"},
	}
	for _, tt := range tests {
		got := ""
		if err := s.Validate([]byte(tt.value)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Validate(%s) = %q, want %q", tt.value, got, tt.want)
		}
	}
}
