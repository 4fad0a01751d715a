package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// question makes a question of JSON, as handlers can make them of anything.
func question(t *testing.T, text string) mcp.InputRequest {
	t.Helper()
	var in mcp.InputRequest
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return in
}

// eagerly asks a question in each of the two ways, and returns what was asked and
// the response.
func eagerly(t *testing.T, revision, capabilities string, in mcp.InputRequest) (asked []string, m jsonrpc.Message) {
	t.Helper()
	srv := newServer(t, nil)
	srv.AddRawTool(mcp.Tool{Name: "ask"}, func(_ context.Context, c *server.Call) (any, error) {
		given, err := c.InputResponses()
		if err != nil || given != nil {
			return &mcp.CallToolResult{}, err
		}
		return mcp.InputRequired(map[string]mcp.InputRequest{"k": in}, ""), nil
	})
	a := talk(t, srv).asker(revision, capabilities, replies)
	m = a.call("ask")
	return a.asked, m
}

func field(schema string) string {
	return `{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"f":` + schema + `}}}}`
}

func sampling(members string) string {
	return `{"method":"sampling/createMessage","params":{` + members + `}}`
}

// TestForbiddenQuestions has handlers ask what the protocol does not allow. The
// client sees nothing of it, whatever revision it speaks.
func TestForbiddenQuestions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-FORM-PARAMS", "ELICIT-SCHEMA-FLAT", "ELICIT-SCHEMA-FORMATS", "ELICIT-SCHEMA-TYPES-2025-11",
		"ELICIT-URL-VALID", "MRTR-REQUEST-TYPES", "SAMP-REQ-REQUIRED", "SAMP-MSG-ROLE", "SAMP-PRIORITY-RANGE",
		"SAMP-CONTENT-OBJECT-OR-ARRAY", "SAMP-TOOLRESULT-ONLY", "SAMP-TOOLUSE-BALANCE", "SAMP-SEC-VALIDATE")
	const (
		use    = `{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}}`
		result = `{"type":"tool_result","toolUseId":"1","content":[]}`
		hello  = `{"type":"text","text":"hello"}`
	)
	tests := map[string]string{
		"nested object":         field(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		"list of objects":       field(`{"type":"array","items":{"type":"object"}}`),
		"list of anything":      field(`{"type":"array"}`),
		"null":                  field(`{"type":"null"}`),
		"no type":               field(`{}`),
		"format":                field(`{"type":"string","format":"password"}`),
		"no choice":             field(`{"type":"string","enum":[]}`),
		"default":               field(`{"type":"boolean","default":"yes"}`),
		"mode":                  `{"method":"elicitation/create","params":{"mode":"voice","message":"m"}}`,
		"no URL":                `{"method":"elicitation/create","params":{"mode":"url","message":"m"}}`,
		"a word":                `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"pay here"}}`,
		"a path":                `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"/pay"}}`,
		"no parameters":         `{"method":"elicitation/create"}`,
		"no parameters either":  `{"method":"sampling/createMessage"}`,
		"ping":                  `{"method":"ping"}`,
		"tools/list":            `{"method":"tools/list","params":{}}`,
		"no tokens":             sampling(`"messages":[]`),
		"priority":              sampling(`"maxTokens":1,"messages":[],"modelPreferences":{"speedPriority":1.01}`),
		"negative priority":     sampling(`"maxTokens":1,"messages":[],"modelPreferences":{"costPriority":-0.1}`),
		"system":                sampling(`"maxTokens":1,"messages":[{"role":"system","content":` + hello + `}]`),
		"tool":                  sampling(`"maxTokens":1,"messages":[{"role":"tool","content":` + hello + `}]`),
		"no role":               sampling(`"maxTokens":1,"messages":[{"content":` + hello + `}]`),
		"link":                  sampling(`"maxTokens":1,"messages":[{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n"}}]`),
		"resource":              sampling(`"maxTokens":1,"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":""}}}]`),
		"use without result":    sampling(`"maxTokens":1,"tools":[],"messages":[` + use + `]`),
		"use with other result": sampling(`"maxTokens":1,"tools":[],"messages":[` + use + `,{"role":"user","content":` + strings.Replace(result, "1", "2", 1) + `}]`),
		"use and then talk":     sampling(`"maxTokens":1,"tools":[],"messages":[` + use + `,{"role":"user","content":` + hello + `},{"role":"user","content":` + result + `}]`),
		"result and talk":       sampling(`"maxTokens":1,"tools":[],"messages":[` + use + `,{"role":"user","content":[` + result + `,` + hello + `]}]`),
		"result of the model":   sampling(`"maxTokens":1,"tools":[],"messages":[` + use + `,{"role":"assistant","content":` + result + `}]`),
	}
	for name, text := range tests {
		for _, revision := range []string{"2025-11-25", modern} {
			t.Run(name+" "+revision, func(t *testing.T) {
				t.Parallel()
				asked, m := eagerly(t, revision, allCapabilities, question(t, text))
				if len(asked) > 0 || m.Error == nil {
					t.Errorf("asked %q, got %s, want an error", asked, m.Result)
				}
			})
		}
	}
}

// TestAllowedQuestions has handlers ask what the protocol has, and looks at the
// wire.
func TestAllowedQuestions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-FORM-PARAMS", "ELICIT-FORM-PARAMS-2025-06", "ELICIT-MODE-OMIT", "ELICIT-URL-PARAMS-2025-11",
		"ELICIT-URL-PARAMS-2026-07", "ELICIT-SCHEMA-TYPES-2025-06", "ELICIT-SCHEMA-TYPES-2025-11", "ELICIT-SCHEMA-FORMATS",
		"SAMP-PRIORITY-RANGE", "SAMP-CONTENT-OBJECT-OR-ARRAY", "SAMP-NO-ARRAY-PRE-2025-11", "SAMP-BLOCKS-2024",
		"SAMP-BLOCKS-2025-03", "SAMP-TOOLRESULT-SHAPE", "SAMP-TOOLUSE-PARALLEL", "SAMP-TOOLS-SCOPED", "SAMP-CONTEXT-AVOID")
	const (
		empty   = `elicitation/create{"message":"m","requestedSchema":{"type":"object","properties":{}}}`
		formats = `{"type":"object","properties":{"a":{"type":"string","minLength":1,"maxLength":9,"format":"email"},"b":{"type":"string","format":"uri"},` +
			`"c":{"type":"string","format":"date"},"d":{"type":"string","format":"date-time"},"e":{"type":"number","minimum":0,"maximum":1.5}}}`
		kinds = `{"type":"object","properties":{"a":{"type":"string","enum":["x"],"default":"x"},"b":{"type":"string","oneOf":[{"const":"x","title":"X"}]},` +
			`"c":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"minItems":0,"maxItems":1},"d":{"type":"boolean","default":true},"e":{"type":"string","default":"y"},` +
			`"f":{"type":"string","enum":["x"],"enumNames":["X"]},"g":{"type":"integer","default":1}},"required":["a"]}`
		plain = `{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"string","enum":["x"],"enumNames":["X"]},` +
			`"c.x":{"type":"boolean","title":"c: X"},"d":{"type":"boolean","default":true},"e":{"type":"string"},` +
			`"f":{"type":"string","enum":["x"],"enumNames":["X"]},"g":{"type":"integer"}},"required":["a"]}`
		talk  = `"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"a"}}`
		sound = `{"type":"audio","data":"AA==","mimeType":"audio/wav"}`
		image = `{"type":"image","data":"AA==","mimeType":"image/png"}`
		uses  = `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"mine","input":{}},{"type":"tool_use","id":"2","name":"mine","input":{"a":1}}]},` +
			`{"role":"user","content":[{"type":"tool_result","toolUseId":"2","content":[]},{"type":"tool_result","toolUseId":"1","content":[{"type":"resource_link","uri":"a:b","name":"n"}],"isError":true}]}],` +
			`"maxTokens":1,"tools":[{"name":"mine","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"none"}}`
	)
	form := func(schema string) string {
		return `{"method":"elicitation/create","params":{"message":"m","requestedSchema":` + schema + `}}`
	}
	page := `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}}`
	tests := []struct{ name, revision, question, want string }{
		{"confirmation", modern, `{"method":"elicitation/create","params":{"message":"m"}}`, empty},
		{"confirmation in a session", "2025-06-18", `{"method":"elicitation/create","params":{"mode":"form","message":"m"}}`, empty},
		{"form with a URL", modern, `{"method":"elicitation/create","params":{"message":"m","url":"https://a.example/","elicitationId":"e"}}`, empty},
		{"formats", modern, form(formats), `elicitation/create{"message":"m","requestedSchema":` + formats + `}`},
		{"formats of old", "2025-06-18", form(formats), `elicitation/create{"message":"m","requestedSchema":` + formats + `}`},
		{"kinds", modern, form(kinds), `elicitation/create{"message":"m","requestedSchema":` + kinds + `}`},
		{"kinds in a session", "2025-11-25", form(kinds), `elicitation/create{"message":"m","requestedSchema":` + kinds + `}`},
		{"kinds of old", "2025-06-18", form(kinds), `elicitation/create{"message":"m","requestedSchema":` + plain + `}`},
		{"page", modern, page, `elicitation/create{"mode":"url","message":"m","url":"https://a.example/"}`},
		{"page in a session", "2025-11-25", page, `elicitation/create{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}`},
		{"priorities", modern, sampling(talk + `],"modelPreferences":{"costPriority":0,"speedPriority":1,"intelligencePriority":0.5}`), `sampling/createMessage{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"modelPreferences":{"costPriority":0,"speedPriority":1,"intelligencePriority":0.5},"maxTokens":1}`},
		{"no messages", "2024-11-05", sampling(`"maxTokens":1`), `sampling/createMessage{"messages":[],"maxTokens":1}`},
		{"context nobody declared", modern, sampling(`"maxTokens":1,"includeContext":"allServers"`), `sampling/createMessage{"messages":[],"maxTokens":1}`},
		{"blocks", modern, sampling(`"maxTokens":1,"messages":[{"role":"user","content":[` + image + `,` + sound + `]}]`), `sampling/createMessage{"messages":[{"role":"user","content":[` + image + `,` + sound + `]}],"maxTokens":1}`},
		{"blocks of old", "2025-03-26", sampling(`"maxTokens":1,"messages":[{"role":"user","content":[` + image + `,` + sound + `]}]`), `sampling/createMessage{"messages":[{"role":"user","content":` + image + `},{"role":"user","content":` + sound + `}],"maxTokens":1}`},
		{"blocks of oldest", "2024-11-05", sampling(`"maxTokens":1,"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":"a"}]}]`), `sampling/createMessage{"messages":[{"role":"user","content":` + image + `},{"role":"user","content":{"type":"text","text":"a"}}],"maxTokens":1}`},
		{"sound for the oldest", "2024-11-05", sampling(`"maxTokens":1,"messages":[{"role":"user","content":` + sound + `}]`), ""},
		{"tools", modern, `{"method":"sampling/createMessage","params":` + uses + `}`, `sampling/createMessage` + uses},
		{"tools in a session", "2025-11-25", `{"method":"sampling/createMessage","params":` + uses + `}`, `sampling/createMessage` + uses},
		{"tools for old ones", "2025-06-18", `{"method":"sampling/createMessage","params":` + uses + `}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked, m := eagerly(t, tt.revision, allCapabilities, question(t, tt.question))
			if got := strings.Join(asked, "\n"); got != tt.want || (m.Error == nil) != (tt.want != "") {
				t.Errorf("asked\n%s\nwant\n%s\n(%s %v)", got, tt.want, m.Result, m.Error)
			}
		})
	}
}

// TestKeysOfQuestions asks two questions under one key, which would have one
// answer.
func TestKeysOfQuestions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-KEYS-UNIQUE")
	srv := newServer(t, nil)
	tool(srv, "both", func(ctx context.Context, c *server.Call) (string, error) {
		return "asked", server.All(
			func() error { _, err := server.Roots(ctx, c, "k"); return err },
			func() error { _, err := server.Elicit[struct{}](ctx, c, "k", "Sure?"); return err },
		)
	})
	srv.AddRawTool(mcp.Tool{Name: "mixed"}, func(ctx context.Context, c *server.Call) (any, error) {
		_, _ = server.Roots(ctx, c, "k")
		return mcp.InputRequired(map[string]mcp.InputRequest{"k": mcp.ElicitInput(&mcp.ElicitParams{Message: "Sure?"})}, ""), nil
	})
	tool(srv, "same", func(ctx context.Context, c *server.Call) (string, error) {
		ask := func() error {
			_, err := server.ElicitURL(ctx, c, "k", &mcp.ElicitParams{Message: "m", URL: "https://a.example/"})
			return err
		}
		return "asked", server.All(ask, ask)
	})
	for name, want := range map[string]int{"both": 0, "mixed": 0, "same": 1} {
		a := talk(t, srv).asker(modern, allCapabilities, replies)
		if m := a.call(name); (m.Error == nil) != (want > 0) || len(a.asked) != want {
			t.Errorf("%s: asked %q, got %s %v", name, a.asked, m.Result, m.Error)
		}
	}
}

// TestWhoMayAsk has handlers of all methods ask: only those of three may.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-METHODS", "MRTR-RESULT-SHAPE")
	srv := newServer(t, nil)
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
	srv.AddPrompt(mcp.Prompt{Name: "p", Arguments: []mcp.PromptArgument{{Name: "a"}}}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
	srv.CompletePrompt("p", "a", server.OneOf("x"))
	srv.Handle("x/own", func(context.Context, *server.Call) (any, error) { return nil, nil })
	srv.Use(func(server.Handler) server.Handler {
		return func(_ context.Context, c *server.Call) (any, error) {
			return mcp.InputRequired(map[string]mcp.InputRequest{"k": mcp.RootsInput()}, ""), nil
		}
	})
	for request, may := range map[string]bool{
		`tools/call "name":"add"`: true, `prompts/get "name":"p"`: true, `resources/read "uri":"r:1"`: true,
		`tools/list "cursor":null`: false, `prompts/list "cursor":null`: false, `resources/list "cursor":null`: false,
		`resources/templates/list "cursor":null`: false, `server/discover "x":1`: false, `x/own "x":1`: false,
		`completion/complete "ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`: false,
	} {
		method, params, _ := strings.Cut(request, " ")
		a := talk(t, srv).asker(modern, allCapabilities, nil)
		a.request(method, params)
		m := a.read()
		want := `{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list","params":{}}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}`
		if got := m.Error == nil && sameJSON(m.Result, []byte(want)); got != may || may == (m.Error != nil) {
			t.Errorf("%s: got %s %v, want it to ask: %v", method, m.Result, m.Error, may)
		}
	}
}

// TestNobodyComesBack asks and is not called again; those who call anew are asked
// anew, also when they have declined before.
func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-NO-ASSUME-RETRY", "ELICIT-HANDLE-DECLINE-CANCEL")
	srv := newServer(t, nil)
	opened := addTicket(srv)
	for i := range 3 {
		a := talk(t, srv).asker(modern, allCapabilities, func(mcp.InputRequest) string { return `{"action":"cancel"}` })
		a.first(`{}`)
		a.first(`{}`)
		if got, want := text(t, a.call("ticket")), fmt.Sprintf("%d cancel", 3*i+3); got != want || int(opened.Load()) != 3*i+3 {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	tool(srv, "insist", func(ctx context.Context, c *server.Call) (string, error) {
		for i := range 9 {
			answer, err := server.Elicit[struct{}](ctx, c, fmt.Sprint("sure", i), "Sure?")
			if err != nil || answer.Accepted() {
				return fmt.Sprint(i, " ", answer.Action), err
			}
		}
		return "", errors.New("no")
	})
	answers := []string{mcp.ElicitDecline, mcp.ElicitCancel, mcp.ElicitAccept}
	a := talk(t, srv).asker(modern, allCapabilities, nil)
	a.answer = func(mcp.InputRequest) string { return `{"action":"` + answers[len(a.asked)-1] + `"}` }
	if got := text(t, a.call("insist")); got != "2 accept" || a.rounds != 4 {
		t.Errorf("got %q in %d rounds", got, a.rounds)
	}
}

// TestAnswersStayWithTheirClient asks two clients at the same time, with requests
// of the same id. Each gets what is about its own page.
func TestAnswersStayWithTheirClient(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-SEC-BIND-IDENTITY", "ELICIT-COMPLETE-TARGET", "ELICIT-COMPLETE-NOTIFY", "ELICIT-COMPLETE-REMOVED")
	srv := newServer(t, nil)
	srv.AddRawTool(mcp.Tool{Name: "pay"}, func(ctx context.Context, c *server.Call) (any, error) {
		page := &mcp.ElicitParams{Message: "Pay", URL: "https://a.example/", ElicitationID: string(c.Arguments())}
		r, err := server.ElicitURL(ctx, c, "k", page)
		if err != nil {
			return nil, err
		}
		text := mcp.Text(page.ElicitationID + " " + r.Action)
		return &mcp.CallToolResult{Content: []mcp.Content{text}}, c.Session().ElicitationComplete(page.ElicitationID)
	})
	const params = `"name":"pay","arguments":`
	ada, eve := talk(t, srv).asker("2025-11-25", allCapabilities, nil), talk(t, srv).asker("2025-11-25", allCapabilities, nil)
	ada.request("tools/call", params+`{"for":"ada"}`)
	eve.request("tools/call", params+`{"for":"eve"}`)
	if x, y := ada.read(), eve.read(); x.ID != y.ID || x.Method != mcp.MethodElicitationCreate || y.Method != x.Method {
		t.Fatalf("asked %s %s and %s %s, want it with one id", x.ID, x.Params, y.ID, y.Params)
	}
	for who, a := range map[string]*asker{"eve": eve, "ada": ada} {
		a.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"` + map[string]string{"eve": "decline", "ada": "accept"}[who] + `"}}`)
	}
	for who, a := range map[string]*asker{"eve": eve, "ada": ada} {
		a.want(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"{\"for\":\"` + who + `\"}"}}`)
		if got, want := text(t, a.read()), `{"for":"`+who+`"} `+map[string]string{"eve": "decline", "ada": "accept"}[who]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	stateless := talk(t, srv).asker(modern, allCapabilities, nil)
	stateless.request("tools/call", params+`{},"inputResponses":{"k":{"action":"accept"}}`)
	if got := text(t, stateless.read()); got != "{} accept" { // a notification would come before
		t.Errorf("got %q", got)
	}
}

// TestIDsOfPages sends users to pages without ids of the program's own.
func TestIDsOfPages(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-URL-ID-OPAQUE-UNIQUE", "ELICIT-URL-PARAMS-2025-11", "ELICIT-URL-PARAMS-2026-07")
	page := mcp.ElicitInput(&mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "https://a.example/"})
	seen := map[string]bool{}
	for range 10 {
		asked, _ := eagerly(t, "2025-11-25", allCapabilities, page)
		var p mcp.ElicitParams
		if len(asked) != 1 || json.Unmarshal([]byte(strings.TrimPrefix(asked[0], mcp.MethodElicitationCreate)), &p) != nil {
			t.Fatalf("asked %q", asked)
		}
		if len(p.ElicitationID) < 20 || seen[p.ElicitationID] {
			t.Errorf("the id %q is short or not new", p.ElicitationID)
		}
		seen[p.ElicitationID] = true
	}
	asked, _ := eagerly(t, modern, allCapabilities, page)
	if want := `elicitation/create{"mode":"url","message":"m","url":"https://a.example/"}`; len(asked) != 1 || asked[0] != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// TestPagesThatAreNone fails with the error for pages to visit, and names none.
func TestPagesThatAreNone(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-32042-ONLY-WHEN-REQUIRED", "ELICIT-32042-DATA", "ELICIT-URL-VALID")
	srv := newServer(t, nil)
	for name, pages := range map[string][]mcp.ElicitParams{"none": nil, "word": {{Message: "m", URL: "pay"}}} {
		tool(srv, name, func(context.Context, *server.Call) (string, error) {
			return "", &mcp.URLElicitationRequiredError{Elicitations: pages}
		})
		for _, revision := range []string{"2025-11-25", modern} {
			a := talk(t, srv).asker(revision, allCapabilities, replies)
			code(t, a.call(name), jsonrpc.CodeInternal)
			if len(a.asked) > 0 {
				t.Errorf("%s: asked %q", name, a.asked)
			}
		}
	}
	// The code alone, from a handler or a server behind it.
	tool(srv, "code", func(context.Context, *server.Call) (string, error) {
		return "", jsonrpc.Errorf(mcp.CodeURLElicitationRequired, "no")
	})
	code(t, talk(t, srv).asker(modern, allCapabilities, replies).call("code"), jsonrpc.CodeInternal)
}

// TestQuestionsInRawResults has handlers write the result that asks themselves:
// it is checked and sealed like any other.
func TestQuestionsInRawResults(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "MRTR-METHODS", "MRTR-CAPABILITY", "MRTR-AT-LEAST-ONE", "MRTR-STATE-INTEGRITY")
	srv := newServer(t, nil)
	raw := map[string]string{
		"roots":   `{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"mine"}`,
		"nothing": `{"resultType":"input_required"}`,
		"broken":  `{"resultType":"input_required","inputRequests":5}`,
		"ping":    `{"resultType":"input_required","inputRequests":{"k":{"method":"ping"}}}`,
		"talk":    `{"content":[{"type":"text","text":"input_required"}]}`,
	}
	for name, result := range raw {
		handler := func(_ context.Context, c *server.Call) (any, error) {
			if state, err := c.RequestState(); state != "" || err != nil {
				return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(state)}}, err
			}
			return json.RawMessage(result), nil
		}
		srv.AddRawTool(mcp.Tool{Name: name}, handler)
		srv.Handle("x/"+name, handler)
	}
	srv.AddRawTool(mcp.Tool{Name: "nil"}, func(context.Context, *server.Call) (any, error) { return (*mcp.InputRequiredResult)(nil), nil })
	for _, revision := range []string{"2025-11-25", modern} {
		for name, want := range map[string]string{"roots": "mine", "talk": "input_required", "nothing": "", "broken": "", "ping": "", "nil": ""} {
			a := talk(t, srv).asker(revision, allCapabilities, replies)
			m := a.call(name)
			if got := m.Error == nil && text(t, m) == want; got != (want != "") || strings.Contains(a.state, "mine") {
				t.Errorf("%s %s: got %s %v", revision, name, m.Result, m.Error)
			}
		}
	}
	a := talk(t, srv).asker(modern, `{}`, replies)
	code(t, a.call("roots"), mcp.CodeMissingClientCapability)
	code(t, a.ask("x/roots", `"x":1`), jsonrpc.CodeInternal)
}
