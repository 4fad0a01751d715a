package jsonrpc_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// call returns a tools/call request of about size bytes.
func call(size int) []byte {
	var args strings.Builder
	for i := 0; args.Len() < size-200; i++ {
		fmt.Fprintf(&args, `{"path":"/srv/data/%d.txt","line":%d,"text":"the quick brown fox, \"jumps\" over é the lazy dog","flags":[true,false,null]},`, i, i)
	}
	items := strings.TrimSuffix(args.String(), ",")
	return []byte(`{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"search","arguments":{"query":"find the needle","items":[` +
		items + `]},"_meta":{"progressToken":"p-42"}}}`)
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{240, 4 << 10, 1 << 20} {
		frame := call(size)
		b.Run(fmt.Sprintf("%dB", len(frame)), func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonrpc.Decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dB/jsontext", len(frame)), func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if !jsontext.Value(frame).IsValid() {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	frame := call(4 << 10)
	m, err := jsonrpc.Decode(frame)
	if err != nil {
		b.Fatal(err)
	}
	var buf bytes.Buffer
	b.Run("raw params", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			_ = jsonrpc.WriteRequest(&buf, m.ID, m.Method, m.Params)
		}
	})
	b.Run("result", func(b *testing.B) {
		type block struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		v := &struct {
			Content []block            `json:"content"`
			Extra   stdjson.RawMessage `json:"extra,omitzero"`
		}{Content: []block{{"text", "hello"}}}
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			_ = jsonrpc.WriteResult(&buf, m.ID, v)
		}
	})
}
