package revision_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// schemas is where the official schemas lie, outside of this repository.
const schemas = "../../../shared/spec/schema"

// definition compiles one definition of a revision's official schema; nil when
// the revision has none of that name.
func definition(t *testing.T, revisionName, name string) *schema.Schema {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(schemas, revisionName+".json"))
	if err != nil {
		t.Skipf("the official schema is not there: %v", err)
	}
	var root map[string]json.RawMessage
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	where := "$defs"
	if _, ok := root[where]; !ok {
		where = "definitions"
	}
	if _, ok := ijson.Member(root[where], name); !ok {
		return nil
	}
	root["$ref"], err = json.Marshal("#/" + where + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(root); err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		t.Skipf("the definition of %s in %s cannot be compiled: %v", name, revisionName, err)
	}
	return compiled
}

// modernResult is what the server adds to results for stateless callers.
func modernResult() mcp.Result {
	return mcp.Result{ResultType: mcp.ResultComplete, Meta: mcp.Meta{mcp.MetaServerInfo: json.RawMessage(`{"name":"n","version":"1"}`)}}
}

func modernCache() mcp.Cache {
	return mcp.Cache{TTLMs: mcp.Ptr(int64(0)), CacheScope: mcp.CachePublic}
}

// Values with everything newer revisions have fit the official schema of every
// revision once encoded for it. Fractions and null are left out of the values:
// the schemas are wrong about them.
func TestEncodedValuesFitTheOfficialSchemas(t *testing.T) {
	t.Parallel()
	meta := mcp.Meta{"example.com/k": json.RawMessage("1")}
	annotations := &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: mcp.Ptr(1.0), LastModified: "2026-01-01T00:00:00Z"}
	blocks := []mcp.Content{
		mcp.Text("x"), mcp.Image([]byte("x"), "image/png"), mcp.Audio([]byte("x"), "audio/wav"),
		mcp.Embed(mcp.ResourceContents{URI: "a:b", Text: "x", Meta: meta}),
		mcp.Link(mcp.Resource{URI: "a:b", Name: "n", Title: "T", Icons: icons, Annotations: annotations, Meta: meta}),
	}
	var messages []mcp.PromptMessage
	for _, b := range blocks {
		messages = append(messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: b})
	}
	tools := []mcp.Tool{{
		Name: "t", Title: "T", Description: "D", Icons: icons, Meta: meta,
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"a":true,"b":false},"anyOf":[{}]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"a":true}}`),
		Execution:    &mcp.ToolExecution{TaskSupport: mcp.TaskSupportOptional},
		Annotations:  &mcp.ToolAnnotations{DestructiveHint: mcp.Ptr(false)},
	}, {Name: "u", OutputSchema: json.RawMessage(`{"type":"array"}`)}, {Name: "v", OutputSchema: json.RawMessage(`{"anyOf":[{}]}`)}}
	capabilities := mcp.ServerCapabilities{
		Tools: &mcp.ToolsCapability{ListChanged: true}, Tasks: &mcp.TasksCapability{}, Completions: &mcp.CompletionsCapability{},
		Logging: &mcp.LoggingCapability{}, Extensions: map[string]json.RawMessage{"example.com/x": json.RawMessage(`{}`)},
	}
	values := map[string]any{
		"InitializeResult": &mcp.InitializeResult{
			ProtocolVersion: "x", Capabilities: capabilities,
			ServerInfo: mcp.Implementation{Name: "n", Version: "1", Title: "T", Icons: icons, WebsiteURL: "https://example.com"},
		},
		"DiscoverResult":  &mcp.DiscoverResult{Result: modernResult(), Cache: modernCache(), SupportedVersions: []string{"x"}, Capabilities: capabilities},
		"ListToolsResult": &mcp.ListToolsResult{Result: modernResult(), Cache: modernCache(), Tools: tools},
		"ListPromptsResult": &mcp.ListPromptsResult{Result: modernResult(), Cache: modernCache(), Prompts: []mcp.Prompt{
			{Name: "p", Title: "P", Icons: icons, Meta: meta, Arguments: []mcp.PromptArgument{{Name: "a", Title: "A"}}},
		}},
		"ListResourcesResult": &mcp.ListResourcesResult{Result: modernResult(), Cache: modernCache(), Resources: []mcp.Resource{
			{URI: "a:b", Name: "n", Title: "T", Size: mcp.Ptr(int64(1)), Icons: icons, Annotations: annotations, Meta: meta},
		}},
		"ListResourceTemplatesResult": &mcp.ListResourceTemplatesResult{Result: modernResult(), Cache: modernCache(), ResourceTemplates: []mcp.ResourceTemplate{
			{URITemplate: "a:{b}", Name: "n", Title: "T", Icons: icons, Annotations: annotations, Meta: meta},
		}},
		"ReadResourceResult": &mcp.ReadResourceResult{Result: modernResult(), Cache: modernCache(), Contents: []mcp.ResourceContents{
			{URI: "a:b", Text: ""}, {URI: "a:b", Blob: []byte{}, Meta: meta},
		}},
		"CallToolResult":  &mcp.CallToolResult{Result: modernResult(), Content: blocks, StructuredContent: json.RawMessage(`[1]`)},
		"GetPromptResult": &mcp.GetPromptResult{Result: modernResult(), Messages: messages},
		"CompleteResult":  &mcp.CompleteResult{Result: modernResult(), Completion: mcp.Completion{Total: mcp.Ptr(int64(1))}},
		"EmptyResult":     &mcp.EmptyResult{Result: modernResult()},
	}
	for name, value := range values {
		for _, r := range revision.All() {
			t.Run(name+"/"+r.Name(), func(t *testing.T) {
				t.Parallel()
				official := definition(t, r.Name(), name)
				if official == nil {
					t.Skipf("revision %s has no %s", r, name)
				}
				checkFits(t, official, r.Encode(value))
			})
		}
	}
	for _, r := range revision.All() {
		t.Run("ProgressNotification/"+r.Name(), func(t *testing.T) {
			t.Parallel()
			params := r.Encode(&mcp.ProgressParams{ProgressToken: jsonrpc.StringID("x"), Progress: 1, Total: mcp.Ptr(2.0), Message: "m"})
			checkFits(t, definition(t, r.Name(), "ProgressNotification"),
				map[string]any{"jsonrpc": "2.0", "method": mcp.NotificationProgress, "params": params})
		})
	}
}

func checkFits(t *testing.T, official *schema.Schema, value any) {
	t.Helper()
	raw, err := ijson.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := official.Validate(raw); err != nil {
		t.Errorf("%s\n%v", raw, err)
	}
}
