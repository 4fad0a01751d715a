package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func addTool(srv *server.Server, name string) {
	srv.AddRawTool(mcp.Tool{Name: name}, func(context.Context, *server.Call) (any, error) { return nil, nil })
}

func TestListChangesOfSessions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "TOOL-LIST-CHANGED-NOTIFY", "PROMPT-LIST-CHANGED-NOTIFY", "RES-LIST-CHANGED-NOTIFY", "RES-UNSUBSCRIBE-RPC",
		"RES-SUBSCRIBE-RPC", "RES-UPDATED-ONLY-SUBSCRIBED", "LIFE-SERVER-PRE-INIT", "SCH-EMPTY-RESULT")
	srv := newServer(t, nil)
	d := talk(t, srv)
	addTool(srv, "early") // nobody is told before the handshake has ended
	d.ask("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
	addTool(srv, "also-early")
	d.ask("ping", "")
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.ask("ping", "")
	addTool(srv, "late")
	d.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	srv.RemoveTools("nope") // no change
	srv.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) { return nil, nil })
	d.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	srv.AddResource(mcp.Resource{URI: "a:b", Name: "n"}, contents(""))
	d.want(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)

	code(t, d.ask("resources/subscribe", `"uri":"x:y"`), mcp.CodeResourceNotFound)
	code(t, d.ask("resources/subscribe", ``), jsonrpc.CodeInvalidParams)
	code(t, d.ask("resources/subscribe", `"uri":7`), jsonrpc.CodeInvalidParams)
	code(t, d.ask("resources/unsubscribe", `"uri":7`), jsonrpc.CodeInvalidParams)
	result[mcp.EmptyResult](t, d.ask("resources/subscribe", `"uri":"a:b"`))
	srv.ResourceUpdated("a:c")
	srv.ResourceUpdated("a:b")
	d.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`)
	result[mcp.EmptyResult](t, d.ask("resources/unsubscribe", `"uri":"a:b"`))
	srv.ResourceUpdated("a:b")
	d.ask("ping", "")
}

// A slow subscriber hears once of many changes, and nobody waits for it.
func TestChangesAreCoalesced(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	hold, got := make(chan struct{}), make(chan string, 2000)
	sess := srv.NewSession(func(frame []byte) error {
		got <- string(frame)
		<-hold
		return nil
	})
	serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	serve(t, srv, sess, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	addTool(srv, "t")
	<-got // being written, slowly
	for i := range 1000 {
		addTool(srv, fmt.Sprint("t", i))
	}
	close(hold)
	<-got
	sess.Close()
	sess.Close()
	addTool(srv, "last")
	if len(got) != 0 {
		t.Errorf("%d notifications more, want one for all", len(got))
	}
	if r := serve(t, srv, sess, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); r.Error == nil {
		t.Error("a closed session answers")
	}
}

// serve hands a message to a session.
func serve(t *testing.T, srv *server.Server, sess *server.Session, line string) *server.Response {
	t.Helper()
	m, err := jsonrpc.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	rq, err := srv.Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	return sess.Serve(t.Context(), rq, func([]byte) error { return nil })
}

func TestSubscriberWhoseSinkFails(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	var mu sync.Mutex
	calls := make(chan struct{}, 10)
	sess := srv.NewSession(func([]byte) error {
		mu.Lock()
		defer mu.Unlock()
		calls <- struct{}{}
		return context.Canceled
	})
	defer sess.Close()
	serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	serve(t, srv, sess, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	addTool(srv, "a")
	<-calls
	addTool(srv, "b")
	if sess.Revision() != "2025-11-25" || !sess.Ready() || sess.Batches() {
		t.Errorf("session of %s, ready: %v, batches: %v", sess.Revision(), sess.Ready(), sess.Batches())
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SUB-ACK-FIRST", "SUB-ID-TAG", "SUB-GRACEFUL-RESULT", "CANCEL-SERVER-SUBSCRIPTION",
		"TOOL-LIST-CHANGED-NOTIFY-LISTEN", "ARCH-UPDATES-NEED-LISTEN", "RES-UPDATED-ONLY-OPTED-IN", "RES-UPDATED-SUBSCRIPTION-ID")
	srv := newServer(t, nil)
	srv.AddResource(mcp.Resource{URI: "a:b", Name: "n"}, contents(""))
	d := talk(t, srv)
	code(t, d.askModern("subscriptions/listen", `"notifications":7`), jsonrpc.CodeInvalidParams)
	for i := range 100 { // a change right after the acknowledgement is told
		srv.ResourceUpdated("a:b") // nobody listens
		id := fmt.Sprintf(`"s%d"`, i)
		tag := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}`
		d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,
			"promptsListChanged":true,"resourceSubscriptions":["a:b","a:b","x:y"]},` + modernMeta + `}}`)
		d.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + tag +
			`,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}}`)
		srv.ResourceUpdated("a:b")
		d.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b",` + tag + `}}`)
		addTool(srv, "t")
		d.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + tag + `}}`)
		srv.AddResource(mcp.Resource{URI: "a:c", Name: "n"}, contents("")) // not asked for
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,` + modernMeta + `}}`)
		d.askModern("server/discover", "")
	}
	d.send(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{},` + modernMeta + `}}`)
	d.read()
	_ = srv.Close()
	d.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"requestId":7,"reason":"the server is closing"}}`)
	d.want(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":7,
		"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}}`)
}

// What a handler sends after it has returned is dropped.
func TestProgressAfterTheResult(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROG-STOP")
	srv := newServer(t, nil)
	var late *server.Call
	server.AddTool(srv, mcp.Tool{Name: "late"}, func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
		late = c
		var level string
		if ok, err := c.Meta().Get("level", &level); !ok || err != nil || c.Arguments() != nil || c.Session() == nil || c.ClientCapabilities().Roots != nil || len(c.Params()) == 0 {
			return "", fmt.Errorf("meta %v, arguments %s", c.Meta(), c.Arguments())
		}
		return "", nil
	})
	d := talk(t, srv)
	d.open("2024-11-05")
	if r := result[mcp.CallToolResult](t, d.ask("tools/call", `"name":"late","_meta":{"progressToken":"p","level":"x"}`)); r.IsError {
		t.Errorf("got %+v", r)
	}
	if err := late.Progress(t.Context(), 1, 2, "m"); err != nil {
		t.Errorf("Progress: %v", err)
	}
	if err := late.Notify(t.Context(), "x/y", json.RawMessage(`{}`)); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if err := late.Notify(t.Context(), "x/y", 5); err == nil {
		t.Error("Notify accepted parameters that are no object")
	}
	d.ask("ping", "")
}

func TestStatelessCaller(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	for name, want := range map[string]string{"": "2025-03-26", "2025-06-18": "2025-06-18", "2026-07-28": "", "x": ""} {
		sess, ok := srv.Stateless(name)
		if ok != (want != "") {
			t.Errorf("Stateless(%q) = %v", name, ok)
		}
		if !ok {
			continue
		}
		if got := sess.Revision(); got != want {
			t.Errorf("Stateless(%q) speaks %s, want %s", name, got, want)
		}
		for range 2 { // not remembered, so it may come again
			if r := serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`); r.Error != nil {
				t.Errorf("initialize: %v", r.Error)
			}
		}
		if r := serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); r.Error != nil {
			t.Errorf("tools/list: %v", r.Error)
		}
		if r := serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}`); r.Error == nil {
			t.Error("there is a session to subscribe")
		}
	}
	if err := server.MissingMeta(); err.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("MissingMeta() = %v", err)
	}
}

// A client that takes nothing holds up nobody, and hears of many changes at once
// when it takes something again.
func TestSubscriberThatIsSlow(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROMPT-LIST-CHANGED-NOTIFY-LISTEN", "RES-LIST-CHANGED-NOTIFY-LISTEN")
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
		srv.AddRawPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call) (any, error) { return nil, nil })
		listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true,` +
			`"resourcesListChanged":true,"resourceSubscriptions":["r:1"]},` + modernMeta + `}}`
		slow, quick := talk(t, srv), talk(t, srv)
		slow.send(listen)
		quick.send(listen)
		slow.read() // the acknowledgements, and then only quick reads
		quick.read()
		const changes = 100
		for range changes {
			srv.ResourceUpdated("r:1")
			if m := quick.read(); m.Method != mcp.NotificationResourcesUpdated {
				t.Fatalf("got %s", m.Method)
			}
		}
		srv.RemovePrompts("p")
		srv.RemoveResources("r:1")
		got := []string{quick.read().Method, quick.read().Method}
		slices.Sort(got)
		if want := []string{mcp.NotificationPromptsListChanged, mcp.NotificationResourcesListChanged}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		told := 0
		for seen := map[string]bool{}; len(seen) < 3; told++ {
			seen[slow.read().Method] = true
		}
		if told >= changes {
			t.Errorf("the slow one was told %d times of %d changes, want a few times", told, changes+2)
		}
	})
}

// What a subscriber follows takes memory: URIs may be long, and a template may
// match any.
func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	uri := func(i int) string { return fmt.Sprintf("big:%064000d", i) }
	for i := range 20 {
		srv.AddResource(mcp.Resource{URI: uri(i), Name: "n"}, contents(""))
	}
	d := talk(t, srv)
	d.ask("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i := range 16 {
		result[mcp.EmptyResult](t, d.ask("resources/subscribe", `"uri":"`+uri(i)+`"`))
		result[mcp.EmptyResult](t, d.ask("resources/subscribe", `"uri":"`+uri(i)+`"`)) // is the same one
	}
	code(t, d.ask("resources/subscribe", `"uri":"`+uri(16)+`"`), jsonrpc.CodeInvalidParams)
	result[mcp.EmptyResult](t, d.ask("resources/unsubscribe", `"uri":"`+uri(3)+`"`))
	result[mcp.EmptyResult](t, d.ask("resources/subscribe", `"uri":"`+uri(16)+`"`))
	srv.ResourceUpdated(uri(16))
	d.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri(16) + `"}}`)

	var all []string
	for i := range 20 {
		all = append(all, `"`+uri(i)+`"`)
	}
	d.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[` +
		strings.Join(all, ",") + `]},` + modernMeta + `}}`)
	frame, err := d.conn.Read()
	if got := strings.Count(string(frame), "big:"); err != nil || got != 16 {
		t.Errorf("%d URIs granted, %v; want 16", got, err)
	}
}
