package mcp_test

import (
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/mcp"
)

func TestSamplingValidate(t *testing.T) {
	t.Parallel()
	const (
		text   = `{"role":"user","content":{"type":"text","text":"x"}}`
		calls  = `{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"a","input":{}},{"type":"tool_use","id":"2","name":"a","input":{}}]}`
		first  = `{"type":"tool_result","toolUseId":"1","content":[]}`
		second = `{"type":"tool_result","toolUseId":"2","content":[{"type":"text","text":"y"}]}`
	)
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	tests := []struct{ name, members, want string }{
		{"a message", `"maxTokens":1,"messages":[` + text + `]`, ""},
		{"no messages", `"maxTokens":1,"messages":[]`, ""},
		{"no tokens", `"messages":[]`, "maxTokens"},
		{"priorities", `"maxTokens":1,"messages":[],"modelPreferences":{"costPriority":0,"speedPriority":1}`, ""},
		{"priority", `"maxTokens":1,"messages":[],"modelPreferences":{"costPriority":1.1}`, "from 0 to 1"},
		{"choice", `"maxTokens":1,"messages":[],"toolChoice":{"mode":"required"}`, ""},
		{"other choice", `"maxTokens":1,"messages":[],"toolChoice":{"mode":"any"}`, "toolChoice"},
		{"role", `"maxTokens":1,"messages":[{"role":"system","content":{"type":"text","text":"x"}}]`, "role"},
		{"link", `"maxTokens":1,"messages":[` + user(`{"type":"resource_link","uri":"a:b","name":"n"}`) + `]`, "resource_link"},
		{"balanced", `"maxTokens":1,"messages":[` + text + `,` + calls + `,` + user(second, first) + `]`, ""},
		{"unanswered", `"maxTokens":1,"messages":[` + calls + `]`, "must follow"},
		{"half", `"maxTokens":1,"messages":[` + calls + `,` + user(first) + `]`, `call "2"`},
		{"late", `"maxTokens":1,"messages":[` + calls + `,` + text + `,` + user(first, second) + `]`, "must have the result"},
		{"mixed", `"maxTokens":1,"messages":[` + calls + `,` + user(first, second, `{"type":"text","text":"x"}`) + `]`, "nothing else"},
		{"unasked", `"maxTokens":1,"messages":[` + user(first) + `]`, "does not follow"},
		{"call of the user", `"maxTokens":1,"messages":[` + user(`{"type":"tool_use","id":"1","name":"a","input":{}}`) + `]`, "tool_use"},
	}
	for _, tt := range tests {
		var p mcp.CreateMessageParams
		if err := json.Unmarshal([]byte(`{`+tt.members+`}`), &p); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if err := p.Validate(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
