package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

type addIn struct {
	A int `json:"a"`
	B int `json:"b"`
}

type addOut struct {
	Sum int `json:"sum"`
}

func newServer(t *testing.T, opts *server.Options) *server.Server {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "test", Version: "1.0.0"}, opts)
	t.Cleanup(func() { _ = srv.Close() })
	server.AddTool(srv, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in addIn) (addOut, error) {
		return addOut{Sum: in.A + in.B}, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "fail"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("the disk is full")
	})
	server.AddTool(srv, mcp.Tool{Name: "panic"}, func(context.Context, *server.Call, struct{}) (string, error) {
		panic("secret")
	})
	server.AddTool(srv, mcp.Tool{Name: "count"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		for i := range 3 {
			if err := c.Progress(ctx, float64(i+1), 3, "step"); err != nil {
				return "", err
			}
		}
		return "counted", nil
	})
	return srv
}

// dialog runs a conversation on a pipe: each line sent, then as many lines
// read as it is answered with.
type dialog struct {
	t    *testing.T
	conn transport.Conn
	done chan error
}

func talk(t *testing.T, srv *server.Server) *dialog {
	t.Helper()
	client, conn := transport.Pipe()
	d := &dialog{t: t, conn: client, done: make(chan error, 1)}
	go func() { d.done <- srv.ServeConn(t.Context(), conn) }()
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-d.done; err != nil {
			t.Errorf("ServeConn: %v", err)
		}
	})
	return d
}

func (d *dialog) send(line string) {
	d.t.Helper()
	if err := d.conn.Write([]byte(line)); err != nil {
		d.t.Fatalf("write %s: %v", line, err)
	}
}

func (d *dialog) want(line string) {
	d.t.Helper()
	frame, err := d.conn.Read()
	if err != nil {
		d.t.Fatalf("read: %v, want %s", err, line)
	}
	if !sameJSON(frame, []byte(line)) {
		d.t.Fatalf("got  %s\nwant %s", frame, line)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ax, _ := json.Marshal(x)
	by, _ := json.Marshal(y)
	return string(ax) == string(by)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

const stamp = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"resultType":"complete"`

func TestBothErasOnOneConnection(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "VER-DUAL-SERVER", "VER-DUAL-SERVER-SELECT", "VER-DUAL-CONCURRENT", "LIFE-INIT-RESULT", "VER-INLINE",
		"SCH-EMPTY-RESULT", "VER-SINGLE-PER-SESSION")
	d := talk(t, newServer(t, nil))
	d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	d.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"\"tools/list\" came before initialize, and its _meta names no revision"}}`)
	d.send(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},` + modernMeta + `}}`)
	d.want(`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3},` + stamp + `}}`)
	d.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	d.want(`{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-03-26","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"test","version":"1.0.0"}}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`)
	d.want(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"sum\":3}"}]}}`)
	d.send(`{"jsonrpc":"2.0","id":"b","method":"ping","params":{` + modernMeta + `}}`)
	d.want(`{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"method \"ping\" is not supported"}}`)
	d.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	d.want(`{"jsonrpc":"2.0","id":4,"result":{}}`)
	d.send(`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	d.want(`{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"initialize came twice"}}`)
}

func TestToolFailures(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-ERR-MALFORMED-PROTOCOL", "TOOL-ERR-EXECUTION-ISERROR", "TOOL-UNKNOWN-32602",
		"TOOL-ERR-INPUT-VALIDATION-ISERROR", "TOOL-SEC-VALIDATE-INPUT")
	d := talk(t, newServer(t, nil))
	call := func(params, want string) {
		t.Helper()
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `,` + modernMeta + `}}`)
		d.want(`{"jsonrpc":"2.0","id":1,` + want + `}`)
	}
	failed := func(text string) string {
		return `"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":true,` + stamp + `}`
	}
	call(`"name":"fail"`, failed("the disk is full"))
	call(`"name":"panic"`, failed(`tool \"panic\" failed: internal error`))
	call(`"name":"nope"`, `"error":{"code":-32602,"message":"unknown tool \"nope\""}`)
	call(`"name":"add","arguments":[1]`, `"error":{"code":-32602,"message":"params of tools/call: arguments must be an object"}`)
	call(`"name":"add","arguments":{"a":"x","b":1}`, failed(`invalid arguments: /a: expected integer, got string`))
}

func TestProgressComesBeforeTheResult(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROG-NOTIFY", "PROG-INCREASING")
	d := talk(t, newServer(t, nil))
	meta := `"_meta":{"progressToken":7,` + modernMeta[len(`"_meta":{`):]
	d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count",` + meta + `}}`)
	for _, n := range []string{"1", "2", "3"} {
		d.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":` + n + `,"total":3,"message":"step"}}`)
	}
	d.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"counted"}],` + stamp + `}}`)
}
