package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// toolPage is a page of tools whose one property has the schema given.
func toolPage(next string, schemas ...string) string {
	var tools []string
	for i := 0; i < len(schemas); i += 2 {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","properties":{"p":%s}}}`, schemas[i], schemas[i+1]))
	}
	page := `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + strings.Join(tools, ",") + `]`
	if next != "" {
		page += fmt.Sprintf(`,"nextCursor":%q`, next)
	}
	return page + "}"
}

func headerProperty(kind, name string) string {
	return fmt.Sprintf(`{"type":%q,"x-mcp-header":%q}`, kind, name)
}

// calls are the headers of the tool calls that were sent.
func (f *fakeHTTP) calls() []map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []map[string]string
	for _, m := range f.sent {
		if m.Method == mcp.MethodToolsCall {
			calls = append(calls, m.Route.Params)
		}
	}
	return calls
}

const called = `{"resultType":"complete","content":[]}`

func callTool(t *testing.T, sess *client.Session, name, arguments string) error {
	t.Helper()
	_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}, nil)
	return err
}

func TestArgumentsGoIntoHeaders(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-XMCP-CLIENT", "HTTP-XMCP-EXTRACT", "HTTP-ENC-TYPES", "HTTP-PARAM-NULL-ABSENT", "HTTP-XMCP-INT-RANGE", "TOOL-XMCPHEADER-SAFE-INT")
	via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
		switch m.Method {
		case mcp.MethodServerDiscover:
			return ok(discovery(r5)), nil
		case mcp.MethodToolsList:
			nested := `{"type":"object","properties":{"q":` + headerProperty("string", "Q") + `}}`
			return ok(toolPage("", "text", headerProperty("string", "Region"), "number", headerProperty("integer", "N"),
				"flag", headerProperty("boolean", "Method"), "deep", nested, "plain", `{"type":"number"}`)), nil
		default:
			return ok(called), nil
		}
	}}
	sess := connect(t, via, nil)
	if _, err := sess.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		tool, arguments string
		want            map[string]string
	}{
		{"text", `{"p":"us west","other":1}`, map[string]string{"Region": "us west"}},
		{"text", `{"p":""}`, map[string]string{"Region": ""}},
		{"text", `{"p":null}`, nil},
		{"text", `{}`, nil},
		{"number", `{"p":42}`, map[string]string{"N": "42"}},
		{"number", `{"p":42.0}`, map[string]string{"N": "42"}},
		{"flag", `{"p":false}`, map[string]string{"Method": "false"}},
		{"deep", `{"p":{"q":"x"}}`, map[string]string{"Q": "x"}},
		{"deep", `{"q":"x"}`, nil},
		{"plain", `{"p":1.5}`, nil},
		{"unknown", `{"p":"x"}`, nil},
	}
	for i, tt := range tests {
		if err := callTool(t, sess, tt.tool, tt.arguments); err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.arguments, err)
			continue
		}
		if got := via.calls()[i]; !maps.Equal(got, tt.want) {
			t.Errorf("%s %s: headers %v, want %v", tt.tool, tt.arguments, got, tt.want)
		}
	}
	if err := callTool(t, sess, "number", `{"p":9007199254740993}`); err == nil || !strings.Contains(err.Error(), "2^53") {
		t.Errorf("an integer out of range: %v", err)
	}
}

func TestToolsWithBadHeadersAreLeftOut(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-XMCP-INVALID-TOOL", "HTTP-XMCP-INVALID-WARN", "TOOL-XMCPHEADER-CLIENT-REJECT", "TOOL-XMCPHEADER-CLIENT-WARN")
	page := toolPage("", "bad", headerProperty("number", "N"), "good", headerProperty("string", "S"), "worse", headerProperty("string", ""))
	via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
		if m.Method == mcp.MethodServerDiscover {
			return ok(discovery(r5)), nil
		}
		return ok(page), nil
	}}
	var log bytes.Buffer
	sess := connect(t, via, &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	list, err := sess.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "good" {
		t.Errorf("tools %+v, %v; want only the good one", list, err)
	}
	for _, part := range []string{"level=WARN", "tool=bad", "only strings", "tool=worse", "empty"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log does not tell %q: %s", part, log.String())
		}
	}
	raw, err := sess.Call(t.Context(), mcp.MethodToolsList, nil, nil)
	if err != nil || bytes.Contains(raw, []byte("bad")) || !bytes.Contains(raw, []byte(`"good"`)) || !json.Valid(raw) {
		t.Errorf("raw list %s, %v", raw, err)
	}
}

func TestOtherCarriersIgnoreHeaders(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-XMCP-OTHER-TRANSPORTS", "TOOL-XMCPHEADER-STDIO-IGNORE")
	sess := connect(t, fake(t, func(p *peer) {
		p.open(r5)
		p.result(p.want(mcp.MethodToolsList), toolPage("", "bad", headerProperty("number", "N")))
		p.result(p.want(mcp.MethodToolsCall), called)
		p.idle()
	}), nil)
	if list, err := sess.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
		t.Errorf("tools %+v, %v", list, err)
	}
	if err := callTool(t, sess, "bad", `{"p":1}`); err != nil {
		t.Error(err)
	}
}

// A client that does not know a tool's headers, or no
// longer does, finds out and tries once more.
func TestHeadersAreLearntAfterARefusal(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-MISMATCH-REFRESH")
	wants := "First"
	via := &fakeHTTP{}
	via.answer = func(m *transport.Outgoing) (transport.Response, error) {
		switch m.Method {
		case mcp.MethodServerDiscover:
			return ok(discovery(r5)), nil
		case mcp.MethodToolsList:
			if !bytes.Contains(m.Params.(json.RawMessage), []byte("cursor")) {
				return ok(toolPage("more", "other", `{"type":"string"}`)), nil
			}
			return ok(toolPage("", "routed", headerProperty("string", wants))), nil
		default:
			if m.Route.Params[wants] != "x" {
				return refusal(400, mcp.CodeHeaderMismatch, ""), nil
			}
			return ok(called), nil
		}
	}
	sess := connect(t, via, nil)
	for _, name := range []string{"First", "Second"} {
		wants = name
		if err := callTool(t, sess, "routed", `{"p":"x"}`); err != nil {
			t.Errorf("wants %s: %v", name, err)
		}
	}
	want := "server/discover tools/call tools/list tools/list tools/call tools/call tools/list tools/list tools/call"
	if got := strings.Join(via.methods(), " "); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	ids := map[jsonrpc.ID]bool{}
	for _, m := range via.sent {
		if ids[m.ID] {
			t.Errorf("the id %v came twice", m.ID)
		}
		ids[m.ID] = true
	}
	// A refusal that the list does not explain is an error.
	if err := callTool(t, sess, "routed", `{"p":"y"}`); !client.IsRemote(err) {
		t.Errorf("got %v, want the server's refusal", err)
	}
}
