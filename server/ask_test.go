package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

const modern = "2026-07-28"

// allCapabilities are those of a client that can be asked everything.
const allCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

// An asker is a client of one revision that is asked things while it calls.
type asker struct {
	*dialog
	revision, capabilities string
	// answer returns the result for a question, or an error if it does not
	// begin like a result.
	answer func(in mcp.InputRequest) string
	asked  []string // all questions, as JSON
	rounds int      // how often the last call was made
	state  string   // the last state
}

func (d *dialog) asker(revision, capabilities string, answer func(mcp.InputRequest) string) *asker {
	d.t.Helper()
	a := &asker{dialog: d, revision: revision, capabilities: capabilities, answer: answer}
	if revision != modern {
		d.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"` + revision +
			`","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}}`)
		d.read()
		d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return a
}

// request sends a request with its metadata.
func (a *asker) request(method, params string) {
	a.t.Helper()
	if a.revision == modern {
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + a.capabilities + `}`
	}
	a.send(`{"jsonrpc":"2.0","id":"call","method":"` + method + `","params":{` + params + `}}`)
}

// call calls a tool and answers what is asked until there is a response.
func (a *asker) call(name string) jsonrpc.Message {
	a.t.Helper()
	return a.ask("tools/call", `"name":"`+name+`"`)
}

func (a *asker) ask(method, params string) jsonrpc.Message {
	a.t.Helper()
	more := ""
	for a.rounds = 1; ; a.rounds++ {
		a.request(method, params+more)
		m := a.respond()
		var required mcp.InputRequiredResult
		if m.Error != nil || json.Unmarshal(m.Result, &required) != nil || required.ResultType != mcp.ResultInputRequired {
			return m
		}
		if a.rounds == 50 {
			a.t.Fatalf("%s is asked about without an end: %s", params, m.Result)
		}
		more = a.answers(required)
	}
}

// respond answers the server's requests until the response comes.
func (a *asker) respond() jsonrpc.Message {
	a.t.Helper()
	for {
		m := a.read()
		if m.Kind() == jsonrpc.Response {
			return m
		}
		if m.Kind() == jsonrpc.Notification {
			continue
		}
		answer := a.take(mcp.InputRequest{Method: m.Method}, m.Params)
		member := "result"
		if strings.HasPrefix(answer, `{"code"`) {
			member = "error"
		}
		a.send(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"` + member + `":` + answer + `}`)
	}
}

// take answers one question.
func (a *asker) take(in mcp.InputRequest, params json.RawMessage) string {
	a.t.Helper()
	raw, _ := json.Marshal(map[string]any{"method": in.Method, "params": params})
	if err := json.Unmarshal(raw, &in); err != nil {
		a.t.Fatalf("%s: %v", raw, err)
	}
	if params == nil {
		params = json.RawMessage("{}")
	}
	a.asked = append(a.asked, in.Method+string(params))
	return a.answer(in)
}

// answers returns what has to be added to the request.
func (a *asker) answers(required mcp.InputRequiredResult) (more string) {
	a.t.Helper()
	given := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(required.InputRequests)) {
		in := required.InputRequests[key]
		params, _ := json.Marshal(in.Params())
		if in.Params() == nil {
			params = nil
		}
		given[key] = json.RawMessage(a.take(in, params))
	}
	if len(given) > 0 {
		raw, _ := json.Marshal(given)
		more = `,"inputResponses":` + string(raw)
	}
	a.state = ""
	if required.RequestState != nil {
		a.state = *required.RequestState
		more += `,"requestState":"` + a.state + `"`
	}
	return more
}

// text returns the text of a tool result, and whether it is an error.
func text(t *testing.T, m jsonrpc.Message) string {
	t.Helper()
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	r := result[mcp.CallToolResult](t, m)
	if len(r.Content) == 0 {
		t.Fatalf("no content: %s", m.Result)
	}
	if r.IsError {
		return "tool error: " + r.Content[0].Text
	}
	return r.Content[0].Text
}

// tool adds a tool that returns text.
func tool(srv *server.Server, name string, h func(ctx context.Context, c *server.Call) (string, error)) {
	server.AddTool(srv, mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) { return h(ctx, c) })
}

type profile struct {
	Name  string   `json:"name" jsonschema:"title=Your name,minLength=2"`
	Color string   `json:"color" jsonschema:"enum=r|g,titles=Red|Green,default=g"`
	Tags  []string `json:"tags,omitempty" jsonschema:"enum=a|b"`
	Age   *int     `json:"age"`
}

// askEverything asks for a form, the model and the roots, one after the other.
func askEverything(ctx context.Context, c *server.Call) (string, error) {
	who, err := server.Elicit[profile](ctx, c, "who", "Who are you?")
	if err != nil || !who.Accepted() {
		return who.Action, err
	}
	said, err := server.Sample(ctx, c, "model", &mcp.CreateMessageParams{
		MaxTokens: 10, SystemPrompt: who.Value.Name,
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("one"), mcp.Text("two")}}},
	})
	if err != nil {
		return "", err
	}
	roots, err := server.Roots(ctx, c, "roots")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %v %s %s", who.Value.Name, who.Value.Color, who.Value.Tags, said.Content[0].Text, roots[0].URI), nil
}

// replies are answers to everything that askEverything asks.
func replies(in mcp.InputRequest) string {
	switch in.Method {
	case mcp.MethodElicitationCreate:
		return `{"action":"accept","content":{"name":"Ada","color":"r","tags.b":true,"tags":["b"],"extra":1}}`
	case mcp.MethodSamplingCreateMessage:
		return `{"role":"assistant","content":{"type":"text","text":"hello"},"model":"m"}`
	case mcp.MethodRootsList:
		return `{"roots":[{"uri":"file:///work"}]}`
	}
	return `{"code":-32601,"message":"unknown"}`
}

// TestAsking runs one handler for clients of all revisions that can be asked.
func TestAsking(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-FORM-PARAMS-2025-06", "ELICIT-SCHEMA-TYPES-2025-06", "ELICIT-MESSAGE-REQUIRED",
		"ELICIT-MODE-OMIT", "SAMP-NO-ARRAY-PRE-2025-11")
	const roots = `roots/list{}`
	form := `elicitation/create{"message":"Who are you?","requestedSchema":{"type":"object","properties":{` +
		`"name":{"type":"string","title":"Your name","minLength":2},` +
		`"color":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}},"age":{"type":"integer"}},"required":["name","color"]}}`
	plain := `elicitation/create{"message":"Who are you?","requestedSchema":{"type":"object","properties":{` +
		`"name":{"type":"string","title":"Your name","minLength":2},` +
		`"color":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},` +
		`"tags.a":{"type":"boolean","title":"tags: a"},"tags.b":{"type":"boolean","title":"tags: b"},"age":{"type":"integer"}},"required":["name","color"]}}`
	list := `sampling/createMessage{"messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}],"systemPrompt":"Ada","maxTokens":10}`
	single := `sampling/createMessage{"messages":[{"role":"user","content":{"type":"text","text":"one"}},{"role":"user","content":{"type":"text","text":"two"}}],"systemPrompt":"Ada","maxTokens":10}`
	tests := []struct {
		revision string
		rounds   int
		asked    []string
	}{
		{"2025-06-18", 1, []string{plain, single, roots}},
		{"2025-11-25", 1, []string{form, list, roots}},
		{modern, 4, []string{form, list, roots}},
	}
	for _, tt := range tests {
		t.Run(tt.revision, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, nil)
			tool(srv, "ask", askEverything)
			a := talk(t, srv).asker(tt.revision, allCapabilities, replies)
			if got, want := text(t, a.call("ask")), "Ada r [b] hello file:///work"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if a.rounds != tt.rounds || !slices.Equal(a.asked, tt.asked) {
				t.Errorf("%d rounds, asked\n%s\nwant %d rounds,\n%s", a.rounds, strings.Join(a.asked, "\n"), tt.rounds, strings.Join(tt.asked, "\n"))
			}
		})
	}
}

// TestMissingCapability calls handlers that ask clients that cannot be asked.
func TestMissingCapability(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ARCH-RESPECT-CAPABILITIES")
	mcptest.Proves(t, "MRTR-CAPABILITY", "ELICIT-CAP-EMPTY-IS-FORM", "ELICIT-MODE-NOT-SUPPORTED-NO-SEND",
		"SAMP-TOOLS-NO-SEND", "ROOT-SRV-CHECK-CAP")
	srv := newServer(t, nil)
	tool(srv, "form", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.Elicit[profile](ctx, c, "k", "m")
		return "asked", err
	})
	tool(srv, "url", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.ElicitURL(ctx, c, "k", &mcp.ElicitParams{Message: "m", URL: "https://example.com"})
		return "asked", err
	})
	tool(srv, "roots", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.Roots(ctx, c, "k")
		return "asked", err
	})
	tool(srv, "tools", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.Sample(ctx, c, "k", &mcp.CreateMessageParams{MaxTokens: 1, ToolChoice: &mcp.ToolChoice{}})
		return "asked", err
	})
	tool(srv, "definitions", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.Sample(ctx, c, "k", &mcp.CreateMessageParams{MaxTokens: 1, Tools: []mcp.Tool{}})
		return "asked", err
	})
	tool(srv, "branch", func(ctx context.Context, c *server.Call) (string, error) {
		_, err := server.Roots(ctx, c, "k")
		if _, ok := errors.AsType[*mcp.MissingCapabilityError](err); ok {
			return "without", nil
		}
		return "asked", err
	})
	tests := []struct{ revision, capabilities, tool, want string }{
		{modern, `{}`, "form", `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{modern, `{"elicitation":{"url":{}}}`, "form", `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{modern, `{"elicitation":{}}`, "form", ``},
		{modern, `{"elicitation":{}}`, "url", `{"requiredCapabilities":{"elicitation":{"url":{}}}}`},
		{modern, `{"sampling":{}}`, "roots", `{"requiredCapabilities":{"roots":{}}}`},
		{modern, `{"sampling":{}}`, "tools", `{"requiredCapabilities":{"sampling":{"tools":{}}}}`},
		{modern, `{"sampling":{}}`, "definitions", `{"requiredCapabilities":{"sampling":{"tools":{}}}}`},
		{"2025-11-25", `{"sampling":{}}`, "definitions", `tool error: client lacks a required capability: sampling`},
		{modern, `{}`, "branch", `without`},
		{"2025-11-25", `{}`, "form", `tool error: client lacks a required capability: elicitation`},
		{"2025-11-25", `{"elicitation":{}}`, "url", `tool error: client lacks a required capability: elicitation`},
		{"2025-11-25", `{"sampling":{}}`, "tools", `tool error: client lacks a required capability: sampling`},
		{"2025-06-18", `{"elicitation":{"url":{}}}`, "url", `tool error: client lacks a required capability: elicitation`},
		{"2025-06-18", `{"sampling":{"tools":{}}}`, "tools", `tool error: client lacks a required capability: sampling`},
		{"2025-03-26", `{"elicitation":{}}`, "form", `tool error: client lacks a required capability: elicitation`},
		{"2024-11-05", `{}`, "branch", `without`},
	}
	for _, tt := range tests {
		t.Run(tt.revision+" "+tt.capabilities+" "+tt.tool, func(t *testing.T) {
			t.Parallel()
			a := talk(t, srv).asker(tt.revision, tt.capabilities, nil)
			a.request("tools/call", `"name":"`+tt.tool+`"`)
			m := a.read()
			switch {
			case tt.want == "":
				if r := result[mcp.InputRequiredResult](t, m); r.ResultType != mcp.ResultInputRequired {
					t.Errorf("got %s, want a question", m.Result)
				}
			case tt.want[0] == '{':
				code(t, m, mcp.CodeMissingClientCapability)
				if m.Error != nil && string(m.Error.Data) != tt.want {
					t.Errorf("got data %s, want %s", m.Error.Data, tt.want)
				}
			default:
				if got := text(t, m); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// TestWrongAnswers answers questions with what is no answer.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-SEC-SERVER-VALIDATE", "ELICIT-SEC-VALIDATE-2025-06")
	srv := newServer(t, nil)
	tool(srv, "ask", askEverything)
	tests := []struct{ method, answer, problem string }{
		{mcp.MethodElicitationCreate, `12345`, "number"},
		{mcp.MethodElicitationCreate, `{}`, `action is ""`},
		{mcp.MethodElicitationCreate, `{"action":"accept"}`, `field "name": is missing`},
		{mcp.MethodElicitationCreate, `{"action":"accept","content":{"name":"A"}}`, "at least 2 characters"},
		{mcp.MethodElicitationCreate, `{"action":"accept","content":{"name":"Ada","age":1.5}}`, "whole number"},
		{mcp.MethodSamplingCreateMessage, `{}`, "role is missing"},
		{mcp.MethodSamplingCreateMessage, `{"role":"assistant","content":5}`, "number"},
		{mcp.MethodRootsList, `{}`, "roots is missing"},
	}
	for _, revision := range []string{"2025-11-25", modern} {
		for _, tt := range tests {
			t.Run(revision+" "+tt.answer, func(t *testing.T) {
				t.Parallel()
				a := talk(t, srv).asker(revision, allCapabilities, func(in mcp.InputRequest) string {
					if in.Method == tt.method {
						return tt.answer
					}
					return replies(in)
				})
				got, prefix := text(t, a.call("ask")), "tool error: "
				if revision == modern {
					prefix = "error -32602: "
				}
				if !strings.HasPrefix(got, prefix+"the client's answer to ") || !strings.Contains(got, tt.problem) {
					t.Errorf("got %q, want %s… %s", got, prefix, tt.problem)
				}
			})
		}
	}
}

// TestRefusals wants what the user did, and what the client's error was, to
// reach the handler.
func TestRefusals(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-HANDLE-DECLINE-CANCEL")
	srv := newServer(t, nil)
	tool(srv, "ask", askEverything)
	for _, revision := range []string{"2025-06-18", "2025-11-25", modern} {
		for _, action := range []string{mcp.ElicitDecline, mcp.ElicitCancel} {
			a := talk(t, srv).asker(revision, allCapabilities, func(mcp.InputRequest) string {
				return `{"action":"` + action + `","content":{"name":5}}`
			})
			if got := text(t, a.call("ask")); got != action {
				t.Errorf("%s: got %q, want %q", revision, got, action)
			}
		}
	}
	a := talk(t, srv).asker("2025-11-25", allCapabilities, func(mcp.InputRequest) string { return `{"code":-1,"message":"no"}` })
	if got, want := text(t, a.call("ask")), `tool error: the client's answer to "who": no (-1)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAll asks several things in one round.
func TestAll(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	tool(srv, "ask", func(ctx context.Context, c *server.Call) (string, error) {
		var name *mcp.ElicitResult
		var roots []mcp.Root
		err := server.All(
			func() (err error) {
				name, err = server.ElicitForm(ctx, c, "name", "Name?", &mcp.FormSchema{})
				return err
			},
			func() (err error) { roots, err = server.Roots(ctx, c, "roots"); return err },
		)
		if err != nil {
			return "", err
		}
		return name.Action + " " + string(name.Content) + " " + roots[0].URI, nil
	})
	for revision, rounds := range map[string]int{"2025-11-25": 1, modern: 2} {
		a := talk(t, srv).asker(revision, allCapabilities, replies)
		if got, want := text(t, a.call("ask")), "accept {} file:///work"; got != want || a.rounds != rounds || len(a.asked) != 2 {
			t.Errorf("%s: got %q in %d rounds, want %q in %d", revision, got, a.rounds, want, rounds)
		}
		if a.revision == modern && a.state != "" {
			t.Errorf("a state of %d bytes, want none: there is nothing to remember", len(a.state))
		}
	}
}

// TestSwallowedQuestions wants the client to be asked whatever the handler makes
// of the error.
func TestSwallowedQuestions(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	ends := map[string]error{"nothing": nil, "another": errors.New("broken"), "wire": jsonrpc.Errorf(-32000, "no")}
	for name, end := range ends {
		tool(srv, name, func(ctx context.Context, c *server.Call) (string, error) {
			roots, err := server.Roots(ctx, c, "roots")
			if err == nil {
				return roots[0].URI, nil
			}
			return "done", end
		})
		a := talk(t, srv).asker(modern, allCapabilities, replies)
		if got, want := text(t, a.call(name)), "file:///work"; got != want || a.rounds != 2 {
			t.Errorf("%s: got %q in %d rounds, want %q in 2", name, got, a.rounds, want)
		}
	}
}
