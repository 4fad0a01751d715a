package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/mcptest"
)

func compile(t testing.TB, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Compile(%.200s): %v", raw, err)
	}
	return s
}

func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "JSONS-BOUNDS", "BASE-SCHEMA-COMPLEXITY-BOUNDS", "JSONS-NO-NETWORK-REF", "BASE-SCHEMA-REF-NO-NETWORK",
		"JSONS-REF-UNRESOLVED-REJECT", "BASE-SCHEMA-REF-UNRESOLVED", "JSONS-UNSUPPORTED-DIALECT", "BASE-SCHEMA-UNSUPPORTED-DIALECT")
	doubling := func(levels int) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/l0","$defs":{`)
		for i := range levels {
			fmt.Fprintf(&b, `"l%d":{"allOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]},`, i, i+1, i+1)
		}
		fmt.Fprintf(&b, `"l%d":{"type":"string"}}}`, levels)
		return b.String()
	}
	tests := []struct{ name, schema, want string }{
		{"ref to itself", `{"$ref":"#"}`, "refers back to itself"},
		{"ref loop of two", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "refers back to itself"},
		{"loop through anyOf", `{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, "refers back to itself"},
		{"loop through not", `{"not":{"$ref":"#"}}`, "refers back to itself"},
		{"loop through if", `{"if":{"$ref":"#"}}`, "refers back to itself"},
		{"loop through dependentSchemas", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, "refers back to itself"},
		{"loop inside a property", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, "/properties/a refers back"},
		{"loop through an anchor", `{"$anchor":"x","allOf":[{"$ref":"#x"}]}`, "refers back to itself"},
		{"loop through a dynamic anchor", `{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`, "refers back to itself"},
		{"loop through recursiveRef", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"allOf":[{"$recursiveRef":"#"}]}`, "refers back to itself"},
		{"loop through an id", `{"$id":"http://example.com/a","allOf":[{"$ref":"a"}]}`, "refers back to itself"},
		{"loop through an escaped pointer", `{"$ref":"#/$defs/a%2Fb~0~1","$defs":{"a":{"b~/":{"$ref":"#/$defs/a/b~0~1"}}}}`, "refers back"},
		{"22 levels of allOf doubling", doubling(22), "applies more than 2000 schemas to one value"},
		{"5000 nested not", strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), "nested more than"},
		{"70 nested not", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), "schemas are nested more than 64 deep"},
		{"too many values", `{"enum":[` + strings.Repeat(`1,`, 10_000) + `1]}`, "more than 10000 values"},
		{"network ref", `{"$ref":"http://127.0.0.1:1/x"}`, "not fetched"},
		{"file ref", `{"$ref":"file:///etc/passwd"}`, "not fetched"},
		{"relative file ref", `{"$ref":"other.json"}`, "not fetched"},
		{"dynamic network ref", `{"$dynamicRef":"https://example.com/x#y"}`, "not fetched"},
		{"network metaschema", `{"$schema":"https://example.com/meta"}`, "dialect https://example.com/meta of the schema at the root is not supported"},
		{"file metaschema", `{"$schema":"file:///etc/passwd"}`, "is not supported: use JSON Schema 2020-12"},
		{"unknown dialect of the publisher", `{"$schema":"https://json-schema.org/draft/2044-01/schema"}`, "is not supported"},
		{"missing anchor", `{"$ref":"#nope"}`, "no anchor"},
		{"missing place", `{"$ref":"#/$defs/nope"}`, "nothing at"},
		{"place in a list", `{"$ref":"#/allOf/7","allOf":[{}]}`, "nothing at"},
		{"place below a scalar", `{"$ref":"#/title/x","title":"t"}`, "nothing at"},
		{"ref to a number", `{"$ref":"#/minimum","minimum":1}`, "must be an object or a boolean"},
		{"huge number", `{"minimum":1e10000000}`, "read schema"},
		{"lookahead", `{"pattern":"(?=a)b"}`, "RE2"},
		{"long pattern", `{"pattern":"` + strings.Repeat("a", 5000) + `"}`, "at most 4096"},
		{"large pattern", `{"pattern":"` + strings.Repeat(`(a?){1000}`, 20) + `"}`, "steps"},
		{"list as schema", `[]`, "object or a boolean"},
		{"not JSON", `{`, "read schema"},
		{"wrong type of keyword", `{"type":3}`, "not a valid schema"},
		{"unknown type", `{"type":"strng"}`, "not a valid schema"},
		{"wrong properties", `{"properties":[]}`, "not a valid schema"},
		{"schema is a string", `{"allOf":["x"]}`, "must be an object or a boolean"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			s, err := schema.Compile(json.RawMessage(tt.schema))
			if err == nil {
				t.Fatalf("Compile(%.100s) = %v, want an error with %q", tt.schema, s, tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Compile(%.100s) error = %q, want it to contain %q", tt.schema, err, tt.want)
			}
			if d := time.Since(start); d > 3*time.Second {
				t.Errorf("Compile took %v", d)
			}
		})
	}
}

// Schemas that are allowed, with values made to be expensive.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "JSONS-BOUNDS", "BASE-SCHEMA-COMPLEXITY-BOUNDS")
	deep := func(n int) string { return strings.Repeat(`{"x":`, n) + `1` + strings.Repeat(`}`, n) }
	fork := `{"$defs":{"a":{"allOf":[{"properties":{"x":{"$ref":"#/$defs/a"}}},{"properties":{"x":{"$ref":"#/$defs/a"}}}]}},"$ref":"#/$defs/a"}`
	// Arrays whose elements run together to the same bytes in a careless hash.
	var collide []string
	for i := range 12_000 {
		var b strings.Builder
		b.WriteString(`[["`)
		for bit := range 14 {
			if i>>bit&1 == 0 {
				b.WriteString(`\u0004`)
			} else {
				b.WriteString(`","`)
			}
		}
		b.WriteString(`"]]`)
		collide = append(collide, b.String())
	}
	tests := []struct{ name, schema, value, want string }{
		{"exponent with minimum", `{"minimum":1}`, `1e10000000`, "out of range"},
		{"exponent with multipleOf", `{"multipleOf":0.1}`, `1e10000000`, "out of range"},
		{"exponent in anything", `{}`, `[1e10000000]`, "out of range"},
		{"too deep", `{}`, strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested 300 deep"},
		{"doubling at each level", fork, deep(60), "steps"},
		{"quadratic uniqueItems", `{"uniqueItems":true}`, "[" + strings.Join(collide, ",") + "]", "steps"},
		{"many schemas, many values", `{"items":{"allOf":[` + strings.Repeat(`{"type":"integer"},`, 900) + `{}]}}`, "[" + strings.Repeat("1,", 20_000) + "1]", "steps"},
		{"long text, large pattern", `{"pattern":"(x+x+){1,300}y"}`, `"` + strings.Repeat("x", 1<<20) + `"`, "too long for the pattern"},
		{"long text, large pattern, library", `{"not":{"pattern":"(x+x+){1,300}y"}}`, `"` + strings.Repeat("x", 1<<20) + `"`, "too long for the pattern"},
		{"broken value", `{"type":"integer"}`, `{"a`, "read value"},
		{"empty value", `{"type":"integer"}`, ``, "read value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := compile(t, tt.schema).Validate([]byte(tt.value))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate(%.60s) against %.80s = %v, want an error with %q", tt.value, tt.schema, err, tt.want)
			}
			if _, ok := errors.AsType[*schema.ValidationError](err); ok {
				t.Errorf("Validate(%.60s) = %v, want an error that is not a ValidationError", tt.value, err)
			}
		})
	}
	if err := compile(t, fork).Validate([]byte(deep(10))); err != nil {
		t.Errorf("Validate at depth 10 = %v, want nil", err)
	}
}

func TestAllowedSchemas(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "JSONS-DEFAULT-2020-12", "BASE-SCHEMA-DEFAULT-2020-12", "JSONS-VALIDATE-BY-DIALECT",
		"BASE-SCHEMA-VALIDATE-DIALECT", "JSONS-EXPLICIT-DIALECT", "TOOL-INPUTSCHEMA-ANY-KEYWORD")
	tests := []struct{ name, schema, good, bad string }{
		{"boolean", `true`, `1`, ``},
		{"false", `false`, ``, `1`},
		{"recursion that consumes", `{"properties":{"next":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"next":{"v":2}}`, `{"v":1,"next":{}}`},
		{"nullable recursion", `{"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"type":"object"}`, `{"next":{"next":null}}`, `{"next":{"next":1}}`},
		{"anchor", `{"$ref":"#p","$defs":{"x":{"$anchor":"p","type":"string"}}}`, `"a"`, `1`},
		{"embedded id", `{"$id":"https://example.com/root","$ref":"item","$defs":{"x":{"$id":"item","type":"string"}}}`, `"a"`, `1`},
		{"ref outside definitions", `{"$ref":"#/components/x","components":{"x":{"type":"string"}}}`, `"a"`, `1`},
		{"metaschema", `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`, `{"s":{"type":"string"}}`, `{"s":{"type":5}}`},
		{"draft 7 metaschema", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":"string"}`, `{"type":5}`},
		{"dynamic ref", `{"$ref":"#/$defs/list","$defs":{"item":{"$dynamicAnchor":"i","type":"string"},"list":{"items":{"$dynamicRef":"#i"}}}}`, `["a"]`, `[1]`},
		{"draft 7 siblings of ref are ignored", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minimum":5,"definitions":{"a":{"type":"integer"}}}`, `1`, `"x"`},
		{"draft 7 items list", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, `["a",1]`},
		{"draft 7 dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"b":2}`, `{"a":1}`},
		{"draft 7 format is an assertion", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, `"2026-01-01"`, `"x"`},
		{"draft 6 const", `{"$schema":"http://json-schema.org/draft-06/schema#","const":1}`, `1.0`, `2`},
		{"draft 4 exclusive", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/","minimum":1,"exclusiveMinimum":true}`, `2`, `1`},
		{"2019-09 recursive", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"items":{"$recursiveRef":"#"},"type":"array"}`, `[[]]`, `[1]`},
		{"2020 format is an annotation", `{"format":"date"}`, `"x"`, ``},
		{"2020 prefixItems", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a"]`, `["a",1]`},
		{"2020 unevaluated", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1}`, `{"b":1}`},
		{"property names", `{"propertyNames":{"maxLength":2}}`, `{"ab":1}`, `{"abc":1}`},
		{"multipleOf decimal", `{"multipleOf":0.01}`, `19.99`, `19.999`},
		{"x-mcp-header", `{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}`, `{"r":"a"}`, `{"r":1}`},
		{"property named like a keyword", `{"properties":{"$ref":{"type":"string"},"$id":{"type":"string"}}}`, `{"$ref":"a"}`, `{"$ref":1}`},
		{"unique", `{"uniqueItems":true}`, `[1,2,"1"]`, `[1,1.0]`},
		{"unused loop", `{"$defs":{"a":{"$ref":"#/$defs/a"}},"type":"string"}`, `"a"`, `1`},
		{"escaped names", `{"properties":{"a/b":{"type":"string"}},"required":["a/b"],"additionalProperties":false}`, `{"a\u002fb":"x"}`, `{"a/b":1}`},
		{"enum", `{"enum":["a",1,null,true]}`, `1.0`, `false`},
		{"pattern", `{"pattern":"^a+$"}`, `"aa"`, `"b"`},
		{"bounds", `{"type":"integer","minimum":1,"maximum":5,"exclusiveMaximum":5}`, `4e0`, `5`},
		{"length in characters", `{"minLength":2,"maxLength":2}`, `"\u00e9\ud83d\ude00"`, `"abc"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, tt.schema)
			if string(s.Raw()) != tt.schema {
				t.Errorf("Raw() = %s, want %s", s.Raw(), tt.schema)
			}
			if tt.good != "" {
				if err := s.Validate([]byte(tt.good)); err != nil {
					t.Errorf("Validate(%s) against %s = %v, want nil", tt.good, tt.schema, err)
				}
			}
			var v *schema.ValidationError
			if err := s.Validate([]byte(tt.bad)); tt.bad != "" && !errors.As(err, &v) {
				t.Errorf("Validate(%s) against %s = %v, want a ValidationError", tt.bad, tt.schema, err)
			}
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := s.Validate([]byte(`{"a":1}`)); err != nil {
					t.Errorf("Validate = %v, want nil", err)
				}
				if err := s.Validate([]byte(`{"a":"1"}`)); err == nil {
					t.Error("Validate of a wrong value = nil, want an error")
				}
			}
		})
	}
	wg.Wait()
}
