package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// saying are options of a client whose user and model always give the same
// answer, to whatever they are asked.
func saying(answer string) *client.Options {
	return &client.Options{
		Capabilities: mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Support{}, URL: &mcp.Support{}},
			Sampling:    &mcp.SamplingCapability{Tools: &mcp.Support{}},
		},
		OnElicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(answer)}, nil
		},
		OnSample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			result := new(mcp.CreateMessageResult)
			return result, json.Unmarshal([]byte(answer), result)
		},
	}
}

// TestAnswersOfUsers wants no content but what forms of the revision are made of,
// whatever the form and the handler are like.
func TestAnswersOfUsers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-RESULT-VALUES-2025-06", "ELICIT-RESULT-VALUES-2025-11", "ELICIT-SCHEMA-LEGACY-ENUMNAMES", "ELICIT-SEC-CLIENT-VALIDATE")
	const (
		names  = `{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}`
		choice = `{"type":"array","items":{"type":"string","enum":["a","b"]}}`
		refuse = "internal error (-32603)"
	)
	tests := []struct{ field, value, old, session string }{
		{names, `"r"`, `"r"`, `"r"`},
		{names, `"Red"`, refuse, refuse},
		{`{"type":"string"}`, `"x"`, `"x"`, `"x"`},
		{`{"type":"number"}`, `1.5`, `1.5`, `1.5`},
		{`{"type":"boolean"}`, `false`, `false`, `false`},
		{choice, `["a","b"]`, refuse, `["a","b"]`},
		{choice, `[]`, refuse, `[]`},
		{`{"type":"object"}`, `{"a":1}`, refuse, refuse},
		{`{"type":"null"}`, `[1]`, refuse, refuse},
		{`{"type":"null"}`, `["x",null]`, refuse, refuse},
		{`{"type":"future"}`, `7`, `7`, `7`},
	}
	for _, tt := range tests {
		params := `{"message":"m","requestedSchema":{"type":"object","properties":{"f":` + tt.field + `}}}`
		content := `{"f":` + tt.value + `}`
		accepted := func(value string) string {
			if value == refuse {
				return refuse
			}
			return `{"action":"accept","content":{"f":` + value + `}}`
		}
		for revision, want := range map[string]string{r3: accepted(tt.old), r4: accepted(tt.session)} {
			bubble(t, revision+"/"+tt.field+tt.value, func(t *testing.T) {
				if got := askLegacy(t, saying(content), revision, mcp.MethodElicitationCreate, params); got != want {
					t.Errorf("answered %s, want %s", got, want)
				}
			})
		}
		bubble(t, r5+"/"+tt.field+tt.value, func(t *testing.T) {
			got := askModern(t, saying(content), `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":`+params+`}}}`)
			if want := accepted(tt.session); want == refuse && strings.HasPrefix(got, "{") || want != refuse && got != `{"k":`+want+`}` {
				t.Errorf("answered %s, want %s", got, want)
			}
		})
	}
}

// TestAnswersOfModels wants what a model says in the form of the revision, and
// nothing that the revision or the client does not have.
func TestAnswersOfModels(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SAMP-BLOCKS-2024", "SAMP-BLOCKS-2025-03", "SAMP-CONTENT-OBJECT-OR-ARRAY", "SAMP-MSG-ROLE", "SAMP-NO-ARRAY-PRE-2025-11",
		"SAMP-TOOLRESULT-SHAPE", "SAMP-TOOLS-CAP", "SAMP-TOOLS-REJECT", "SAMP-SEC-VALIDATE", "SAMP-RESULT-FIELDS")
	const (
		text   = `{"type":"text","text":"a"}`
		image  = `{"type":"image","data":"AA==","mimeType":"image/png"}`
		sound  = `{"type":"audio","data":"AA==","mimeType":"audio/wav"}`
		use    = `{"type":"tool_use","id":"1","name":"n","input":{}}`
		many   = `[` + text + `,` + image + `]`
		refuse = "internal error (-32603)"
	)
	said := func(content string) string {
		if content == refuse {
			return refuse
		}
		return `{"role":"assistant","content":` + content + `,"model":"m"}`
	}
	tests := []struct{ name, content, oldest, old, session string }{
		{"text", text, text, text, text},
		{"image", image, image, image, image},
		{"sound", sound, `{"type":"text","text":"(audio/wav)"}`, sound, sound},
		{"several", many, text, text, many},
		{"several images", `[` + image + `,` + image + `]`, image, image, `[` + image + `,` + image + `]`},
		{"calls", `[` + use + `,` + strings.Replace(use, "1", "2", 1) + `]`, refuse, refuse, `[` + use + `,` + strings.Replace(use, "1", "2", 1) + `]`},
		{"call with its shape", `{"type":"tool_use","id":"1","name":"n"}`, refuse, refuse, use},
		{"link", `{"type":"resource_link","uri":"a:b","name":"n"}`, refuse, refuse, refuse},
		{"resource", `{"type":"resource","resource":{"uri":"a:b","text":""}}`, refuse, refuse, refuse},
		{"unknown", `{"type":"hologram"}`, refuse, refuse, refuse},
		{"nothing", `[]`, refuse, refuse, refuse},
	}
	const params = `{"maxTokens":1,"messages":[]}`
	for _, tt := range tests {
		for revision, content := range map[string]string{r1: tt.oldest, r2: tt.old, r3: tt.old, r4: tt.session} {
			bubble(t, revision+"/"+tt.name, func(t *testing.T) {
				if got := askLegacy(t, saying(said(tt.content)), revision, mcp.MethodSamplingCreateMessage, params); got != said(content) {
					t.Errorf("answered %s, want %s", got, said(content))
				}
			})
		}
		bubble(t, r5+"/"+tt.name, func(t *testing.T) {
			got := askModern(t, saying(said(tt.content)), `{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":`+params+`}}}`)
			if want := said(tt.session); want == refuse && strings.HasPrefix(got, "{") || want != refuse && got != `{"k":`+want+`}` {
				t.Errorf("answered %s, want %s", got, want)
			}
		})
	}
	bubble(t, "roles", func(t *testing.T) {
		for role, want := range map[string]string{"": said(text), "user": strings.Replace(said(text), "assistant", "user", 1), "system": refuse} {
			opts := saying(strings.Replace(said(text), "assistant", role, 1))
			if got := askLegacy(t, opts, r4, mcp.MethodSamplingCreateMessage, params); got != want {
				t.Errorf("role %q: answered %s, want %s", role, got, want)
			}
		}
	})
	bubble(t, "tools are used only where they are declared", func(t *testing.T) {
		for _, offer := range []string{`,"tools":[{"name":"n","inputSchema":{"type":"object"}}]`, `,"toolChoice":{"mode":"none"}`, ``} {
			asked := strings.TrimSuffix(params, "}") + offer + "}"
			if got := askLegacy(t, saying(said(use)), r4, mcp.MethodSamplingCreateMessage, asked); got != said(use) {
				t.Errorf("declared: answered %s", got)
			}
			opts := saying(said(use))
			opts.Capabilities.Sampling.Tools = nil
			if got := askLegacy(t, opts, r4, mcp.MethodSamplingCreateMessage, asked); strings.HasPrefix(got, "{") {
				t.Errorf("not declared: answered %s", got)
			}
			opts.OnSample = saying(said(text)).OnSample
			if got := askLegacy(t, opts, r4, mcp.MethodSamplingCreateMessage, asked); strings.HasPrefix(got, "{") != (offer == "") {
				t.Errorf("not declared, offered %s: answered %s", offer, got)
			}
		}
	})
}

// TestFailedAnswers fails to answer: the call ends, and is not made again.
func TestFailedAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SAMP-FAIL-NO-REPLAY", "ROOT-FAIL-NO-REPLAY")
	for _, method := range []string{mcp.MethodSamplingCreateMessage, mcp.MethodRootsList} {
		bubble(t, method, func(t *testing.T) {
			opts := saying(`not JSON`)
			opts.OnRoots = func(context.Context) ([]mcp.Root, error) { return nil, context.DeadlineExceeded }
			got := askModern(t, opts, `{"resultType":"input_required","inputRequests":{"k":{"method":"`+method+`","params":{"maxTokens":1,"messages":[]}}}}`)
			if !strings.HasPrefix(got, "tools/call: answer ") {
				t.Errorf("answered %s, want an error and no other call", got)
			}
		})
	}
}
