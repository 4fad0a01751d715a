package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// readByHand reads a result of a response by hand, if it can be, and reports
// whether it was; the general way must then read the same.
func readByHand(t *testing.T, raw []byte) bool {
	t.Helper()
	m, err := jsonrpc.Decode(append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":`), raw...), '}'))
	if err != nil {
		return false // nothing else is given to it
	}
	var got, want mcp.CallToolResult
	if !got.ReadJSON(m.Result) {
		return false
	}
	if err := ijson.Unmarshal(m.Result, &want); err != nil {
		t.Fatalf("%s is read by hand, but the general way says: %v", raw, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s by hand is not as in general (-general +by hand):\n%s", raw, diff)
	}
	return true
}

var resultsToRead = []struct {
	raw    string
	byHand bool
}{
	{`{}`, true},
	{`{"content":[]}`, true},
	{` { "content" : [ { "type" : "text" , "text" : "plain" } ] } `, true},
	{`{"content":[{"text":"a \"quote\"\n\u00e9","type":"text"},{"type":"text","text":"ü"},{"type":"text"}],"isError":true}`, true},
	{`{"content":[],"structuredContent":{"a": 1e2}}`, true},
	{`{"structuredContent":null,"isError":false}`, true},
	{`{"content":[],"resultType":"complete","_meta":{"a":{"b":1},"c":null},"other":[1]}`, true},
	{`{"content":[],"_meta":{}}`, true},
	{`{"content":null}`, false},
	{`{"content":[{"type":"text","text":"a","_meta":{}}]}`, false},
	{`{"content":[{"type":"text","text":null}]}`, false},
	{`{"content":[{"type":"te\u0078t","text":"a"}]}`, false},
	{`{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`, false},
	{`{"content":["text"]}`, false},
	{`{"content":{}}`, false},
	{`{"isError":null}`, false},
	{`{"isError":1}`, false},
	{`{"resultType":1}`, false},
	{`{"_meta":null}`, false},
	{`[]`, false},
	{`null`, false},
}

func TestReadResultByHand(t *testing.T) {
	t.Parallel()
	for _, test := range resultsToRead {
		if got := readByHand(t, []byte(test.raw)); got != test.byHand {
			t.Errorf("ReadJSON(%s): got %v, want %v", test.raw, got, test.byHand)
		}
	}
}

func FuzzReadResultByHand(f *testing.F) {
	for _, test := range resultsToRead {
		f.Add([]byte(test.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readByHand(t, raw) })
}

// generalParams are parameters without the method that writes by hand.
type generalParams mcp.CallToolParams

func TestWriteParamsByHand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		params mcp.CallToolParams
		byHand bool
	}{
		{"bare", mcp.CallToolParams{Name: "echo"}, true},
		{"all", mcp.CallToolParams{Name: "é \"x\"", Arguments: json.RawMessage(` {"a": 1.0} `)}, true},
		{"bad name", mcp.CallToolParams{Name: "\xff"}, false},
		{"bad arguments", mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(`{"a":}`)}, false},
		{"metadata", mcp.CallToolParams{Name: "echo", Meta: mcp.Meta{}}, false},
		{"state", mcp.CallToolParams{Name: "echo", RequestState: mcp.Ptr("")}, false},
		{"task", mcp.CallToolParams{Name: "echo", Task: &mcp.TaskMetadata{}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := sameByHand(t, &test.params, (*generalParams)(&test.params)); got != test.byHand {
				t.Errorf("WriteJSON: got %v, want %v", got, test.byHand)
			}
		})
	}
}
