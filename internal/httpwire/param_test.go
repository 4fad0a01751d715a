package httpwire_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/trace"
)

// property is a schema with one property.
func property(schema string) string { return `{"type":"object","properties":{"p":` + schema + `}}` }

func TestParams(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "HTTP-XMCP-OFFER", "HTTP-XMCP-EXTRACT")
	tests := []struct {
		name, schema string
		want         []httpwire.Param
	}{
		{"none", `{"type":"object","properties":{"a":{"type":"string"}}}`, nil},
		{"no schema", ``, nil},
		{"each type", `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","x-mcp-header":"b-c"},"c":{"type":"boolean","x-mcp-header":"METHOD"}}}`, []httpwire.Param{
			{Name: "A", Header: "Mcp-Param-A", Path: []string{"a"}},
			{Name: "b-c", Header: "Mcp-Param-B-C", Path: []string{"b"}},
			{Name: "METHOD", Header: "Mcp-Param-Method", Path: []string{"c"}},
		}},
		{"nested", property(`{"type":"object","properties":{"q":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}}}`), []httpwire.Param{
			{Name: "R", Header: "Mcp-Param-R", Path: []string{"p", "q", "r"}},
		}},
		{"nullable", property(`{"type":["null","string"],"x-mcp-header":"N"}`), []httpwire.Param{
			{Name: "N", Header: "Mcp-Param-N", Path: []string{"p"}},
		}},
		{"escaped", property(`{"type":"string","x\u002dmcp-header":"\u0045"}`), []httpwire.Param{
			{Name: "E", Header: "Mcp-Param-E", Path: []string{"p"}},
		}},
		{"a property of that name", `{"properties":{"x-mcp-header":{"type":"array"}}}`, nil},
		{"values are no schemas", property(`{"type":"object","default":{"x-mcp-header":""},"enum":[{"x-mcp-header":1}]}`), nil},
	}
	for _, tt := range tests {
		got, err := httpwire.Params([]byte(tt.schema))
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: Params(%s) = %v, %v; want %v", tt.name, tt.schema, got, err, tt.want)
		}
		for _, p := range got {
			if want := http.CanonicalHeaderKey("mcp-param-" + p.Name); p.Header != want {
				t.Errorf("%s: header %q, package net/http writes %q", tt.name, p.Header, want)
			}
		}
	}
}

func TestParamsRefuses(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "HTTP-XMCP-TOKEN", "HTTP-XMCP-TYPE", "HTTP-XMCP-UNIQUE", "HTTP-XMCP-REACHABLE")
	annotated := func(schema string) string {
		return strings.Replace(schema, "{", `{"type":"string","x-mcp-header":"H",`, 1)
	}
	here := annotated(`{"title":"t"}`)
	tests := []struct{ name, schema, reason string }{
		// HTTP-XMCP-TOKEN, TOOL-XMCPHEADER-TOKEN
		{"empty", property(`{"type":"string","x-mcp-header":""}`), "empty"},
		{"no string", property(`{"type":"string","x-mcp-header":1}`), "not a string"},
		{"null", property(`{"type":"string","x-mcp-header":null}`), "not a string"},
		{"space", property(`{"type":"string","x-mcp-header":"a b"}`), "header name"},
		{"colon", property(`{"type":"string","x-mcp-header":"a:b"}`), "header name"},
		{"not ASCII", property(`{"type":"string","x-mcp-header":"é"}`), "header name"},
		{"line end", property(`{"type":"string","x-mcp-header":"a\r\nb"}`), "header name"},
		// HTTP-XMCP-TYPE, TOOL-XMCPHEADER-PRIMITIVE
		{"number", property(`{"type":"number","x-mcp-header":"H"}`), "only strings"},
		{"object", property(`{"type":"object","x-mcp-header":"H"}`), "only strings"},
		{"array", property(`{"type":"array","x-mcp-header":"H"}`), "only strings"},
		{"null type", property(`{"type":"null","x-mcp-header":"H"}`), "only strings"},
		{"no type", property(`{"x-mcp-header":"H"}`), "only strings"},
		{"two types", property(`{"type":["string","integer"],"x-mcp-header":"H"}`), "only strings"},
		{"a wrong type", property(`{"type":7,"x-mcp-header":"H"}`), "only strings"},
		// HTTP-XMCP-UNIQUE, TOOL-XMCPHEADER-UNIQUE
		{"twice", `{"properties":{"a":` + here + `,"b":` + here + `}}`, "another property"},
		{"twice but for case", `{"properties":{"a":` + here + `,"b":` + strings.Replace(here, `"H"`, `"h"`, 1) + `}}`, "another property"},
		{"twice, nested", `{"properties":{"a":` + here + `,"b":` + property(here) + `}}`, "another property"},
		// HTTP-XMCP-REACHABLE, TOOL-XMCPHEADER-REACHABLE
		{"root", annotated(`{"title":"t"}`), "the schema itself"},
	}
	tests = append(tests, struct{ name, schema, reason string }{
		"deep", strings.Repeat(`{"properties":{"a":`, 100) + here + strings.Repeat(`}}`, 100), "64 levels",
	})
	for _, keyword := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		tests = append(tests, struct{ name, schema, reason string }{keyword, property(`{"` + keyword + `":` + here + `}`), "properties"})
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "prefixItems", "items"} {
		tests = append(tests, struct{ name, schema, reason string }{keyword + " list", property(`{"` + keyword + `":[{},` + property(here) + `]}`), "properties"})
	}
	for _, keyword := range []string{"$defs", "definitions", "patternProperties", "dependentSchemas"} {
		tests = append(tests, struct{ name, schema, reason string }{keyword, `{"` + keyword + `":{"d":` + here + `}}`, "properties"})
	}
	for _, tt := range tests {
		got, err := httpwire.Params([]byte(tt.schema))
		if err == nil || !strings.Contains(err.Error(), tt.reason) || !strings.Contains(err.Error(), "x-mcp-header") {
			t.Errorf("%s: Params(%s) = %v, %v; want an error about %q", tt.name, tt.schema, got, err, tt.reason)
		}
	}
}

func TestParamText(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "HTTP-ENC-TYPES", "HTTP-XMCP-INT-RANGE", "HTTP-PARAM-NULL-ABSENT")
	p := httpwire.Param{Name: "X", Header: "Mcp-Param-X", Path: []string{"a", "b"}}
	tests := []struct {
		arguments, want string
		ok, wrong       bool
	}{
		{arguments: ``},
		{arguments: `{}`},
		{arguments: `{"a":"text"}`},
		{arguments: `{"a":{"b":null}}`},         // HTTP-PARAM-NULL-ABSENT
		{arguments: `{"a":{"b":""}}`, ok: true}, // empty is a value
		{arguments: `{"b":"x","a":{"b":"\u4e16 y"}}`, want: "世 y", ok: true},
		{arguments: `{"a":{"b":true}}`, want: "true", ok: true}, // HTTP-ENC-TYPES
		{arguments: `{"a":{"b":false}}`, want: "false", ok: true},
		{arguments: `{"a":{"b":-7}}`, want: "-7", ok: true},
		{arguments: `{"a":{"b":42.0}}`, want: "42", ok: true},
		{arguments: `{"a":{"b":1e3}}`, want: "1000", ok: true},
		{arguments: `{"a":{"b":-0}}`, want: "0", ok: true},
		{arguments: `{"a":{"b":1.5}}`, want: "1.5", ok: true},
		{arguments: `{"a":{"b":9007199254740991}}`, want: "9007199254740991", ok: true},
		{arguments: `{"a":{"b":9007199254740993}}`, wrong: true}, // HTTP-XMCP-INT-RANGE
		{arguments: `{"a":{"b":-9007199254740992}}`, wrong: true},
		{arguments: `{"a":{"b":1e400}}`, wrong: true},
		{arguments: `{"a":{"b":{}}}`, wrong: true},
		{arguments: `{"a":{"b":[1]}}`, wrong: true},
		{arguments: `{"a":{"b":1,"b":2}}`, wrong: true},
	}
	for _, tt := range tests {
		got, ok, err := p.Text([]byte(tt.arguments))
		if got != tt.want || ok != tt.ok || (err != nil) != tt.wrong {
			t.Errorf("Text(%s) = %q, %v, %v; want %q, %v", tt.arguments, got, ok, err, tt.want, tt.ok)
		}
	}
}

func TestParamCheck(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "HTTP-ENC-DECODE", "HTTP-VALIDATE-INT-NUMERIC")
	p := httpwire.Param{Name: "X", Header: "Mcp-Param-X", Path: []string{"a"}}
	tests := []struct {
		arguments string
		header    []string
		problem   string // of the error; "" for none
	}{
		{`{"a":"eu"}`, []string{"eu"}, ""},
		{`{"a":"eu"}`, []string{"=?base64?ZXU=?="}, ""}, // HTTP-ENC-DECODE
		{`{"a":"=?BASE64?ZXU=?="}`, []string{"=?BASE64?ZXU=?="}, ""},
		{`{"a":"=?base64?ZXU="}`, []string{"=?base64?ZXU="}, ""}, // HTTP-ENC-MARKERS
		{`{"a":""}`, []string{""}, ""},
		{`{"a":42}`, []string{"42"}, ""},
		{`{"a":42}`, []string{"42.0"}, ""}, // HTTP-VALIDATE-INT-NUMERIC
		{`{"a":42.0}`, []string{"42"}, ""},
		{`{"a":42}`, []string{"=?base64?NDI=?="}, ""},
		{`{"a":true}`, []string{"true"}, ""},
		{`{"a":null}`, nil, ""}, // HTTP-PARAM-NOT-EXPECTED
		{`{}`, nil, ""},
		{``, nil, ""},
		{`{"a":"eu"}`, nil, "missing"}, // HTTP-PARAM-OMITTED-REJECT
		{`{"a":""}`, nil, "missing"},
		{`{"a":"eu"}`, []string{"us"}, "another"}, // HTTP-PARAM-VALIDATE
		{`{"a":"eu"}`, []string{"EU"}, "another"},
		{`{"a":"42"}`, []string{"42.0"}, "another"}, // strings are no numbers
		{`{"a":42}`, []string{"0x2a"}, "another"},
		{`{"a":42}`, []string{"042"}, "another"},
		{`{"a":42}`, []string{"+42"}, "another"},
		{`{"a":42}`, []string{""}, "another"},
		{`{"a":true}`, []string{"True"}, "another"},
		{`{"a":null}`, []string{"eu"}, "no such argument"},
		{`{}`, []string{""}, "no such argument"},
		{`{"a":"eu"}`, []string{"eu", "eu"}, "several"},
		{`{"a":"eu"}`, []string{"=?base64?ZXU?="}, "base64"},
		{`{"a":"é"}`, []string{"é"}, "printable"}, // HTTP-PARAM-INVALID-CHARS
		{`{"a":{}}`, nil, "neither"},
		{`{"a":9007199254740993}`, []string{"9007199254740992"}, "range"},
		{`{"a":"x","a":"y"}`, []string{"x"}, "twice"},
	}
	for _, tt := range tests {
		err := p.Check(tt.header, []byte(tt.arguments))
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("Check(%q, %s) = %v, want %q", tt.header, tt.arguments, err, tt.problem)
		}
	}
}

// FuzzParam checks that what Text puts into a header passes Check, through the
// encoding of values.
func FuzzParam(f *testing.F) {
	for _, s := range []string{`"text"`, `" é "`, `42.0`, `-1e2`, `true`, `null`, `{}`, `1e999`, `"=?base64?x?="`} {
		f.Add(s)
	}
	p := httpwire.Param{Name: "X", Header: "Mcp-Param-X", Path: []string{"a"}}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) {
			return
		}
		arguments := fmt.Appendf(nil, `{"a":%s}`, value)
		text, ok, err := p.Text(arguments)
		if err != nil || !ok {
			return
		}
		if err := p.Check([]string{httpwire.EncodeValue(text)}, arguments); err != nil {
			if _, invalid := httpwire.DecodeValue(httpwire.EncodeValue(text)); invalid == nil {
				t.Fatalf("Check(Text(%s) = %q): %v", arguments, text, err)
			}
		}
	})
}

// FuzzParams checks that no schema is too odd to be looked at.
func FuzzParams(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`)
	f.Add(`{"oneOf":[{"x-mcp-header":"A"}],"properties":[],"type":["string"]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		params, err := httpwire.Params([]byte(schema))
		for _, p := range params {
			if err != nil || !httpwire.ValidToken(p.Name) || len(p.Path) == 0 {
				t.Fatalf("Params(%s) = %v, %v", schema, params, err)
			}
		}
	})
}
