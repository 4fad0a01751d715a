package client

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// These are internal tests: what splice makes of odd parameters cannot be told
// from outside, where the carrier has its say too.

var testFields = newMetaFields(
	metaField{key: "version", value: []byte(`"v"`), fixed: true},
	metaField{key: "who", value: []byte(`{"name":"me"}`)},
)

// TestPut holds the quick way of calls of tools to the general one.
func TestPut(t *testing.T) {
	t.Parallel()
	var none metaFields
	for _, call := range []*mcp.CallToolParams{
		nil,
		{},
		{Name: "plain"},
		{Name: "\"é\n", Arguments: raw(`{ "a" : [1, 2] }`)},
		{Name: "empty", Arguments: raw(`{}`)},
		{Name: "meta", Meta: mcp.Meta{"trace": raw(`"t"`)}},
		{Name: "state", RequestState: mcp.Ptr("s")},
		{Name: "wrong", Arguments: raw(`{"a":1,"a":2}`)},
		{Name: "\xff"},
	} {
		for _, fields := range []*metaFields{testFields, &none} {
			for _, token := range []jsonrpc.ID{{}, jsonrpc.IntID(7)} {
				want, wantErr := fields.splice(call, token)
				params, err := fields.put(call, token)
				var got []byte
				if err == nil {
					got, err = json.Marshal(params)
				}
				if (err == nil) != (wantErr == nil) || wantErr == nil && string(got) != string(want) {
					t.Errorf("put(%+v, %v): got  %s, %v\nwant %s, %v", call, token, got, err, want, wantErr)
				}
			}
		}
	}
}

func TestSplice(t *testing.T) {
	t.Parallel()
	const ours = `{"_meta":{"version":"v","who":{"name":"me"}}`
	var nothing *mcp.PageParams
	tests := []struct {
		name   string
		params any
		token  jsonrpc.ID
		want   string
	}{
		{"nil", nil, jsonrpc.ID{}, ours + `}`},
		{"nil pointer", nothing, jsonrpc.ID{}, ours + `}`},
		{"raw null", raw(" null\n"), jsonrpc.ID{}, ours + `}`},
		{"raw nothing", raw(""), jsonrpc.ID{}, ours + `}`},
		{"empty struct", struct{}{}, jsonrpc.ID{}, ours + `}`},
		{"struct", &mcp.PageParams{Cursor: mcp.Ptr("c")}, jsonrpc.ID{}, ours + `,"cursor":"c"}`},
		{"map", map[string]any{"a": 1}, jsonrpc.ID{}, ours + `,"a":1}`},
		{"raw", raw(` { "a" : 1 } `), jsonrpc.ID{}, ours + `,"a" : 1 }`},
		{"raw empty", raw(`{ }`), jsonrpc.ID{}, ours + `}`},
		{"token", nil, jsonrpc.IntID(7), `{"_meta":{"version":"v","who":{"name":"me"},"progressToken":7}}`},
		{"_meta deeper down", raw(`{"arguments":{"_meta":{"version":1}}}`), jsonrpc.ID{}, ours + `,"arguments":{"_meta":{"version":1}}}`},
		{"own", raw(`{"a":1,"_meta":{"trace":"t"},"b":2}`), jsonrpc.ID{}, `{"_meta":{"version":"v","who":{"name":"me"},"trace":"t"},"a":1,"b":2}`},
		{"own of a struct", &mcp.PageParams{Meta: mcp.Meta{"trace": raw(`"t"`)}}, jsonrpc.ID{}, `{"_meta":{"version":"v","who":{"name":"me"},"trace":"t"}}`},
		{"own version", raw(`{"_meta":{"version":"mine"}}`), jsonrpc.ID{}, ours + `}`},
		{"own identity", raw(`{"_meta":{"who":{"name":"you"}}}`), jsonrpc.ID{}, `{"_meta":{"version":"v","who":{"name":"you"}}}`},
		{"own token", raw(`{"_meta":{"progressToken":"x"}}`), jsonrpc.ID{}, `{"_meta":{"version":"v","who":{"name":"me"},"progressToken":"x"}}`},
		{"two tokens", raw(`{"_meta":{"progressToken":"x"}}`), jsonrpc.IntID(7), `{"_meta":{"version":"v","who":{"name":"me"},"progressToken":7}}`},
		{"own null", raw(`{"_meta":null,"a":1}`), jsonrpc.ID{}, ours + `,"a":1}`},
		{"own empty", raw(`{"a":1,"_meta":{}}`), jsonrpc.ID{}, ours + `,"a":1}`},
		{"escaped name", raw(`{"\u005fmeta":{"version":"mine","k":1},"\"":2}`), jsonrpc.ID{}, `{"_meta":{"version":"v","who":{"name":"me"},"k":1},"\"":2}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := testFields.splice(test.params, test.token)
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestSpliceWithoutFields(t *testing.T) {
	t.Parallel()
	var none metaFields
	for params, want := range map[string]string{
		`{}`:                      `{"_meta":{"progressToken":1}}`,
		`{"a":1,"_meta":{"k":2}}`: `{"_meta":{"progressToken":1,"k":2},"a":1}`,
	} {
		if got, err := none.splice(raw(params), jsonrpc.IntID(1)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", params, got, err, want)
		}
	}
}

func TestSpliceRefuses(t *testing.T) {
	t.Parallel()
	for _, params := range []any{raw(`[]`), raw(`1`), []int{1}, raw(`{"_meta":1}`), raw(`{"_meta":"x"}`), raw(`{"_meta":{"a":1}`), func() {}} {
		if got, err := testFields.splice(params, jsonrpc.ID{}); err == nil {
			t.Errorf("%v became %s", params, got)
		}
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	fields := testFields.with(metaField{key: "level", value: []byte(`"info"`)}).with(metaField{key: "level", value: []byte(`"error"`)})
	const want = `{"_meta":{"version":"v","who":{"name":"me"},"level":"error"}}`
	if got, err := fields.splice(nil, jsonrpc.ID{}); err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func raw(s string) stdjson.RawMessage { return stdjson.RawMessage(s) }

// FuzzSplice checks that valid parameters stay valid and keep their members, and
// that invalid ones are not made valid.
func FuzzSplice(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"_meta":{"a":1},"b":[{}]}`, `{"_meta":{}} {}`, `{"\u005fmeta":{}}`, `{,}`, `{"a":1,}`, `{"_meta":{}`} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, params string, progress bool) {
		var token jsonrpc.ID
		if progress {
			token = jsonrpc.IntID(3)
		}
		out, err := testFields.splice(raw(params), token)
		var before, after map[string]stdjson.RawMessage
		trimmed := strings.Trim(params, " \t\r\n")
		valid := trimmed == "" || trimmed == "null" || strings.HasPrefix(trimmed, "{") && json.Unmarshal([]byte(params), &before) == nil
		switch {
		case err != nil && valid && before[metaMember] == nil:
			t.Fatalf("%q refused: %v", params, err)
		case err != nil:
			return
		}
		if decoded := json.Unmarshal(out, &after); (decoded == nil) != valid {
			t.Fatalf("%q (valid: %v) became %s: %v", params, valid, out, decoded)
		}
		if !valid {
			return
		}
		for name := range before {
			if _, ok := after[name]; !ok {
				t.Errorf("%q lost %q: %s", params, name, out)
			}
		}
		var meta map[string]stdjson.RawMessage
		if err := json.Unmarshal(after[metaMember], &meta); err != nil || string(meta["version"]) != `"v"` || progress && string(meta["progressToken"]) != "3" {
			t.Errorf("%q became %s: %v", params, out, err)
		}
	})
}

func BenchmarkSplice(b *testing.B) {
	params := &mcp.CallToolParams{Name: "echo", Arguments: raw(`{"text":"hello"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := testFields.splice(params, jsonrpc.ID{}); err != nil {
			b.Fatal(err)
		}
	}
}
