package jsonrpc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
)

func TestDecodeAllocates(t *testing.T) {
	request := []byte(`{"jsonrpc":"2.0","id":"req-42","method":"tools/call","params":{"name":"search","arguments":{"query":"find the \"needle\" é","limit":20,` +
		`"where":{"path":"/srv","deep":[{"a":1},{"a":2}]}},"_meta":{"progressToken":"p-42","example.com/trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}`)
	result := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}`)
	failure := []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown tool","data":{"name":"x"}}}`)
	big := call(64 << 10)
	for _, tt := range []struct {
		name  string
		frame []byte
		want  float64
	}{{"request", request, 0}, {"result", result, 0}, {"error", failure, 1}, {"64 KiB", big, 0}} {
		got := testing.AllocsPerRun(100, func() {
			if _, err := jsonrpc.Decode(tt.frame); err != nil {
				t.Fatal(err)
			}
		})
		if got > tt.want {
			t.Errorf("Decode of %s (%d bytes) allocates %v times, want %v", tt.name, len(tt.frame), got, tt.want)
		}
	}
}

func TestWriteAllocates(t *testing.T) {
	var buf bytes.Buffer
	buf.Grow(1 << 10)
	var params any = raw(`{"name":"x","arguments":{"a":1}}`)
	id, wire := jsonrpc.IntID(1), &jsonrpc.Error{Code: 1, Message: "no", Data: raw(`{}`)}
	got := testing.AllocsPerRun(100, func() {
		buf.Reset()
		_ = jsonrpc.WriteRequest(&buf, id, "tools/call", params)
		_ = jsonrpc.WriteResult(&buf, id, params)
		_ = jsonrpc.WriteNotification(&buf, "notifications/progress", params)
		jsonrpc.WriteError(&buf, id, wire)
	})
	if got > 0 {
		t.Errorf("writing four messages allocates %v times, want 0", got)
	}
}

// The bounds on time are far above what is needed and far below what a
// quadratic check would take.
func TestDecodeHostile(t *testing.T) {
	t.Parallel()
	object := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	inMessage := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"m","params":` + params + `}`
	}
	tests := []struct{ name, frame, want string }{
		{"1,000,000 nested arrays", strings.Repeat("[", 1_000_000), "more than 512 levels of nesting"},
		{"1,000,000 nested objects", strings.Repeat(`{"a":`, 1_000_000), "more than 512 levels of nesting"},
		{"300,000 names", inMessage(object(300_000, `"n%d":1,`)), ""},
		{"300,000 escaped names", inMessage(object(300_000, `"\u006e%d":1,`)), ""},
		{"300,000 names alike at both ends", inMessage(object(300_000, `"aaaaaaaa%07dbbbbbbbb":1,`)), ""},
		{"last name is the first", inMessage(strings.TrimSuffix(object(100_000, `"n%d":1,`), "}") + `,"n0":1}`), `duplicate name "n0"`},
		{"many objects while the table is full", inMessage(full(45, `[`+strings.Repeat(`{"a":1,"b":2},`, 100_000)+`0]`)), ""},
		{"long string", inMessage(`["` + strings.Repeat("é", 1<<20) + `"]`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := jsonrpc.Decode([]byte(tt.frame))
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(got, tt.want)) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if err != nil && len(err.Error()) > 200 {
				t.Errorf("error of %d bytes, want a short one", len(err.Error()))
			}
		})
	}
}

// full returns objects nested so that n names are open around value.
func full(n int, value string) string {
	for i := range n {
		value = fmt.Sprintf(`{"n%d":%s}`, i, value)
	}
	return value
}

// Objects around the sizes at which the way of checking changes.
func TestDecodeDuplicatesAtEverySize(t *testing.T) {
	t.Parallel()
	for n := 2; n < 100; n++ {
		for _, outer := range []int{0, 10, 47, 60} {
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf(`"%0*d":{"%d":0}`, 1+i%20, i, i))
			}
			good := full(outer, "{"+strings.Join(names, ",")+"}")
			if _, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","method":"m","params":{"x":` + good + `}}`)); err != nil {
				t.Fatalf("%d names in %d objects: %v", n, outer, err)
			}
			for _, again := range []int{0, n / 2, n - 1} {
				bad := full(outer, "{"+strings.Join(append(names, names[again]), ",")+"}")
				if _, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","method":"m","params":{"x":` + bad + `}}`)); err == nil {
					t.Fatalf("%d names in %d objects and name %d again: accepted", n, outer, again)
				}
			}
		}
	}
}
