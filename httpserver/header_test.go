package httpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// routed wants three of its arguments in headers.
const routed = `{"type":"object","properties":{
	"region": {"type": "string", "x-mcp-header": "Region"},
	"size":   {"type": "integer", "x-mcp-header": "X-Size"},
	"deep":   {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "dry"}}}
}}`

// TestParamHeaders calls a tool that wants arguments in headers as well.
func TestParamHeaders(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-HEADER-NAME-CASE", "HTTP-PARAM-NOT-EXPECTED", "HTTP-VALIDATE-INT-NUMERIC", "HTTP-ENC-DECODE", "HTTP-ENC-MARKERS", "HTTP-PARAM-OMITTED-REJECT", "HTTP-PARAM-VALIDATE", "HTTP-PARAM-INVALID-CHARS", "HTTP-XMCP-INT-RANGE", "TOOL-XMCPHEADER-SAFE-INT", "BASE-BINDING-BODY-TRUTH")
	e := start(t, nil)
	done := func(context.Context, *server.Call) (any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("done")}}, nil
	}
	e.srv.AddRawTool(mcp.Tool{Name: "routed", InputSchema: json.RawMessage(routed)}, done)
	tests := []struct {
		name, header, arguments string
		code                    int // 0 for a result
		part                    string
	}{
		{"all", "Mcp-Param-Region: eu\nMcp-Param-X-Size: 7\nMcp-Param-Dry: true", `{"region":"eu","size":7,"deep":{"dry":true}}`, 0, "done"},
		{"HTTP-HEADER-NAME-CASE", "mcp-param-REGION: eu", `{"region":"eu"}`, 0, "done"},
		{"outer space", "Mcp-Param-Region:   eu \t", `{"region":"eu"}`, 0, "done"},
		{"HTTP-PARAM-NOT-EXPECTED null", "", `{"region":null}`, 0, "done"},
		{"HTTP-PARAM-NOT-EXPECTED absent", "", `{}`, 0, "done"},
		{"HTTP-VALIDATE-INT-NUMERIC", "Mcp-Param-X-Size: 42.0", `{"size":42}`, 0, "done"},
		{"HTTP-ENC-DECODE", "Mcp-Param-Region: =?base64?w6k=?=", `{"region":"é"}`, 0, "done"},
		{"HTTP-ENC-MARKERS no prefix", "Mcp-Param-Region: w6k=?=", `{"region":"w6k=?="}`, 0, "done"},
		{"HTTP-ENC-MARKERS no suffix", "Mcp-Param-Region: =?base64?w6k=", `{"region":"=?base64?w6k="}`, 0, "done"},
		{"a header that no schema names", "Mcp-Param-Other: x", `{}`, 0, "done"},
		{"HTTP-PARAM-OMITTED-REJECT", "", `{"region":"eu"}`, mcp.CodeHeaderMismatch, "Mcp-Param-Region"},
		{"HTTP-PARAM-OMITTED-REJECT nested", "", `{"deep":{"dry":false}}`, mcp.CodeHeaderMismatch, "Mcp-Param-Dry"},
		{"HTTP-PARAM-VALIDATE", "Mcp-Param-Region: us", `{"region":"eu"}`, mcp.CodeHeaderMismatch, "us"},
		{"HTTP-PARAM-VALIDATE value without argument", "Mcp-Param-Region: us", `{}`, mcp.CodeHeaderMismatch, "us"},
		{"two values", "Mcp-Param-Region: eu\nMcp-Param-Region: eu", `{"region":"eu"}`, mcp.CodeHeaderMismatch, "several"},
		{"bad padding", "Mcp-Param-Region: =?base64?SGVsbG8?=", `{"region":"Hello"}`, mcp.CodeHeaderMismatch, "base64"},
		{"bad alphabet", "Mcp-Param-Region: =?base64?SGV%sbG8=?=", `{"region":"Hello"}`, mcp.CodeHeaderMismatch, "base64"},
		{"HTTP-PARAM-INVALID-CHARS", "Mcp-Param-Region: é", `{"region":"é"}`, mcp.CodeHeaderMismatch, "ASCII"},
		{"HTTP-XMCP-INT-RANGE", "Mcp-Param-X-Size: 9007199254740992", `{"size":9007199254740992}`, mcp.CodeHeaderMismatch, "range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status := 200
			if tt.code != 0 {
				status = 400
			}
			checkAnswer(t, e.post(statelessHeader("routed")+tt.header, statelessCall("1", "routed", tt.arguments)), status, tt.code, tt.part)
		})
	}
	t.Run("a session has no such headers", func(t *testing.T) {
		checkAnswer(t, e.post(e.session(r4)+"Mcp-Param-Region: us", call("1", "routed", `{"region":"eu"}`)), 200, 0, "done")
	})
}

// TestParamHeadersOfHiddenTools checks that a refusal does not tell of a tool
// that the caller must not see.
func TestParamHeadersOfHiddenTools(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	unknown := e.post(statelessHeader("nosuch"), statelessCall("1", "nosuch", `{"region":"eu"}`))
	hidden := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{View: func(context.Context, *server.Call) *server.View {
		return &server.View{Tool: func(mcp.Tool) bool { return false }}
	}})
	hidden.AddRawTool(mcp.Tool{Name: "nosuch", InputSchema: json.RawMessage(routed)}, func(context.Context, *server.Call) (any, error) { return nil, nil })
	e2 := startServer(t, hidden)
	if got := e2.post(statelessHeader("nosuch"), statelessCall("1", "nosuch", `{"region":"eu"}`)); got.status != unknown.status || got.body != unknown.body {
		t.Errorf("got %d %s, want %d %s as for an unknown tool", got.status, got.body, unknown.status, unknown.body)
	}
}

// TestOwnErrors checks that the status tells what became of the request, not
// what a handler says about something else.
func TestOwnErrors(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-METHOD-UNKNOWN-404")
	e := start(t, nil)
	e.srv.AddRawTool(mcp.Tool{Name: "forward"}, func(context.Context, *server.Call) (any, error) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "the other server has no such method")
	})
	e.srv.Handle("x/own", func(context.Context, *server.Call) (any, error) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no such thing")
	})
	checkAnswer(t, e.post(statelessHeader("forward"), statelessCall("1", "forward", `{}`)), 200, jsonrpc.CodeMethodNotFound, "other server")
	checkAnswer(t, e.post(v+"Mcp-Method: x/own", statelessRequest("x/own", "")), 200, jsonrpc.CodeMethodNotFound, "no such thing")
	// HTTP-METHOD-UNKNOWN-404; the server of this test completes nothing.
	checkAnswer(t, e.post(v+"Mcp-Method: completion/complete", statelessRequest("completion/complete", "")), 404, jsonrpc.CodeMethodNotFound, "")
}

// TestNamesOfTasks checks the header with a task's id: clients send it, servers
// that get it compare it.
func TestNamesOfTasks(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.srv.Handle("tasks/get", func(_ context.Context, c *server.Call) (any, error) {
		return json.RawMessage(`{"taskId":"` + c.Name + `"}`), nil
	})
	const header = v + "Mcp-Method: tasks/get\n"
	body := statelessRequest("tasks/get", `"taskId":"t1",`)
	checkAnswer(t, e.post(header+"Mcp-Name: t1", body), 200, 0, `"t1"`)
	checkAnswer(t, e.post(header, body), 200, 0, `"t1"`)
	checkAnswer(t, e.post(header+"Mcp-Name: t2", body), 400, mcp.CodeHeaderMismatch, "t2")
	other := strings.ReplaceAll(header, "tasks/get", "tasks/update")
	checkAnswer(t, e.post(other, statelessRequest("tasks/update", `"taskId":"t1",`)), 404, jsonrpc.CodeMethodNotFound, "")
}

// TestListenStreamHasChangesOnly makes calls that tell progress and log while a
// stream of changes is open.
func TestListenStreamHasChangesOnly(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-LISTEN-STREAM-SEPARATION", "BASE-REQ-SCOPED-NOTIFS")
	e := start(t, nil)
	listen := e.open("POST", v+"Mcp-Method: subscriptions/listen", statelessRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
	listen.want("subscriptions/acknowledged")
	logging := strings.Replace(statelessCall("2", "progress", `{}`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"debug",`, 1)
	checkAnswer(t, e.post(statelessHeader("progress"), logging), 200, 0, `"progress":2`)
	e.srv.RemoveTools("big")
	listen.want("tools/list_changed")
}

// TestLogMessagesKeepToTheirStreams has two calls log while a stream of changes
// is open.
func TestLogMessagesKeepToTheirStreams(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LOG-WRONG-STREAM", "HTTP-LISTEN-STREAM-SEPARATION", "HTTP-SSE-RELATED-MUST")
	e := start(t, nil)
	listen := e.open("POST", v+"Mcp-Method: subscriptions/listen", statelessRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
	listen.want("subscriptions/acknowledged")
	const level = `"_meta":{"io.modelcontextprotocol/logLevel":"info",`
	puppets, streams := make([]*puppet, 2), make([]*stream, 2)
	ready := make(chan *stream)
	for i := range puppets {
		name := fmt.Sprint("puppet", i)
		puppets[i] = addPuppet(e.srv, name)
		listen.want("tools/list_changed")
		go func() {
			ready <- e.open("POST", statelessHeader(name), strings.Replace(statelessCall("1", name, `{}`), `"_meta":{`, level, 1))
		}()
		puppets[i].steps <- fmt.Sprint("first of ", i)
		streams[i] = <-ready
		streams[i].want(fmt.Sprint("first of ", i))
	}
	for _, step := range []string{"second", "third"} {
		for i, s := range streams {
			puppets[i].steps <- fmt.Sprint(step, " of ", i)
			s.want(fmt.Sprint(step, " of ", i))
		}
	}
	for i, s := range streams {
		puppets[i].steps <- ""
		s.want(`"result"`)
		s.want("")
	}
	e.srv.RemoveTools("big")
	listen.want("tools/list_changed")
}

// TestNothingIsSentAfterCancellation ends the client's request under a tool that
// goes on talking.
func TestNothingIsSentAfterCancellation(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-CANCEL-SILENT", "HTTP-CANCEL-STOP")
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	srv.AddRawTool(mcp.Tool{Name: "talk"}, func(call context.Context, c *server.Call) (any, error) {
		cancel()
		<-call.Done()
		_ = c.Progress(call, 1, 2, "still here")
		_ = c.Notify(context.WithoutCancel(call), mcp.NotificationMessage, &mcp.LoggingMessageParams{Level: mcp.LevelInfo})
		return &mcp.CallToolResult{}, nil
	})
	h := httpserver.New(srv, nil)
	defer func() { _ = errors.Join(h.Close(), srv.Close()) }()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(ctx, t, http.MethodPost, "http://localhost/", statelessHeader("talk"), statelessCall("1", "talk", `{}`)))
	if got := w.Body.String(); strings.Contains(got, "result") || strings.Contains(got, "still here") || strings.Contains(got, "message") {
		t.Errorf("sent %q after the client had gone", got)
	}
}

// TestStreamsHaveNoRequests has a tool that asks the client in the middle of its
// stream: the result asks, not a request.
func TestStreamsHaveNoRequests(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SSE-NO-SERVER-REQUEST", "BASE-SERVER-NO-REQUESTS")
	e := start(t, nil)
	e.srv.AddRawTool(mcp.Tool{Name: "ask"}, func(ctx context.Context, c *server.Call) (any, error) {
		if err := c.Progress(ctx, 1, 2, "asking"); err != nil {
			return nil, err
		}
		_, err := server.Roots(ctx, c, "r")
		return &mcp.CallToolResult{}, err
	})
	body := strings.Replace(statelessCall("1", "ask", `{}`), `clientCapabilities":{}`, `clientCapabilities":{"roots":{}}`, 1)
	a := e.post(statelessHeader("ask"), body)
	checkAnswer(t, a, 200, 0, `"resultType":"input_required"`)
	messages := 0
	for line := range strings.Lines(a.body) {
		frame, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		m, err := jsonrpc.Decode([]byte("{" + frame))
		if messages++; err != nil || m.Kind() == jsonrpc.Request {
			t.Errorf("the stream has %s, %v", line, err)
		}
	}
	if messages != 2 {
		t.Errorf("%d messages, want progress and the result: %s", messages, a.body)
	}
}
