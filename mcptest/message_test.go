package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// What has something in every optional member, so that the older revisions have
// something to leave out.
var (
	icons  = []mcp.Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"}}
	noted  = mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: mcp.Ptr(0.0), LastModified: "2026-01-02T03:04:05Z"}
	tagged = mcp.Meta{"com.example/tag": json.RawMessage(`[1.5,null]`)}
	person = mcp.Implementation{
		Name: "rich", Version: "1", Title: "Rich", Description: "It has it all", Icons: icons, WebsiteURL: "https://example.com",
	}
)

// rich is a server that uses every optional member of everything it has.
func rich() *server.Server {
	srv := server.New(person, &server.Options{Instructions: "Look.", PageSize: 2})
	addRichTools(srv)
	file := mcp.Resource{
		URI: "rich:file", Name: "file", Title: "File", Description: "D", MIMEType: "text/plain", Size: mcp.Ptr(int64(0)),
		Icons: icons, Annotations: &noted, Meta: tagged,
	}
	srv.AddResource(file, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		text, blob := mcp.TextResource(uri, "text/plain", ""), mcp.BlobResource(uri+"/part", "", nil)
		text.Meta = tagged
		result := &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{text, blob}}
		result.Meta = tagged
		return result, nil
	})
	srv.AddResource(mcp.Resource{URI: "rich:empty", Name: "empty"},
		func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{}, nil
		})
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: "rich:by/{id}", Name: "by", Title: "By", Description: "D", MIMEType: "text/plain",
		Icons: icons, Annotations: &noted, Meta: tagged,
	}, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	})
	srv.AddPrompt(mcp.Prompt{
		Name: "say", Title: "Say", Description: "D", Icons: icons, Meta: tagged,
		Arguments: []mcp.PromptArgument{{Name: "what", Title: "What", Description: "D"}},
	}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		result := &mcp.GetPromptResult{Description: "D"}
		for i, block := range richBlocks() {
			role := mcp.RoleUser
			if i%2 == 1 {
				role = mcp.RoleAssistant
			}
			result.Messages = append(result.Messages, mcp.PromptMessage{Role: role, Content: block})
		}
		return result, nil
	})
	srv.AddPrompt(mcp.Prompt{Name: "nothing"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	return srv
}

// richBlocks are blocks of every kind, with all they can have.
func richBlocks() []mcp.Content {
	embedded := mcp.TextResource("rich:file", "text/plain", "")
	embedded.Meta = tagged
	blocks := []mcp.Content{
		mcp.Text(""),
		mcp.Image(nil, "image/png"),
		mcp.Audio([]byte{1}, "audio/wav"),
		mcp.Link(mcp.Resource{URI: "rich:file", Name: "file", Title: "File", Size: mcp.Ptr(int64(0)), Icons: icons}),
		mcp.Embed(embedded),
		mcp.Embed(mcp.BlobResource("rich:blob", "", []byte{2})),
	}
	for i := range blocks {
		blocks[i].Annotations, blocks[i].Meta = &noted, tagged
	}
	return blocks
}

func addRichTools(srv *server.Server) {
	for name, structured := range map[string]string{
		"object": `{"a":[1,null]}`, "list": `[1.5]`, "null": `null`, "text": `"t"`, "none": ``,
	} {
		tool := mcp.Tool{
			Name: name, Title: "Title", Description: "D", Icons: icons, Meta: tagged,
			Annotations:  &mcp.ToolAnnotations{Title: "T", ReadOnlyHint: true, DestructiveHint: mcp.Ptr(false), IdempotentHint: true, OpenWorldHint: mcp.Ptr(false)},
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"any":true,"x":{"type":"string"}},"required":[],"$defs":{"d":false}}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"a":true}}`),
		}
		if structured != `{"a":[1,null]}` {
			tool.OutputSchema = nil
		}
		srv.AddRawTool(tool, func(context.Context, *server.Call) (any, error) {
			result := &mcp.CallToolResult{Content: richBlocks()}
			if structured != "" {
				result.StructuredContent = json.RawMessage(structured)
			}
			result.Meta = tagged
			return result, nil
		})
	}
	srv.AddRawTool(mcp.Tool{Name: "array-out", OutputSchema: json.RawMessage(`{"type":"array"}`)},
		func(context.Context, *server.Call) (any, error) {
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(`[]`)}, nil
		})
	server.AddTool(srv, mcp.Tool{Name: "tells"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		return "", errors.Join(c.Progress(ctx, 0.5, 1.5, "half"), c.Progress(ctx, 1, 0, ""),
			c.Log(ctx, mcp.LevelError, "logger", nil), c.Log(ctx, mcp.LevelError, "", []any{1.5, "x"}))
	})
	server.AddTool(srv, mcp.Tool{Name: "fails"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("the disk is full")
	})
}

// use makes every call that the session's revision has.
func use(t *testing.T, sess *client.Session) {
	t.Helper()
	ctx := t.Context()
	for _, name := range []string{"object", "list", "null", "text", "none", "array-out", "fails"} {
		call(t, sess, name, `{}`)
	}
	progress := &client.CallOptions{Progress: func(mcp.ProgressParams) {}}
	if err := sess.SetLogLevel(ctx, mcp.LevelDebug); err != nil {
		t.Error(err)
	}
	if _, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "tells", Meta: tagged}, progress); err != nil {
		t.Error(err)
	}
	walk(t, sess.Tools(ctx))
	walk(t, sess.Prompts(ctx))
	walk(t, sess.Resources(ctx))
	walk(t, sess.ResourceTemplates(ctx))
	for _, name := range []string{"say", "nothing"} {
		if _, err := sess.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: map[string]string{"what": "x"}}, nil); err != nil {
			t.Error(err)
		}
	}
	for _, uri := range []string{"rich:file", "rich:empty"} {
		if _, err := sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}, nil); err != nil {
			t.Error(err)
		}
	}
	if err := sess.Ping(ctx); err != nil {
		t.Error(err)
	}
	fail(t, sess)
}

// walk goes through a list.
func walk[T any](t *testing.T, list func(func(T, error) bool)) {
	t.Helper()
	n := 0
	for _, err := range list {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	if n == 0 {
		t.Errorf("a list of %T is empty", *new(T))
	}
}

// fail makes calls that every server answers with an error.
func fail(t *testing.T, sess *client.Session) {
	t.Helper()
	for method, test := range map[string]struct {
		params string
		code   int
	}{
		"no/such/method":        {`{}`, jsonrpc.CodeMethodNotFound},
		mcp.MethodToolsCall:     {`{"name":"nobody's"}`, jsonrpc.CodeInvalidParams},
		mcp.MethodPromptsGet:    {`{"name":"nobody's"}`, jsonrpc.CodeInvalidParams},
		mcp.MethodResourcesList: {`{"cursor":"nobody's"}`, jsonrpc.CodeInvalidParams},
		mcp.MethodPromptsList:   {`{"cursor":"nobody's"}`, jsonrpc.CodeInvalidParams},
		mcp.MethodCompletionComplete: {
			`{"ref":{"type":"ref/prompt","name":"nobody's"},"argument":{"name":"a","value":""}}`, jsonrpc.CodeMethodNotFound,
		},
	} {
		_, err := sess.Call(t.Context(), method, json.RawMessage(test.params), nil)
		if remote, ok := errors.AsType[*jsonrpc.Error](err); !ok || remote.Code != test.code {
			t.Errorf("%s %s: got %v, want code %d", method, test.params, err, test.code)
		}
	}
	_, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "rich:by/nobody"}, nil)
	remote, _ := errors.AsType[*jsonrpc.Error](err)
	if remote == nil {
		t.Fatalf("read what is not there: got %v", err)
	}
	if string(remote.Data) != `{"uri":"rich:by/nobody"}` {
		t.Errorf("read what is not there: got data %s, want the URI in it", remote.Data)
	}
}

// TestEveryMessage has both ends say all they can say. The wire is watched, so
// what it proves are the rules of wire_test.go.
func TestEveryMessage(t *testing.T) {
	mcptest.Proves(t, "BASE-JSONRPC-2", "BASE-REQ-ID-PRESENT", "BASE-REQ-ID-UNIQUE-SESSION", "BASE-REQ-ID-UNIQUE-INFLIGHT",
		"BASE-NOTIF-NO-ID", "BASE-RESP-SAME-ID", "BASE-RESULT-SAME-ID", "BASE-RESULT-FIELD",
		"BASE-RESP-RESULT-OR-ERROR", "BASE-RESULTTYPE-REQUIRED", "RT-REQUIRED", "BASE-META-SERVER-INFO",
		"META-SERVERINFO", "BASE-ERRCODE-DEFINED", "BASE-ERRCODE-RETIRED", "BASE-ERRCODE-RESERVED-NO-EMIT",
		"BASE-ERRCODE-LEGACY-AVOID", "RES-NOT-FOUND-DATA-URI", "RES-NOT-FOUND-32002", "RES-NOT-FOUND-32602",
		"STDIO-STDIN-CLEAN", "PROG-FLOAT", "COMPL-ERR-32601", "PROMPT-UNKNOWN-32602", "TOOL-UNKNOWN-32602",
		"RES-READ-MULTIPLE", "RES-NOT-FOUND-NO-EMPTY", "BASE-SUPPORT-CORE-LEGACY", "BASE-SUPPORT-CORE-MODERN",
		"BASE-BINDING-DELIVERY", "META-REQ-VERSION-CAPS", "DISC-REQUEST-SHAPE", "META-KEY-NAME", "META-KEY-PREFIX",
		"BASE-META-NAME-FORMAT", "BASE-META-PREFIX-FORMAT", "PROG-ACTIVE-ONLY", "PROG-INCREASING",
		"PROG-STOP", "LIFE-INIT-NO-BATCH")
	everyMessage(t)
}

// TestEveryMessageFits says the same, and proves what only the official schemas
// can tell.
func TestEveryMessageFits(t *testing.T) {
	mcptest.Proves(t, "SCH-IMPLEMENTATION", "SCH-ANNOTATIONS", "SCH-CONTENT-BASE64-MIME", "SCH-ERROR-OBJECT", "SCH-EMPTY-RESULT",
		"TOOL-INPUTSCHEMA-OBJECT", "TOOL-INPUTSCHEMA-NOT-NULL", "TOOL-INPUTSCHEMA-PROPERTY-OBJECTS", "TOOL-OUTPUTSCHEMA-ROOT-OBJECT",
		"TOOL-RESULT-CONTENT-REQUIRED", "TOOL-RESULT-BLOCKS-2024", "TOOL-RESULT-BLOCKS-2025-03", "TOOL-RESULT-BLOCKS-2025-06",
		"TOOL-STRUCTURED-OBJECT-ONLY", "TOOL-RESOURCE-LINK", "PROMPT-BLOCKS-2024", "PROMPT-BLOCKS-2025-03", "PROMPT-BLOCKS-2025-06",
		"PROMPT-GET-RESULT", "PROMPT-MSG-SINGLE-BLOCK", "RES-READ-SHAPE", "ICON-FIELDS", "BASE-ICON-SHAPE",
		"LIFE-INIT-REQUEST", "LIFE-INIT-RESULT", "DISC-RESULT-SHAPE", "PROG-TOKEN-TYPE")
	if schemaDir() == "" {
		t.Skip("the official schemas are not here")
	}
	everyMessage(t)
}

func everyMessage(t *testing.T) {
	grid := mcptest.Grid{Server: rich, Client: func() *client.Options {
		return &client.Options{OnNotification: func(string, json.RawMessage) {}}
	}}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) { use(t, sess) })
}
