package everything_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/everything"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// able are the options of a client that can do everything.
func able() *client.Options {
	return &client.Options{
		Capabilities: mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Support{}, URL: &mcp.Support{}},
		},
		Roots: []mcp.Root{{URI: "file:///tmp/project", Name: "project"}},
		OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if p.IsURL() {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"name":"Ada","check":true,"integer":7}`)}, nil
		},
		OnSample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{
				Model: "test", Role: mcp.RoleAssistant,
				Content: mcp.SamplingContent{mcp.Text("heard: " + p.Messages[0].Content[0].Text)},
			}, nil
		},
	}
}

func call(t testing.TB, sess *client.Session, tool, arguments string, opts *client.CallOptions) *mcp.CallToolResult {
	t.Helper()
	r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}, opts)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	return r
}

// text calls a tool and returns all its texts.
func text(t testing.TB, sess *client.Session, tool, arguments string) string {
	t.Helper()
	r := call(t, sess, tool, arguments, nil)
	var list []string
	for _, c := range r.Content {
		list = append(list, c.Text)
	}
	if r.IsError {
		list = append(list, "(error)")
	}
	return strings.Join(list, "|")
}

func TestMain(m *testing.M) { mcptest.Main(m) }

func newServer() *server.Server { return everything.New(nil).Server }

var all = []string{
	"echo", "get-annotated-message", "get-resource-links", "get-resource-reference", "get-structured-content",
	"get-sum", "get-tiny-image", "gzip-file-as-resource", "toggle-simulated-logging", "toggle-subscriber-updates",
	"trigger-long-running-operation",
}

func tools(t testing.TB, sess *client.Session) []string {
	t.Helper()
	var names []string
	for tool, err := range sess.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		if tool.Description == "" || len(tool.InputSchema) == 0 {
			t.Errorf("%s lacks something", tool.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestEverything asks for one of each feature, in every revision over every carrier.
func TestEverything(t *testing.T) {
	t.Parallel()
	grid := mcptest.Grid{Server: newServer, Client: able}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		asking := []string{"get-roots-list", "trigger-sampling-request"}
		got := tools(t, sess)
		for _, name := range slices.Concat(all, asking) {
			if !slices.Contains(got, name) {
				t.Errorf("there is no tool %s: %q", name, got)
			}
		}
		for _, tt := range []struct{ tool, arguments, want string }{
			{"echo", `{"message":"hi"}`, "Echo: hi"},
			{"echo", `{}`, "message"},
			{"get-sum", `{"a":0.1,"b":0.2}`, "The sum of 0.1 and 0.2 is 0.30000000000000004."},
			{"get-structured-content", `{"location":"Chicago"}`, `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
			{"trigger-long-running-operation", `{"duration":0.01,"steps":2}`, "Long running operation completed. Duration: 0.01 seconds, Steps: 2."},
			{"get-roots-list", `{}`, "Current MCP Roots (1 total):\n\n1. project\n   URI: file:///tmp/project"},
			{"trigger-sampling-request", `{"prompt":"2+2?","maxTokens":5}`, "heard: Resource trigger-sampling-request context: 2+2?"},
		} {
			if got := text(t, sess, tt.tool, tt.arguments); !strings.Contains(got, tt.want) {
				t.Errorf("%s %s: got %q, want %q", tt.tool, tt.arguments, got, tt.want)
			}
		}
		if slices.Contains(got, "trigger-elicitation-request") {
			want := "✅ User provided the requested information!|User inputs:\n- Name: Ada\n- Agreed to terms: true\n- Favorite Integer: 7"
			if got := text(t, sess, "trigger-elicitation-request", `{}`); !strings.HasPrefix(got, want) {
				t.Errorf("the form: got %q, want %q", got, want)
			}
		}
		if slices.Contains(got, "trigger-url-elicitation") {
			for _, path := range []string{"false", "true"} {
				arguments := `{"url":"https://example.org/x","elicitationId":"one","errorPath":` + path + `}`
				r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "trigger-url-elicitation", Arguments: json.RawMessage(arguments)}, nil)
				if err != nil {
					r = call(t, sess, "trigger-url-elicitation", arguments, nil) // as the error says
				}
				if got := r.Content[0].Text; !strings.HasPrefix(got, "✅ User completed the URL elicitation flow.\nElicitation ID: one\n") {
					t.Errorf("the page, error path %s: %q", path, got)
				}
			}
		}
		reading(t, sess)
	})
}

func reading(t *testing.T, sess *client.Session) {
	t.Helper()
	prompt, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "resource-prompt", Arguments: map[string]string{"resourceType": "Blob", "resourceId": "3"}}, nil)
	if err != nil || len(prompt.Messages) != 2 || prompt.Messages[1].Content.Resource.URI != "demo://resource/dynamic/blob/3" {
		t.Errorf("the prompt: %+v, %v", prompt, err)
	}
	for uri, want := range map[string]string{
		"demo://resource/dynamic/text/7":             "Resource 7: This is a plaintext resource created at ",
		"demo://resource/static/document/startup.md": "# Start\n",
	} {
		r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
		if err != nil || !strings.HasPrefix(r.Contents[0].Text, want) {
			t.Errorf("read %s: %+v, %v", uri, r, err)
		}
	}
	for _, uri := range []string{"demo://resource/dynamic/text/0", "demo://resource/dynamic/text/x", "demo://resource/session/none"} {
		if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil); err == nil {
			t.Errorf("read %s: no error", uri)
		}
	}
	r := call(t, sess, "gzip-file-as-resource", `{"name":"a b.gz","data":"data:text/plain;base64,aGVsbG8="}`, nil)
	link := r.Content[0]
	if link.Type == mcp.TypeText { // a revision without links
		return
	}
	read, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.Link.URI}, nil)
	if err != nil {
		t.Fatalf("read what was compressed, %s: %v", link.Link.URI, err)
	}
	if got := unzip(t, read.Contents[0].Blob); got != "hello" {
		t.Errorf("compressed was %q", got)
	}
}

func unzip(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestShown lists what clients see that cannot do everything.
func TestShown(t *testing.T) {
	t.Parallel()
	srv := everything.New(&everything.Options{Environment: true})
	defer srv.Close()
	for _, tt := range []struct {
		opts *client.Options
		want []string
	}{
		{nil, nil},
		{&client.Options{Roots: able().Roots}, []string{"get-roots-list"}},
		{&client.Options{OnSample: able().OnSample}, []string{"trigger-sampling-request"}},
		{able(), []string{"get-roots-list", "trigger-elicitation-request", "trigger-sampling-request", "trigger-url-elicitation"}},
	} {
		sess := mcptest.Pair(t, srv.Server, tt.opts)
		want := slices.Concat(all, tt.want, []string{"get-env"})
		slices.Sort(want)
		if diff := cmp.Diff(want, tools(t, sess)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	}
	sess := mcptest.Pair(t, srv.Server, nil)
	if _, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "get-roots-list"}, nil); err == nil {
		t.Error("a tool that is hidden was called")
	}
	if got := text(t, sess, "get-env", `{}`); !strings.Contains(got, `"PATH": `) {
		t.Errorf("the environment is %q", got)
	}
	if names := tools(t, mcptest.Pair(t, newServer(), nil)); slices.Contains(names, "get-env") {
		t.Error("the environment is shown by default")
	}
}

// TestSessionResources keeps apart what two sessions have made.
func TestSessionResources(t *testing.T) {
	t.Parallel()
	srv := newServer()
	legacy := &client.Options{Revision: client.Revisions()[3]}
	one, two := mcptest.Pair(t, srv, legacy), mcptest.Pair(t, srv, legacy)
	const uri = "demo://resource/session/x.gz"
	r := call(t, one, "gzip-file-as-resource", `{"name":"x.gz","data":"data:,hi%20there","outputType":"resource"}`, nil)
	if got := r.Content[0].Resource; got.URI != uri || unzip(t, got.Blob) != "hi there" {
		t.Errorf("the resource is %+v", got)
	}
	list := func(sess *client.Session) (found int) {
		for r, err := range sess.Resources(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if r.URI == uri {
				found++
			}
		}
		return found
	}
	for range 2 { // a second one of that name takes the place of the first
		if a, b := list(one), list(two); a != 1 || b != 0 {
			t.Errorf("listed %d and %d times, want 1 and 0", a, b)
		}
		call(t, one, "gzip-file-as-resource", `{"name":"x.gz","data":"data:,again"}`, nil)
	}
	if _, err := two.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil); err == nil {
		t.Error("another session reads it")
	}
	for i := range 40 {
		call(t, one, "gzip-file-as-resource", fmt.Sprintf(`{"name":"%d.gz","data":"data:,x"}`, i), nil)
	}
	if list(one) != 0 {
		t.Error("the oldest resource is still there")
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	sess := mcptest.Pair(t, newServer(), nil)
	for _, tt := range []struct {
		ref      mcp.Reference
		argument mcp.CompleteArgument
		known    map[string]string
		want     []string
	}{
		{mcp.PromptRef("completable-prompt"), mcp.CompleteArgument{Name: "department", Value: "S"}, nil, []string{"Sales", "Support"}},
		{mcp.PromptRef("completable-prompt"), mcp.CompleteArgument{Name: "name", Value: "A"}, map[string]string{"department": "Engineering"}, []string{"Alice", "Charlie"}},
		{mcp.PromptRef("resource-prompt"), mcp.CompleteArgument{Name: "resourceId", Value: "12"}, nil, []string{"12"}},
		{mcp.ResourceRef("demo://resource/dynamic/text/{resourceId}"), mcp.CompleteArgument{Name: "resourceId", Value: "x"}, nil, []string{}},
	} {
		r, err := sess.Complete(t.Context(), &mcp.CompleteParams{Ref: tt.ref, Argument: tt.argument, Context: &mcp.CompleteContext{Arguments: tt.known}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, r.Completion.Values); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.argument, diff)
		}
	}
}

func ExampleNew() {
	srv := everything.New(nil)
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: everything
}
