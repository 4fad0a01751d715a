package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// open begins a session of the revision.
func (d *dialog) open(revision string) {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	d.read()
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.ask("ping", ``) // what was sent before has been handled
}

func (d *dialog) read() jsonrpc.Message {
	d.t.Helper()
	frame, err := d.conn.Read()
	if err != nil {
		d.t.Fatalf("read: %v", err)
	}
	m, err := jsonrpc.Decode(frame)
	if err != nil {
		d.t.Fatalf("decode %s: %v", frame, err)
	}
	return m
}

// ask sends a request and returns the next message, which must answer it.
func (d *dialog) ask(method, params string) jsonrpc.Message {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":"ask","method":"` + method + `","params":{` + params + `}}`)
	m := d.read()
	if m.ID.String() != `"ask"` {
		d.t.Fatalf("%s was answered with %+v", method, m)
	}
	return m
}

// askModern is ask with the metadata of a stateless request.
func (d *dialog) askModern(method, params string) jsonrpc.Message {
	d.t.Helper()
	if params != "" {
		params += ","
	}
	return d.ask(method, params+modernMeta)
}

// code checks the code of an error response.
func code(t *testing.T, m jsonrpc.Message, want int) {
	t.Helper()
	if m.Error == nil || m.Error.Code != want {
		t.Errorf("got result %s, error %v, want code %d", m.Result, m.Error, want)
	}
}

func result[T any](t *testing.T, m jsonrpc.Message) T {
	t.Helper()
	var v T
	if m.Error != nil {
		t.Fatalf("error %v, want a result", m.Error)
	}
	if err := json.Unmarshal(m.Result, &v); err != nil {
		t.Fatalf("%s: %v", m.Result, err)
	}
	return v
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-SERVER-ECHO", "VER-SERVER-COUNTER", "VER-SERVER-COUNTER-LATEST", "VER-MULTI", "VER-IDENTIFIER-FORMAT")
	tests := map[string]string{"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "x": "2025-11-25"}
	for _, r := range revisions {
		tests[r] = r
	}
	srv := newServer(t, &server.Options{Instructions: "be kind"})
	for offered, want := range tests {
		m := talk(t, srv).ask("initialize", `"protocolVersion":"`+offered+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
		r := result[mcp.InitializeResult](t, m)
		if r.ProtocolVersion != want || r.Instructions != "be kind" {
			t.Errorf("offered %s, got %s", offered, m.Result)
		}
	}
	d := talk(t, srv)
	code(t, d.ask("initialize", `"capabilities":{}`), jsonrpc.CodeInvalidParams)
	code(t, d.ask("initialize", `"protocolVersion":5`), jsonrpc.CodeInvalidParams)
	d.open("2025-06-18") // a refused handshake may be tried again
}

func TestBeforeInitialize(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LIFE-INIT-FIRST")
	d := talk(t, newServer(t, nil))
	result[mcp.EmptyResult](t, d.ask("ping", ""))
	for _, method := range []string{"tools/list", "server/discover", "logging/setLevel", "nope"} {
		code(t, d.ask(method, ""), jsonrpc.CodeInvalidRequest)
	}
	d.send(`{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`) // wants no answer: not a handshake
	code(t, d.ask("tools/list", ""), jsonrpc.CodeInvalidRequest)
}

func TestMethodsOfRevisions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-REMOVED-METHODS-2026", "PING-REMOVED", "LIFE-OP-RESPECT-MUST", "LIFE-OP-RESPECT-SHOULD")
	srv := newServer(t, nil)
	for _, r := range revisions {
		d := talk(t, srv)
		d.open(r)
		for _, method := range []string{"nope", "server/discover", "subscriptions/listen", "sampling/createMessage", "tasks/list", "completion/complete", "notifications/message"} {
			code(t, d.ask(method, ""), jsonrpc.CodeMethodNotFound)
		}
	}
	d := talk(t, srv)
	for _, method := range []string{"nope", "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "roots/list"} {
		code(t, d.askModern(method, `"level":"info","uri":"a:b","protocolVersion":"2025-06-18"`), jsonrpc.CodeMethodNotFound)
	}
}

func TestStatelessMetadata(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-META-MISSING-REJECT", "META-REQ-MISSING-32602", "VER-UNSUPPORTED-ERROR")
	d := talk(t, newServer(t, nil))
	const version, capabilities = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	tests := []struct {
		meta string
		code int
	}{
		{version + `,` + capabilities, 0},
		{version + `,` + capabilities + `,"io.modelcontextprotocol/clientInfo":null,"io.modelcontextprotocol/logLevel":null,"progressToken":null`, 0},
		{version, jsonrpc.CodeInvalidParams},
		{version + `,"io.modelcontextprotocol/clientCapabilities":null`, jsonrpc.CodeInvalidParams},
		{version + `,"io.modelcontextprotocol/clientCapabilities":[]`, jsonrpc.CodeInvalidParams},
		{version + `,"io.modelcontextprotocol/clientCapabilities":{"roots":7}`, jsonrpc.CodeInvalidParams},
		{version + `,` + capabilities + `,"io.modelcontextprotocol/clientInfo":"x"`, jsonrpc.CodeInvalidParams},
		{version + `,` + capabilities + `,"io.modelcontextprotocol/clientInfo":{"name":7}`, jsonrpc.CodeInvalidParams},
		{version + `,` + capabilities + `,"io.modelcontextprotocol/logLevel":"loud"`, jsonrpc.CodeInvalidParams},
		{version + `,` + capabilities + `,"io.modelcontextprotocol/logLevel":3`, jsonrpc.CodeInvalidParams},
		{`"io.modelcontextprotocol/protocolVersion":7,` + capabilities, jsonrpc.CodeInvalidParams},
		{`"io.modelcontextprotocol/protocolVersion":"",` + capabilities, jsonrpc.CodeInvalidParams},
		{`"io.modelcontextprotocol/protocolVersion":"2025-06-18",` + capabilities, mcp.CodeUnsupportedVersion},
		{`"io.modelcontextprotocol/protocolVersion":"2099-01-01",` + capabilities, mcp.CodeUnsupportedVersion},
	}
	for _, tt := range tests {
		m := d.ask("tools/list", `"_meta":{`+tt.meta+`}`)
		if tt.code == 0 {
			result[mcp.ListToolsResult](t, m)
			continue
		}
		code(t, m, tt.code)
		if tt.code != mcp.CodeUnsupportedVersion {
			continue
		}
		var data struct {
			Supported []string
			Requested string
		}
		if err := json.Unmarshal(m.Error.Data, &data); err != nil || len(data.Supported) != 5 || !strings.Contains(tt.meta, data.Requested) {
			t.Errorf("data of %s: %s", tt.meta, m.Error.Data)
		}
	}
	code(t, d.ask("tools/list", `"_meta":7`), jsonrpc.CodeInvalidParams)
	d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`)
	code(t, d.read(), jsonrpc.CodeInvalidParams)
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "DISC-IMPLEMENT", "DISC-RESULT-SHAPE", "DISC-CLIENT-OPTIONAL", "EXT-OFF-BY-DEFAULT")
	srv := newServer(t, &server.Options{Capabilities: mcp.ServerCapabilities{Prompts: &mcp.PromptsCapability{}, Tasks: &mcp.TasksCapability{}}})
	m := talk(t, srv).askModern("server/discover", "")
	want := `{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],
		"capabilities":{"logging":{},"prompts":{"listChanged":true},"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private",` + stamp + `}`
	if !sameJSON(m.Result, []byte(want)) {
		t.Errorf("got  %s\nwant %s", m.Result, want)
	}
	if srv.Info().Name != "test" {
		t.Errorf("Info() = %+v", srv.Info())
	}
}

func TestMalformedFrames(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-ERR-SAME-ID")
	d := talk(t, newServer(t, nil))
	tests := []struct{ frame, id string }{
		{`nonsense`, ``},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"`, `1`},
		{`{"jsonrpc":"1.0","id":2,"method":"ping"}`, `2`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, ``},
		{`{"jsonrpc":"2.0","id":3}`, `3`},
		{`7`, ``},
		{``, ``},
		{`{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":1,"a":2}}`, `4`},
		{`{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `5`},
	}
	for _, tt := range tests {
		d.send(tt.frame)
		m := d.read()
		if m.Error == nil || m.ID.String() != tt.id || m.Error.Code != jsonrpc.CodeParse && m.Error.Code != jsonrpc.CodeInvalidRequest {
			t.Errorf("%.80q was answered with %+v", tt.frame, m)
		}
	}
	// Responses, good or bad, are not answered.
	d.send(`{"jsonrpc":"2.0","id":9,"result":{}}`)
	d.send(`{"jsonrpc":"2.0","id":9,"result":{},"error":5}`)
	d.send(`{"jsonrpc":"2.0","id":9,"error":{"code":"x"}}`)
	d.ask("ping", "")
}

func TestBatches(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-BATCH-RECEIVE", "BASE-BATCH-REMOVED", "STDIO-LINE-BATCH")
	srv := newServer(t, nil)
	for _, r := range append([]string{""}, revisions...) {
		d := talk(t, srv)
		if r != "" {
			d.open(r)
		}
		if r == "2025-03-26" {
			continue
		}
		d.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		code(t, d.read(), jsonrpc.CodeInvalidRequest)
	}
	d := talk(t, srv)
	d.open("2025-03-26")
	d.send(`[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":1,"result":{},"error":5}]`) // nothing to answer
	d.send(`[]`)
	code(t, d.read(), jsonrpc.CodeInvalidRequest)
	d.send(`[1`)
	code(t, d.read(), jsonrpc.CodeParse)
	d.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":1}}},
		{"jsonrpc":"2.0","id":3,"method":"initialize"},7,{"jsonrpc":"2.0","id":4,"method":"nope"},{"jsonrpc":"2.0","method":"nope"}]`)
	frame, err := d.conn.Read()
	if err != nil {
		t.Fatal(err)
	}
	var answers []struct {
		ID    json.RawMessage
		Error *jsonrpc.Error
	}
	if err := json.Unmarshal(frame, &answers); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	got := map[string]int{}
	for _, a := range answers {
		c := 0
		if a.Error != nil {
			c = a.Error.Code
		}
		got[string(a.ID)] = c
	}
	want := map[string]int{"1": 0, "2": 0, "3": jsonrpc.CodeInvalidRequest, "": jsonrpc.CodeInvalidRequest, "4": jsonrpc.CodeMethodNotFound}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(answers) != len(want) {
		t.Errorf("got %v of %s, want %v", got, frame, want)
	}
}
