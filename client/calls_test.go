package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// answering serves a revision and answers every request that comes after the
// opening with what reply writes.
func answering(revision string, reply func(p *peer, m jsonrpc.Message)) func(*peer) {
	return func(p *peer) {
		p.open(revision)
		for {
			m, ok := p.next()
			if !ok {
				return
			}
			reply(p, m)
		}
	}
}

// TestTypedCalls makes each typed call in each revision and looks at what goes
// out and what comes back.
func TestTypedCalls(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-META-PROTOCOL-VERSION", "BASE-META-CLIENT-CAPABILITIES", "BASE-META-CLIENT-INFO",
		"META-REQ-VERSION-CAPS", "META-CLIENTINFO", "COMPL-ARGUMENT", "PROMPT-GET-ARGS-STRING-MAP",
		"EXT-OFF-BY-DEFAULT", "DISC-REQUEST-SHAPE")
	tests := []struct {
		method, params, result string
		call                   func(t *testing.T, sess *client.Session) (any, error)
		want                   any
	}{
		{
			mcp.MethodToolsList, `{"cursor":"c"}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: mcp.Ptr("c")})
				return r.Tools[0].Name, err
			}, "a",
		},
		{
			mcp.MethodToolsCall, `{"name":"a","arguments":{"x":1}}`, `{"content":[{"type":"text","text":"hi"}],"isError":true}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a", Arguments: json.RawMessage(`{"x":1}`)}, nil)
				return fmt.Sprint(r.Content[0].Text, r.IsError), err
			}, "hitrue",
		},
		{
			mcp.MethodPromptsList, ``, `{"prompts":[{"name":"p"}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.ListPrompts(t.Context(), nil)
				return r.Prompts[0].Name, err
			}, "p",
		},
		{
			mcp.MethodPromptsGet, `{"name":"p","arguments":{"n":"1"}}`, `{"messages":[{"role":"user","content":{"type":"text","text":"say"}}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p", Arguments: map[string]string{"n": "1"}}, nil)
				return r.Messages[0].Content.Text, err
			}, "say",
		},
		{
			mcp.MethodResourcesList, ``, `{"resources":[{"uri":"x:1","name":"r"}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.ListResources(t.Context(), nil)
				return r.Resources[0].URI, err
			}, "x:1",
		},
		{
			mcp.MethodResourcesTemplatesList, ``, `{"resourceTemplates":[{"uriTemplate":"x:{id}","name":"r"}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.ListResourceTemplates(t.Context(), nil)
				return r.ResourceTemplates[0].URITemplate, err
			}, "x:{id}",
		},
		{
			mcp.MethodResourcesRead, `{"uri":"x:1"}`, `{"contents":[{"uri":"x:1","text":""}]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "x:1"}, nil)
				return len(r.Contents), err
			}, 1,
		},
		{
			mcp.MethodCompletionComplete, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}`, `{"completion":{"values":["vv"]}}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.Complete(t.Context(), &mcp.CompleteParams{
					Ref: mcp.PromptRef("p"), Argument: mcp.CompleteArgument{Name: "a", Value: "v"},
				})
				return r.Completion.Values[0], err
			}, "vv",
		},
		{
			"example/method", `{"a":[1, 2]}`, `{"kept": [1,  2]}`,
			func(t *testing.T, sess *client.Session) (any, error) {
				r, err := sess.Call(t.Context(), "example/method", json.RawMessage(`{"a":[1, 2]}`), nil)
				return string(r), err
			}, `{"kept": [1,  2]}`,
		},
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, revision := range []string{r1, r2, r3, r4, r5} {
		for _, test := range tests {
			bubble(t, revision+"/"+test.method, func(t *testing.T) {
				sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) {
					want := strings.ReplaceAll(test.params, " ", "")
					if revision == r5 {
						want = "{" + meta + strings.TrimSuffix(","+strings.TrimPrefix(want, "{"), ",")
						if test.params == "" {
							want = "{" + meta + "}"
						}
					}
					if m.Method != test.method || string(m.Params) != want {
						p.t.Errorf("client sent %s %s, want %s %s", m.Method, m.Params, test.method, want)
					}
					p.result(m, test.result)
				})), nil)
				got, err := test.call(t, sess)
				if err != nil || !cmp.Equal(got, test.want) {
					t.Errorf("got %v, %v, want %v", got, err, test.want)
				}
			})
		}
	}
}

// TestAnswers looks at how answers that are not results come back.
func TestAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-RESULTTYPE-ABSENT", "RT-ABSENT-IS-COMPLETE", "BASE-RESULTTYPE-UNKNOWN", "RT-UNKNOWN-INVALID",
		"BASE-ERRCODE-LOCAL", "BASE-RESULTTYPE-VALUES", "BASE-RESULTTYPE-SET", "RT-EXTENSION-VALUES")
	protocol := func(err error) bool {
		_, ok := errors.AsType[*client.ProtocolError](err)
		return ok && !client.IsRemote(err)
	}
	input := func(err error) bool {
		e, ok := errors.AsType[*client.InputRequiredError](err)
		return ok && e.Result.InputRequests["r"].Method == mcp.MethodRootsList && e.Method == mcp.MethodToolsCall
	}
	none := func(err error) bool { return err == nil }
	version := func(err error) bool {
		e, ok := errors.AsType[*client.VersionError](err)
		return ok && client.IsRemote(err) && len(e.Supported) == 1
	}
	result := func(result string) func(*peer, jsonrpc.Message) {
		return func(p *peer, m jsonrpc.Message) { p.result(m, result) }
	}
	tests := []struct {
		name, revision string
		reply          func(*peer, jsonrpc.Message)
		is             func(error) bool
		text           string
	}{
		{"remote", r4, func(p *peer, m jsonrpc.Message) { p.fail(m, -32602, "") }, client.IsRemote, "no (-32602)"},
		{"unsupported version", r5, func(p *peer, m jsonrpc.Message) { p.fail(m, -32022, `{"supported":["2027-01-01"]}`) }, version, "2027-01-01"},
		{"same code in a session", r4, func(p *peer, m jsonrpc.Message) { p.fail(m, -32022, "") }, client.IsRemote, "(-32022)"},
		{"no content", r4, result(`{"task":{"taskId":"1"}}`), protocol, `no "content"`},
		{"wrong type", r4, result(`{"content":{}}`), protocol, "content"},
		{"not an object", r4, result(`[]`), protocol, "tools/call: malformed answer"},
		{"unreadable", r4, func(p *peer, m jsonrpc.Message) { p.write(`{"jsonrpc":"2.0","id":%s}`, m.ID) }, protocol, "malformed"},
		{"structured only", r4, result(`{"structuredContent":{}}`), none, ""},
		{"BASE-RESULTTYPE-ABSENT", r5, result(`{"content":[]}`), none, ""},
		{"resultType null", r5, result(`{"resultType":null,"content":[]}`), none, ""},
		{"complete", r5, result(`{"resultType":"complete","content":[]}`), none, ""},
		{"BASE-RESULTTYPE-UNKNOWN", r5, result(`{"resultType":"maybe","content":[]}`), protocol, `"maybe"`},
		{"a task nobody asked for", r5, result(`{"resultType":"task","taskId":"1"}`), protocol, `"task"`},
		{"resultType not a string", r5, result(`{"resultType":1,"content":[]}`), protocol, "resultType"},
		{"input required", r5, result(`{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}`), input, "input"},
		{"input required, empty", r5, result(`{"resultType":"input_required"}`), protocol, "inputRequests"},
		{"no such type in a session", r4, result(`{"resultType":"input_required","content":[]}`), none, ""},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			sess := connect(t, fake(t, answering(test.revision, test.reply)), nil)
			_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"}, nil)
			if !test.is(err) || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %T %v, want another kind, or %q in it", err, err, test.text)
			}
		})
	}
}

// TestPartialCompletions has servers that leave out what they like.
func TestPartialCompletions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "COMPL-CLIENT-PARTIAL")
	for result, want := range map[string]int{
		`{}`: 0, `{"completion":null}`: 0, `{"completion":{}}`: 0, `{"completion":{"values":null}}`: 0, `{"completion":{"values":[]}}`: 0,
		`{"completion":{"values":["a"]}}`: 1, `{"completion":{"values":["a"],"total":7}}`: 1, `{"completion":{"values":["a"],"hasMore":true}}`: 1,
	} {
		for _, revision := range []string{r1, r4, r5} {
			bubble(t, revision+" "+result, func(t *testing.T) {
				sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) { p.result(m, result) })), nil)
				got, err := sess.Complete(t.Context(), &mcp.CompleteParams{Ref: mcp.PromptRef("p"), Argument: mcp.CompleteArgument{Name: "a"}})
				if err != nil || len(got.Completion.Values) != want {
					t.Errorf("got %+v, %v, want %d values", got, err, want)
				}
			})
		}
	}
}

func TestUnencodableParams(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{r4, r5} {
		for _, params := range []any{make(chan int), json.RawMessage(`[`), json.RawMessage(`"x"`), json.RawMessage(`{"a":1} 2`)} {
			bubble(t, fmt.Sprintf("%s/%v", revision, params), func(t *testing.T) {
				sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) { p.t.Errorf("sent %s", m.Params) })), nil)
				if _, err := sess.Call(t.Context(), "example/m", params, nil); err == nil || client.IsRemote(err) {
					t.Errorf("got %v, want a local error", err)
				}
			})
		}
	}
}

func TestArgumentsAreAnObject(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-CALL-PARAMS")
	for _, revision := range []string{r1, r5} {
		for arguments, ok := range map[string]bool{`[1]`: false, `"x"`: false, `1`: false, "{ }": true, `nil`: true, ``: false, `null`: false} {
			bubble(t, revision+"/"+arguments, func(t *testing.T) {
				sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) {
					if !ok {
						p.t.Errorf("sent %s", m.Params)
					}
					p.result(m, `{"content":[]}`)
				})), nil)
				params := &mcp.CallToolParams{Name: "t", Arguments: json.RawMessage(arguments)}
				if arguments == "nil" {
					params.Arguments = nil
				}
				_, err := sess.CallTool(t.Context(), params, nil)
				if (err == nil) != ok || client.IsRemote(err) {
					t.Errorf("got %v, want it sent: %v", err, ok)
				}
			})
		}
	}
}

// TestStructuredContent takes any JSON, and knows null from nothing.
func TestStructuredContent(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-STRUCTURED-ANY-JSON")
	for _, value := range []string{``, `null`, `{"a":null}`, `[1]`, `"x"`, `1.5`, `false`} {
		bubble(t, value, func(t *testing.T) {
			sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
				if value == "" {
					p.result(m, `{"resultType":"complete","content":[]}`)
					return
				}
				p.result(m, `{"resultType":"complete","content":[],"structuredContent":`+value+`}`)
			})), nil)
			result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"}, nil)
			if err != nil || string(result.StructuredContent) != value || (result.StructuredContent == nil) != (value == "") {
				t.Errorf("got %+v, %v, want %q", result, err, value)
			}
		})
	}
}

func TestRevisionSpecificCalls(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PING-REMOVED")
	bubble(t, "session", func(t *testing.T) {
		var got []string
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			got = append(got, m.Method+" "+string(m.Params))
			if m.Kind() == jsonrpc.Request {
				p.result(m, `{}`)
			}
		})), nil)
		ctx := t.Context()
		err := errors.Join(sess.Ping(ctx), sess.SetLogLevel(ctx, mcp.LevelInfo),
			sess.Notify(ctx, mcp.NotificationRootsListChanged, nil), sess.Ping(ctx))
		if err != nil {
			t.Error(err)
		}
		want := []string{
			"ping ", `logging/setLevel {"level":"info"}`, "notifications/roots/list_changed ", "ping ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
	bubble(t, "stateless", func(t *testing.T) {
		var last jsonrpc.Message
		sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) {
			last = m
			p.result(m, `{}`)
		})), nil)
		ctx := t.Context()
		if err := errors.Join(sess.SetLogLevel(ctx, mcp.LevelInfo), sess.SetLogLevel(ctx, mcp.LevelError), sess.Ping(ctx)); err != nil {
			t.Error(err)
		}
		params := string(last.Params)
		if last.Method != mcp.MethodServerDiscover || strings.Count(params, mcp.MetaLogLevel) != 1 || !strings.Contains(params, `"error"`) {
			t.Errorf("pinged with %s %s, want the last log level in it", last.Method, params)
		}
	})
}

// TestHeaders looks at what a carrier is given to repeat.
func TestHeaders(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-MCP-NAME", "HTTP-STD-HEADERS")
	for revision, header := range map[string]string{r2: "", r3: r3, r5: r5} {
		bubble(t, revision, func(t *testing.T) {
			via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
				switch m.Method {
				case mcp.MethodServerDiscover:
					return ok(discovery(r5)), nil
				case mcp.MethodInitialize:
					return ok(greeting(revision)), nil
				default:
					return ok(`{}`), nil
				}
			}}
			sess := connect(t, via, &client.Options{Revision: revision})
			for method, params := range map[string]any{
				mcp.MethodToolsCall:     &mcp.CallToolParams{Name: "n"},
				mcp.MethodPromptsGet:    json.RawMessage(`{"arguments":{"name":"no"},"name":"\u006e"}`),
				mcp.MethodResourcesRead: &mcp.ReadResourceParams{URI: "n"},
				mcp.MethodToolsList:     nil,
				"tasks/get":             json.RawMessage(`{"name":"no","taskId":"n"}`),
				"example/unnamed":       json.RawMessage(`{"name":"no"}`),
			} {
				if _, err := sess.Call(t.Context(), method, params, nil); err != nil {
					t.Fatal(err)
				}
				last := via.sent[len(via.sent)-1]
				want := ""
				if method != mcp.MethodToolsList && method != "example/unnamed" {
					want = "n"
				}
				switch {
				case last.Revision != header:
					t.Errorf("%s under %q, want %q", method, last.Revision, header)
				case revision == r5 && (last.Route == nil || last.Route.Name != want):
					t.Errorf("%s with route %+v, want name %q", method, last.Route, want)
				case revision != r5 && last.Route != nil:
					t.Errorf("%s with a route in revision %s", method, revision)
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PAGE-CURSOR-EMPTY-VALID", "PAGE-CURSOR-OPAQUE", "PAGE-END-MISSING-CURSOR", "PAGE-BOTH-FLOWS",
		"PAGE-OPERATIONS", "PAGE-SIZE-NOT-FIXED", "PROMPT-CLIENT-PAGINATION")
	page := func(n int, next string) string {
		if next != "" {
			next = `,"nextCursor":` + next
		}
		return fmt.Sprintf(`{"tools":[{"name":"%d","inputSchema":{}}],"prompts":[{"name":"%d"}],"resources":[{"uri":"%d","name":""}],`+
			`"resourceTemplates":[{"uriTemplate":"%d","name":""}]%s}`, n, n, n, n, next)
	}
	tests := []struct {
		name, revision string
		next           []string // the cursor of each page
		want, fails    string
	}{
		{"one page", r4, []string{``}, "0", ""},
		{"null ends", r5, []string{`null`}, "0", ""},
		{"three pages", r4, []string{`"a"`, `"b"`, ``}, "012", ""},
		{"PAGE-CURSOR-EMPTY-VALID", r5, []string{`""`, `"b"`, ``}, "012", ""},
		{"empty ends where it is a habit", r4, []string{`"a"`, `""`}, "01", ""},
		{"cursor comes twice", r4, []string{`"a"`, `"b"`, `"a"`, `"b"`}, "012", `"a" came twice`},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			asked := map[string]int{}
			sess := connect(t, fake(t, answering(test.revision, func(p *peer, m jsonrpc.Message) {
				n := asked[m.Method]
				if n > 0 && !strings.Contains(string(m.Params), `"cursor":`+test.next[n-1]) {
					p.t.Errorf("page %d asked for with %s, want cursor %s", n, m.Params, test.next[n-1])
				}
				asked[m.Method]++
				p.result(m, page(n, test.next[n]))
			})), nil)
			check := func(list string, got string, err error) {
				t.Helper()
				if got != test.want || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%s: got %s, %v, want %s, %q", list, got, err, test.want, test.fails)
				}
			}
			var got strings.Builder
			var failed error
			collect := func(s string, err error) {
				got.WriteString(s)
				failed = errors.Join(failed, err)
			}
			flush := func(list string) {
				check(list, got.String(), failed)
				got.Reset()
				failed = nil
			}
			for tool, err := range sess.Tools(t.Context()) {
				collect(tool.Name, err)
			}
			flush("tools")
			for prompt, err := range sess.Prompts(t.Context()) {
				collect(prompt.Name, err)
			}
			flush("prompts")
			for resource, err := range sess.Resources(t.Context()) {
				collect(resource.URI, err)
			}
			flush("resources")
			for template, err := range sess.ResourceTemplates(t.Context()) {
				collect(template.URITemplate, err)
			}
			flush("templates")
		})
	}
	bubble(t, "stops early and fails", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			if strings.Contains(string(m.Params), "cursor") {
				p.fail(m, -32602, "")
				return
			}
			p.result(m, page(0, `"a"`))
		})), nil)
		for range sess.Tools(t.Context()) {
			break
		}
		for _, fails := range []func() error{
			func() (last error) {
				for _, err := range sess.Tools(t.Context()) {
					last = err
				}
				return last
			},
			func() (last error) {
				for _, err := range sess.Prompts(t.Context()) {
					last = err
				}
				return last
			},
			func() (last error) {
				for _, err := range sess.Resources(t.Context()) {
					last = err
				}
				return last
			},
			func() (last error) {
				for _, err := range sess.ResourceTemplates(t.Context()) {
					last = err
				}
				return last
			},
		} {
			if err := fails(); !client.IsRemote(err) {
				t.Errorf("got %v, want the server's error", err)
			}
		}
	})
}
