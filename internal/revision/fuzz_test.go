package revision_test

import (
	"testing"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// results makes a value of each type that Encode changes, to decode into.
var results = []func() any{
	func() any { return new(mcp.InitializeResult) },
	func() any { return new(mcp.ListToolsResult) },
	func() any { return new(mcp.ListPromptsResult) },
	func() any { return new(mcp.ListResourcesResult) },
	func() any { return new(mcp.ListResourceTemplatesResult) },
	func() any { return new(mcp.ReadResourceResult) },
	func() any { return new(mcp.GetPromptResult) },
	func() any { return new(mcp.CallToolResult) },
	func() any { return new(mcp.CompleteResult) },
	func() any { return new(mcp.DiscoverResult) },
	func() any { return new(mcp.CreateMessageResult) },
	func() any { return new(mcp.CreateMessageParams) },
	func() any { return new(mcp.ElicitParams) },
	func() any { return new(mcp.ListRootsResult) },
	func() any { return new(mcp.ProgressParams) },
}

// FuzzEncode decodes what it can and encodes it for every revision: nothing
// panics, the value that was encoded stays as it was, and encoding what a peer
// of a revision got for that revision again changes nothing more.
func FuzzEncode(f *testing.F) {
	for i, seed := range []string{
		`{"protocolVersion":"v","serverInfo":{"name":"n","version":"1","icons":[{"src":"s"}]},"capabilities":{"tasks":{},"x":1}}`,
		`{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"a":true}},"outputSchema":{"type":"array"},"_meta":{"k":1}}],"ttlMs":1}`,
		`{"prompts":[{"name":"p","arguments":[{"name":"a","title":"A"}]}]}`,
		`{"resources":[{"uri":"a:b","name":"n","title":"T","size":1,"annotations":{"lastModified":"x"}}]}`,
		`{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n","icons":[]}]}`,
		`{"contents":[{"uri":"a:b","text":"","_meta":{}},{"uri":"a:c","blob":"AA=="}]}`,
		`{"messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":"a/b"}}]}`,
		`{"content":[{"type":"resource_link","uri":"a:b","name":"n"},{"type":"x","y":null}],"structuredContent":[1],"resultType":"complete"}`,
		`{"completion":{"values":["a"],"total":1}}`,
		`{"supportedVersions":[],"capabilities":{"tasks":{}}}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}},{"type":"text","text":"t"}],"model":"m"}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}],"maxTokens":1,"tools":[{"name":"t"}]}`,
		`{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}}`,
		`{"roots":[{"uri":"file:///a","_meta":{}}]}`,
		`{"progressToken":0,"progress":0.5,"message":"m"}`,
	} {
		f.Add(i, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		fresh := results[uint(kind)%uint(len(results))]
		value := fresh()
		if ijson.Unmarshal(data, value) != nil {
			return
		}
		before, err := ijson.Marshal(value)
		if err != nil {
			return
		}
		for _, r := range revision.All() {
			got, err := ijson.Marshal(r.Encode(value))
			if err != nil {
				t.Fatalf("%s: encode %T %s: %v", r, value, before, err)
			}
			if after, err := ijson.Marshal(value); err != nil || string(after) != string(before) {
				t.Fatalf("%s: %T changed from %s to %s, %v", r, value, before, after, err)
			}
			again := fresh()
			if err := ijson.Unmarshal(got, again); err != nil {
				t.Fatalf("%s: %T %s cannot be read: %v", r, value, got, err)
			}
			if second, err := ijson.Marshal(r.Encode(again)); err != nil || string(second) != string(got) {
				t.Fatalf("%s: %T became %s, %v when encoded again, not %s", r, value, second, err, got)
			}
		}
	})
}
