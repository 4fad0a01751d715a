package jsonrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
)

func TestIsBatch(t *testing.T) {
	t.Parallel()
	for frame, want := range map[string]bool{"": false, " \r\n\t": false, "[": true, " \r\n\t[]": true, "{}": false, `"["`: false} {
		if got := jsonrpc.IsBatch([]byte(frame)); got != want {
			t.Errorf("IsBatch(%q) = %v, want %v", frame, got, want)
		}
	}
}

func TestDecodeBatch(t *testing.T) {
	t.Parallel()
	frame := ` [ {"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}} , 5,
		{"jsonrpc":"2.0","id":2,"method":3}, [], {"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"r","result":{}}] `
	items, err := jsonrpc.DecodeBatch([]byte(frame))
	if err != nil {
		t.Fatalf("DecodeBatch(%s): %v", frame, err)
	}
	var got []string
	for _, item := range items {
		line := fmt.Sprintf("%s %s %s %s", item.ID, item.Method, item.Params, item.Result)
		if item.Err != nil {
			line += "! " + item.Err.Error()
		}
		got = append(got, line)
	}
	want := []string{
		`1 a {"x":1} `,
		`   ! invalid request: message must be an object at byte 60 (-32600)`,
		`2   ! invalid request: method must be a string at byte 98 (-32600)`,
		`   ! invalid request: message must be an object at byte 102 (-32600)`,
		` n  `,
		`"r"   {}`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("DecodeBatch(%s)\n got\n%s\nwant\n%s", frame, g, w)
	}
}

func TestDecodeBatchRefuses(t *testing.T) {
	t.Parallel()
	one := `{"jsonrpc":"2.0","method":"n"}`
	many := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	tests := []struct {
		name, frame string
		limits      jsonrpc.Limits
		want        string
	}{
		{"empty", "[ ]", jsonrpc.Limits{}, "invalid request: batch is empty at byte 0 (-32600)"},
		{"empty and more", "[]]", jsonrpc.Limits{}, "parse error: unexpected data after the batch at byte 2 (-32700)"},
		{"object", one, jsonrpc.Limits{}, "invalid request: batch must be an array at byte 0 (-32600)"},
		{"nothing", "", jsonrpc.Limits{}, "invalid request: batch must be an array at byte 0 (-32600)"},
		{"cut", "[" + one, jsonrpc.Limits{}, "parse error: unexpected end at byte 31 (-32700)"},
		{"open", "[", jsonrpc.Limits{}, "parse error: unexpected end at byte 1 (-32700)"},
		{"trailing comma", "[" + one + ",]", jsonrpc.Limits{}, "parse error: want a value at byte 32 (-32700)"},
		{"no comma", "[" + one + one + "]", jsonrpc.Limits{}, "parse error: want ',' or ']' at byte 31 (-32700)"},
		{"bad member", "[" + one + `,{"a":1,"a":2}]`, jsonrpc.Limits{}, `parse error: duplicate name "a" at byte 39 (-32700)`},
		{"trailing data", "[" + one + "]x", jsonrpc.Limits{}, "parse error: unexpected data after the batch at byte 32 (-32700)"},
		{"too many", many(257), jsonrpc.Limits{}, "invalid request: batch of more than 256 messages (-32600)"},
		{"enough", many(256), jsonrpc.Limits{}, "<nil>"},
		{"limit of two", many(3), jsonrpc.Limits{Batch: 2}, "invalid request: batch of more than 2 messages (-32600)"},
		{"too long", many(2), jsonrpc.Limits{Bytes: 62}, "invalid request: message of 63 bytes is longer than 62 (-32600)"},
		{"deep", "[[[]]]", jsonrpc.Limits{Depth: 2}, "parse error: more than 2 levels of nesting at byte 2 (-32700)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tt.limits.DecodeBatch([]byte(tt.frame)); fmt.Sprint(err) != tt.want {
				t.Errorf("DecodeBatch(%.100s) error = %v, want %s", tt.frame, err, tt.want)
			}
		})
	}
}
