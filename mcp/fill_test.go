package mcp_test

import (
	stdjson "encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

// form reads a form from its properties and the names of required fields.
func form(tb testing.TB, properties string, required ...string) *mcp.FormSchema {
	tb.Helper()
	s := new(mcp.FormSchema)
	if err := json.Unmarshal([]byte(`{"type":"object","properties":`+properties+`}`), s); err != nil {
		tb.Fatalf("form %s: %v", properties, err)
	}
	s.Required = required
	return s
}

func TestFormFill(t *testing.T) {
	t.Parallel()
	const untitled, titled = `{"type":"string","enum":["a","b"]}`, `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`
	tests := []struct {
		name, field string // the field is called f
		content     string
		want        string // an error if it is no object
	}{
		{"text", `{"type":"string"}`, `{"f":"x"}`, `{"f":"x"}`},
		{"text of another kind", `{"type":"string"}`, `{"f":1}`, "must be a text"},
		{"unknown fields", `{"type":"string"}`, `{"g":1,"f":"x","h":{}}`, `{"f":"x"}`},
		{"no content", `{"type":"string"}`, ``, "is missing"},
		{"null", `{"type":"string"}`, `{"f":null}`, "is missing"},
		{"default", `{"type":"string","default":"d"}`, `{}`, `{"f":"d"}`},
		{"default of null", `{"type":"string","default":"d"}`, `{"f":null}`, `{"f":"d"}`},
		{"default is not forced", `{"type":"boolean","default":true}`, `{"f":false}`, `{"f":false}`},
		{"no object", `{"type":"string"}`, `["f"]`, "read the content of a form"},
		{"no JSON", `{"type":"string"}`, `{`, "read the content of a form"},
		{"twice", `{"type":"string"}`, `{"f":"x","f":"y"}`, "read the content of a form"},
		{"characters, not bytes", `{"type":"string","maxLength":2}`, `{"f":"äö"}`, `{"f":"äö"}`},
		{"too long", `{"type":"string","maxLength":2}`, `{"f":"äöü"}`, "at most 2 characters"},
		{"too short", `{"type":"string","minLength":2}`, `{"f":"ä"}`, "at least 2 characters"},
		{"email", `{"type":"string","format":"email"}`, `{"f":"a@b.c"}`, `{"f":"a@b.c"}`},
		{"no email", `{"type":"string","format":"email"}`, `{"f":"a@"}`, "valid email"},
		{"uri", `{"type":"string","format":"uri"}`, `{"f":"https://example.com/"}`, `{"f":"https://example.com/"}`},
		{"no uri", `{"type":"string","format":"uri"}`, `{"f":"example"}`, "valid uri"},
		{"date", `{"type":"string","format":"date"}`, `{"f":"2024-02-29"}`, `{"f":"2024-02-29"}`},
		{"no date", `{"type":"string","format":"date"}`, `{"f":"2023-02-29"}`, "valid date"},
		{"date-time", `{"type":"string","format":"date-time"}`, `{"f":"2024-02-29t12:00:00.5z"}`, `{"f":"2024-02-29t12:00:00.5z"}`},
		{"local date-time", `{"type":"string","format":"date-time"}`, `{"f":"2024-02-29T12:00"}`, `{"f":"2024-02-29T12:00"}`},
		{"no date-time", `{"type":"string","format":"date-time"}`, `{"f":"noon"}`, "valid date-time"},
		{"number", `{"type":"number"}`, `{"f":-1.5e3}`, `{"f":-1.5e3}`},
		{"number of another kind", `{"type":"number"}`, `{"f":"1"}`, "must be a number"},
		{"integer", `{"type":"integer"}`, `{"f":30.0}`, `{"f":30.0}`},
		{"large integer", `{"type":"integer"}`, `{"f":9007199254740993}`, `{"f":9007199254740993}`},
		{"fraction", `{"type":"integer"}`, `{"f":30.5}`, "whole number"},
		{"minimum", `{"type":"integer","minimum":1}`, `{"f":0}`, "at least 1"},
		{"maximum", `{"type":"number","maximum":1.5}`, `{"f":1.6}`, "at most 1.5"},
		{"boolean", `{"type":"boolean"}`, `{"f":false}`, `{"f":false}`},
		{"no boolean", `{"type":"boolean"}`, `{"f":"yes"}`, "true or false"},
		{"choice", untitled, `{"f":"b"}`, `{"f":"b"}`},
		{"no choice", untitled, `{"f":"c"}`, `one of "a", "b"`},
		{"titled choice", titled, `{"f":"b"}`, `{"f":"b"}`},
		{"title is no choice", titled, `{"f":"B"}`, `one of "a", "b"`},
		{"older choice", `{"type":"string","enum":["a","b"],"enumNames":["A"]}`, `{"f":"b"}`, `{"f":"b"}`},
		{"older title", `{"type":"string","enum":["a","b"],"enumNames":["A"]}`, `{"f":"A"}`, `one of "a", "b"`},
		{"choices", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `{"f":["b","a"]}`, `{"f":["b","a"]}`},
		{"no choices", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `{"f":["c"]}`, `one of "a", "b"`},
		{"one choice is no list", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `{"f":"a"}`, "list of choices"},
		{"titled choices", `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, `{"f":["a"]}`, `{"f":["a"]}`},
		{"titled choices of peers", `{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]}}`, `{"f":["a"]}`, `{"f":["a"]}`},
		{"too few", `{"type":"array","minItems":1,"items":{"type":"string","enum":["a"]}}`, `{"f":[]}`, "at least 1 choices"},
		{"too many", `{"type":"array","maxItems":1,"items":{"type":"string","enum":["a"]}}`, `{"f":["a","a"]}`, "at most 1 choices"},
		{"unknown kind", `{"type":"object"}`, `{"f":{"a":[1]}}`, `{"f":{"a":[1]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := form(t, `{"f":`+tt.field+`}`, "f").Fill(stdjson.RawMessage(tt.content))
			if tt.want[0] != '{' {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("Fill(%s) = %s, %v, want an error with %q", tt.content, got, err, tt.want)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Fatalf("Fill(%s) = %s, %v, want %s", tt.content, got, err, tt.want)
			}
		})
	}
}

// TestFormFillOptional wants fields that need not be filled in to be left out,
// and the order of the form.
func TestFormFillOptional(t *testing.T) {
	t.Parallel()
	s := form(t, `{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"boolean","default":false}}`)
	for content, want := range map[string]string{
		``:                   `{"c":false}`,
		`null`:               `{"c":false}`,
		`{"b":1,"a":"x"}`:    `{"a":"x","b":1,"c":false}`,
		`{"a":"", "b":null}`: `{"a":"","c":false}`,
	} {
		if got, err := s.Fill(stdjson.RawMessage(content)); err != nil || string(got) != want {
			t.Errorf("Fill(%s) = %s, %v, want %s", content, got, err, want)
		}
	}
}

func TestFormValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, properties string
		required         []string
		field, problem   string // the error; none if empty
	}{
		{"all kinds", `{"a":{"type":"string","format":"email","minLength":1,"maxLength":1},"b":{"type":"integer","minimum":0,"maximum":0,"default":0},
			"c":{"type":"boolean","default":true},"d":{"type":"string","enum":["x"],"default":"x"},
			"e":{"type":"array","items":{"type":"string","enum":["x"]},"default":["x"]}}`, []string{"a", "e"}, "", ""},
		{"empty", `{}`, nil, "", ""},
		{"nested", `{"a":{"type":"object","properties":{}}}`, nil, "a", `no type "object"`},
		{"no type", `{"a":{}}`, nil, "a", `no type ""`},
		{"texts", `{"a":{"type":"array","items":{"type":"string"}}}`, nil, "a", "nothing to choose from"},
		{"no items", `{"a":{"type":"array"}}`, nil, "a", "nothing to choose from"},
		{"no choices", `{"a":{"type":"string","enum":[]}}`, nil, "a", "nothing to choose from"},
		{"format", `{"a":{"type":"string","format":"password"}}`, nil, "a", `no format "password"`},
		{"lengths", `{"a":{"type":"string","minLength":2,"maxLength":1}}`, nil, "a", "lower bound"},
		{"numbers", `{"a":{"type":"number","minimum":2,"maximum":1.5}}`, nil, "a", "lower bound"},
		{"default", `{"a":{"type":"integer","default":"1"}}`, nil, "a", "default: must be a number"},
		{"default choice", `{"a":{"type":"string","enum":["x"],"default":"y"}}`, nil, "a", "default: must be one of"},
		{"required", `{"a":{"type":"string"}}`, []string{"b"}, "b", "not part of the form"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := form(t, tt.properties, tt.required...).Validate()
			if tt.problem == "" {
				if err != nil {
					t.Fatalf("got %v, want no error", err)
				}
				return
			}
			wrong, ok := errors.AsType[*mcp.FormError](err)
			if !ok || wrong.Field != tt.field || !strings.Contains(wrong.Problem, tt.problem) {
				t.Fatalf("got %v, want field %q with %q", err, tt.field, tt.problem)
			}
		})
	}
	twice := &mcp.FormSchema{Fields: []mcp.FormField{{Name: "a", Type: "string"}, {Name: "a", Type: "string"}}}
	if err := twice.Validate(); err == nil {
		t.Error("a form with a field that comes twice: got no error")
	}
}

// FuzzFormFill wants what is filled in to fit the form still, and to stay as it
// is.
func FuzzFormFill(f *testing.F) {
	s := form(f, `{"a":{"type":"string","format":"date-time","default":"2024-01-01T00:00:00Z"},"b":{"type":"integer","minimum":0},
		"c":{"type":"boolean"},"d":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"e":{"type":"array","maxItems":2,"items":{"anyOf":[{"const":"x","title":"X"}]}}}`, "b")
	f.Add([]byte(`{"a":"x","b":1,"c":true,"d":"x","e":["x"]}`))
	f.Add([]byte(`{"b":1e2,"e":[]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		filled, err := s.Fill(content)
		if err != nil {
			return
		}
		again, err := s.Fill(filled)
		if err != nil || string(again) != string(filled) {
			t.Fatalf("Fill(%q) = %q, and again %q, %v", content, filled, again, err)
		}
	})
}
