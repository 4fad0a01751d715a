package mcp_test

import (
	"bytes"
	stdjson "encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestContentWire(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-CONTENT-BASE64-MIME", "SCH-CONTENT-DISCRIMINATOR", "SCH-ANNOTATIONS", "PROMPT-IMAGE-BASE64-MIME",
		"PROMPT-AUDIO-BASE64-MIME", "RES-CONTENT-BLOB-BASE64")
	tests := []struct {
		name    string
		content mcp.Content
		want    string
	}{
		{"text", mcp.Text("hi <&>"), `{"type":"text","text":"hi <&>"}`},
		{"empty text", mcp.Text(""), `{"type":"text","text":""}`},
		{"image", mcp.Image([]byte{1, 2, 3}, "image/png"), `{"type":"image","data":"AQID","mimeType":"image/png"}`},
		{"empty audio", mcp.Audio(nil, "audio/wav"), `{"type":"audio","data":"","mimeType":"audio/wav"}`},
		{"embedded text", mcp.Embed(mcp.TextResource("a:b", "", "")), `{"type":"resource","resource":{"uri":"a:b","text":""}}`},
		{"embedded blob", mcp.Embed(mcp.BlobResource("a:b", "x/y", nil)), `{"type":"resource","resource":{"uri":"a:b","mimeType":"x/y","blob":""}}`},
		{
			"link", mcp.Link(mcp.Resource{URI: "a:b", Name: "n", Size: mcp.Ptr(int64(0))}),
			`{"type":"resource_link","uri":"a:b","name":"n","size":0}`,
		},
		{
			"tool use without input",
			mcp.Content{Type: mcp.TypeToolUse, ToolUse: &mcp.ToolUse{ID: "1", Name: "n"}},
			`{"type":"tool_use","id":"1","name":"n","input":{}}`,
		},
		{
			"tool result without content",
			mcp.Content{Type: mcp.TypeToolResult, ToolResult: &mcp.ToolResult{ToolUseID: "1"}},
			`{"type":"tool_result","toolUseId":"1","content":[]}`,
		},
		{
			"tool result that failed",
			mcp.Content{Type: mcp.TypeToolResult, ToolResult: &mcp.ToolResult{
				ToolUseID: "1", Content: []mcp.Content{mcp.Text("x")}, StructuredContent: stdjson.RawMessage("null"), IsError: true,
			}},
			`{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}],"structuredContent":null,"isError":true}`,
		},
		{
			"annotations and metadata",
			mcp.Content{
				Type: mcp.TypeText, Text: "x", Meta: mcp.Meta{"k": stdjson.RawMessage("1")},
				Annotations: &mcp.Annotations{Priority: mcp.Ptr(0.0), Audience: []mcp.Role{mcp.RoleUser}},
			},
			`{"type":"text","text":"x","annotations":{"audience":["user"],"priority":0},"_meta":{"k":1}}`,
		},
		{
			"unknown type",
			mcp.Content{Type: "video", Raw: stdjson.RawMessage(`{"type":"video","text":7,"x":[1.50]}`)},
			`{"type":"video","text":7,"x":[1.50]}`,
		},
		{"no type", mcp.Content{Raw: stdjson.RawMessage(`{"a":1}`)}, `{"a":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.content)
			if err != nil || string(got) != test.want {
				t.Fatalf("Marshal: got %s, %v\nwant %s", got, err, test.want)
			}
			std, err := stdjson.Marshal(test.content)
			if err != nil || !equalJSON(t, std, got) {
				t.Errorf("encoding/json: got %s, %v\nwant %s", std, err, test.want)
			}
			for name, unmarshal := range map[string]func([]byte, any) error{"v2": json.Unmarshal, "v1": stdjson.Unmarshal} {
				var back mcp.Content
				if err := unmarshal(got, &back); err != nil {
					t.Fatalf("%s: decode %s: %v", name, got, err)
				}
				again, err := json.Marshal(back)
				if err != nil || string(again) != test.want {
					t.Errorf("%s: round trip: got %s, %v\nwant %s", name, again, err, test.want)
				}
			}
		})
	}
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return cmp.Equal(normal(t, a), normal(t, b))
}

func TestContentDecode(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-CONTENT-DISCRIMINATOR", "SCH-UNKNOWN-FIELDS")
	tests := []struct {
		name, in string
		want     mcp.Content
	}{
		{"type last", `{"text":"a","type":"text"}`, mcp.Text("a")},
		{"escaped name", `{"\u0074ype":"te\u0078t","text":"a"}`, mcp.Text("a")},
		{"unknown member", `{"type":"text","text":"a","new":{"text":1}}`, mcp.Text("a")},
		{"null optional members", `{"type":"text","text":"a","annotations":null,"_meta":null}`, mcp.Text("a")},
		{"text ignores data of other types", `{"type":"text","text":"a","mimeType":"x"}`, mcp.Text("a")},
		{"size as float", `{"type":"resource_link","uri":"u","name":"n","size":100.0}`, mcp.Link(mcp.Resource{URI: "u", Name: "n", Size: mcp.Ptr(int64(100))})},
		{"blob wins by presence", `{"type":"resource","resource":{"uri":"u","blob":"","text":"t"}}`, mcp.Embed(mcp.BlobResource("u", "", nil))},
		{"null blob is absent", `{"type":"resource","resource":{"uri":"u","blob":null,"text":"t"}}`, mcp.Embed(mcp.TextResource("u", "", "t"))},
		{"type is no string", `{"type":5}`, mcp.Content{Raw: stdjson.RawMessage(`{"type":5}`)}},
		{
			"a result inside of a result stays raw", `{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result"}]}`,
			mcp.Content{Type: mcp.TypeToolResult, ToolResult: &mcp.ToolResult{
				ToolUseID: "1", Content: []mcp.Content{{Type: mcp.TypeToolResult, Raw: stdjson.RawMessage(`{"type":"tool_result"}`)}},
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got mcp.Content
			if err := json.Unmarshal([]byte(test.in), &got); err != nil {
				t.Fatalf("decode %s: %v", test.in, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("decode %s (-want +got):\n%s", test.in, diff)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Errorf("encode again: %v", err)
			}
		})
	}
}

func TestContentErrors(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`null`, `"text"`, `[]`, `1`, `{"type":"text","text":1}`, `{"type":"image","data":"%"}`, `{"type":"resource"}`, `{"type":"text","type":"text"}`} {
		var c mcp.Content
		if err := json.Unmarshal([]byte(in), &c); err == nil {
			t.Errorf("decode %s: got %+v, want an error", in, c)
		}
	}
	for _, c := range []mcp.Content{{}, {Text: "x"}, {Type: "video"}, {Type: mcp.TypeResource}, {Type: mcp.TypeResourceLink}, {Type: mcp.TypeToolUse}, {Type: mcp.TypeToolResult}} {
		if out, err := json.Marshal(c); err == nil {
			t.Errorf("encode %+v: got %s, want an error", c, out)
		}
	}
}

func TestContentReusesNothing(t *testing.T) {
	t.Parallel()
	c := mcp.Image([]byte("x"), "image/png")
	if err := json.Unmarshal([]byte(`{"type":"text","text":"a"}`), &c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mcp.Text("a"), c); diff != "" {
		t.Errorf("decoding over an older block (-want +got):\n%s", diff)
	}
}

func TestSamplingContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, out string
		blocks  int
	}{
		{`{"type":"text","text":"a"}`, `{"type":"text","text":"a"}`, 1},
		{`[{"type":"text","text":"a"}]`, `{"type":"text","text":"a"}`, 1},
		{`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, 2},
		{`[]`, `[]`, 0},
		{`null`, `[]`, 0},
	}
	for _, test := range tests {
		for name, unmarshal := range map[string]func([]byte, any) error{"v2": json.Unmarshal, "v1": stdjson.Unmarshal} {
			var m mcp.SamplingMessage
			if err := unmarshal([]byte(`{"role":"user","content":`+test.in+`}`), &m); err != nil || len(m.Content) != test.blocks {
				t.Errorf("%s: decode %s: got %+v, %v; want %d blocks", name, test.in, m.Content, err, test.blocks)
			}
			want := `{"role":"user","content":` + test.out + `}`
			if got, err := json.Marshal(m); err != nil || string(got) != want {
				t.Errorf("%s: encode: got %s, %v; want %s", name, got, err, want)
			}
			if got, err := stdjson.Marshal(m); err != nil || string(got) != want {
				t.Errorf("%s: encoding/json: got %s, %v; want %s", name, got, err, want)
			}
		}
	}
}

// TestNoHiddenCopy encodes a large block into a buffer that is large enough:
// any copy on the way would show as allocated bytes.
func TestNoHiddenCopy(t *testing.T) {
	const size = 64 << 20
	big := strings.Repeat("x", size)
	blocks := map[string]any{
		"text":     &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(big)}},
		"data":     &mcp.CallToolResult{Content: []mcp.Content{mcp.Image([]byte(big), "image/png")}},
		"resource": &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("u", "", big)}},
		"blob":     &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.BlobResource("u", "", []byte(big))}},
		"sampling": &mcp.CreateMessageResult{Content: mcp.SamplingContent{mcp.Text(big)}},
	}
	// Base64 takes a third more, and the library keeps a quarter free.
	buf := bytes.NewBuffer(make([]byte, 0, size*2))
	for name, v := range blocks {
		buf.Reset()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := json.Write(buf, v)
		runtime.ReadMemStats(&after)
		if err != nil || buf.Len() < size {
			t.Fatalf("%s: wrote %d bytes, %v", name, buf.Len(), err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: encoding %d bytes allocated %d bytes, want at most 1 MiB", name, size, got)
		}
	}
}

func BenchmarkContent(b *testing.B) {
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(strings.Repeat("hello world ", 10))}}
	data, err := json.Marshal(result)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		var buf bytes.Buffer
		for b.Loop() {
			buf.Reset()
			if err := json.Write(&buf, result); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var r mcp.CallToolResult
			if err := json.Unmarshal(data, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// FuzzContent wants that what can be decoded can be encoded, and that doing so
// again changes nothing.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		`{"type":"text","text":"a","annotations":{"priority":0},"_meta":{"a":null}}`,
		`{"type":"image","data":"AQID","mimeType":"image/png"}`,
		`{"type":"resource","resource":{"uri":"u","blob":""}}`,
		`{"uri":"u","name":"n","size":1.0,"type":"resource_link"}`,
		`{"type":"tool_use","id":"1","name":"n","input":{"a":[1e400]}}`,
		`{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_use"},null],"structuredContent":null}`,
		`{"type":"video"}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first mcp.Content
		if json.Unmarshal(data, &first) != nil {
			return
		}
		out, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("decoded %q but cannot encode it: %v", data, err)
		}
		var second mcp.Content
		if err := json.Unmarshal(out, &second); err != nil {
			t.Fatalf("%q was encoded as %s, which cannot be decoded: %v", data, out, err)
		}
		again, err := json.Marshal(second)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatalf("%q was encoded as %s and then as %s (%v)", data, out, again, err)
		}
	})
}
