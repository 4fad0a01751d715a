package jsonrpc_test

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
)

// parseID is for ids that the test knows to be valid.
func parseID(raw string) jsonrpc.ID {
	id, err := jsonrpc.ParseID([]byte(raw))
	if err != nil {
		panic(err)
	}
	return id
}

var compareIDs = cmp.Options{cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b }), cmpopts.EquateEmpty()}

func raw(s string) stdjson.RawMessage { return stdjson.RawMessage(s) }

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-ERRRESP-ID-OPTIONAL")
	one := jsonrpc.IntID(1)
	tests := []struct {
		name, frame string
		want        jsonrpc.Message
		kind        jsonrpc.Kind
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, jsonrpc.Message{ID: one, Method: "ping"}, jsonrpc.Request},
		{
			"any order, whitespace", " {\r\n\t\"params\" : { \"a\" : [ 1 , 2 ] } , \"method\" : \"m\",\"id\":1 ,\"jsonrpc\":\"2.0\" } \n",
			jsonrpc.Message{ID: one, Method: "m", Params: raw(`{ "a" : [ 1 , 2 ] }`)},
			jsonrpc.Request,
		},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, jsonrpc.Message{ID: one, Method: "m", Params: raw(`[]`)}, jsonrpc.Request},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, jsonrpc.Message{ID: one, Method: "m"}, jsonrpc.Request},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{}}`, jsonrpc.Message{Method: "n", Params: raw(`{}`)}, jsonrpc.Notification},
		{"string id", `{"jsonrpc":"2.0","id":"a\u0062\"","method":"m"}`, jsonrpc.Message{ID: parseID(`"a\u0062\""`), Method: "m"}, jsonrpc.Request},
		{"empty string id", `{"jsonrpc":"2.0","id":"","method":"m"}`, jsonrpc.Message{ID: parseID(`""`), Method: "m"}, jsonrpc.Request},
		{
			"big id", `{"jsonrpc":"2.0","id":-123456789012345678901234567890,"method":"m"}`,
			jsonrpc.Message{ID: parseID(`-123456789012345678901234567890`), Method: "m"},
			jsonrpc.Request,
		},
		{"escaped envelope", `{"\u006asonrpc":"2\u002e0","i\u0064":1,"m\u0065thod":"a\/b"}`, jsonrpc.Message{ID: one, Method: "a/b"}, jsonrpc.Request},
		{"other member names", `{"jsonrpc":"2.0","id":1,"method":"m","Method":1,"method\u0000":2,"METHOD":[{}],"":3}`, jsonrpc.Message{ID: one, Method: "m"}, jsonrpc.Request},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, jsonrpc.Message{ID: one, Result: raw(`{"a":1}`)}, jsonrpc.Response},
		{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, jsonrpc.Message{ID: one, Result: raw(`null`)}, jsonrpc.Response},
		{
			"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \u00e9","data":[1],"more":true}}`,
			jsonrpc.Message{ID: one, Error: &jsonrpc.Error{Code: -32601, Message: "no é", Data: raw(`[1]`)}},
			jsonrpc.Response,
		},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, jsonrpc.Message{Error: &jsonrpc.Error{Code: 1}}, jsonrpc.Response},
		{"error with null id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, jsonrpc.Message{Error: &jsonrpc.Error{Code: 1, Message: "x"}}, jsonrpc.Response},
		{"surrogate pair", `{"jsonrpc":"2.0","id":1,"method":"\ud83d\uDE00"}`, jsonrpc.Message{ID: one, Method: "😀"}, jsonrpc.Request},
		{
			"longest id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1022) + `","method":"m"}`,
			jsonrpc.Message{ID: jsonrpc.StringID(strings.Repeat("x", 1022)), Method: "m"},
			jsonrpc.Request,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonrpc.Decode([]byte(tt.frame))
			if err != nil {
				t.Fatalf("Decode(%s): %v", tt.frame, err)
			}
			if d := cmp.Diff(tt.want, got, compareIDs); d != "" {
				t.Errorf("Decode(%s): -want +got\n%s", tt.frame, d)
			}
			if got.Kind() != tt.kind {
				t.Errorf("Decode(%s) is a %s, want %s", tt.frame, got.Kind(), tt.kind)
			}
		})
	}
}

func TestDecodeRefusesEnvelope(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-REQ-ID-NOT-NULL", "BASE-ERR-CODE-INT", "BASE-ERR-CODE-MESSAGE", "BASE-RESP-NOT-BOTH",
		"BASE-RESP-RESULT-OR-ERROR", "SCH-ERROR-OBJECT")
	tests := []struct {
		name, frame string
		want        string // the text, after its prefix
		id          string
		response    bool // meant as a response: the message carries the error
	}{
		{"no version", `{"id":1,"method":"m"}`, `jsonrpc must be "2.0", and is missing`, "1", false},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, `jsonrpc must be "2.0" at byte 11`, "1", false},
		{"version number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, `jsonrpc must be "2.0" at byte 11`, "1", false},
		{"version case", `{"JSONRPC":"2.0","id":1,"method":"m"}`, `jsonrpc must be "2.0", and is missing`, "1", false},
		{"fraction id", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, `id must not have a fraction or an exponent at byte 22`, "", false},
		{"exponent id", `{"jsonrpc":"2.0","id":1e2,"method":"m"}`, `id must not have a fraction or an exponent at byte 22`, "", false},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"m"}`, `id must be a string or an integer at byte 22`, "", false},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"m"}`, `id must be a string or an integer at byte 22`, "", false},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `id must not be null at byte 22`, "", false},
		{"long id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1023) + `","method":"m"}`, `id is longer than 1024 bytes at byte 22`, "", false},
		{"method number", `{"jsonrpc":"2.0","id":"q","method":1}`, `method must be a string at byte 35`, `"q"`, false},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, `method must be a string at byte 33`, "1", false},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, `method must not be empty at byte 33`, "1", false},
		{"params string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}`, `params must be an object or an array at byte 46`, "1", false},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, `a message with a method must not have a result at byte 46`, "1", false},
		{"method and error", `{"jsonrpc":"2.0","method":"m","error":null}`, `a message with a method must not have an error at byte 38`, "", false},
		{"nothing", `{"jsonrpc":"2.0","id":1}`, `message has no method, result or error`, "1", false},
		{"empty object", `{}`, `jsonrpc must be "2.0", and is missing`, "", false},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}`, `a response must not have both a result and an error at byte 43`, "1", true},
		{"result without id", `{"jsonrpc":"2.0","result":1}`, `a response with a result must have an id at byte 26`, "", true},
		{"result with null id", `{"jsonrpc":"2.0","result":1,"id":null}`, `id must not be null at byte 33`, "", true},
		{"error string", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `error must be an object at byte 32`, "1", true},
		{"error null", `{"jsonrpc":"2.0","id":1,"error":null}`, `error must be an object at byte 32`, "1", true},
		{"error code float", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}`, `error code must be an integer at byte 32`, "1", true},
		{"error code string", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}`, `error code must be an integer at byte 32`, "1", true},
		{"error code huge", `{"jsonrpc":"2.0","id":1,"error":{"code":99999999999999999999,"message":""}}`, `error code must be an integer at byte 32`, "1", true},
		{"error message", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}`, `error message must be a string at byte 32`, "1", true},
		{"error no code", `{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, `error has no code at byte 32`, "1", true},
		{"error no message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, `error has no message at byte 32`, "1", true},
		{"batch", ` [{"jsonrpc":"2.0","method":"m"}]`, `message must be an object, not a batch at byte 1`, "", false},
		{"string", `"x"`, `message must be an object at byte 0`, "", false},
		{"number", `12`, `message must be an object at byte 0`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonrpc.Decode([]byte(tt.frame))
			checkError(t, tt.frame, err, jsonrpc.CodeInvalidRequest, "invalid request: "+tt.want)
			if got.ID.String() != tt.id {
				t.Errorf("Decode(%s) id = %q, want %q", tt.frame, got.ID, tt.id)
			}
			if (got.Error != nil) != tt.response {
				t.Errorf("Decode(%s) error in the message = %v, want one: %v", tt.frame, got.Error, tt.response)
			}
		})
	}
}

func checkError(t *testing.T, frame string, err error, code int, text string) {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != code || e.Message != text {
		t.Errorf("Decode(%s)\n got %v\nwant %s (%d)", frame, err, text, code)
	}
}

func TestDecodeRefusesGrammar(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-UTF8")
	// Each value is put in params, where it starts at byte 37.
	tests := []struct{ name, value, want string }{
		{"nothing", ``, "want a value at byte 46"},
		{"duplicate", `{"a":1,"b":2,"a":3}`, `duplicate name "a" at byte 59`},
		{"duplicate deep", `[{"x":[{"é":1,"é":2}]}]`, `duplicate name "\u00e9" at byte 61`},
		{"duplicate escaped", `{"a":1,"\u0061":2}`, `duplicate name "a" at byte 53`},
		{"duplicate escaped first", `{"\u0061":1,"a":2}`, `duplicate name "a" at byte 58`},
		{"duplicate empty", `{"":1,"":2}`, `duplicate name "" at byte 52`},
		{"duplicate long", `{"` + strings.Repeat("n", 99) + `":1,"` + strings.Repeat("n", 99) + `":2}`, `duplicate name "` + strings.Repeat("n", 64) + `"… at byte 151`},
		{"control character", "{\"a\":\"x\ny\"}", "control character in a string at byte 53"},
		{"invalid UTF-8", "{\"a\":\"x\xffy\"}", "invalid UTF-8 at byte 53"},
		{"overlong UTF-8", "[\"\xc0\x80\"]", "invalid UTF-8 at byte 48"},
		{"UTF-8 surrogate", "[\"\xed\xa0\x80\"]", "invalid UTF-8 at byte 48"},
		{"cut UTF-8", "[\"é\xc3\"]", "invalid UTF-8 at byte 50"},
		{"lone high", `["\ud800"]`, "lone surrogate at byte 48"},
		{"lone low", `["\udc00"]`, "lone surrogate at byte 48"},
		{"high high", `["\ud800\ud800"]`, "lone surrogate at byte 48"},
		{"high then bad hex", `["\ud800\uzzzz"]`, "want a hexadecimal digit at byte 56"},
		{"bad escape", `["\x"]`, "invalid escape at byte 49"},
		{"short hex", `["\u00"]`, "want a hexadecimal digit at byte 52"},
		{"leading zero", `[01]`, "want ',' or ']' at byte 48"},
		{"lone minus", `[-]`, "want a digit at byte 48"},
		{"plus", `[+1]`, "want a value at byte 47"},
		{"point", `[1.]`, "want a digit at byte 49"},
		{"exponent", `[1e+]`, "want a digit at byte 50"},
		{"NaN", `[NaN]`, "want a value at byte 47"},
		{"tru", `[tru]`, "want true at byte 50"},
		{"trailing comma", `[1,]`, "want a value at byte 49"},
		{"object comma", `{"a":1,}`, "want a member name at byte 53"},
		{"no colon", `{"a"1}`, "want ':' at byte 50"},
		{"no comma", `{"a":1 "b":2}`, "want ',' or '}' at byte 53"},
		{"unquoted name", `{a:1}`, "want a member name at byte 47"},
		{"single quotes", `['a']`, "want a value at byte 47"},
		{"comment", `[1/**/]`, "want ',' or ']' at byte 48"},
		{"zero byte", "[\x00]", "want a value at byte 47"},
		{"deep", strings.Repeat("[", 512) + strings.Repeat("]", 512), "more than 512 levels of nesting at byte 557"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			frame := `{"jsonrpc":"2.0","id":7,"method":"m","params":` + tt.value + `}`
			got, err := jsonrpc.Decode([]byte(frame))
			checkError(t, frame, err, jsonrpc.CodeParse, "parse error: "+tt.want)
			if got.ID != jsonrpc.IntID(7) || got.Method != "m" || got.Params != nil {
				t.Errorf("Decode(%s) = %+v, want id and method only", frame, got)
			}
		})
	}
}

func TestDecodeRefusesFrame(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, frame, want, id string }{
		{"empty", "", "unexpected end at byte 0", ""},
		{"space", " \n", "unexpected end at byte 2", ""},
		{"byte order mark", "\ufeff{}", "want a value at byte 0", ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, "unexpected data after the message at byte 37", "1"},
		{"trailing comma", `{"id":1},`, "unexpected data after the message at byte 8", "1"},
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b`, "unexpected end at byte 53", "1"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"method":"m","id":2}`, `duplicate name "id" at byte 37`, ""},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}`, `duplicate name "method" at byte 37`, "1"},
		{"bad id kept out", `{"jsonrpc":"2.0","id":[],"method":"a","params":}`, `want a value at byte 47`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonrpc.Decode([]byte(tt.frame))
			checkError(t, tt.frame, err, jsonrpc.CodeParse, "parse error: "+tt.want)
			if got.ID.String() != tt.id {
				t.Errorf("Decode(%s) id = %q, want %q", tt.frame, got.ID, tt.id)
			}
		})
	}
}

func TestDecodeDuplicateInResultReachesTheCaller(t *testing.T) {
	t.Parallel()
	frame := `{"jsonrpc":"2.0","id":3,"result":{},"x":{"a":1,"a":1}}`
	got, err := jsonrpc.Decode([]byte(frame))
	if err == nil || got.ID != jsonrpc.IntID(3) || got.Error == nil || !errors.Is(err, got.Error) {
		t.Errorf("Decode(%s) = %+v, %v, want the id and the error in the message", frame, got, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":[[[]]]}`)
	tests := []struct {
		limits jsonrpc.Limits
		want   string
	}{
		{jsonrpc.Limits{}, ""},
		{jsonrpc.Limits{Depth: 4, Bytes: len(frame)}, ""},
		{jsonrpc.Limits{Depth: 3}, "parse error: more than 3 levels of nesting at byte 48 (-32700)"},
		{jsonrpc.Limits{Bytes: len(frame) - 1}, fmt.Sprintf("invalid request: message of %d bytes is longer than %d (-32600)", len(frame), len(frame)-1)},
	}
	for _, tt := range tests {
		_, err := tt.limits.Decode(frame)
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%+v.Decode(%s) error = %v, want %q", tt.limits, frame, err, tt.want)
		}
	}
	deep := []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`)
	if _, err := (jsonrpc.Limits{Depth: 1 << 30}).Decode(deep); err == nil || !strings.Contains(err.Error(), "more than 10000 levels") {
		t.Errorf("Decode of 20000 levels with a huge limit: %v, want a refusal at 10000", err)
	}
}
