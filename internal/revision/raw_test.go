package revision_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

func TestEncodeRaw(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, to, method, raw, want string }{
		{"empty for modern", r5, "x/y", `{}`, `{"resultType":"complete"}`},
		{"spaced for modern", r5, "x/y", " \n{ \"a\" : 1 }", `{"resultType":"complete","a":1}`},
		{"spaced and empty", r5, "x/y", " { } ", `{"resultType":"complete"}`},
		{"nothing for modern", r5, "x/y", ``, `{"resultType":"complete"}`},
		{"null for modern", r5, "x/y", `null`, `{"resultType":"complete"}`},
		{"nothing for legacy", r3, "x/y", ``, `{}`},
		{
			"legacy list for modern", r5, mcp.MethodToolsList, `{"tools":[]}`,
			`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}`,
		},
		{
			"legacy read for modern, half said", r5, mcp.MethodResourcesRead, `{"ttlMs":7,"contents":[]}`,
			`{"resultType":"complete","cacheScope":"private","ttlMs":7,"contents":[]}`,
		},
		{
			"typed already", r5, mcp.MethodToolsCall, `{"content":[],"resultType":"input_required"}`,
			`{"content":[],"resultType":"input_required"}`,
		},
		{
			"audio for the oldest", r1, mcp.MethodToolsCall, `{"content":[{"type":"audio","data":"eA==","mimeType":"audio/wav"}]}`,
			`{"content":[{"type":"resource","resource":{"uri":"audio:inline","mimeType":"audio/wav","blob":"eA=="}}]}`,
		},
		{
			"link in a prompt", r2, mcp.MethodPromptsGet, `{"messages":[{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n"}}]}`,
			`{"messages":[{"role":"user","content":{"type":"text","text":"n: a:b"}}]}`,
		},
		{
			"modern stamps", r4, mcp.MethodToolsCall,
			`{"content":[],"resultType":"complete","structuredContent":[1],"_meta":{"io.modelcontextprotocol/serverInfo":{},"k":1}}`,
			`{"content":[],"_meta":{"k":1}}`,
		},
		{"structured only", r2, mcp.MethodToolsCall, `{"structuredContent":{"a":1}}`, `{"content":[]}`},
		{"read", r1, mcp.MethodResourcesRead, `{"contents":[{"uri":"a:b","text":"x","_meta":{}}],"ttlMs":1}`, `{"contents":[{"uri":"a:b","text":"x"}]}`},
		{
			"tools", r3, mcp.MethodToolsList, `{"tools":[{"name":"t","inputSchema":{"type":"object","$defs":{}},"icons":[]}]}`,
			`{"tools":[{"name":"t","inputSchema":{"type":"object","$defs":{}}}]}`,
		},
		{"prompts", r1, mcp.MethodPromptsList, `{"prompts":[{"name":"p","title":"P"}]}`, `{"prompts":[{"name":"p"}]}`},
		{"resources", r2, mcp.MethodResourcesList, `{"resources":[{"uri":"a:b","name":"n","title":"T"}]}`, `{"resources":[{"uri":"a:b","name":"T"}]}`},
		{
			"templates", r2, mcp.MethodResourcesTemplatesList, `{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n","title":"T"}]}`,
			`{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"T"}]}`,
		},
		{
			"completion keeps what is not known", r4, mcp.MethodCompletionComplete, `{"completion":{"values":[],"x":1},"resultType":"complete"}`,
			`{"completion":{"values":[],"x":1}}`,
		},
		{"unknown method", r1, "x/y", `{"a":1,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}}}`, `{"a":1}`},
		{"unknown method with metadata", r1, "x/y", `{"a":1,"_meta":{"io.modelcontextprotocol/serverInfo":{},"k":2}}`, `{"a":1,"_meta":{"k":2}}`},
		{"a call that became a task", r4, mcp.MethodToolsCall, `{"task":{"taskId":"1"},"_meta":{"k":1}}`, `{"task":{"taskId":"1"},"_meta":{"k":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			given := json.RawMessage(tt.raw)
			value, err := rev(t, tt.to).EncodeRaw(tt.method, given)
			if err != nil {
				t.Fatalf("EncodeRaw(%s, %s): %v", tt.method, tt.raw, err)
			}
			got, err := ijson.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(decoded(t, tt.want), decoded(t, string(got))); d != "" {
				t.Errorf("EncodeRaw(%s, %s) = %s\n%s", tt.method, tt.raw, got, d)
			}
			if string(given) != tt.raw {
				t.Errorf("the result was changed to %s", given)
			}
		})
	}
}

// A gateway passes on the very bytes of what its client understands.
func TestEncodeRawUntouched(t *testing.T) {
	t.Parallel()
	tests := []struct{ to, method, raw string }{
		{r4, mcp.MethodToolsCall, ` {"content" : [ {"type":"audio"} ], "x":1}`},
		{r4, mcp.MethodPromptsList, `{"prompts":[{"name":"t","icons":[]}]}`},
		{r1, "x/y", `{"a":1}`},
		{r1, mcp.MethodCompletionComplete, `{"completion":{"values":[]}}`},
		{r5, mcp.MethodToolsCall, ` {"resultType":"complete" , "content":[]}`},
	}
	for _, tt := range tests {
		given := json.RawMessage(tt.raw)
		value, err := rev(t, tt.to).EncodeRaw(tt.method, given)
		got, ok := value.(json.RawMessage)
		if err != nil || !ok || string(got) != tt.raw || &got[0] != &given[0] {
			t.Errorf("EncodeRaw(%s) for %s = %s, %v; want the same bytes", tt.raw, tt.to, value, err)
		}
	}
}

func TestEncodeRawRefuses(t *testing.T) {
	t.Parallel()
	for _, r := range revision.All() {
		for _, raw := range []string{`[]`, `"x"`, `7`, `true`, ` [1]`} {
			if value, err := r.EncodeRaw(mcp.MethodToolsCall, json.RawMessage(raw)); err == nil {
				t.Errorf("%s: EncodeRaw(%s) = %s, want an error", r, raw, value)
			}
		}
		if r.Modern() {
			continue
		}
		for _, raw := range []string{`{"content":5,"resultType":"complete"}`, `{"content":[5],"_meta":{}}`} {
			if value, err := r.EncodeRaw(mcp.MethodToolsCall, json.RawMessage(raw)); err == nil {
				t.Errorf("%s: EncodeRaw(%s) = %s, want an error", r, raw, value)
			}
		}
		// A result that is no answer must not become an empty success.
		for _, raw := range []string{`{"resultType":"input_required","inputRequests":{}}`, `{"resultType":"task","taskId":"1"}`} {
			_, err := r.EncodeRaw(mcp.MethodToolsCall, json.RawMessage(raw))
			if typed, ok := errors.AsType[*revision.ResultTypeError](err); !ok || typed.Revision != r.Name() || typed.Error() == "" {
				t.Errorf("%s: EncodeRaw(%s): error %v, want a ResultTypeError", r, raw, err)
			}
		}
	}
}
