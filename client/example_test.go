package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// A program connects to a server and calls one of its tools. A real one reaches
// the server with a transport.Command or with httpclient.New.
func Example() {
	ctx := context.Background()
	c := client.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	sess, err := c.Connect(ctx, transport.Dial(dialGreeter))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = sess.Close() }()
	fmt.Println("connected to", sess.ServerInfo().Name)

	for tool, err := range sess.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("it has the tool", tool.Name)
	}
	result, err := sess.CallTool(ctx, &mcp.CallToolParams{
		Name:      "greet",
		Arguments: json.RawMessage(`{"name":"Ada"}`),
	}, nil)
	switch {
	case client.IsRemote(err):
		log.Fatal("the server says: ", err)
	case err != nil:
		log.Fatal("the server was not reached: ", err)
	case result.IsError:
		log.Fatal("the tool failed: ", result.Content[0].Text)
	}
	fmt.Println(result.Content[0].Text)
	// Output:
	// connected to greeter
	// it has the tool greet
	// Hello, Ada!
}

// dialGreeter connects to a server that says what it would say to anybody.
func dialGreeter(context.Context) (transport.Conn, error) {
	answers := map[string]string{
		mcp.MethodServerDiscover: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
			`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"greeter","version":"1"}},"ttlMs":0,"cacheScope":"public"}`,
		mcp.MethodToolsList: `{"resultType":"complete","tools":[{"name":"greet","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"}`,
		mcp.MethodToolsCall: `{"resultType":"complete","content":[{"type":"text","text":"Hello, Ada!"}]}`,
	}
	ours, theirs := transport.Pipe()
	go func() {
		defer func() { _ = theirs.Close() }()
		for {
			frame, err := theirs.Read()
			if err != nil {
				return
			}
			m, err := jsonrpc.Decode(frame)
			if err != nil {
				return
			}
			_ = theirs.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answers[m.Method]))
		}
	}()
	return ours, nil
}

// A program keeps what it has read up to date. Lists and resources that are read
// after Subscribe has returned are followed without a gap.
func ExampleSession_Subscribe() {
	ctx := context.Background()
	srv := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	srv.AddResource(mcp.Resource{URI: "note:1", Name: "first"}, nothing)
	c := client.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	sess, err := c.Connect(ctx, transport.Dial(func(context.Context) (transport.Conn, error) {
		ours, theirs := transport.Pipe()
		go func() { _ = srv.ServeConn(ctx, theirs) }()
		return ours, nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = sess.Close() }()
	sub, err := sess.Subscribe(ctx, &mcp.SubscriptionFilter{ResourceSubscriptions: []string{"note:1"}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = sub.Close() }()

	srv.ResourceUpdated("note:1")
	for change, err := range sub.Changes(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Kind, change.URI) // read it again; everything, if it is client.Missed
		break
	}
	// Output: resource updated note:1
}

func nothing(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{}, nil
}
