package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// panics checks that f panics and says why.
func panics(t *testing.T, why string, f func()) {
	t.Helper()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, why) {
			t.Errorf("panic %q, want one about %q", text, why)
		}
	}()
	f()
}

func TestRegistrationPanics(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-INPUTSCHEMA-OBJECT", "TOOL-NAME-NO-SPECIAL", "JSONS-SCHEMA-VALID", "BASE-SCHEMA-VALID",
		"BASE-SCHEMA-REF-UNRESOLVED", "JSONS-REF-UNRESOLVED-REJECT", "RES-TEMPLATE-RFC6570")
	srv := newServer(t, nil)
	nothing := func(context.Context, *server.Call) (any, error) { return nil, nil }
	read := func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return nil, nil
	}
	typed := func(tool mcp.Tool) func() {
		return func() {
			server.AddTool(srv, tool, func(context.Context, *server.Call, struct{}) (any, error) { return nil, nil })
		}
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		why string
		f   func()
	}{
		{"name", func() { server.New(mcp.Implementation{}, nil) }},
		{"empty", typed(mcp.Tool{})},
		{"contains", typed(mcp.Tool{Name: "a b"})},
		{"type", typed(mcp.Tool{Name: "t", InputSchema: raw(`{"type":"string"}`)})},
		{"t", typed(mcp.Tool{Name: "t", InputSchema: raw(`{"$ref":"#"}`)})},
		{"t", typed(mcp.Tool{Name: "t", InputSchema: raw(`{"type":"object","$ref":"https://example.com/x"}`)})},
		{"t", typed(mcp.Tool{Name: "t", InputSchema: raw(`{`)})},
		{"t", typed(mcp.Tool{Name: "t", OutputSchema: raw(`{"type":5}`)})},
		{"input", func() {
			server.AddTool(srv, mcp.Tool{Name: "t"}, func(context.Context, *server.Call, int) (any, error) { return nil, nil })
		}},
		{"t", func() {
			server.AddTool(srv, mcp.Tool{Name: "t"}, func(context.Context, *server.Call, struct{ C chan int }) (any, error) { return nil, nil })
		}},
		{"t", func() {
			server.AddTool(srv, mcp.Tool{Name: "t"}, func(context.Context, *server.Call, struct{}) (func(), error) { return nil, nil })
		}},
		{"handler", func() { srv.AddRawTool(mcp.Tool{Name: "t"}, nil) }},
		{"output", func() { srv.AddRawTool(mcp.Tool{Name: "t", OutputSchema: raw(`[]`)}, nothing) }},
		{"output", func() { srv.AddRawTool(mcp.Tool{Name: "t", OutputSchema: raw(`{`)}, nothing) }},
		{"handler", func() { srv.AddPrompt(mcp.Prompt{Name: "p"}, nil) }},
		{"name", func() { srv.AddRawPrompt(mcp.Prompt{}, nothing) }},
		{"URI", func() { srv.AddResource(mcp.Resource{Name: "n"}, read) }},
		{"template", func() { srv.AddResourceTemplate(mcp.ResourceTemplate{Name: "n", URITemplate: "a:{"}, read) }},
		{"name", func() { srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "a:{b}"}, read) }},
		{"method", func() { srv.Handle("", nothing) }},
	}
	for _, tt := range tests {
		panics(t, tt.why, tt.f)
	}
}

// addOutput adds a tool that takes nothing and returns out.
func addOutput[Out any](srv *server.Server, name string, out Out) {
	server.AddTool(srv, mcp.Tool{Name: name}, func(context.Context, *server.Call, map[string]any) (Out, error) { return out, nil })
}

func TestTypedTools(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-OUTPUTSCHEMA-CONFORM", "TOOL-STRUCTURED-TEXT-MIRROR", "TOOL-STRUCTURED-NONOBJECT-TEXT",
		"TOOL-OUTPUTSCHEMA-ANY")
	type text string
	srv := newServer(t, nil)
	addOutput(srv, "struct", addOut{1})
	addOutput(srv, "pointer", &addOut{2})
	addOutput[*addOut](srv, "nil", nil)
	addOutput(srv, "slice", []int(nil))
	addOutput(srv, "number", 7)
	addOutput(srv, "text", text("hi"))
	addOutput(srv, "raw", json.RawMessage(`{"a": 1}`))
	addOutput[any](srv, "any", nil)
	addOutput[any](srv, "any-result", &mcp.CallToolResult{IsError: true})
	addOutput(srv, "result", &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":1}`)})
	addOutput[*mcp.CallToolResult](srv, "nil-result", nil)
	addOutput(srv, "value", mcp.CallToolResult{Content: []mcp.Content{mcp.Text("v")}})
	addOutput[any](srv, "unencodable", func() {})
	addOutput(srv, "result-list", &mcp.CallToolResult{StructuredContent: json.RawMessage(" [1]\n")})
	addOutput(srv, "result-said", &mcp.CallToolResult{
		Content: []mcp.Content{mcp.Text("one")}, StructuredContent: json.RawMessage(`1`),
	})
	server.AddTool(srv, mcp.Tool{Name: "liar", OutputSchema: json.RawMessage(`{"type":"object","required":["a"]}`)},
		func(context.Context, *server.Call, any) (map[string]int, error) {
			return map[string]int{"secret": 1}, nil
		})
	server.AddTool(srv, mcp.Tool{Name: "strict", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
		func(_ context.Context, c *server.Call, in addIn) (string, error) { return fmt.Sprint(in.A), nil })
	d := talk(t, srv)
	tests := []struct{ name, want string }{
		{"struct", `"content":[{"type":"text","text":"{\"sum\":1}"}],"structuredContent":{"sum":1}`},
		{"pointer", `"content":[{"type":"text","text":"{\"sum\":2}"}],"structuredContent":{"sum":2}`},
		{"nil", ``},
		{"liar", ``},
		{"unencodable", ``},
		{"slice", `"content":[{"type":"text","text":"[]"}],"structuredContent":[]`},
		{"number", `"content":[{"type":"text","text":"7"}],"structuredContent":7`},
		{"text", `"content":[{"type":"text","text":"hi"}]`},
		{"raw", `"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}`},
		{"any", `"content":[{"type":"text","text":"null"}],"structuredContent":null`},
		{"any-result", `"content":[],"isError":true`},
		{"result", `"content":[],"structuredContent":{"a":1}`},
		{"result-list", `"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]`},
		{"result-said", `"content":[{"type":"text","text":"one"}],"structuredContent":1`},
		{"nil-result", `"content":[]`},
		{"value", `"content":[{"type":"text","text":"v"}]`},
	}
	for _, tt := range tests {
		m := d.askModern("tools/call", `"arguments":null,"name":"`+tt.name+`"`)
		if tt.want == "" {
			code(t, m, jsonrpc.CodeInternal)
			if m.Error != nil && m.Error.Message != "internal error" {
				t.Errorf("%s: the error says %q", tt.name, m.Error.Message)
			}
		} else if !sameJSON(m.Result, []byte(`{`+tt.want+`,`+stamp+`}`)) {
			t.Errorf("%s: got %s %v\nwant %s", tt.name, m.Result, m.Error, tt.want)
		}
	}
	if r := result[mcp.CallToolResult](t, d.askModern("tools/call", `"name":"strict","arguments":{"a":"x"}`)); !r.IsError {
		t.Error("arguments that do not fit the Go type were accepted")
	}
	if r := result[mcp.CallToolResult](t, d.askModern("tools/call", `"name":"add"`)); !r.IsError {
		t.Error("missing arguments were accepted")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROMPT-UNKNOWN-32602", "TOOL-ERR-MALFORMED-PROTOCOL", "PAGE-INVALID-CURSOR-32602")
	d := talk(t, newServer(t, &server.Options{Capabilities: mcp.ServerCapabilities{
		Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
	}}))
	tests := []struct{ method, params, want string }{
		{"tools/call", `"name":5`, "name must be a string"},
		{"tools/call", `"x":5`, "name is missing"},
		{"tools/call", `"name":null`, "name is missing"},
		{"tools/call", `"name":"x"`, `unknown tool "x"`},
		{"prompts/get", `"name":["x"]`, "name must be a string"},
		{"prompts/get", `"arguments":{}`, "name is missing"},
		{"prompts/get", `"name":"x"`, `unknown prompt "x"`},
		{"resources/read", `"uri":{}`, "uri must be a string"},
		{"resources/read", `"name":"x"`, "uri is missing"},
		{"resources/read", `"uri":"a:` + strings.Repeat("b", 10000) + `"`, "resource not found"},
		{"tools/list", `"cursor":"nonsense"`, "cursor"},
		{"tools/list", `"cursor":""`, "cursor"},
		{"tools/list", `"cursor":7`, "cursor"},
	}
	for _, tt := range tests {
		m := d.askModern(tt.method, tt.params)
		code(t, m, jsonrpc.CodeInvalidParams)
		if m.Error != nil && !strings.Contains(m.Error.Message, tt.want) {
			t.Errorf("%s %.60s: %q, want %q", tt.method, tt.params, m.Error.Message, tt.want)
		}
	}
	d.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`)
	code(t, d.read(), jsonrpc.CodeInvalidParams)
}

func TestRawTools(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	results := map[string]any{
		"link":  json.RawMessage(`{"content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":{"x":1}}`),
		"array": json.RawMessage(`[]`), "broken": json.RawMessage(`{"content":[}`),
		"raw-input": json.RawMessage(`{"resultType":"input_required"}`),
		"map":       map[string]any{"content": []int{}}, "nil": nil, "nil-pointer": (*mcp.CallToolResult)(nil), "bomb": bomb{},
	}
	for name, value := range results {
		srv.AddRawTool(mcp.Tool{Name: name}, func(context.Context, *server.Call) (any, error) { return value, nil })
	}
	modern := map[string]string{
		"link": `{"content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":{"x":1},"resultType":"complete"}`,
		"map":  `{"content":[],"resultType":"complete"}`, "nil": `{` + stamp + `}`, "nil-pointer": `{"content":[],` + stamp + `}`,
	}
	old := map[string]string{"link": `{"content":[{"type":"text","text":"n: a:b"}]}`, "map": `{"content":[]}`, "nil": `{}`, "nil-pointer": `{"content":[]}`}
	d := talk(t, srv)
	d.open("2025-03-26")
	for name := range results {
		check := func(m jsonrpc.Message, want string) {
			t.Helper()
			if want == "" {
				code(t, m, jsonrpc.CodeInternal)
			} else if !sameJSON(m.Result, []byte(want)) {
				t.Errorf("%s: got %s %v, want %s", name, m.Result, m.Error, want)
			}
		}
		check(d.askModern("tools/call", `"name":"`+name+`"`), modern[name])
		check(d.ask("tools/call", `"name":"`+name+`"`), old[name])
	}
}

// A bomb panics when it is encoded.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("boom") }

func TestPanicsAreContained(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROMPT-ERR-INTERNAL-32603", "RES-ERR-INTERNAL-32603", "COMPL-ERR-32603")
	boom := func() { panic("boom") }
	srv := newServer(t, &server.Options{
		View: func(_ context.Context, c *server.Call) *server.View {
			if c.Method == "prompts/list" {
				boom()
			}
			return nil
		},
		Complete: func(context.Context, *server.Call, *mcp.CompleteParams) (*mcp.Completion, error) {
			boom()
			return nil, nil
		},
	})
	srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		boom()
		return nil, nil
	})
	srv.AddResource(mcp.Resource{URI: "a:b", Name: "n"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		boom()
		return nil, nil
	})
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			if c.Method == "resources/list" || c.Method == "notifications/boom" {
				boom()
			}
			return next(ctx, c)
		}
	})
	d := talk(t, srv)
	d.send(`{"jsonrpc":"2.0","method":"notifications/boom","params":{` + modernMeta + `}}`)
	for method, params := range map[string]string{
		"prompts/list": ``, "prompts/get": `"name":"p"`, "resources/read": `"uri":"a:b"`, "resources/list": ``,
		"completion/complete": `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`,
	} {
		m := d.askModern(method, params)
		code(t, m, jsonrpc.CodeInternal)
		if m.Error != nil && strings.Contains(m.Error.Message, "boom") {
			t.Errorf("%s tells %q", method, m.Error.Message)
		}
	}
	result[mcp.ListToolsResult](t, d.askModern("tools/list", ""))
}

func TestPanicThrough(t *testing.T) {
	t.Parallel()
	srv := newServer(t, &server.Options{PanicThrough: true})
	m, _ := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic",` + modernMeta + `}}`))
	rq, err := srv.Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	panics(t, "secret", func() { srv.Serve(t.Context(), rq, nil) })
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	var order []string
	note := func(name string) server.Middleware {
		return func(next server.Handler) server.Handler {
			return func(ctx context.Context, c *server.Call) (any, error) {
				order = append(order, name)
				r, err := next(ctx, c)
				if list, ok := r.(*mcp.ListToolsResult); ok && name == "a" {
					changed := *list
					changed.Tools = changed.Tools[:1]
					return &changed, err
				}
				return r, err
			}
		}
	}
	srv.Use(note("a"), note("b"))
	srv.Use(note("c"))
	srv.Handle("x/own", func(_ context.Context, c *server.Call) (any, error) { return map[string]any{"rev": c.Revision()}, nil })
	srv.Handle("prompts/list", func(context.Context, *server.Call) (any, error) { return mcp.ListPromptsResult{}, nil })
	d := talk(t, srv)
	if r := result[mcp.ListToolsResult](t, d.askModern("tools/list", "")); len(r.Tools) != 1 || r.ResultType != "complete" {
		t.Errorf("got %+v", r)
	}
	if got := strings.Join(order, ""); got != "abc" {
		t.Errorf("middleware ran in the order %s, want abc", got)
	}
	if m := d.askModern("x/own", ""); !sameJSON(m.Result, []byte(`{"rev":"2026-07-28","resultType":"complete"}`)) {
		t.Errorf("x/own: %s", m.Result)
	}
	if m := d.askModern("prompts/list", ""); !sameJSON(m.Result, []byte(`{"prompts":[],"ttlMs":0,"cacheScope":"private",`+stamp+`}`)) {
		t.Errorf("prompts/list: %s", m.Result)
	}
}

// One result value may be returned by any number of calls at once.
func TestSharedResults(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	shared := &mcp.CallToolResult{Content: []mcp.Content{mcp.Audio([]byte("x"), "a/b"), mcp.Link(mcp.Resource{URI: "a:b", Name: "n"})}}
	shared.Meta = mcp.Meta{"k": json.RawMessage("1")}
	before, _ := json.Marshal(shared)
	srv.AddRawTool(mcp.Tool{Name: "shared"}, func(context.Context, *server.Call) (any, error) { return shared, nil })
	var wg sync.WaitGroup
	for _, r := range append([]string{""}, revisions...) {
		wg.Go(func() {
			d := talk(t, srv)
			meta := "," + modernMeta
			if r != "" {
				d.open(r)
				meta = ""
			}
			for range 20 {
				result[mcp.CallToolResult](t, d.ask("tools/call", `"name":"shared"`+meta))
				result[mcp.ListToolsResult](t, d.ask("tools/list", strings.TrimPrefix(meta, ",")))
			}
		})
	}
	wg.Wait()
	if after, _ := json.Marshal(shared); string(after) != string(before) {
		t.Errorf("the result was changed to %s", after)
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROMPT-MISSING-ARG-32602", "PROMPT-VALIDATE-ARGS", "PROMPT-LIST-RESPOND")
	srv := newServer(t, nil)
	srv.AddPrompt(mcp.Prompt{Name: "p", Arguments: []mcp.PromptArgument{{Name: "a", Required: true}, {Name: "b"}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			if args["a"] == "none" {
				return nil, nil
			}
			return &mcp.GetPromptResult{Description: args["a"] + args["b"]}, nil
		})
	srv.AddPrompt(mcp.Prompt{Name: "fails"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, errors.New("secret")
	})
	d := talk(t, srv)
	if r := result[mcp.GetPromptResult](t, d.askModern("prompts/get", `"name":"p","arguments":{"a":"x","b":"y"}`)); r.Description != "xy" {
		t.Errorf("got %+v", r)
	}
	result[mcp.GetPromptResult](t, d.askModern("prompts/get", `"name":"p","arguments":{"a":"none"}`))
	for _, args := range []string{`{}`, `null`, `{"b":"x"}`, `{"a":1}`, `[]`, `"a"`} {
		code(t, d.askModern("prompts/get", `"name":"p","arguments":`+args), jsonrpc.CodeInvalidParams)
	}
	if m := d.askModern("prompts/get", `"name":"fails"`); m.Error == nil || m.Error.Message != "internal error" {
		t.Errorf("got %+v", m)
	}
	srv.RemovePrompts("p", "fails", "nope")
	if r := result[mcp.ListPromptsResult](t, d.askModern("prompts/list", "")); len(r.Prompts) != 0 {
		t.Errorf("got %+v", r)
	}
}

func contents(text string) server.ResourceHandler {
	return func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
		if vars["id"] == "none" {
			return nil, nil
		}
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "", text+vars["id"])}}, nil
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "RES-LIST-RESPOND", "RES-NOT-FOUND-32002", "RES-NOT-FOUND-32602", "RES-NOT-FOUND-NO-EMIT-32002",
		"RES-NOT-FOUND-NO-EMPTY")
	srv := newServer(t, nil)
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "a:{id}", Name: "t"}, contents("template "))
	srv.AddResource(mcp.Resource{URI: "a:exact", Name: "r"}, contents("exact"))
	d := talk(t, srv)
	d.open("2025-11-25")
	for uri, want := range map[string]string{"a:exact": "exact", "a:7": "template 7"} {
		if r := result[mcp.ReadResourceResult](t, d.ask("resources/read", `"uri":"`+uri+`"`)); r.Contents[0].Text != want {
			t.Errorf("%s: got %+v", uri, r)
		}
	}
	for _, uri := range []string{"b:1", "a:none"} {
		code(t, d.ask("resources/read", `"uri":"`+uri+`"`), mcp.CodeResourceNotFound)
		code(t, d.askModern("resources/read", `"uri":"`+uri+`"`), jsonrpc.CodeInvalidParams)
	}
	if m := d.askModern("resources/read", `"uri":"a:exact"`); !sameJSON(m.Result, []byte(`{"contents":[{"uri":"a:exact","text":"exact"}],"ttlMs":0,"cacheScope":"private",`+stamp+`}`)) {
		t.Errorf("got %s", m.Result)
	}
	if r := result[mcp.ListResourceTemplatesResult](t, d.ask("resources/templates/list", "")); len(r.ResourceTemplates) != 1 {
		t.Errorf("got %+v", r)
	}
	srv.RemoveResourceTemplates("a:{id}")
	srv.RemoveResources("a:exact")
	d.conn = talk(t, srv).conn
	code(t, d.askModern("resources/read", `"uri":"a:exact"`), jsonrpc.CodeInvalidParams)
	if r := result[mcp.ListResourcesResult](t, d.askModern("resources/list", "")); len(r.Resources) != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PAGE-STABLE-CURSORS", "PAGE-START-AFTER-CURSOR")
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{PageSize: 10})
	var tools []server.RawTool
	for i := range 95 {
		tools = append(tools, server.RawTool{Tool: mcp.Tool{Name: fmt.Sprintf("t%03d", i)}, Handler: func(context.Context, *server.Call) (any, error) { return nil, nil }})
	}
	srv.AddRawTools(tools...)
	d := talk(t, srv)
	var seen []string
	params := ""
	for page := 0; ; page++ {
		if page == 3 { // between pages features come and go
			srv.RemoveTools("t005", "t029", "t094")
			srv.AddRawTool(mcp.Tool{Name: "t0295"}, tools[0].Handler)
		}
		r := result[mcp.ListToolsResult](t, d.askModern("tools/list", params))
		for _, tool := range r.Tools {
			seen = append(seen, tool.Name)
		}
		if r.NextCursor == nil {
			break
		}
		params = `"cursor":"` + *r.NextCursor + `"`
	}
	if len(seen) != 95 || seen[30] != "t0295" || seen[94] != "t093" {
		t.Errorf("saw %d tools: %v", len(seen), seen)
	}
}
