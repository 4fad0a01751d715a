package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// able are options with all handlers.
func able() *client.Options {
	yes := &mcp.Support{}
	return &client.Options{
		Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: yes, URL: yes}},
		OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			switch p.Message {
			case "no":
				return &mcp.ElicitResult{Action: mcp.ElicitDecline, Content: json.RawMessage(`{"dropped":1}`)}, nil
			case "panic":
				panic("secret")
			case "fail":
				return nil, errors.New("secret")
			case "chosen":
				return nil, jsonrpc.Errorf(-32000, "chosen")
			case "nothing":
				return nil, nil
			case "odd":
				return &mcp.ElicitResult{Action: "odd"}, nil
			case "bad":
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"ok":"x"}`)}, nil
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"unknown":1,"n":7}`)}, nil
		},
		OnSample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			if len(p.Messages) == 0 {
				return nil, jsonrpc.Errorf(mcp.CodeUserRejected, "the user does not want that")
			}
			return &mcp.CreateMessageResult{Model: "m", Content: p.Messages[0].Content}, nil
		},
		Roots: []mcp.Root{{URI: "file:///a", Name: "A"}},
	}
}

const (
	form     = `"requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean","default":true},"n":{"type":"integer"}}}`
	filledIn = `{"action":"accept","content":{"ok":true,"n":7}}`
	said     = `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`
	toolUse  = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]}`
)

// questions are what a server may ask a client that is able, and the answer: a
// result or the text of an error.
var questions = []struct {
	name, method, params string
	want                 string
	since                string // the first revision that has it
}{
	{"ELICIT-MODE-OMITTED-IS-FORM", mcp.MethodElicitationCreate, `{"message":"m",` + form + `}`, filledIn, r3},
	{"form", mcp.MethodElicitationCreate, `{"mode":"form","message":"m",` + form + `}`, filledIn, r3},
	{"ELICIT-RESULT-CONTENT-ACCEPT-ONLY", mcp.MethodElicitationCreate, `{"message":"no",` + form + `}`, `{"action":"decline"}`, r3},
	{"no form", mcp.MethodElicitationCreate, `{"message":"m"}`, `{"action":"accept","content":{}}`, r3},
	{"ELICIT-RESULT-URL-NO-CONTENT", mcp.MethodElicitationCreate, `{"mode":"url","message":"m","url":"https://a.example/x","elicitationId":"e"}`, `{"action":"accept"}`, r4},
	{"not a web page", mcp.MethodElicitationCreate, `{"mode":"url","message":"m","url":"javascript:alert(1)","elicitationId":"e"}`, "url is not the URL of a web page (-32602)", r4},
	{"unknown dialect", mcp.MethodElicitationCreate, `{"message":"m","requestedSchema":{"$schema":"https://example.com/dialect","type":"object","properties":{}}}`, "dialect of JSON Schema that is not supported (-32602)", r4},
	{"unknown mode", mcp.MethodElicitationCreate, `{"mode":"voice","message":"m"}`, "unknown mode (-32602)", r3},
	{"ELICIT-SEC-CLIENT-VALIDATE", mcp.MethodElicitationCreate, `{"message":"bad",` + form + `}`, "internal error (-32603)", r3},
	{"panic", mcp.MethodElicitationCreate, `{"message":"panic"}`, "internal error (-32603)", r3},
	{"error", mcp.MethodElicitationCreate, `{"message":"fail"}`, "internal error (-32603)", r3},
	{"no answer", mcp.MethodElicitationCreate, `{"message":"nothing"}`, "internal error (-32603)", r3},
	{"ELICIT-RESULT-ACTION", mcp.MethodElicitationCreate, `{"message":"odd"}`, "internal error (-32603)", r3},
	{"chosen error", mcp.MethodElicitationCreate, `{"message":"chosen"}`, "chosen (-32000)", r3},
	{"sampling", mcp.MethodSamplingCreateMessage, `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`, said, r1},
	{"SAMP-REJECTED-MINUS1", mcp.MethodSamplingCreateMessage, `{"maxTokens":9,"messages":[]}`, "the user does not want that (-1)", r1},
	{"SAMP-TOOLS-REJECT", mcp.MethodSamplingCreateMessage, `{"maxTokens":9,"messages":[],"tools":[]}`, "the client has not declared tools in sampling (-32602)", r1},
	{"SAMP-ERR-TOOLRESULT-MISSING", mcp.MethodSamplingCreateMessage, `{"maxTokens":9,"messages":[` + toolUse + `]}`, "the last message calls tools; a message with the results must follow (-32602)", r4},
	{
		"SAMP-ERR-TOOLRESULT-MIXED", mcp.MethodSamplingCreateMessage,
		`{"maxTokens":9,"messages":[` + toolUse + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},{"type":"text","text":""}]}]}`,
		"a message with results of tools must have nothing else (-32602)", r4,
	},
	{"ROOT-LIST-RPC", mcp.MethodRootsList, `{}`, `{"roots":[{"uri":"file:///a","name":"A"}]}`, r1},
}

func TestQuestionsOfSessions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-MODE-OMITTED-IS-FORM", "ELICIT-RESULT-ACTION", "ELICIT-RESULT-CONTENT-ACCEPT-ONLY",
		"ELICIT-RESULT-URL-NO-CONTENT", "ELICIT-SEC-CLIENT-VALIDATE", "ELICIT-SEC-VALIDATE-2025-06",
		"ELICIT-URL-NO-PREFETCH", "SAMP-TOOLS-REJECT", "SAMP-ERR-TOOLRESULT-MISSING", "SAMP-ERR-TOOLRESULT-MIXED",
		"SAMP-REJECTED-MINUS1", "SAMP-RESULT-FIELDS", "ROOT-LIST-RPC", "JSONS-ELICIT-DIALECT")
	for _, revision := range []string{r1, r2, r3, r4} {
		for _, q := range questions {
			bubble(t, revision+"/"+q.name, func(t *testing.T) {
				want := q.want
				if revision < q.since {
					if q.method != mcp.MethodElicitationCreate {
						return
					}
					want = "(-32602)" // a mode that the revision does not have
					if revision < r3 {
						want = fmt.Sprintf("method %q is not supported (-32601)", q.method)
					}
				}
				got := askLegacy(t, able(), revision, q.method, q.params)
				if got != want && (want[0] == '{' || !strings.HasSuffix(got, want)) {
					t.Errorf("answered %s, want %s", got, want)
				}
			})
		}
	}
}

// askLegacy asks one question and returns the answer: a result or the text of an
// error.
func askLegacy(t *testing.T, opts *client.Options, revision, method, params string) string {
	t.Helper()
	answers := make(chan jsonrpc.Message, 1)
	opts.Revision = revision
	connect(t, fake(t, func(p *peer) {
		p.open(revision)
		p.write(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params)
		m, _ := p.next()
		answers <- m
		p.idle()
	}), opts)
	m := <-answers
	if m.Error != nil {
		return m.Error.Error()
	}
	return string(m.Result)
}

func TestQuestionsOfStatelessServers(t *testing.T) {
	t.Parallel()
	for _, q := range questions {
		bubble(t, q.name, func(t *testing.T) {
			got := askModern(t, able(), `{"inputRequests":{"k":{"method":"`+q.method+`","params":`+q.params+`}},"resultType":"input_required"}`)
			if q.want[0] == '{' {
				if want := `{"k":` + q.want + `}`; got != want {
					t.Errorf("answered %s, want %s", got, want)
				}
			} else if !strings.HasPrefix(got, `tools/call: answer "k" of the server: `) || strings.HasPrefix(got, "{") {
				t.Errorf("answered %s, want an InputError", got)
			}
		})
	}
}

// askModern makes a call whose first result is the one given and returns the
// answers, or the text of the call's *InputError.
func askModern(t *testing.T, opts *client.Options, first string) string {
	t.Helper()
	answers := ""
	sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
		var params struct {
			InputResponses json.RawMessage `json:"inputResponses"`
		}
		_ = json.Unmarshal(m.Params, &params)
		if params.InputResponses == nil {
			p.result(m, first)
			return
		}
		answers = string(params.InputResponses)
		p.result(m, `{"content":[]}`)
	})), opts)
	_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"}, nil)
	if e, ok := errors.AsType[*client.InputError](err); ok && !client.IsRemote(err) && e.Key == "k" {
		return err.Error()
	} else if err != nil {
		t.Errorf("got %T %v", err, err)
	}
	return answers
}

// TestUndeclared asks for what the client has not declared.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-MODE-UNDECLARED-32602", "ROOT-UNSUPPORTED-32601", "ARCH-SAMPLING-NEEDS-CAPABILITY",
		"ARCH-RESPECT-CAPABILITIES")
	url := `{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}`
	formOnly := func() *client.Options { o := able(); o.Capabilities = mcp.ClientCapabilities{}; return o }
	urlOnly := func() *client.Options { o := able(); o.Capabilities.Elicitation.Form = nil; return o }
	nothing := func() *client.Options { return nil }
	tests := []struct {
		name           string
		opts           func() *client.Options
		method, params string
		legacy         int // the code
	}{
		{"ELICIT-MODE-UNDECLARED-32602", formOnly, mcp.MethodElicitationCreate, url, -32602},
		{"undeclared form", urlOnly, mcp.MethodElicitationCreate, `{"message":"m",` + form + `}`, -32602},
		{"ROOT-UNSUPPORTED-32601", nothing, mcp.MethodRootsList, `{}`, -32601},
		{"no elicitation", nothing, mcp.MethodElicitationCreate, `{"message":"m"}`, -32601},
		{"no sampling", nothing, mcp.MethodSamplingCreateMessage, `{"messages":[],"maxTokens":1}`, -32601},
		{"unknown", able, "example/ask", `{}`, -32601},
		{"bad params", able, mcp.MethodSamplingCreateMessage, `{"messages":5}`, -32602},
		{"no params", able, mcp.MethodElicitationCreate, `null`, -32602},
	}
	for _, test := range tests {
		bubble(t, "session/"+test.name, func(t *testing.T) {
			opts := test.opts()
			if opts == nil {
				opts = &client.Options{}
			}
			if got, want := askLegacy(t, opts, r4, test.method, test.params), fmt.Sprintf("(%d)", test.legacy); !strings.HasSuffix(got, want) {
				t.Errorf("answered %s, want %s", got, want)
			}
		})
		if test.name == "bad params" || test.name == "no params" {
			continue
		}
		bubble(t, "stateless/"+test.name, func(t *testing.T) {
			calls := 0
			sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
				calls++
				p.result(m, `{"resultType":"input_required","inputRequests":{"k":{"method":"`+test.method+`","params":`+test.params+`}}}`)
			})), test.opts())
			_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"}, nil)
			_, refused := errors.AsType[*client.InputError](err)
			_, left := errors.AsType[*client.InputRequiredError](err)
			if refused != (test.legacy == -32602) || left != !refused || calls != 1 {
				t.Errorf("got %T %v after %d calls", err, err, calls)
			}
		})
	}
}

// TestDeclared looks at what is declared because of the handlers.
func TestDeclared(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-CAP-DECLARE-INIT", "ELICIT-CAP-DECLARE-PER-REQUEST", "ELICIT-CAP-ONE-MODE",
		"SAMP-CAP-DECLARE-INIT", "SAMP-CAP-DECLARE-PER-REQUEST", "ROOT-CAP-DECLARE-INIT", "ROOT-CAP-DECLARE-PER-REQUEST")
	handlers := able()
	handlers.Capabilities = mcp.ClientCapabilities{}
	asking := able()
	asking.Roots, asking.OnSample = nil, nil
	asking.OnRoots = func(context.Context) ([]mcp.Root, error) { return nil, nil }
	tests := []struct {
		name string
		opts *client.Options
		want map[string]string
	}{
		{"none", nil, map[string]string{r1: `{}`, r3: `{}`, r4: `{}`, r5: `{}`}},
		{"handlers", handlers, map[string]string{
			r1: `{"roots":{"listChanged":true},"sampling":{}}`,
			r3: `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`,
			r4: `{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{}}}`,
			r5: `{"roots":{},"sampling":{},"elicitation":{"form":{}}}`,
		}},
		{"wishes", asking, map[string]string{
			r1: `{"roots":{"listChanged":true}}`,
			r3: `{"roots":{"listChanged":true},"elicitation":{}}`,
			r4: `{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}`,
			r5: `{"roots":{},"elicitation":{"form":{},"url":{}}}`,
		}},
	}
	for _, test := range tests {
		for revision, want := range test.want {
			bubble(t, revision+"/"+test.name, func(t *testing.T) {
				opts := client.Options{}
				if test.opts != nil {
					opts = *test.opts
				}
				opts.Revision = revision
				got := make(chan string, 1)
				connect(t, fake(t, func(p *peer) {
					m, _ := p.next()
					var params struct {
						Capabilities json.RawMessage `json:"capabilities"`
						Meta         mcp.Meta        `json:"_meta"`
					}
					if err := json.Unmarshal(m.Params, &params); err != nil {
						p.t.Error(err)
					}
					if revision == r5 {
						got <- string(params.Meta[mcp.MetaClientCapabilities])
						p.result(m, discovery(r5))
					} else {
						got <- string(params.Capabilities)
						p.result(m, greeting(revision))
					}
					p.idle()
				}), &opts)
				if got := <-got; got != want {
					t.Errorf("declared %s, want %s", got, want)
				}
			})
		}
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ROOT-LIST-CHANGED-NOTIFY", "ROOT-LIST-CHANGED-REMOVED", "ROOT-URI-FILE", "ROOT-SEC-VALIDATE",
		"ROOT-INTERNAL-32603")
	for _, revision := range []string{r1, r4, r5} {
		bubble(t, revision, func(t *testing.T) {
			got := make(chan string, 8)
			sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) {
				switch {
				case m.Method == mcp.NotificationRootsListChanged:
					p.write(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
				case m.Kind() == jsonrpc.Response:
					got <- string(m.Result)
				default:
					p.t.Errorf("client sent %s", m.Method)
				}
			})), &client.Options{Roots: []mcp.Root{}})
			for _, uri := range []string{"/a", "https://a/b", "file://", "file:///a/../b", "file:///a/%2e%2e/b", "file:a", ":"} {
				if err := sess.SetRoots(t.Context(), []mcp.Root{{URI: uri}}); err == nil {
					t.Errorf("root %q was taken", uri)
				}
			}
			if err := sess.SetRoots(t.Context(), []mcp.Root{{URI: "file:///b"}}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			want := []string{`{"roots":[{"uri":"file:///b"}]}`}
			if revision == r5 {
				want = nil // ROOT-LIST-CHANGED-REMOVED
			}
			close(got)
			var all []string
			for s := range got {
				all = append(all, s)
			}
			if d := cmp.Diff(want, all); d != "" {
				t.Errorf("roots (-want +got):\n%s", d)
			}
		})
	}
	bubble(t, "handler", func(t *testing.T) {
		opts := &client.Options{OnRoots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///c"}}, nil }}
		if got := askLegacy(t, opts, r4, mcp.MethodRootsList, `{}`); got != `{"roots":[{"uri":"file:///c"}]}` {
			t.Errorf("answered %s", got)
		}
		opts.OnRoots = func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "http://c"}}, nil }
		if got := askLegacy(t, opts, r4, mcp.MethodRootsList, `{}`); got != `internal error (-32603)` {
			t.Errorf("answered %s", got)
		}
	})
	t.Run("not declared", func(t *testing.T) {
		t.Parallel()
		sess := connect(t, fake(t, answering(r4, func(*peer, jsonrpc.Message) {})), nil)
		if err := sess.SetRoots(t.Context(), nil); err == nil {
			t.Error("roots were set that are not declared")
		}
		if err := sess.RootsChanged(t.Context()); err != nil {
			t.Error(err)
		}
		_, err := client.New(info, &client.Options{Roots: []mcp.Root{{URI: "x"}}}).Connect(t.Context(), fake(t, (*peer).idle))
		if err == nil || !strings.Contains(err.Error(), `root "x"`) {
			t.Errorf("got %v, want one about the root", err)
		}
	})
}
