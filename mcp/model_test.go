package mcp_test

import (
	stdjson "encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestPresence wants required members to be written when they are zero, and
// optional ones only when they are set.
func TestPresence(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-RESULT-CONTENT-REQUIRED")
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"call result", &mcp.CallToolResult{}, `{"content":[]}`},
		{"tools", &mcp.ListToolsResult{}, `{"tools":[]}`},
		{"prompts", &mcp.ListPromptsResult{}, `{"prompts":[]}`},
		{"resources", &mcp.ListResourcesResult{}, `{"resources":[]}`},
		{"templates", &mcp.ListResourceTemplatesResult{}, `{"resourceTemplates":[]}`},
		{"contents", &mcp.ReadResourceResult{}, `{"contents":[]}`},
		{"messages", &mcp.GetPromptResult{}, `{"messages":[]}`},
		{"roots", &mcp.ListRootsResult{}, `{"roots":[]}`},
		{"completion", &mcp.CompleteResult{}, `{"completion":{"values":[]}}`},
		{"total 0", &mcp.Completion{Total: mcp.Ptr(int64(0))}, `{"values":[],"total":0}`},
		{"sampling", &mcp.CreateMessageParams{}, `{"messages":[],"maxTokens":0}`},
		{"tool", &mcp.Tool{Name: "t"}, `{"name":"t","inputSchema":{"type":"object"}}`},
		{
			"hints", &mcp.ToolAnnotations{DestructiveHint: mcp.Ptr(false), OpenWorldHint: mcp.Ptr(false)},
			`{"destructiveHint":false,"openWorldHint":false}`,
		},
		{
			"cache", &mcp.ListToolsResult{Cache: mcp.Cache{TTLMs: mcp.Ptr(int64(0)), CacheScope: mcp.CachePrivate}, NextCursor: mcp.Ptr("")},
			`{"ttlMs":0,"cacheScope":"private","tools":[],"nextCursor":""}`,
		},
		{"empty cursor", &mcp.ListToolsParams{Cursor: mcp.Ptr("")}, `{"cursor":""}`},
		{"empty state", &mcp.CallToolParams{Name: "t", RequestState: mcp.Ptr("")}, `{"name":"t","requestState":""}`},
		{"empty arguments", &mcp.CallToolParams{Name: "t", Arguments: stdjson.RawMessage(`{}`)}, `{"name":"t","arguments":{}}`},
		{"null structured", &mcp.CallToolResult{StructuredContent: stdjson.RawMessage(`null`)}, `{"content":[],"structuredContent":null}`},
		{"null log data", &mcp.LoggingMessageParams{Level: mcp.LevelInfo}, `{"level":"info","data":null}`},
		{"progress 0", &mcp.ProgressParams{ProgressToken: jsonrpc.IntID(0), Total: mcp.Ptr(0.0)}, `{"progressToken":0,"progress":0,"total":0}`},
		{"cancel 0", &mcp.CancelledParams{RequestID: jsonrpc.IntID(0)}, `{"requestId":0}`},
		{"cancel nothing", &mcp.CancelledParams{}, `{}`},
		{"priorities", &mcp.ModelPreferences{CostPriority: mcp.Ptr(0.0)}, `{"costPriority":0}`},
		{"temperature", &mcp.CreateMessageParams{MaxTokens: 1, Temperature: mcp.Ptr(0.0)}, `{"messages":[],"temperature":0,"maxTokens":1}`},
		{"task without limit", &mcp.TaskMetadata{}, `{}`},
		{
			"task", &mcp.TaskResult{Task: mcp.Task{TaskID: "1", Status: mcp.TaskWorking, CreatedAt: "a", LastUpdatedAt: "b"}},
			`{"taskId":"1","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":null}`,
		},
		{"field", &mcp.FormField{Type: "string", MinLength: mcp.Ptr(int64(0)), Default: stdjson.RawMessage(`""`)}, `{"type":"string","minLength":0,"default":""}`},
		{"empty form", &mcp.ElicitParams{Message: "m", RequestedSchema: &mcp.FormSchema{}}, `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`},
		{
			"capabilities", &mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}, Logging: &mcp.LoggingCapability{}},
			`{"tools":{},"logging":{}}`,
		},
		{"no capabilities", &mcp.InitializeParams{ProtocolVersion: "v"}, `{"protocolVersion":"v","capabilities":{},"clientInfo":{"name":"","version":""}}`},
		{"input required", mcp.InputRequired(map[string]mcp.InputRequest{"r": mcp.RootsInput()}, "s"), `{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list","params":{}}},"requestState":"s"}`},
		{"no state", mcp.InputRequired(nil, ""), `{"resultType":"input_required"}`},
		{"filter", &mcp.ListenParams{}, `{"notifications":{}}`},
		{"reference", mcp.PromptRef("p"), `{"type":"ref/prompt","name":"p"}`},
		{"resource reference", mcp.ResourceRef("u"), `{"type":"ref/resource","uri":"u"}`},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.v)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s, %v\nwant %s", test.name, got, err, test.want)
		}
	}
}

func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in        string
		got, want any
	}{
		{`{"name":"t","arguments":null,"_meta":null,"task":null,"requestState":null}`, new(mcp.CallToolParams), &mcp.CallToolParams{Name: "t"}},
		{`{"name":"t","inputSchema":null,"outputSchema":null,"annotations":null}`, new(mcp.Tool), &mcp.Tool{Name: "t"}},
		{`{"cursor":null}`, new(mcp.PageParams), &mcp.PageParams{}},
		{`{"action":"accept","content":null}`, new(mcp.ElicitResult), &mcp.ElicitResult{Action: mcp.ElicitAccept}},
		{`{"messages":null,"maxTokens":1.0,"metadata":null}`, new(mcp.CreateMessageParams), &mcp.CreateMessageParams{MaxTokens: 1}},
		{`{"sampling":null,"other":null,"roots":{}}`, new(mcp.ClientCapabilities), &mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}},
		{`{"method":"roots/list","params":null}`, new(mcp.InputRequest), &mcp.InputRequest{Method: mcp.MethodRootsList}},
		{`{"properties":{"a":{"type":"number","default":null}},"required":null}`, new(mcp.FormSchema), &mcp.FormSchema{Fields: []mcp.FormField{{Name: "a", Type: "number"}}}},
	}
	for _, test := range tests {
		if err := json.Unmarshal([]byte(test.in), test.got); err != nil {
			t.Errorf("decode %s: %v", test.in, err)
		} else if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("decode %s (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestUnknownCapabilitiesSurvive(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SCH-UNKNOWN-FIELDS")
	const in = `{"roots":{},"elicitation":{"url":{}},"experimental":{"x":{}},"extensions":{"a/b":{"c":[1]}},"brandNew":{"y":true},"other":false}`
	var c mcp.ClientCapabilities
	if err := json.Unmarshal([]byte(in), &c); err != nil {
		t.Fatal(err)
	}
	if c.Elicitation.SupportsForm() || !c.Elicitation.SupportsURL() {
		t.Errorf("elicitation: got %+v, want only URL mode", c.Elicitation)
	}
	c.Extra["roots"] = stdjson.RawMessage(`"a field comes first"`)
	if out, err := json.Marshal(c); err != nil || string(out) != in {
		t.Errorf("got %s, %v\nwant %s", out, err, in)
	}
	var s mcp.ServerCapabilities
	if err := stdjson.Unmarshal([]byte(`{"tools":{"listChanged":true},"brandNew":1}`), &s); err != nil {
		t.Fatal(err)
	}
	if out, err := stdjson.Marshal(s); err != nil || string(out) != `{"tools":{"listChanged":true},"brandNew":1}` {
		t.Errorf("got %s, %v", out, err)
	}
	if !(&mcp.ElicitationCapability{}).SupportsForm() || (*mcp.ElicitationCapability)(nil).SupportsForm() {
		t.Error("an empty elicitation capability means forms, a nil one nothing")
	}
}

func TestFormKinds(t *testing.T) {
	t.Parallel()
	red := []mcp.FormOption{{Const: "r", Title: "Red"}, {Const: "g", Title: "g"}}
	tests := []struct {
		in      string
		kind    mcp.FormKind
		options []mcp.FormOption
	}{
		{`{"type":"integer"}`, mcp.FormNumber, nil},
		{`{"type":"number","enum":["r"]}`, mcp.FormNumber, nil},
		{`{"type":"boolean"}`, mcp.FormBoolean, nil},
		{`{"type":"string","pattern":"x"}`, mcp.FormText, nil},
		{`{"type":"string","enum":["r","g"],"enumNames":["Red"]}`, mcp.FormChoice, red},
		{`{"type":"string","enum":["r"]}`, mcp.FormChoice, []mcp.FormOption{{Const: "r", Title: "r"}}},
		{`{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"g"}]}`, mcp.FormChoice, red},
		{`{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"},{"const":"g","title":"g"}]}}`, mcp.FormChoices, red},
		{`{"type":"array","items":{"oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"g"}]}}`, mcp.FormChoices, red},
		{`{"type":"array","items":{"type":"string","enum":["r"]}}`, mcp.FormChoices, []mcp.FormOption{{Const: "r", Title: "r"}}},
		{`{"type":"array"}`, mcp.FormChoices, nil},
		{`{"type":"object"}`, mcp.FormUnknown, nil},
	}
	for _, test := range tests {
		var f mcp.FormField
		if err := json.Unmarshal([]byte(test.in), &f); err != nil {
			t.Errorf("decode %s: %v", test.in, err)
			continue
		}
		if f.Kind() != test.kind {
			t.Errorf("%s: got kind %d, want %d", test.in, f.Kind(), test.kind)
		}
		if diff := cmp.Diff(test.options, f.Options()); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestFormKeepsOrder(t *testing.T) {
	t.Parallel()
	const in = `{"$schema":"s","type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean","default":false},"m":{"type":"number","minimum":0}},"required":["m","z"]}`
	var s mcp.FormSchema
	if err := json.Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(&s); err != nil || string(out) != in {
		t.Errorf("got %s, %v\nwant %s", out, err, in)
	}
	if out, err := stdjson.Marshal(s); err != nil || string(out) != in {
		t.Errorf("encoding/json: got %s, %v\nwant %s", out, err, in)
	}
}

func TestInputRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		request mcp.InputRequest
		want    string
	}{
		{mcp.ElicitInput(&mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: "u"}), `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}`},
		{mcp.SamplingInput(&mcp.CreateMessageParams{MaxTokens: 1}), `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`},
		{mcp.RootsInput(), `{"method":"roots/list","params":{}}`},
		{mcp.InputRequest{Method: "x/y", Raw: stdjson.RawMessage(`[1.0]`)}, `{"method":"x/y","params":[1.0]}`},
	}
	for _, test := range tests {
		got, err := json.Marshal(test.request)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v\nwant %s", got, err, test.want)
		}
		var back mcp.InputRequest
		if err := stdjson.Unmarshal(got, &back); err != nil {
			t.Errorf("decode %s: %v", got, err)
		}
		if again, err := stdjson.Marshal(back); err != nil || string(again) != test.want {
			t.Errorf("round trip: got %s, %v\nwant %s", again, err, test.want)
		}
	}
}

func TestRawMaps(t *testing.T) {
	t.Parallel()
	var m mcp.Meta
	if ok, err := m.Get("x", new(int)); ok || err != nil {
		t.Errorf("Get of nothing: got %v, %v", ok, err)
	}
	if err := m.Set(mcp.MetaLogLevel, mcp.LevelError); err != nil {
		t.Fatal(err)
	}
	if err := m.Set("bad", func() {}); err == nil || m["bad"] != nil {
		t.Errorf("Set of a function: got %v and %s, want an error", err, m["bad"])
	}
	m[mcp.MetaProgressToken] = stdjson.RawMessage(`9007199254740993`)
	m[mcp.MetaSubscriptionID] = stdjson.RawMessage(`{}`)
	var level mcp.LoggingLevel
	if ok, err := m.Get(mcp.MetaLogLevel, &level); !ok || err != nil || level != mcp.LevelError {
		t.Errorf("Get: got %q, %v, %v", level, ok, err)
	}
	if _, err := m.Get(mcp.MetaLogLevel, new(int)); err == nil || !strings.Contains(err.Error(), mcp.MetaLogLevel) {
		t.Errorf("Get into an int: got %v, want an error that names the key", err)
	}
	if got := m.ProgressToken().String(); got != "9007199254740993" {
		t.Errorf("progress token: got %s", got)
	}
	if !m.SubscriptionID().IsZero() || !mcp.Meta(nil).ProgressToken().IsZero() {
		t.Error("an id of the wrong type and one that is absent are zero")
	}

	var r mcp.InputResponses
	if err := r.Set("k", &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: stdjson.RawMessage(`{"n":3.0}`)}); err != nil {
		t.Fatal(err)
	}
	var answer mcp.ElicitResult
	if ok, err := r.Get("k", &answer); !ok || err != nil || !answer.Accepted() {
		t.Errorf("Get: got %+v, %v, %v", answer, ok, err)
	}
	var in struct{ N int }
	if err := answer.Decode(&struct {
		N *int `json:"n"`
	}{&in.N}); err != nil || in.N != 3 {
		t.Errorf("Decode: got %+v, %v", in, err)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	if !mcp.LevelError.AtLeast(mcp.LevelError) || !mcp.LevelEmergency.AtLeast(mcp.LevelDebug) || mcp.LevelInfo.AtLeast(mcp.LevelNotice) {
		t.Error("the levels are out of order")
	}
	loud := mcp.LoggingLevel("loud")
	if loud.Valid() || loud.AtLeast(mcp.LevelDebug) || mcp.LevelAlert.AtLeast(loud) || !mcp.LevelAlert.Valid() {
		t.Error("an unknown level is not valid and compares with nothing")
	}
}

func TestValidateToolName(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-NAME-LENGTH", "TOOL-NAME-CHARSET", "TOOL-NAME-NO-SPECIAL")
	for _, name := range []string{"a", "A-z_0.9", strings.Repeat("x", 128)} {
		if err := mcp.ValidateToolName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "a b", "ä", "a/b", "a\x00", "\xff", strings.Repeat("x", 129)} {
		if err := mcp.ValidateToolName(name); err == nil {
			t.Errorf("%q: got no error", name)
		}
	}
}

func TestTypedErrors(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "RES-NOT-FOUND-ACCEPT-32002", "BASE-ERRCODE-ACCEPT-32002")
	tests := []struct {
		typed error
		wire  *jsonrpc.Error
		data  string
	}{
		{&mcp.ResourceNotFoundError{URI: "u"}, (&mcp.ResourceNotFoundError{URI: "u"}).RPCError(mcp.CodeResourceNotFound), `{"uri":"u"}`},
		{
			&mcp.UnsupportedVersionError{Supported: []string{"a"}, Requested: "b"},
			(&mcp.UnsupportedVersionError{Supported: []string{"a"}, Requested: "b"}).RPCError(), `{"supported":["a"],"requested":"b"}`,
		},
		{
			&mcp.MissingCapabilityError{Required: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}},
			(&mcp.MissingCapabilityError{Required: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}}).RPCError(), `{"requiredCapabilities":{"roots":{}}}`,
		},
		{&mcp.HeaderMismatchError{Message: "x"}, (&mcp.HeaderMismatchError{Message: "x"}).RPCError(), ``},
		{
			&mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitParams{{Mode: mcp.ElicitURL, URL: "u"}}},
			(&mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitParams{{Mode: mcp.ElicitURL, URL: "u"}}}).RPCError(),
			`{"elicitations":[{"mode":"url","message":"","url":"u"}]}`,
		},
	}
	for _, test := range tests {
		if string(test.wire.Data) != test.data {
			t.Errorf("%T: got data %s, want %s", test.typed, test.wire.Data, test.data)
		}
		if diff := cmp.Diff(test.typed, mcp.TypedError(test.wire)); diff != "" {
			t.Errorf("%T does not come back (-want +got):\n%s", test.typed, diff)
		}
		if test.wire.Message == "" || test.typed.Error() == "" {
			t.Errorf("%T has no text", test.typed)
		}
	}
	for _, plain := range []*jsonrpc.Error{{Code: jsonrpc.CodeInternal}, {Code: mcp.CodeUnsupportedVersion}, {Code: mcp.CodeResourceNotFound, Data: stdjson.RawMessage(`"x"`)}} {
		if got := mcp.TypedError(plain); !errors.Is(got, plain) {
			t.Errorf("%v: got %v, want the same error", plain, got)
		}
	}
}

func TestDefaultsOfAbsentMembers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROMPT-ARG-REQUIRED-DEFAULT", "TOOL-RESULT-ISERROR-DEFAULT")
	var prompt mcp.Prompt
	if err := json.Unmarshal([]byte(`{"name":"p","arguments":[{"name":"a"},{"name":"b","required":true}]}`), &prompt); err != nil {
		t.Fatal(err)
	}
	if prompt.Arguments[0].Required || !prompt.Arguments[1].Required {
		t.Errorf("got %+v, want only the second argument to be required", prompt.Arguments)
	}
	var result mcp.CallToolResult
	if err := json.Unmarshal([]byte(`{"content":[]}`), &result); err != nil || result.IsError {
		t.Errorf("got %+v, %v, want a success", result, err)
	}
}

// Codes that nobody has defined mean nothing.
func TestUndefinedCodes(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-ERRCODE-LEGACY-NO-ASSUME")
	for code := -32019; code <= -32000; code++ {
		e := &jsonrpc.Error{Code: code, Message: "m", Data: stdjson.RawMessage(`{"uri":"u","supported":["a"],"requested":"b"}`)}
		_, defined := mcp.TypedError(e).(*mcp.ResourceNotFoundError)
		if typed := mcp.TypedError(e) != error(e); typed != defined || defined != (code == mcp.CodeResourceNotFound) {
			t.Errorf("%d: got %T", code, mcp.TypedError(e))
		}
	}
}
