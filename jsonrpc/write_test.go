package jsonrpc_test

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
)

type params struct {
	Name string `json:"name"`
}

func TestWrite(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-UTF8", "BASE-REQ-ID-PRESENT", "BASE-NOTIF-NO-ID", "BASE-RESULT-FIELD", "STDIO-NEWLINE-DELIMITED")
	id := jsonrpc.IntID(1)
	call := func(p any) func(*bytes.Buffer) error {
		return func(b *bytes.Buffer) error { return jsonrpc.WriteRequest(b, id, "m", p) }
	}
	result := func(r any) func(*bytes.Buffer) error {
		return func(b *bytes.Buffer) error { return jsonrpc.WriteResult(b, id, r) }
	}
	failure := func(id jsonrpc.ID, e *jsonrpc.Error) func(*bytes.Buffer) error {
		return func(b *bytes.Buffer) error { jsonrpc.WriteError(b, id, e); return nil }
	}
	tests := []struct {
		name  string
		write func(*bytes.Buffer) error
		want  string // "" for an error
	}{
		{"request", call(&params{"x"}), `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"x"}}`},
		{"request without params", call(nil), `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{"request with nil pointer", call((*params)(nil)), `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{"request with no raw params", call(stdjson.RawMessage(nil)), `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{"request with raw null", call(raw(" null ")), `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{"request with compact params", call(raw(`{"a":[1.0,"\u0041"]}`)), `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1.0,"\u0041"]}}`},
		{"request with spaced params", call(raw("{\n \"a\" : [ 1.0 , \"\\u0041 b\" ]\r\n}")), `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1.0,"\u0041 b"]}}`},
		{"request with scalar params", call(1), ``},
		{"request with raw scalar params", call(raw(`"x"`)), ``},
		{"request with bad params", call(func() {}), ``},
		{"request with injection", call(raw(`1},"x":{"y":1`)), ``},
		{"request with cut params", call(raw(`{"a":`)), ``},
		{"request with duplicate", call(raw(`{"a":1,"a":2}`)), ``},
		{"request with bad UTF-8", call(map[string]string{"a": "\xff"}), ``},
		{"request without id", func(b *bytes.Buffer) error { return jsonrpc.WriteRequest(b, jsonrpc.ID{}, "m", nil) }, ``},
		{"request without method", func(b *bytes.Buffer) error { return jsonrpc.WriteRequest(b, id, "", nil) }, ``},
		{"notification", func(b *bytes.Buffer) error { return jsonrpc.WriteNotification(b, "n/é\"", []int{1}) }, `{"jsonrpc":"2.0","method":"n/é\"","params":[1]}`},
		{"notification without method", func(b *bytes.Buffer) error { return jsonrpc.WriteNotification(b, "", nil) }, ``},
		{"result", result(params{"é<"}), `{"jsonrpc":"2.0","id":1,"result":{"name":"é<"}}`},
		{"result raw", result(raw(`{"a":1}`)), `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{"result nil", result(nil), `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"result nil pointer", result((*params)(nil)), `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"result bad", result(make(chan int)), ``},
		{"result without id", func(b *bytes.Buffer) error { return jsonrpc.WriteResult(b, jsonrpc.ID{}, 1) }, ``},
		{
			"error", failure(parseID(`"a\u0062"`), &jsonrpc.Error{Code: -32000, Message: "no \xff\n", Data: raw(`{ "a":1 }`)}),
			`{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32000,"message":"no �\n","data":{"a":1}}}`,
		},
		{"error without id", failure(jsonrpc.ID{}, jsonrpc.Errorf(jsonrpc.CodeParse, "x")), `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`},
		{"error with bad data", failure(id, &jsonrpc.Error{Data: raw(`{`)}), `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":""}}`},
		{"error nil", failure(id, nil), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			buf := bytes.NewBufferString("before\n")
			err := tt.write(buf)
			if got := strings.TrimPrefix(buf.String(), "before\n"); got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("wrote %s, %v\nwant  %s", got, err, tt.want)
			}
		})
	}
}

func TestBuffers(t *testing.T) {
	t.Parallel()
	buf := jsonrpc.GetBuffer()
	buf.WriteString("x")
	jsonrpc.PutBuffer(buf)
	jsonrpc.PutBuffer(nil)
	jsonrpc.PutBuffer(bytes.NewBuffer(make([]byte, 0, 4<<20)))
	for range 10 {
		if b := jsonrpc.GetBuffer(); b.Len() != 0 || b.Cap() > 2<<20 {
			t.Errorf("buffer from the pool has %d bytes, capacity %d, want an empty one of at most 2 MiB", b.Len(), b.Cap())
		}
	}
}
