package json_test

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ferrymcp/ferry/internal/json"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	tests := []struct{ object, want string }{
		{`{}`, ``},
		{` { } `, ``},
		{`{"a":1}`, `a=1`},
		{" {\n\"a\" : 1.5e3 ,\t\"b\\u0063\" : [ \"]\\\"\" , {\"}\":0} ] , \"\":null,\"é\":\"x,y\" } ", `a=1.5e3;bc=[ "]\"" , {"}":0} ];=null;é="x,y"`},
		{`[{"a":1}]`, ``},
		{`"x"`, ``},
		{``, ``},
		{`{"a":1`, `a=1`},
		{`{"a"`, ``},
		{`{"a":`, ``},
		{`{"a\`, ``},
		{`{"a":"\`, `a="\`},
		{`{"a":1,}`, `a=1`},
	}
	for _, tt := range tests {
		var got []string
		for name, value := range json.Members([]byte(tt.object)) {
			got = append(got, name+"="+string(value))
		}
		if g := strings.Join(got, ";"); g != tt.want {
			t.Errorf("Members(%s) = %s, want %s", tt.object, g, tt.want)
		}
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	tests := []struct{ array, want string }{
		{`[]`, ``},
		{` [ ] `, ``},
		{`[1]`, `1`},
		{` [ "a,]" , {"b":[2]} ,[3, 4],null ] `, `"a,]";{"b":[2]};[3, 4];null`},
		{`{"a":1}`, ``},
		{``, ``},
		{`[1`, `1`},
		{`[1,`, `1`},
		{`["`, `"`},
	}
	for _, tt := range tests {
		var got []string
		for value := range json.Items([]byte(tt.array)) {
			got = append(got, string(value))
		}
		if g := strings.Join(got, ";"); g != tt.want {
			t.Errorf("Items(%s) = %s, want %s", tt.array, g, tt.want)
		}
	}
}

func TestMember(t *testing.T) {
	t.Parallel()
	object := []byte(`{"a":{"b":2},"b":1,"c":null}`)
	for name, want := range map[string]string{"a": `{"b":2}`, "b": `1`, "c": `null`, "d": ``, "A": ``} {
		got, ok := json.Member(object, name)
		if string(got) != want || ok != (want != "") {
			t.Errorf("Member(%s, %s) = %s, %v, want %s", object, name, got, ok, want)
		}
	}
}

// Members hands out parts of the object; appending to one must not write into
// the next.
func TestMembersAreCapped(t *testing.T) {
	t.Parallel()
	object := []byte(`{"a":1,"b":2}`)
	value, _ := json.Member(object, "a")
	if _ = append(value, "xxxx"...); string(object) != `{"a":1,"b":2}` {
		t.Errorf("append to a value changed the object to %s", object)
	}
}

func TestMembersAllocate(t *testing.T) {
	object := []byte(`{"name":"search","arguments":{"a":[1,2,3],"b":"x\ny"},"_meta":{"progressToken":1}}`)
	got := testing.AllocsPerRun(100, func() {
		n := 0
		for name, value := range json.Members(object) {
			n += len(name) + len(value)
		}
		if _, ok := json.Member(object, "_meta"); !ok || n == 0 {
			t.Fatal("no members")
		}
	})
	if got > 0 {
		t.Errorf("walking allocates %v times, want 0", got)
	}
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain ~", `a"b\c`, "\x00\n\x7f", "é😀", "\u2028<>&", "bad \xff\xc3"} {
		got := json.AppendString([]byte("x"), s)
		var back string
		if err := stdjson.Unmarshal(got[1:], &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") || got[0] != 'x' {
			t.Errorf("AppendString(%q) = %s, which reads as %q, %v", s, got, back, err)
		}
	}
}

// TestMembersFindsEndsOfStrings has quotes and escapes at every place of the
// words that strings are searched by.
func TestMembersFindsEndsOfStrings(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		for _, escape := range []string{"", `\\`, `\"`, `\\\"`, `\u00e9`, "é"} {
			for tail := range 10 {
				text := `"` + strings.Repeat("a", n) + escape + strings.Repeat("b", tail) + `"`
				object := []byte(`{"x":` + text + `,"y":1}`)
				var got []string
				for _, value := range json.Members(object) {
					got = append(got, string(value))
				}
				if len(got) != 2 || got[0] != text || got[1] != "1" {
					t.Errorf("values of %s: %q, want %s and 1", object, got, text)
				}
			}
		}
	}
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":{"c":[true,null]}}`, `{"\u0061\"":"\\"}`, `[1]`, `{"a":`, ` { "x" : 1.5 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		count := 0
		for name, value := range json.Members(data) {
			got[name] = string(value)
			count++
		}
		if !jsontext.Value(data).IsValid() {
			return // not panicking is all that is promised
		}
		var want map[string]jsontext.Value
		if jsontext.Value(data).Kind() == '{' {
			if err := jsonv2.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
		}
		if count != len(want) {
			t.Fatalf("Members(%q) yields %d, want %d", data, count, len(want))
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("Members(%q)[%q] = %s, want %s", data, name, got[name], value)
			}
		}
	})
}

// FuzzUnmarshal checks that the retry for integral floats agrees with exact
// arithmetic, and that nothing panics.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`1`, `1.0`, `-12.50e1`, `1e400`, `0.1`, `9223372036854775807.0`, `1e-5`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n int64
		if json.Unmarshal([]byte(s), &n) != nil {
			return
		}
		var exact stdjson.Number
		if err := stdjson.Unmarshal([]byte(s), &exact); err != nil {
			return // null leaves n alone
		}
		if f, err := exact.Float64(); err != nil || float64(n) != f {
			t.Errorf("Unmarshal(%s) = %d, want %v", s, n, f)
		}
	})
}

func ExampleMembers() {
	for name, value := range json.Members([]byte(`{"name":"add","arguments":{"a":1}}`)) {
		fmt.Println(name, string(value))
	}
	// Output:
	// name "add"
	// arguments {"a":1}
}
