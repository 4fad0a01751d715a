package skills_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/ext/skills"
)

func TestParseFrontmatter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, want string }{
		"strings":        {"name: pdf\ndescription: Extract, fill: no\n", ""},
		"plain":          {"name: pdf-processing\ndescription: Extract, fill, and assemble PDF's \"documents\"\n", `{"name":"pdf-processing","description":"Extract, fill, and assemble PDF's \"documents\""}`},
		"no newline":     {"a: b", `{"a":"b"}`},
		"carriage":       {"a: b\r\nc: d\r\n", `{"a":"b","c":"d"}`},
		"types":          {"a: 1\nb: -2.5\nc: true\nd: null\ne: ~\nf:\ng: 0x1F\nh: 0o17\ni: 1e3\nj: False\nk: 2024-01-02\nl: 1.2.3\nm: yes\n", `{"a":1,"b":-2.5,"c":true,"d":null,"e":null,"f":null,"g":31,"h":15,"i":1000,"j":false,"k":"2024-01-02","l":"1.2.3","m":"yes"}`},
		"comments":       {"# head\na: b # tail\n\n  # between\nc: d#no\n", `{"a":"b","c":"d#no"}`},
		"url":            {"a: http://x.y/z?a=b:c\n", `{"a":"http://x.y/z?a=b:c"}`},
		"nested":         {"metadata:\n  author: me\n  deep:\n    er: 1\nz: 2\n", `{"metadata":{"author":"me","deep":{"er":1}},"z":2}`},
		"sequence":       {"tools:\n  - a\n  - b: 1\n    c: 2\n  -\n    d\n  - - e\n    - f\n", `{"tools":["a",{"b":1,"c":2},"d",["e","f"]]}`},
		"flush sequence": {"tools:\n- a\n- b\nz: 1\n", `{"tools":["a","b"],"z":1}`},
		"flow":           {"a: [x, 'y, z', \"w\", 1, [], {}]\nb: {c: d, e: [1, 2], \"f\": null, g}\n", `{"a":["x","y, z","w",1,[],{}],"b":{"c":"d","e":[1,2],"f":null,"g":null}}`},
		"flow lines":     {"a: [x, # one\n    y,\n  ]\nb: c\n", `{"a":["x","y"],"b":"c"}`},
		"single quotes":  {"a: 'it''s: # fine'\n", `{"a":"it's: # fine"}`},
		"double quotes":  {`a: "tab\t quote\" \u00e9 \x41 \\ / "` + " # c\n", `{"a":"tab\t quote\" é A \\ / "}`},
		"quoted lines":   {"a: \"one\n  two\n\n  three\\\n  four\"\nb: 'x\n  y'\n", `{"a":"one two\nthreefour","b":"x y"}`},
		"plain lines":    {"a: one\n  two\n\n  three\nb: c\n", `{"a":"one two\nthree","b":"c"}`},
		"below":          {"a:\n  one\n  two\nb:\n  \"q\"\n", `{"a":"one two","b":"q"}`},
		"literal":        {"a: |\n  one\n    two\n\n  three\nb: c\n", `{"a":"one\n  two\n\nthree\n","b":"c"}`},
		"literal strip":  {"a: |-\n  one\n\n", `{"a":"one"}`},
		"literal keep":   {"a: |+\n  one\n\nb: c\n", `{"a":"one\n\n","b":"c"}`},
		"literal width":  {"a: |2\n   one\n  two\n", `{"a":" one\ntwo\n"}`},
		"folded":         {"a: >\n  one\n  two\n\n  three\n    code\n  four\n\n\n  five\n", `{"a":"one two\nthree\n  code\nfour\n\nfive\n"}`},
		"folded strip":   {"a: >-\n  one\n  two\n", `{"a":"one two"}`},
		"quoted keys":    {"\"a b\": 1\n'c': 2\n1: 3\n", `{"a b":1,"c":2,"1":3}`},
		"empty string":   {"a: ''\nb: \"\"\n", `{"a":"","b":""}`},
		"big":            {"a: 12345678901234567890\n", `{"a":12345678901234567890}`},

		"anchor":        {"a: &x 1\n", ""},
		"alias":         {"a: *x\n", ""},
		"tag":           {"a: !!str 1\n", ""},
		"merge":         {"<<: {a: 1}\n", ""},
		"twice":         {"a: 1\na: 2\n", ""},
		"twice in flow": {"a: {b: 1, b: 2}\n", ""},
		"tab":           {"a:\n\tb: c\n", ""},
		"list":          {"- a\n", ""},
		"text":          {"just text\n", ""},
		"empty":         {"", ""},
		"comment only":  {"# nothing\n", ""},
		"open quotes":   {"a: \"b\n", ""},
		"open bracket":  {"a: [b\n", ""},
		"behind quotes": {"a: \"b\" c\n", ""},
		"indented":      {"a: 1\n  b: 2\n", ""},
		"outdented":     {"  a: 1\nb: 2\n", ""},
		"complex key":   {"? a\n: b\n", ""},
		"not a number":  {"a: .nan\n", ""},
		"infinity":      {"a: 1e999\n", ""},
		"escape":        {`a: "\q"`, ""},
		"surrogate":     {`a: "\ud800"`, ""},
		"item in place": {"a: - b\n", ""},
		"deep":          {"a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		"deeper":        {strings.Repeat("- ", 100), ""},
	} {
		m, err := skills.ParseFrontmatter([]byte(c.yaml))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: ParseFrontmatter(%q) = %v, want an error", name, c.yaml, m)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: ParseFrontmatter(%q): %v", name, c.yaml, err)
			continue
		}
		got, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decode(t, c.want), decode(t, string(got))); diff != "" {
			t.Errorf("%s: ParseFrontmatter(%q) (-want +got):\n%s", name, c.yaml, diff)
		}
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func FuzzParseFrontmatter(f *testing.F) {
	for _, text := range []string{
		"a: b\nc:\n  - d: \"e\\n\"\n    f: [g, {h: i}]\n", "a: |2-\n   x\n", "a: >+\n\n  x\n\n   y\n\n", "a: 'b\n  c'\n", "- - a: 1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, yaml []byte) {
		m, err := skills.ParseFrontmatter(yaml)
		if err != nil {
			return
		}
		if _, err := json.Marshal(m); err != nil {
			t.Errorf("ParseFrontmatter(%q) = %v, which JSON cannot hold: %v", yaml, m, err)
		}
	})
}
