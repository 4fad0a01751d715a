package httpserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// ping is a request without parameters, in the form of a session.
const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// statelessRequest is a request of the stateless revision.
func statelessRequest(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`
}

const v = "MCP-Protocol-Version: " + modern + "\n"

// tests of one POST: its header lines, body, and what comes back.
var modernTests = []struct {
	name, header, body string
	status, code       int
	part               string // of the answer
}{
	{"a request is answered", statelessHeader("echo"), statelessCall("1", "echo", `{"text":"hi"}`), 200, 0, `"text":"hi"`},
	{"HTTP-REQUEST-RESPONSE-TYPE json", v + "Mcp-Method: tools/list", statelessRequest("tools/list", ""), 200, 0, `"tools":[`},
	{"server/discover", v + "Mcp-Method: server/discover", statelessRequest("server/discover", ""), 200, 0, `"supportedVersions"`},
	{"HTTP-202-MODERN", v, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, 0, ""},
	{"HTTP-202-MODERN with metadata", v, `{"jsonrpc":"2.0","method":"notifications/x","params":{` + meta + `}}`, 202, 0, ""},
	{"HTTP-NOTIF-REJECT-STATUS", "MCP-Protocol-Version: " + r4, `{"jsonrpc":"2.0","method":"notifications/x","params":{` + meta + `}}`, 400, -32020, ""},
	{"HTTP-VERSION-HEADER-MISSING-STRICT", "Mcp-Method: tools/list", statelessRequest("tools/list", ""), 400, -32020, "header is missing"},
	{"required _meta missing", v + "Mcp-Method: tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400, -32602, "protocolVersion"},
	{"capabilities missing", v + "Mcp-Method: tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `"}}}`, 400, -32602, "clientCapabilities"},
	{"capabilities wrong", v + "Mcp-Method: tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{"roots":1}}}}`, 400, -32602, ""},
	{"version no string", v + "Mcp-Method: tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, 400, -32602, ""},
	{"params no object", v + "Mcp-Method: tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, 400, -32602, ""},
	{"HTTP-VERSION-HEADER-MATCH", "MCP-Protocol-Version: " + r4 + "\nMcp-Method: tools/list", statelessRequest("tools/list", ""), 400, -32020, r4},
	{"mismatch before support", v + "Mcp-Method: tools/list", strings.Replace(statelessRequest("tools/list", ""), modern, "2099-01-01", 1), 400, -32020, "2099-01-01"},
	{"two version headers", v + "MCP-Protocol-Version: " + r4 + "\nMcp-Method: tools/list", statelessRequest("tools/list", ""), 400, -32020, ""},
	{"HTTP-VERSION-UNSUPPORTED-400", "MCP-Protocol-Version: 2099-01-01\nMcp-Method: tools/list", strings.Replace(statelessRequest("tools/list", ""), modern, "2099-01-01", 1), 400, -32022, `"supported":["` + modern},
	{"a revision with sessions in _meta", "MCP-Protocol-Version: " + r4, strings.Replace(statelessRequest("tools/list", ""), modern, r4, 1), 400, -32022, ""},
	{"HTTP-VALIDATE-ERROR no method", v, statelessRequest("tools/list", ""), 400, -32020, "Mcp-Method"},
	{"HTTP-VALIDATE-MATCH method", v + "Mcp-Method: tools/call", statelessRequest("tools/list", ""), 400, -32020, "Mcp-Method"},
	{"HTTP-HEADER-NAME-CASE", "mcp-protocol-version: " + modern + "\nMCP-METHOD: tools/list", statelessRequest("tools/list", ""), 200, 0, ""},
	{"HTTP-HEADER-NAME-CASE values", v + "Mcp-Method: TOOLS/LIST", statelessRequest("tools/list", ""), 400, -32020, ""},
	{"HTTP-VALIDATE-ERROR no name", v + "Mcp-Method: tools/call", statelessCall("1", "echo", "{}"), 400, -32020, "Mcp-Name"},
	{"HTTP-VALIDATE-MATCH name", statelessHeader("other"), statelessCall("1", "echo", "{}"), 400, -32020, "other"},
	{"two names", statelessHeader("echo") + "Mcp-Name: echo", statelessCall("1", "echo", "{}"), 400, -32020, ""},
	{"HTTP-ENC-DECODE", statelessHeader("=?base64?ZWNobw==?="), statelessCall("1", "echo", `{"text":"hi"}`), 200, 0, "hi"},
	{"wrongly encoded name", statelessHeader("=?base64?ZWNobw?="), statelessCall("1", "echo", "{}"), 400, -32020, "Mcp-Name"},
	{"name of a resource", v + "Mcp-Method: resources/read\nMcp-Name: test://a", statelessRequest("resources/read", `"uri":"test://a",`), 200, 0, "contents"},
	{"unknown resource", v + "Mcp-Method: resources/read\nMcp-Name: test://b", statelessRequest("resources/read", `"uri":"test://b",`), 200, -32602, ""},
	{"HTTP-METHOD-UNKNOWN-404", v + "Mcp-Method: no/such", statelessRequest("no/such", ""), 404, -32601, `"id":1`},
	{"initialize is unknown", v + "Mcp-Method: initialize", statelessRequest("initialize", ""), 404, -32601, ""},
	{"ping is unknown", v + "Mcp-Method: ping", statelessRequest("ping", ""), 404, -32601, ""},
	{"client capability missing", statelessHeader("needy"), statelessCall("1", "needy", "{}"), 400, -32021, `"requiredCapabilities":{"sampling":{}}`},
	{"other errors", statelessHeader("nosuch"), statelessCall("1", "nosuch", "{}"), 200, -32602, ""},
	{"wrong arguments", statelessHeader("echo"), statelessCall("1", "echo", `{"text":1}`), 200, 0, `"isError":true`},
	{"a tool panics", statelessHeader("panic"), statelessCall("1", "panic", `{}`), 200, 0, `"isError":true`},
	{"HTTP-BODY-SINGLE-MODERN", v, `[` + ping + `]`, 400, -32600, ""},
	{"HTTP-NO-CLIENT-RESPONSE", v, `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600, ""},
	{"HTTP-SESSION-IGNORE", statelessHeader("echo") + "Mcp-Session-Id: x", statelessCall("1", "echo", `{"text":"hi"}`), 200, 0, "hi"},
	{"HTTP-NO-RESUME", statelessHeader("progress") + "Last-Event-ID: 7", statelessCall("1", "progress", `{}`), 200, 0, "data: "},
	{"HTTP-SSE-NO-BUFFERING-HEADER", statelessHeader("progress"), statelessCall("1", "progress", `{}`), 200, 0, `"progress":2`},
	{"events are refused", statelessHeader("progress") + "Accept: application/json", statelessCall("1", "progress", `{}`), 200, 0, `{"jsonrpc":"2.0","id":1,"result"`},
	{"only events", statelessHeader("echo") + "Accept: text/event-stream", statelessCall("1", "echo", `{"text":"hi"}`), 200, 0, "data: {"},
	{"only events, an error status", statelessHeader("x") + "Accept: text/event-stream", statelessCall("1", "echo", `{}`), 400, -32020, ""},
	{"listen needs events", v + "Mcp-Method: subscriptions/listen\nAccept: application/json", statelessRequest("subscriptions/listen", `"notifications":{},`), 406, -32600, ""},
	{"a big answer", statelessHeader("big"), statelessCall("1", "big", `{}`), 200, 0, strings.Repeat("x", 300_000)},
	{"a big body", statelessHeader("echo"), statelessCall("1", "echo", `{"text":"`+strings.Repeat("y", 200_000)+`"}`), 200, 0, strings.Repeat("y", 200_000)},
	{"no JSON", v, `{`, 400, -32700, ""},
	{"no JSON-RPC", v, `{"jsonrpc":"1.0","id":7,"method":"x"}`, 400, -32600, `"id":7`},
	{"a malformed response", v, `{"jsonrpc":"2.0","id":7,"result":1,"error":1}`, 400, -32600, ""},
}

func TestStatelessStatus(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-REQUEST-RESPONSE-TYPE", "HTTP-202-MODERN", "HTTP-NOTIF-REJECT-STATUS", "HTTP-NOTIF-REJECT-BODY",
		"HTTP-VERSION-HEADER-MISSING-STRICT", "HTTP-VERSION-HEADER-MATCH", "HTTP-VERSION-UNSUPPORTED-400",
		"HTTP-VALIDATE-ERROR", "HTTP-VALIDATE-MATCH", "HTTP-HEADER-NAME-CASE", "HTTP-METHOD-UNKNOWN-404",
		"HTTP-SESSION-IGNORE", "HTTP-NO-RESUME", "HTTP-LAST-EVENT-ID-IGNORE", "HTTP-SSE-NO-BUFFERING-HEADER",
		"HTTP-SSE-CLOSE-AFTER", "HTTP-ENDPOINT-POST", "META-CAP-MISSING-32021", "BASE-META-CAP-MISSING-ERROR",
		"META-REQ-MISSING-32602", "BASE-META-MISSING-REJECT", "BASE-BATCH-REMOVED", "VER-UNSUPPORTED-ERROR",
		"BASE-ERRCODE-RESERVED-MEANING")
	e := start(t, &httpserver.Options{})
	for _, tt := range modernTests {
		t.Run(tt.name, func(t *testing.T) {
			a := e.post(tt.header, tt.body)
			checkAnswer(t, a, tt.status, tt.code, tt.part)
			if strings.HasPrefix(a.body, "id: ") || strings.Contains(a.body, "\nid: ") {
				t.Errorf("events of a stream that cannot be resumed have ids: %q", a.body)
			}
		})
	}
}

func checkAnswer(t *testing.T, a answer, status, code int, part string) {
	t.Helper()
	if a.status != status || a.code() != code || !strings.Contains(a.body, part) {
		t.Errorf("got %d, code %d, %.300q\nwant %d, code %d, %.300q", a.status, a.code(), a.body, status, code, part)
	}
	if a.header.Get("Mcp-Session-Id") != "" {
		t.Error("the answer names a session")
	}
	if status == 202 && a.body != "" {
		t.Errorf("202 with the body %q", a.body)
	}
	if strings.Contains(a.body, "secret") {
		t.Errorf("the answer tells internals: %q", a.body)
	}
	switch contentType := a.header.Get("Content-Type"); {
	case strings.HasPrefix(a.body, "{"):
		if contentType != "application/json" || a.header.Get("Content-Length") == "" {
			t.Errorf("JSON with %v", a.header)
		}
	case a.body != "":
		if contentType != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("events with %v: %q", a.header, a.body)
		}
	}
}

func TestSessionStatus(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-202-LEGACY", "HTTP-NOTIF-REJECT-STATUS", "HTTP-VERSION-HEADER-INVALID", "HTTP-SESSION-MISSING-400",
		"HTTP-SESSION-404", "HTTP-SSE-ONE-RESPONSE-EACH", "HTTP-SSE-CLOSE-AFTER", "HTTP-REQUEST-RESPONSE-TYPE",
		"BASE-BATCH-RECEIVE", "BASE-BATCH-REMOVED", "VER-SINGLE-PER-SESSION")
	e := start(t, nil)
	header := map[string]string{r2: e.session(r2), r3: e.session(r3), r4: e.session(r4), "": ""}
	const notification = `{"jsonrpc":"2.0","method":"notifications/x"}`
	tests := []struct {
		name, revision, header, body string
		status, code                 int
		part                         string
	}{
		{"a request is answered", r4, "", call("1", "echo", `{"text":"hi"}`), 200, 0, `"text":"hi"`},
		{"HTTP-VERSION-HEADER-NEGOTIATED", r4, "MCP-Protocol-Version: " + r4, ping, 200, 0, `"result":{}`},
		{"HTTP-SSE-CLOSE-AFTER", r4, "", call("1", "progress", `{}`), 200, 0, "\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,"},
		{"HTTP-202-LEGACY notification", r4, "", notification, 202, 0, ""},
		{"HTTP-202-LEGACY response", r4, "", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, 0, ""},
		{"HTTP-202-LEGACY error", r3, "", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, 202, 0, ""},
		{"HTTP-NOTIF-REJECT-STATUS", r4, "", `{"jsonrpc":"2.0","method":"notifications/x","params":[1]}`, 400, -32602, ""},
		{"wrong parameters", r4, "", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, 200, -32602, ""},
		{"unknown method", r4, "", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, 200, -32601, ""},
		{"discover is unknown", r4, "", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, 200, -32601, ""},
		{"unknown resource", r4, "", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://b"}}`, 200, -32002, ""},
		{"a tool panics", r4, "", call("1", "panic", `{}`), 200, 0, `"isError":true`},
		{"initialize twice", r4, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + r4 + `"}}`, 200, -32600, ""},
		{"HTTP-VERSION-HEADER-INVALID", r4, "MCP-Protocol-Version: 1999-01-01", ping, 400, -32022, `"supported":[`},
		{"another revision", r4, "MCP-Protocol-Version: " + r3, ping, 400, -32600, r4},
		{"HTTP-VERSION-HEADER-DEFAULT", r3, "", ping, 200, 0, ""},
		{"HTTP-SESSION-MISSING-400", "", "", ping, 400, -32600, "Mcp-Session-Id"},
		{"HTTP-SESSION-MISSING-400 notification", "", "", notification, 400, -32600, ""},
		{"HTTP-SESSION-MISSING-400 response", "", "", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600, ""},
		{"HTTP-SESSION-404", "", "Mcp-Session-Id: x", ping, 404, -32600, `"id":1`},
		{"initialize in a session that has ended", "", "Mcp-Session-Id: x", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, 404, -32600, ""},
		{"initialize fails", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, 200, -32602, ""},
		{"initialize with wrong parameters", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`, 200, -32602, ""},
		{"no JSON", r4, "", `{"a":`, 400, -32700, ""},
		{"empty", r4, "", ``, 400, -32700, ""},
		{"a malformed response", r4, "", `{"jsonrpc":"2.0","id":7,"result":1,"error":1}`, 400, -32600, ""},
		{"events are refused", r4, "Accept: application/json", call("1", "progress", `{}`), 200, 0, `{"jsonrpc":"2.0","id":1,"result"`},
		{"only events", r4, "Accept: text/event-stream", ping, 200, 0, "data: {"},
		{"neither", r4, "Accept: text/html", ping, 406, -32600, ""},
		{"no Accept", r4, "Accept:", ping, 200, 0, ""},
		{"charset", r4, "Content-Type: application/json; charset=utf-8", ping, 200, 0, ""},
		{"no JSON type", r4, "Content-Type: text/plain", ping, 415, -32600, ""},
		{"no type", r4, "Content-Type:", ping, 415, -32600, ""},

		{"HTTP-BODY-SINGLE-LEGACY", r3, "", `[` + ping + `]`, 400, -32600, ""},
		{"HTTP-BODY-SINGLE-LEGACY newest", r4, "", `[` + ping + `]`, 400, -32600, ""},
		{"HTTP-BODY-BATCH", r2, "", `[` + ping + `,` + notification + `,` + call(`"b"`, "echo", `{"text":"hi"}`) + `]`, 200, 0, `,{"jsonrpc":"2.0","id":"b",`},
		{"HTTP-BODY-BATCH responses", r2, "", `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`, 202, 0, ""},
		{"HTTP-202-LEGACY batch", r2, "", `[` + notification + `,` + notification + `]`, 202, 0, ""},
		{"HTTP-SSE-ONE-RESPONSE-EACH", r2, "", `[` + call(`1`, "progress", `{}`) + `,` + call(`2`, "progress", `{}`) + `]`, 200, 0, `data: {"jsonrpc":"2.0","id":2,"result"`},
		{"a batch with what is no message", r2, "", `[` + ping + `,1,{"jsonrpc":"2.0","id":3,"method":"ping","params":[]},{"jsonrpc":"2.0","id":4,"result":1,"error":2}]`, 200, 0, "-32600"},
		{"a batch with a stateless request", r2, "", `[` + statelessRequest("tools/list", "") + `]`, 200, 0, "-32600"},
		{"a batch only as events", r2, "Accept: text/event-stream", `[` + ping + `]`, 200, 0, "data: {"},
		{"a batch with initialize", r2, "", `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, 400, -32600, ""},
		{"an empty batch", r2, "", `[]`, 400, -32600, ""},
		{"a broken batch", r2, "", `[1`, 400, -32700, ""},
		{"a batch without a session", "", "", `[` + ping + `]`, 400, -32600, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := e.post(header[tt.revision]+tt.header, tt.body)
			if strings.HasPrefix(a.body, "[") {
				if !strings.HasSuffix(a.body, "]") || !strings.Contains(a.body, tt.part) || a.status != tt.status {
					t.Errorf("got %d %s, want %d with %s", a.status, a.body, tt.status, tt.part)
				}
				return
			}
			checkAnswer(t, a, tt.status, tt.code, tt.part)
		})
	}
}

func TestStatelessOption(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-VERSION-HEADER-DEFAULT", "HTTP-VERSION-HEADER-MISSING-LENIENT", "HTTP-GET-DELETE-405",
		"HTTP-GET-SSE-OR-405")
	e := start(t, &httpserver.Options{Stateless: true})
	tests := []struct {
		name, method, header, body string
		status, code               int
		part                       string
	}{
		{"initialize", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + r3 + `"}}`, 200, 0, `"protocolVersion":"` + r3},
		{"initialized", "POST", "MCP-Protocol-Version: " + r3, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, 0, ""},
		{"a call", "POST", "MCP-Protocol-Version: " + r3, call("1", "echo", `{"text":"hi"}`), 200, 0, "hi"},
		{"HTTP-VERSION-HEADER-DEFAULT", "POST", "", call("1", "echo", `{"text":"hi"}`), 200, 0, "hi"},
		{"an old session id", "POST", "Mcp-Session-Id: x", ping, 200, 0, ""},
		{"unknown version", "POST", "MCP-Protocol-Version: x", ping, 400, -32022, ""},
		{"HTTP-VERSION-HEADER-DEFAULT batch", "POST", "", `[` + `{"jsonrpc":"2.0","method":"notifications/x"}` + `]`, 202, 0, ""},
		{"a batch of another revision", "POST", "MCP-Protocol-Version: " + r3, `[` + ping + `]`, 400, -32600, ""},
		{"stateless", "POST", statelessHeader("echo"), statelessCall("1", "echo", `{"text":"hi"}`), 200, 0, "hi"},
		{"HTTP-GET-DELETE-405 get", "GET", "", "", 405, -32600, "POST"},
		{"HTTP-GET-DELETE-405 delete", "DELETE", "Mcp-Session-Id: x", "", 405, -32600, "POST"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAnswer(t, e.do(tt.method, tt.header, tt.body), tt.status, tt.code, tt.part)
		})
	}
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-GET-SSE-OR-405", "HTTP-SESSION-404")
	e := start(t, nil)
	sess := e.session(r4)
	tests := []struct {
		name, method, header string
		status               int
		allow                string
	}{
		{"HTTP-GET-SSE-OR-405 stateless client", "GET", v, 405, "POST"},
		{"HTTP-GET-DELETE-405", "DELETE", v, 405, "POST"},
		{"no session", "GET", "", 400, ""},
		{"no session to end", "DELETE", "", 400, ""},
		{"unknown session", "GET", "Mcp-Session-Id: x", 404, ""},
		{"unknown session to end", "DELETE", "Mcp-Session-Id: x", 404, ""},
		{"unknown version", "GET", sess + "MCP-Protocol-Version: x", 400, ""},
		{"another revision", "GET", sess + "MCP-Protocol-Version: " + r3, 400, ""},
		{"another revision to end", "DELETE", sess + "MCP-Protocol-Version: " + r3, 400, ""},
		{"HTTP-GET-ACCEPT", "GET", sess + "Accept: application/json", 406, ""},
		{"PUT", "PUT", "", 405, "GET, POST, DELETE"},
		{"OPTIONS", "OPTIONS", "", 405, "GET, POST, DELETE"},
		{"HTTP-SESSION-DELETE", "DELETE", sess, 204, ""},
		{"HTTP-SESSION-404", "GET", sess, 404, ""},
		{"ended twice", "DELETE", sess, 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := e.do(tt.method, tt.header, "")
			if a.status != tt.status || a.header.Get("Allow") != tt.allow {
				t.Errorf("%s %q: got %d, Allow %q, %s; want %d, %q", tt.method, tt.header, a.status, a.header.Get("Allow"), a.body, tt.status, tt.allow)
			}
			if tt.status != 204 && a.code() != -32600 && a.code() != -32022 {
				t.Errorf("the body %q has no error", a.body)
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	e := start(t, &httpserver.Options{MaxBody: int64(len(ping))})
	if a := e.post("", ping); a.status != 400 || a.code() != -32600 {
		t.Errorf("a body of just the limit: %d %s", a.status, a.body)
	}
	if a := e.post("", ping+" "); a.status != http.StatusRequestEntityTooLarge || a.code() != -32600 {
		t.Errorf("one byte more: %d %s", a.status, a.body)
	}
	r := request(t.Context(), t, "POST", e.url, "", ping+" ")
	r.ContentLength = -1
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("one byte more, unannounced: %d", res.StatusCode)
	}
	r = request(t.Context(), t, "POST", e.url, "", ping)
	r.ContentLength = -1
	if res, err = http.DefaultClient.Do(r); err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("just the limit, unannounced: %v %v", res, err)
	}
	_ = res.Body.Close()
}
