package everything_test

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/everything"
	"github.com/ferrymcp/ferry/apps/servers/internal/dropin"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// differences are those from the server of npm that are meant.
var differences = []dropin.Difference{
	{Where: "tools/*/{title,description}", Why: "our own words."},
	{Where: "tools/*/{inputSchema,outputSchema}/properties/*/description", Why: "our own words."},
	{Where: "tools/simulate-research-query", Why: "it runs as a task only, and tasks are not there yet; so are the two tools whose names end in `-async`."},
	{Where: "prompts/*/{title,description}", Why: "our own words."},
	{Where: "prompts/*/arguments/*/description", Why: "our own words."},
	{Where: "resources/*/description", Why: "our own words."},
	{Where: "resources/*/size", Why: "the size is told as well."},
	{Where: "templates/*/description", Why: "our own words."},
	{Where: "templates/demo:||resource|session|*", Why: "what a session has made can be read, so there is a template that says so."},
	{Where: "calls/get-tiny-image/content/{1/data,2/text}", Why: "our own picture."},
	{Where: "calls/get-annotated-message/content/1/data", Why: "our own picture."},
	{Where: "calls/toggle-*/content/0/text", Why: "our own words; the original writes \"session undefined\" where there is none."},
	{Where: "calls/get-roots-list/content/0/text", Why: "our own words after the list."},
	{Where: "calls/wrong/**", Why: "the error says which argument is wrong and what to give; the original sends the report of its validation library."},
	{Where: "calls/gzip-file-as-resource/content/*/resource/blob", Why: "another program compresses the same bytes in another way."},
	{Where: "calls/fetch/content/0/text", Why: "addresses of this machine and its network are refused, and an error says what is wrong."},
	{Where: "reads/documents/*", Why: "our own pages."},
	{Where: "reads/none/error", Why: "an unknown resource is told apart from bad arguments, as the protocol has it."},
}

// clock is how resources write the time at which they were made.
var clock = regexp.MustCompile(`created at \d+:\d+:\d+.[AP]M`)

// timeless is a value without the times in its texts.
func timeless(v any) any {
	switch v := v.(type) {
	case string:
		if b, err := base64.StdEncoding.DecodeString(v); err == nil && strings.HasPrefix(string(b), "Resource ") {
			v = string(b)
		}
		return clock.ReplaceAllString(v, "created now")
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = timeless(v[name])
		}
	}
	return v
}

// seen is a result as JSON has it, or the error.
func seen(t *testing.T, result any, err error) any {
	t.Helper()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return timeless(v)
}

// sampled tells the result of a model apart from the text before it.
func sampled(v any) any {
	m, _ := v.(map[string]any)
	blocks, _ := m["content"].([]any)
	for _, b := range blocks {
		b, _ := b.(map[string]any)
		text, _ := b["text"].(string)
		if head, rest, ok := strings.Cut(text, "{"); ok {
			var inner any
			if json.Unmarshal([]byte("{"+rest), &inner) == nil {
				b["text"], b["json"] = head, inner
			}
		}
	}
	return v
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	opts := func() *client.Options {
		o := able()
		o.Revision = "2025-11-25"
		return o
	}
	theirs := dropin.OriginalFor(t, opts(), "server-everything", "stdio")
	srv := everything.New(&everything.Options{Environment: true})
	t.Cleanup(func() { _ = srv.Close() })
	ours := mcptest.Pair(t, srv.Server, opts())
	c := dropin.Compare(t, theirs, ours, "everything", differences)
	c.Tools()
	c.Lists()
	both := func(name string, do func(sess *client.Session) (any, error)) {
		var values [2]any
		for i, sess := range []*client.Session{theirs, ours} {
			result, err := do(sess)
			values[i] = sampled(seen(t, result, err))
		}
		c.Same(name, values[0], values[1])
	}
	for _, x := range []struct{ name, tool, arguments string }{
		{"echo", "echo", `{"message":"hi <&> é"}`},
		{"get-sum", "get-sum", `{"a":1.5,"b":-2}`},
		{"get-sum", "get-sum", `{"a":1e21,"b":1e-7}`},
		{"get-sum", "get-sum", `{"a":0.1,"b":0.2}`},
		{"get-tiny-image", "get-tiny-image", `{}`},
		{"get-annotated-message", "get-annotated-message", `{"messageType":"error","includeImage":true}`},
		{"get-annotated-message", "get-annotated-message", `{"messageType":"success"}`},
		{"get-annotated-message", "get-annotated-message", `{"messageType":"debug"}`},
		{"get-resource-links", "get-resource-links", `{}`},
		{"get-resource-links", "get-resource-links", `{"count":10}`},
		{"get-resource-reference", "get-resource-reference", `{}`},
		{"get-resource-reference", "get-resource-reference", `{"resourceType":"Blob","resourceId":7}`},
		{"get-resource-reference", "get-resource-reference", `{"resourceId":1.5}`},
		{"get-structured-content", "get-structured-content", `{"location":"New York"}`},
		{"get-structured-content", "get-structured-content", `{"location":"Los Angeles"}`},
		{"trigger-long-running-operation", "trigger-long-running-operation", `{"duration":0.2,"steps":2}`},
		{"gzip-file-as-resource", "gzip-file-as-resource", `{"name":"x.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resource"}`},
		{"gzip-file-as-resource", "gzip-file-as-resource", `{"name":"x.gz","data":"data:,hello"}`},
		{"fetch", "gzip-file-as-resource", `{"data":"ftp://example.org/"}`},
		{"get-roots-list", "get-roots-list", `{}`},
		{"trigger-elicitation-request", "trigger-elicitation-request", `{}`},
		{"trigger-url-elicitation", "trigger-url-elicitation", `{"url":"https://example.org/","elicitationId":"one"}`},
		{"trigger-sampling-request", "trigger-sampling-request", `{"prompt":"2+2?"}`},
		{"toggle-simulated-logging", "toggle-simulated-logging", `{}`},
		{"toggle-simulated-logging", "toggle-simulated-logging", `{}`},
		{"toggle-subscriber-updates", "toggle-subscriber-updates", `{}`},
		{"toggle-subscriber-updates", "toggle-subscriber-updates", `{}`},
		{"wrong", "get-sum", `{"a":"one"}`},
		{"wrong", "get-resource-links", `{"count":11}`},
		{"wrong", "get-structured-content", `{"location":"Rome"}`},
		{"wrong", "trigger-url-elicitation", `{}`},
	} {
		both("calls/"+x.name, func(sess *client.Session) (any, error) {
			return sess.CallTool(t.Context(), &mcp.CallToolParams{Name: x.tool, Arguments: json.RawMessage(x.arguments)}, nil)
		})
	}
	dropInPrompts(t, both)
	for name, uri := range map[string]string{
		"text": "demo://resource/dynamic/text/3", "blob": "demo://resource/dynamic/blob/4", "session": "demo://resource/session/x.gz", "none": "demo://nothing",
	} {
		both("reads/"+name, func(sess *client.Session) (any, error) {
			r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
			if err == nil && name == "session" { // its bytes were compared
				r.Contents[0].Blob = nil
			}
			return r, err
		})
	}
	both("reads/documents", func(sess *client.Session) (any, error) {
		var pages []string
		for _, name := range []string{"features", "startup"} {
			r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "demo://resource/static/document/" + name + ".md"}, nil)
			if err != nil {
				return nil, err
			}
			pages = append(pages, r.Contents[0].Text)
		}
		return pages, nil
	})
}

// dropInPrompts compares prompts and completion.
func dropInPrompts(t *testing.T, both func(name string, do func(sess *client.Session) (any, error))) {
	t.Helper()
	for _, x := range []struct {
		name string
		args map[string]string
	}{
		{"simple-prompt", nil},
		{"args-prompt", map[string]string{"city": "Rome"}},
		{"args-prompt", map[string]string{"city": "Portland", "state": "Oregon"}},
		{"completable-prompt", map[string]string{"department": "Sales", "name": "Eve"}},
		{"resource-prompt", map[string]string{"resourceType": "Text", "resourceId": "2"}},
		{"resource-prompt", map[string]string{"resourceType": "Blob", "resourceId": "2"}},
	} {
		both("prompt/"+x.name, func(sess *client.Session) (any, error) {
			return sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: x.name, Arguments: x.args}, nil)
		})
	}
	for _, x := range []struct {
		ref             mcp.Reference
		argument, value string
		known           map[string]string
	}{
		{mcp.PromptRef("completable-prompt"), "department", "", nil},
		{mcp.PromptRef("completable-prompt"), "department", "S", nil},
		{mcp.PromptRef("completable-prompt"), "name", "", map[string]string{"department": "Support"}},
		{mcp.PromptRef("resource-prompt"), "resourceType", "T", nil},
		{mcp.PromptRef("resource-prompt"), "resourceId", "5", nil},
		{mcp.ResourceRef("demo://resource/dynamic/text/{resourceId}"), "resourceId", "5", nil},
		{mcp.ResourceRef("demo://resource/dynamic/text/{resourceId}"), "resourceId", "x", nil},
	} {
		both("completions/"+x.argument, func(sess *client.Session) (any, error) {
			r, err := sess.Complete(t.Context(), &mcp.CompleteParams{
				Ref: x.ref, Argument: mcp.CompleteArgument{Name: x.argument, Value: x.value}, Context: &mcp.CompleteContext{Arguments: x.known},
			})
			if err != nil {
				return nil, err
			}
			return r.Completion.Values, nil
		})
	}
}
