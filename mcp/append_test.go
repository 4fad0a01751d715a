package mcp_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// sameByHand reports whether what a value writes by hand is what the general way
// writes, and whether it wrote anything.
func sameByHand(t *testing.T, v interface{ WriteJSON(*bytes.Buffer) bool }, general any) bool {
	t.Helper()
	buf := bytes.NewBufferString("before ")
	wrote := v.WriteJSON(buf)
	got, _ := bytes.CutPrefix(buf.Bytes(), []byte("before "))
	if !wrote {
		if len(got) > 0 {
			t.Errorf("WriteJSON left %q behind", got)
		}
		return false
	}
	want, err := jsonv2.Marshal(general, jsonv2.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		t.Fatalf("WriteJSON wrote %s, but the general way says: %v", got, err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("by hand is not as in general (-general +by hand):\n%s", diff)
	}
	return true
}

// generalResult is a result without the method that writes by hand.
type generalResult mcp.CallToolResult

func TestWriteResultByHand(t *testing.T) {
	t.Parallel()
	meta := mcp.Meta{"a.b/c": json.RawMessage(` {"x": [1.50, "\u0041"]} `)}
	tests := []struct {
		name   string
		result mcp.CallToolResult
		byHand bool
	}{
		{"empty", mcp.CallToolResult{}, true},
		{"text", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("plain")}}, true},
		{"texts", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a \"quote\"\n"), mcp.Text("<ü> \u2028"), mcp.Text("")}}, true},
		{"error", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("no")}, IsError: true}, true},
		{"structured", mcp.CallToolResult{StructuredContent: json.RawMessage("{\"a\" :\n 1e2}")}, true},
		{"null", mcp.CallToolResult{StructuredContent: json.RawMessage("null")}, true},
		{"type and meta", mcp.CallToolResult{Result: mcp.Result{ResultType: "complete", Meta: meta}}, true},
		{"empty meta", mcp.CallToolResult{Result: mcp.Result{Meta: mcp.Meta{}}}, true},
		{"much meta", mcp.CallToolResult{Result: mcp.Result{Meta: mcp.Meta{"b": json.RawMessage("1"), "a": json.RawMessage("2")}}}, false},
		{"bad meta", mcp.CallToolResult{Result: mcp.Result{Meta: mcp.Meta{"b": json.RawMessage("{")}}}, false},
		{"no UTF-8", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a\xff")}}, false},
		{"bad structured content", mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":1,"a":2}`)}, false},
		{"image", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a"), mcp.Image([]byte("x"), "image/png")}}, false},
		{"annotated", mcp.CallToolResult{Content: []mcp.Content{{Type: mcp.TypeText, Annotations: &mcp.Annotations{}}}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := sameByHand(t, &test.result, (*generalResult)(&test.result)); got != test.byHand {
				t.Errorf("WriteJSON: got %v, want %v", got, test.byHand)
			}
		})
	}
}

func FuzzWriteTextByHand(f *testing.F) {
	for _, text := range []string{"", "plain", "12345678", "1234567\x1f", "1234567\"", "1234567\\", "1234567\x7f", "ü", "\xff", "\u2029<&>", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		result := &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}}
		sameByHand(t, result, (*generalResult)(result))
	})
}

// generalProgress is progress without the method that writes by hand.
type generalProgress mcp.ProgressParams

func TestWriteProgressByHand(t *testing.T) {
	t.Parallel()
	token := jsonrpc.StringID("t\"1")
	tests := []struct {
		name   string
		params mcp.ProgressParams
		byHand bool
	}{
		{"bare", mcp.ProgressParams{ProgressToken: token}, true},
		{"all", mcp.ProgressParams{ProgressToken: token, Progress: 3, Total: mcp.Ptr(10.0), Message: "über \"it\""}, true},
		{"negative", mcp.ProgressParams{ProgressToken: token, Progress: -3}, true},
		{"fraction", mcp.ProgressParams{ProgressToken: token, Progress: 0.5}, false},
		{"fraction of total", mcp.ProgressParams{ProgressToken: token, Progress: 1, Total: mcp.Ptr(1.5)}, false},
		{"huge", mcp.ProgressParams{ProgressToken: token, Progress: 1e300}, false},
		{"minus nothing", mcp.ProgressParams{ProgressToken: token, Progress: math.Copysign(0, -1)}, false},
		{"meta", mcp.ProgressParams{ProgressToken: token, Meta: mcp.Meta{}}, false},
		{"no token", mcp.ProgressParams{}, false},
		{"no UTF-8", mcp.ProgressParams{ProgressToken: token, Message: "\xff"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := sameByHand(t, &test.params, (*generalProgress)(&test.params)); got != test.byHand {
				t.Errorf("WriteJSON: got %v, want %v", got, test.byHand)
			}
		})
	}
}
