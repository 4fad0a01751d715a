package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestConvert reads values as schemas say that are rare in practice.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, text string
		want         string // or the error
	}{
		{`true`, `1`, `"1"`},
		{`{}`, `null`, `"null"`},
		{`{"type":"integer"}`, `-7`, `-7`},
		{`{"type":"integer"}`, `1e2`, `1e2`},
		{`{"type":"integer"}`, `9007199254740993`, `9007199254740993`},
		{`{"type":"integer"}`, `007`, `expected integer, got "007"`},
		{`{"type":"integer"}`, `true`, `expected integer, got "true"`},
		{`{"type":"integer"}`, ``, `expected integer, got ""`},
		{`{"type":["integer","string"]}`, `7`, `"7"`},
		{`{"type":["boolean","null"]}`, `null`, `null`},
		{`{"type":"object"}`, `{"a":1}`, `{"a":1}`},
		{`{"type":"array"}`, ` [1]` + "\n", `[1]`},
		{`{"type":"nonsense"}`, `1`, `expected nonsense, got "1"`},
		{`{"enum":[1,true,null,"a"]}`, `a`, `"a"`},
		{`{"enum":[1,true,null]}`, `true`, `true`},
		{`{"enum":[1,[2],{"a":3}]}`, `[2]`, `[2]`},
		{`{"enum":[1,[2],{"a":3}]}`, `{"a":4}`, `expected one of 1, [2], map[a:3], got {"a":4}`},
		{`{"const":5}`, `5`, `5`},
		{`{"oneOf":[{"type":"number"},{"type":"boolean"}]}`, `0.5`, `0.5`},
		{`{"allOf":[{"description":"x"},{"type":"number"}]}`, `0.5`, `0.5`},
		{`{"$ref":"#/definitions/n"}`, `3`, `3`},
		{`{"$ref":"#/$defs/loop"}`, `3`, `"3"`},
		{`{"$ref":"http://elsewhere"}`, `3`, `"3"`},
	} {
		root := parseSchema(json.RawMessage(`{"definitions":{"n":{"type":"integer"}},"$defs":{"loop":{"$ref":"#/$defs/loop"}}}`))
		got, err := parseSchema(json.RawMessage(tt.schema)).convert(root, tt.text)
		have := string(got)
		if err != nil {
			have = err.Error()
		}
		if have != tt.want {
			t.Errorf("convert %q by %s: got %s, want %s", tt.text, tt.schema, have, tt.want)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	names := []string{"read_file", "files_read_text", "write_file", "ls", "get_current_time"}
	for name, want := range map[string][]string{
		"read_fiel":        {"read_file"},
		"READ_FILE":        {"read_file"},
		"current_time":     {"get_current_time"},
		"files_write_file": {"write_file"},
		"sl":               {"ls"},
		"unlike_all_these": nil,
		"":                 {"ls"},
	} {
		if got := near(name, names); !slices.Equal(got, want) {
			t.Errorf("near %q: got %q, want %q", name, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 KB", 2_000_000: "2.0 MB", 1 << 62: "4611686.0 TB"} {
		if got := size(n); got != want {
			t.Errorf("size %d: got %s, want %s", n, got, want)
		}
	}
}

// FuzzToolArguments makes arguments by schemas of servers: what comes out is a
// JSON object, whatever the schema and the command line.
func FuzzToolArguments(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, "a=1", "b:=[1]")
	f.Add(`{"properties":{"a":{"type":"array","items":{"type":"number"}}}}`, "a=1", "a=2")
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"enum":[1,"x"]}]}}}`, "a=x", "c=é")
	f.Add(`{"properties":7,"required":{},"additionalProperties":false}`, "a=x", "=")
	f.Fuzz(func(t *testing.T, schema, first, second string) {
		if !json.Valid([]byte(schema)) || strings.Contains(first+second, "@") {
			return // values are not to be read from files here
		}
		args, err := new(program).parseArguments([]string{first, second})
		if err != nil {
			return
		}
		raw, err := toolArguments("tool", parseSchema(json.RawMessage(schema)), new(object), args)
		if err != nil {
			return
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Errorf("arguments %q, %q by %s: got %s, which is no object: %v", first, second, schema, raw, err)
		}
	})
}
