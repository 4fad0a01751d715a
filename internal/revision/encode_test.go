package revision_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

const (
	r1 = "2024-11-05"
	r2 = "2025-03-26"
	r3 = "2025-06-18"
	r4 = "2025-11-25"
	r5 = "2026-07-28"
)

func rev(t *testing.T, name string) *revision.Revision {
	t.Helper()
	r, ok := revision.Parse(name)
	if !ok {
		t.Fatalf("Parse(%q) found nothing", name)
	}
	return r
}

// encodes checks what the peers of some revisions get of the value that make
// returns, and that the value itself stays as it was.
func encodes[T any](t *testing.T, value func() *T, want map[string]string) {
	t.Helper()
	for _, r := range revision.All() {
		v := value()
		got, err := ijson.Marshal(r.Encode(v))
		if err != nil {
			t.Fatalf("%s: %v", r, err)
		}
		expected, ok := want[r.Name()]
		if !ok {
			t.Fatalf("no expectation for %s", r)
		}
		if d := cmp.Diff(decoded(t, expected), decoded(t, string(got))); d != "" {
			t.Errorf("%s: -want +got\n%s", r, d)
		}
		before, _ := ijson.Marshal(value())
		after, _ := ijson.Marshal(v)
		if d := cmp.Diff(value(), v, cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b })); d != "" || string(before) != string(after) {
			t.Errorf("%s: Encode changed its argument: -before +after\n%s", r, d)
		}
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// same gives all revisions the same expectation, but for those named.
func same(text string, others map[string]string) map[string]string {
	want := map[string]string{r1: text, r2: text, r3: text, r4: text, r5: text}
	maps.Copy(want, others)
	return want
}

var icons = []mcp.Icon{{Src: "https://example.com/i.png"}}

func TestEncodeInitialize(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-IMPLEMENTATION", "LIFE-CAP-COMPLETIONS")
	full := `{"protocolVersion":"v","serverInfo":{"name":"n","version":"1","title":"T","description":"D",
		"icons":[{"src":"https://example.com/i.png"}],"websiteUrl":"https://example.com"},
		"capabilities":{"completions":{},"tasks":{},"logging":{},"extensions":{"e/x":{}}}}`
	encodes(t, func() *mcp.InitializeResult {
		return &mcp.InitializeResult{
			ProtocolVersion: "v",
			ServerInfo: mcp.Implementation{
				Name: "n", Version: "1", Title: "T", Description: "D", Icons: icons, WebsiteURL: "https://example.com",
			},
			Capabilities: mcp.ServerCapabilities{
				Completions: &mcp.CompletionsCapability{}, Logging: &mcp.LoggingCapability{}, Tasks: &mcp.TasksCapability{},
				Extensions: map[string]json.RawMessage{"e/x": json.RawMessage(`{}`)},
			},
		}
	}, map[string]string{
		r1: `{"protocolVersion":"v","serverInfo":{"name":"n","version":"1"},"capabilities":{"logging":{}}}`,
		r2: `{"protocolVersion":"v","serverInfo":{"name":"n","version":"1"},"capabilities":{"completions":{},"logging":{}}}`,
		r3: `{"protocolVersion":"v","serverInfo":{"name":"n","version":"1","title":"T"},
			"capabilities":{"completions":{},"logging":{},"extensions":{"e/x":{}}}}`,
		r4: full,
		r5: full, // never sent
	})
}

func TestEncodeDiscover(t *testing.T) {
	t.Parallel()
	encodes(t, func() *mcp.DiscoverResult {
		return &mcp.DiscoverResult{Capabilities: mcp.ServerCapabilities{Tasks: &mcp.TasksCapability{}}}
	}, same(`{"supportedVersions":[],"capabilities":{"tasks":{}}}`, map[string]string{
		r5: `{"supportedVersions":[],"capabilities":{}}`,
	}))
}

func TestEncodeTools(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-OUTPUTSCHEMA-ROOT-OBJECT", "TOOL-INPUTSCHEMA-PROPERTY-OBJECTS", "TOOL-INPUTSCHEMA-OBJECT",
		"META-PLACES-2024", "META-PLACES-2025-06")
	full := `{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"a":true,"b":false,"c":{"type":"string"}}},
		"outputSchema":{"type":"object","properties":{"x":true}},"annotations":{"readOnlyHint":true},
		"icons":[{"src":"https://example.com/i.png"}],"_meta":{"k":1}`
	encodes(t, func() *mcp.ListToolsResult {
		l := &mcp.ListToolsResult{Tools: []mcp.Tool{{
			Name: "t", Title: "T",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"a":true,"b":false,"c":{"type":"string"}}}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"x":true}}`),
			Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true},
			Icons:        icons,
			Execution:    &mcp.ToolExecution{TaskSupport: mcp.TaskSupportOptional},
			Meta:         mcp.Meta{"k": json.RawMessage("1")},
		}, {
			Name: "u", OutputSchema: json.RawMessage(`{"type":"array"}`), Title: "U",
			Annotations: &mcp.ToolAnnotations{Title: "Own"},
		}}}
		l.ResultType, l.TTLMs, l.CacheScope = mcp.ResultComplete, mcp.Ptr(int64(0)), mcp.CachePublic
		return l
	}, map[string]string{
		r1: `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"type":"string"}}}},
			{"name":"u","inputSchema":{"type":"object"}}]}`,
		r2: `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"type":"string"}}},
			"annotations":{"title":"T","readOnlyHint":true}},{"name":"u","inputSchema":{"type":"object"},"annotations":{"title":"Own"}}]}`,
		r3: `{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"type":"string"}}},
			"outputSchema":{"type":"object","properties":{"x":{}}},"annotations":{"readOnlyHint":true},"_meta":{"k":1}},
			{"name":"u","title":"U","inputSchema":{"type":"object"},"annotations":{"title":"Own"}}]}`,
		r4: `{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"type":"string"}}},
			"outputSchema":{"type":"object","properties":{"x":{}}},"annotations":{"readOnlyHint":true},
			"icons":[{"src":"https://example.com/i.png"}],"_meta":{"k":1},"execution":{"taskSupport":"optional"}},
			{"name":"u","title":"U","inputSchema":{"type":"object"},"annotations":{"title":"Own"}}]}`,
		r5: `{"tools":[` + full + `},{"name":"u","title":"U","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},
			"annotations":{"title":"Own"}}],"resultType":"complete","ttlMs":0,"cacheScope":"public"}`,
	})
}

func TestEncodePrompts(t *testing.T) {
	t.Parallel()
	encodes(t, func() *mcp.ListPromptsResult {
		return &mcp.ListPromptsResult{Prompts: []mcp.Prompt{{
			Name: "p", Title: "P", Icons: icons, Meta: mcp.Meta{"k": json.RawMessage("1")},
			Arguments: []mcp.PromptArgument{{Name: "a", Title: "A", Required: true}},
		}, {Name: "q"}}, NextCursor: mcp.Ptr("c")}
	}, map[string]string{
		r1: `{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]},{"name":"q"}],"nextCursor":"c"}`,
		r2: `{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]},{"name":"q"}],"nextCursor":"c"}`,
		r3: `{"prompts":[{"name":"p","title":"P","_meta":{"k":1},"arguments":[{"name":"a","title":"A","required":true}]},{"name":"q"}],"nextCursor":"c"}`,
		r4: `{"prompts":[{"name":"p","title":"P","_meta":{"k":1},"icons":[{"src":"https://example.com/i.png"}],"arguments":[{"name":"a","title":"A","required":true}]},{"name":"q"}],"nextCursor":"c"}`,
		r5: `{"prompts":[{"name":"p","title":"P","_meta":{"k":1},"icons":[{"src":"https://example.com/i.png"}],"arguments":[{"name":"a","title":"A","required":true}]},{"name":"q"}],"nextCursor":"c"}`,
	})
}

func TestEncodeResources(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "META-PLACES-2024", "META-PLACES-2025-06", "SCH-ANNOTATIONS-LASTMODIFIED")
	dated := func() *mcp.Annotations { return &mcp.Annotations{Priority: mcp.Ptr(0.0), LastModified: "2026-01-01"} }
	old := `{"resources":[{"uri":"a:b","name":"Title","annotations":{"priority":0}},{"uri":"a:c","name":"c"}]}`
	new3 := `{"resources":[{"uri":"a:b","name":"n","title":"Title","_meta":{"k":1},"annotations":{"priority":0,"lastModified":"2026-01-01"}},{"uri":"a:c","name":"c"}]}`
	new4 := `{"resources":[{"uri":"a:b","name":"n","title":"Title","_meta":{"k":1},"icons":[{"src":"https://example.com/i.png"}],"annotations":{"priority":0,"lastModified":"2026-01-01"}},{"uri":"a:c","name":"c"}]}`
	encodes(t, func() *mcp.ListResourcesResult {
		return &mcp.ListResourcesResult{Resources: []mcp.Resource{{
			URI: "a:b", Name: "n", Title: "Title", Icons: icons, Annotations: dated(), Meta: mcp.Meta{"k": json.RawMessage("1")},
		}, {URI: "a:c", Name: "c"}}}
	}, map[string]string{r1: old, r2: old, r3: new3, r4: new4, r5: new4})
	encodes(t, func() *mcp.ListResourceTemplatesResult {
		return &mcp.ListResourceTemplatesResult{ResourceTemplates: []mcp.ResourceTemplate{{
			URITemplate: "a:{x}", Name: "n", Title: "Title", Icons: icons, Annotations: dated(),
		}}}
	}, map[string]string{
		r1: `{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"Title","annotations":{"priority":0}}]}`,
		r2: `{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"Title","annotations":{"priority":0}}]}`,
		r3: `{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"n","title":"Title","annotations":{"priority":0,"lastModified":"2026-01-01"}}]}`,
		r4: `{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"n","title":"Title","icons":[{"src":"https://example.com/i.png"}],"annotations":{"priority":0,"lastModified":"2026-01-01"}}]}`,
		r5: `{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"n","title":"Title","icons":[{"src":"https://example.com/i.png"}],"annotations":{"priority":0,"lastModified":"2026-01-01"}}]}`,
	})
	encodes(t, func() *mcp.ReadResourceResult {
		r := &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{URI: "a:b", Text: "x", Meta: mcp.Meta{"k": json.RawMessage("1")}}}}
		r.TTLMs, r.CacheScope = mcp.Ptr(int64(5)), mcp.CachePrivate
		r.Meta = mcp.Meta{mcp.MetaServerInfo: json.RawMessage(`{}`), "own": json.RawMessage("2")}
		return r
	}, map[string]string{
		r1: `{"_meta":{"own":2},"contents":[{"uri":"a:b","text":"x"}]}`,
		r2: `{"_meta":{"own":2},"contents":[{"uri":"a:b","text":"x"}]}`,
		r3: `{"_meta":{"own":2},"contents":[{"uri":"a:b","text":"x","_meta":{"k":1}}]}`,
		r4: `{"_meta":{"own":2},"contents":[{"uri":"a:b","text":"x","_meta":{"k":1}}]}`,
		r5: `{"_meta":{"own":2,"io.modelcontextprotocol/serverInfo":{}},"contents":[{"uri":"a:b","text":"x","_meta":{"k":1}}],"ttlMs":5,"cacheScope":"private"}`,
	})
}

func TestEncodeContent(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-RESULT-BLOCKS-2024", "TOOL-RESULT-BLOCKS-2025-03", "TOOL-RESULT-BLOCKS-2025-06", "PROMPT-BLOCKS-2024",
		"PROMPT-BLOCKS-2025-03", "PROMPT-BLOCKS-2025-06", "PROMPT-MSG-SINGLE-BLOCK", "META-PLACES-2024",
		"META-PLACES-2025-06")
	meta := func() mcp.Meta { return mcp.Meta{"k": json.RawMessage("1")} }
	dated := func() *mcp.Annotations {
		return &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, LastModified: "2026-01-01"}
	}
	tests := []struct {
		name  string
		block func() mcp.Content
		want  map[string]string
	}{
		{
			"text", func() mcp.Content { c := mcp.Text("x"); c.Meta, c.Annotations = meta(), dated(); return c },
			same(`{"type":"text","text":"x","annotations":{"audience":["user"],"lastModified":"2026-01-01"},"_meta":{"k":1}}`,
				map[string]string{
					r1: `{"type":"text","text":"x","annotations":{"audience":["user"]}}`,
					r2: `{"type":"text","text":"x","annotations":{"audience":["user"]}}`,
				}),
		},
		{
			"image", func() mcp.Content { return mcp.Image(nil, "image/png") },
			same(`{"type":"image","data":"","mimeType":"image/png"}`, nil),
		},
		{
			"audio", func() mcp.Content { return mcp.Audio([]byte("x"), "audio/wav") },
			same(`{"type":"audio","data":"eA==","mimeType":"audio/wav"}`, map[string]string{
				r1: `{"type":"resource","resource":{"uri":"audio:inline","mimeType":"audio/wav","blob":"eA=="}}`,
			}),
		},
		{
			"audio without a type", func() mcp.Content { return mcp.Audio(nil, "") },
			same(`{"type":"audio","data":"","mimeType":""}`, map[string]string{
				r1: `{"type":"resource","resource":{"uri":"audio:inline","mimeType":"application/octet-stream","blob":""}}`,
			}),
		},
		{"link", func() mcp.Content {
			c := mcp.Link(mcp.Resource{URI: "a:b", Name: "n", Title: "T", Description: "D", Icons: icons})
			c.Annotations = dated()
			return c
		}, map[string]string{
			r1: `{"type":"text","text":"T: a:b\nD","annotations":{"audience":["user"]}}`,
			r2: `{"type":"text","text":"T: a:b\nD","annotations":{"audience":["user"]}}`,
			r3: `{"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D","annotations":{"audience":["user"],"lastModified":"2026-01-01"}}`,
			r4: `{"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D","icons":[{"src":"https://example.com/i.png"}],"annotations":{"audience":["user"],"lastModified":"2026-01-01"}}`,
			r5: `{"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D","icons":[{"src":"https://example.com/i.png"}],"annotations":{"audience":["user"],"lastModified":"2026-01-01"}}`,
		}},
		{
			"plain link", func() mcp.Content { return mcp.Link(mcp.Resource{URI: "a:b", Annotations: dated()}) },
			same(`{"type":"resource_link","uri":"a:b","name":"","annotations":{"audience":["user"],"lastModified":"2026-01-01"}}`, map[string]string{
				r1: `{"type":"text","text":"a:b","annotations":{"audience":["user"]}}`,
				r2: `{"type":"text","text":"a:b","annotations":{"audience":["user"]}}`,
			}),
		},
		{
			"embedded", func() mcp.Content { return mcp.Embed(mcp.ResourceContents{URI: "a:b", Text: "", Meta: meta()}) },
			same(`{"type":"resource","resource":{"uri":"a:b","text":"","_meta":{"k":1}}}`, map[string]string{
				r1: `{"type":"resource","resource":{"uri":"a:b","text":""}}`,
				r2: `{"type":"resource","resource":{"uri":"a:b","text":""}}`,
			}),
		},
		{
			"unknown", func() mcp.Content { return mcp.Content{Raw: json.RawMessage(`{"type":"hologram","x":1}`)} },
			same(`{"type":"hologram","x":1}`, nil),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inTool, inPrompt := map[string]string{}, map[string]string{}
			for name, block := range tt.want {
				inTool[name] = `{"content":[` + block + `]}`
				inPrompt[name] = `{"messages":[{"role":"user","content":` + block + `}]}`
			}
			encodes(t, func() *mcp.CallToolResult { return &mcp.CallToolResult{Content: []mcp.Content{tt.block()}} }, inTool)
			encodes(t, func() *mcp.GetPromptResult {
				return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: tt.block()}}}
			}, inPrompt)
		})
	}
}

func TestEncodeStructuredContent(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-STRUCTURED-OBJECT-ONLY")
	none, some := `{"content":[]}`, func(v string) string { return `{"content":[],"structuredContent":` + v + `}` }
	tests := map[string]map[string]string{
		``:          same(none, nil),
		` {"a":1}`:  {r1: none, r2: none, r3: some(`{"a":1}`), r4: some(`{"a":1}`), r5: some(`{"a":1}`)},
		`[1]`:       {r1: none, r2: none, r3: none, r4: none, r5: some(`[1]`)},
		`null`:      {r1: none, r2: none, r3: none, r4: none, r5: some(`null`)},
		"\n \t 7.5": {r1: none, r2: none, r3: none, r4: none, r5: some(`7.5`)},
	}
	for raw, want := range tests {
		encodes(t, func() *mcp.CallToolResult {
			r := &mcp.CallToolResult{}
			if raw != "" {
				r.StructuredContent = json.RawMessage(raw)
			}
			return r
		}, want)
	}
}

// Nil slices are empty arrays for everybody.
func TestEncodeNilSlices(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-RESULT-CONTENT-REQUIRED", "PROMPT-GET-RESULT")
	encodes(t, func() *mcp.ListToolsResult { return &mcp.ListToolsResult{} }, same(`{"tools":[]}`, nil))
	encodes(t, func() *mcp.ListPromptsResult { return &mcp.ListPromptsResult{} }, same(`{"prompts":[]}`, nil))
	encodes(t, func() *mcp.ListResourcesResult { return &mcp.ListResourcesResult{} }, same(`{"resources":[]}`, nil))
	encodes(t, func() *mcp.ListResourceTemplatesResult { return &mcp.ListResourceTemplatesResult{} }, same(`{"resourceTemplates":[]}`, nil))
	encodes(t, func() *mcp.ReadResourceResult { return &mcp.ReadResourceResult{} }, same(`{"contents":[]}`, nil))
	encodes(t, func() *mcp.CallToolResult { return &mcp.CallToolResult{} }, same(`{"content":[]}`, nil))
	encodes(t, func() *mcp.GetPromptResult { return &mcp.GetPromptResult{} }, same(`{"messages":[]}`, nil))
	encodes(t, func() *mcp.CompleteResult { return &mcp.CompleteResult{} }, same(`{"completion":{"values":[]}}`, nil))
}

func TestEncodeSmallResults(t *testing.T) {
	t.Parallel()
	encodes(t, func() *mcp.EmptyResult {
		e := &mcp.EmptyResult{}
		e.ResultType, e.Meta = mcp.ResultComplete, mcp.Meta{mcp.MetaServerInfo: json.RawMessage(`{"name":"x"}`)}
		return e
	}, same(`{}`, map[string]string{r5: `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}`}))
	encodes(t, func() *mcp.CompleteResult {
		c := &mcp.CompleteResult{}
		c.ResultType = mcp.ResultComplete
		return c
	}, same(`{"completion":{"values":[]}}`, map[string]string{r5: `{"completion":{"values":[]},"resultType":"complete"}`}))
	progress := `{"progressToken":0,"progress":0,"message":"m"}`
	encodes(t, func() *mcp.ProgressParams {
		return &mcp.ProgressParams{ProgressToken: jsonrpc.IntID(0), Message: "m"}
	}, same(progress, map[string]string{r1: `{"progressToken":0,"progress":0}`}))
	other := &mcp.CancelledParams{}
	if got := rev(t, r1).Encode(other); got != any(other) {
		t.Errorf("a value that is the same everywhere was replaced by %v", got)
	}
}
