package jsonrpc_test

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/ferrymcp/ferry/jsonrpc"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw, want string // want is the error's text; "" for none
	}{
		{`1`, ``},
		{`0`, ``},
		{`-7`, ``},
		{`"a\"\u00e9"`, ``},
		{`""`, ``},
		{`18446744073709551616`, ``},
		{``, `id: unexpected end at byte 0`},
		{`null`, `id must be a string or an integer`},
		{`true`, `id must be a string or an integer`},
		{`{}`, `id: want a value at byte 0`},
		{`1.0`, `id must not have a fraction or an exponent`},
		{`1E2`, `id must not have a fraction or an exponent`},
		{`01`, `id: unexpected data at byte 1`},
		{`1 `, `id: unexpected data at byte 1`},
		{`"a`, `id: unexpected end at byte 2`},
		{"\"\xff\"", `id: invalid UTF-8 at byte 1`},
		{strings.Repeat("1", 1025), `id is longer than 1024 bytes`},
	}
	for _, tt := range tests {
		id, err := jsonrpc.ParseID([]byte(tt.raw))
		if tt.want == "" && (err != nil || id.String() != tt.raw) {
			t.Errorf("ParseID(%s) = %s, %v, want it unchanged", tt.raw, id, err)
		}
		if tt.want != "" && (err == nil || err.Error() != tt.want || !id.IsZero()) {
			t.Errorf("ParseID(%s) = %s, %v, want error %q", tt.raw, id, err, tt.want)
		}
	}
}

func TestIDsOfGoValues(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]jsonrpc.ID{
		`-9223372036854775808`: jsonrpc.IntID(math.MinInt64),
		`"1"`:                  jsonrpc.StringID("1"),
		`"a\n\"é"`:             jsonrpc.StringID("a\n\"é"),
		`"�"`:                  jsonrpc.StringID("\xff"),
	} {
		if got.String() != want || got.Clone() != got {
			t.Errorf("id = %s, clone %s, want %s", got, got.Clone(), want)
		}
	}
	if jsonrpc.IntID(1) == jsonrpc.StringID("1") {
		t.Error(`1 and "1" are the same id`)
	}
}

func TestIDInsideOtherTypes(t *testing.T) {
	t.Parallel()
	type cancelled struct {
		RequestID jsonrpc.ID `json:"requestId"`
	}
	for _, frame := range []string{`{"requestId":"\u0061"}`, `{"requestId":12345678901234567890}`, `{"requestId":null}`} {
		var v, v2 cancelled
		if err := stdjson.Unmarshal([]byte(frame), &v); err != nil {
			t.Fatalf("Unmarshal(%s): %v", frame, err)
		}
		if err := jsonv2.Unmarshal([]byte(frame), &v2); err != nil || v != v2 {
			t.Fatalf("both libraries on %s: %v and %v, %v", frame, v, v2, err)
		}
		if got, err := stdjson.Marshal(v); err != nil || string(got) != frame {
			t.Errorf("round trip of %s = %s, %v", frame, got, err)
		}
	}
	var v cancelled
	if err := stdjson.Unmarshal([]byte(`{"requestId":[]}`), &v); err == nil {
		t.Errorf("array as id: %v, want an error", v)
	}
}

func TestErrorIs(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("call: %w", jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no method %s", "x"))
	if !errors.Is(err, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}) || errors.Is(err, &jsonrpc.Error{Code: 1}) ||
		errors.Is(err, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "other"}) {
		t.Errorf("errors.Is does not compare codes of %v", err)
	}
	if want := "call: no method x (-32601)"; err.Error() != want {
		t.Errorf("text = %q, want %q", err, want)
	}
}

func TestKindString(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(jsonrpc.Request, jsonrpc.Notification, jsonrpc.Response)
	if want := "request notification response"; got != want {
		t.Errorf("kinds = %s, want %s", got, want)
	}
}
