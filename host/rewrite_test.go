package host

import (
	"encoding/json"
	"testing"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, name, value string
		stateless       bool
		want            string // empty for an error
	}{
		{``, "name", `"x"`, false, `{"name":"x"}`},
		{`null`, "name", `"x"`, false, `{"name":"x"}`},
		{`{}`, "name", `"x"`, false, `{"name":"x"}`},
		{` { "arguments" : {"name":"keep", "n": 1e2} , "name":"old" } `, "name", `"x"`, false, `{"arguments":{"name":"keep", "n": 1e2},"name":"x"}`},
		{`{"n\u0061me":"old","a":[1,{"b":"}"}]}`, "name", `"x"`, false, `{"n\u0061me":"x","a":[1,{"b":"}"}]}`},
		{`{"a":"\"}","b":true}`, "name", `"x"`, false, `{"a":"\"}","b":true,"name":"x"}`},
		{`{"a":1}`, "ref", ``, false, `{"a":1}`},
		{`{"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"v"},"name":"o"}`, "name", `"x"`, false, `{"name":"x"}`},
		{`{"_meta":{"progressToken":1,"io.modelcontextprotocol/clientInfo":{},"k":1}}`, "name", `"x"`, false, `{"_meta":{"k":1},"name":"x"}`},
		{`{"_meta":{"progressToken":1,"io.modelcontextprotocol/clientInfo":{},"k":1}}`, "name", `"x"`, true, `{"_meta":{"io.modelcontextprotocol/clientInfo":{},"k":1},"name":"x"}`},
		{`{"_meta":null}`, "name", `"x"`, true, `{"_meta":null,"name":"x"}`},
		{`{"_meta":7}`, "name", `"x"`, true, `{"_meta":7,"name":"x"}`},
		{`[]`, "name", `"x"`, false, ``},
		{`{`, "name", `"x"`, false, ``},
		{`{"a"}`, "name", `"x"`, false, ``},
		{`{"a":}`, "name", `"x"`, false, ``},
		{`{"a":1 "b":2}`, "name", `"x"`, false, ``},
		{`{"a":1,}`, "name", `"x"`, false, ``},
		{`{"a":[1}`, "name", `"x"`, false, ``},
		{`{"a":"x}`, "name", `"x"`, false, ``},
		{`{} {}`, "name", `"x"`, false, ``},
	} {
		var value json.RawMessage
		if test.value != "" {
			value = json.RawMessage(test.value)
		}
		got, err := rewrite(json.RawMessage(test.in), test.name, value, test.stateless)
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("rewrite(%s, %s, %v) = %s, %v; want %s", test.in, test.name, test.stateless, got, err, test.want)
		}
	}
}

// FuzzRewrite checks that valid JSON stays so, with nothing else changed.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,"\\\""]},"name":1, "_meta":{"k":2}}`))
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := rewrite(in, "name", json.RawMessage(`"x"`), true)
		if !json.Valid(in) {
			return
		}
		var was, is map[string]json.RawMessage
		if json.Unmarshal(in, &was) != nil {
			if err == nil {
				t.Errorf("rewrite(%s) = %s, want an error", in, out)
			}
			return
		}
		if err != nil || json.Unmarshal(out, &is) != nil {
			t.Fatalf("rewrite(%s) = %s, %v", in, out, err)
		}
		if string(is["name"]) != `"x"` {
			t.Errorf("rewrite(%s) = %s, name is not replaced", in, out)
		}
		for name, value := range was {
			if name != "name" && name != "_meta" && string(is[name]) != string(value) {
				t.Errorf("rewrite(%s) = %s, member %q differs", in, out, name)
			}
		}
	})
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		template, uri string
		want          bool
	}{
		{"x://1", "x://1", true},
		{"x://1", "x://12", false},
		{"x://{id}", "x://12", true},
		{"x://{id}", "y://12", false},
		{"x://{a}/m/{b}.txt", "x://1/m/2.txt", true},
		{"x://{a}/m/{b}.txt", "x://1/n/2.txt", false},
		{"x://{a}/m/{b}.txt", "x://1/m/2.doc", false},
		{"x://{a", "x://1", true},
		{"{+any}", "x://1", true},
	} {
		if got := newPattern(test.template).match(test.uri); got != test.want {
			t.Errorf("%s matches %s: %v, want %v", test.template, test.uri, got, test.want)
		}
	}
	for uri, want := range map[string]string{"X://a": "x", "{a}:b": "", "a/b:c": "", "none": "", "file:///{+p}": "file"} {
		if got := scheme(uri); got != want {
			t.Errorf("scheme(%s) = %q, want %q", uri, got, want)
		}
	}
}
