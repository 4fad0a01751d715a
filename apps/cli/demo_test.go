package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// pixel stands for an image.
var pixel = []byte("\x89PNG\r\n")

type typesIn struct {
	Text  string         `json:"text"            jsonschema:"some text"`
	Count int            `json:"count,omitempty"`
	Ratio float64        `json:"ratio,omitempty"`
	Yes   bool           `json:"yes,omitempty"`
	List  []string       `json:"list,omitempty"`
	Nums  []int          `json:"nums,omitempty"`
	Map   map[string]int `json:"map,omitempty"`
}

// newDemo makes a server with something of everything.
func newDemo() *server.Server {
	srv := server.New(mcp.Implementation{Name: "demo", Title: "Demo", Version: "1.2.3"}, &server.Options{
		Instructions: "Ask nicely.",
		Complete:     completeDemo,
		PageSize:     3,
	})
	server.AddTool(srv, mcp.Tool{Name: "types", Description: "Tells what it got.\nAnd more."},
		func(_ context.Context, _ *server.Call, in typesIn) (typesIn, error) { return in, nil })
	server.AddTool(srv, mcp.Tool{Name: "fail", Description: "Fails"},
		func(context.Context, *server.Call, struct{}) (string, error) { return "", errors.New("it broke") })
	raw := func(name, schema string, h func(context.Context, *server.Call) (any, error)) {
		srv.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, h)
	}
	result := func(r mcp.CallToolResult) func(context.Context, *server.Call) (any, error) {
		return func(context.Context, *server.Call) (any, error) { return &r, nil }
	}
	const anything = `{"type":"object"}`
	raw("media", anything, result(mcp.CallToolResult{Content: []mcp.Content{
		mcp.Text("look:"), mcp.Image(pixel, "image/png"), mcp.Audio([]byte("beep"), "audio/wav"),
		mcp.Embed(mcp.TextResource("demo://a", "text/plain", "embedded")), mcp.Link(mcp.Resource{URI: "demo://link", Name: "link"}),
	}}))
	raw("structured", anything, result(mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":1}`)}))
	raw("silent", anything, result(mcp.CallToolResult{IsError: true}))
	raw("escape", anything, result(mcp.CallToolResult{Content: []mcp.Content{mcp.Text("\x1b[31mred")}}))
	raw("strict", `{"type":"object","additionalProperties":false,"required":["mode"],"properties":{
		"mode":{"enum":["fast","slow"],"description":"how"},
		"level":{"$ref":"#/$defs/level"},"either":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":7},"free":true,
		"levels":{"type":"array","items":{"$ref":"#/$defs/level"}}},
		"$defs":{"level":{"type":"integer","enum":[1,2]}}}`, echo)
	raw("steps", anything, steps)
	raw("hang", anything, func(ctx context.Context, _ *server.Call) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	raw("input", anything, func(context.Context, *server.Call) (any, error) {
		// Raw, because the server itself does not ask what a client cannot answer.
		return json.RawMessage(`{"resultType":"input_required","inputRequests":{"folders":{"method":"roots/list"}},"requestState":"state"}`), nil
	})
	addDemoResources(srv)
	srv.AddPrompt(mcp.Prompt{Name: "greet", Description: "Greets", Arguments: []mcp.PromptArgument{
		{Name: "who", Description: "whom to greet", Required: true}, {Name: "how"},
	}}, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		messages := []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Greet " + args["who"])}}
		if args["how"] != "" {
			messages = append(messages, mcp.PromptMessage{Role: mcp.RoleAssistant, Content: mcp.Text("Hello " + args["how"])})
		}
		return &mcp.GetPromptResult{Messages: messages}, nil
	})
	return srv
}

func echo(_ context.Context, c *server.Call) (any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(string(c.Arguments()))}}, nil
}

// steps reports progress and logs.
func steps(ctx context.Context, c *server.Call) (any, error) {
	if err := c.Progress(ctx, 1, 2, "halfway"); err != nil {
		return nil, err
	}
	if err := c.Progress(ctx, 2, 0, "there"); err != nil {
		return nil, err
	}
	if err := c.Log(ctx, mcp.LevelInfo, "steps", "a message"); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("done")}}, nil
}

func addDemoResources(srv *server.Server) {
	contents := func(c mcp.ResourceContents) server.ResourceHandler {
		return func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{c}}, nil
		}
	}
	srv.AddResource(mcp.Resource{URI: "demo://text", Name: "text", MIMEType: "text/plain", Size: mcp.Ptr(int64(2500))},
		contents(mcp.TextResource("demo://text", "text/plain", "some text")))
	srv.AddResource(mcp.Resource{URI: "demo://bytes", Name: "bytes", Description: "Bytes"},
		contents(mcp.BlobResource("demo://bytes", "", pixel)))
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "demo://item/{id}", Name: "item", MIMEType: "text/plain"},
		contents(mcp.TextResource("demo://item/1", "text/plain", "item")))
}

func completeDemo(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
	c := &mcp.Completion{}
	for _, v := range []string{"alice", "albert", "bob"} {
		if strings.HasPrefix(v, p.Argument.Value) {
			c.Values = append(c.Values, v)
		}
	}
	switch {
	case p.Context != nil:
		c.Values = append(c.Values, fmt.Sprint(p.Context.Arguments))
		c.HasMore = true
	case p.Argument.Value == "":
		c.Total = mcp.Ptr(int64(10))
	}
	return c, nil
}

// serveDemo serves newDemo on standard input and output.
func serveDemo() {
	fmt.Fprintln(os.Stderr, "demo is here")
	if err := newDemo().ServeStdio(context.Background()); err != nil {
		os.Exit(1)
	}
}

// serveLiar gives an older server's greeting and then answers not as it should:
// its argument is the result it gives to everything.
func serveLiar() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := os.Args[1]
		switch m.Method {
		case mcp.MethodServerDiscover:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
			continue
		case mcp.MethodInitialize:
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"experimental":{"x":{}}},"serverInfo":{"name":"liar","version":"1"}}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// serveStubborn is a server that no request to end reaches: neither the end of
// its input nor a signal. The test sees its end by that of a connection.
func serveStubborn() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if address := os.Getenv("FERRY_TEST_LEASH"); address != "" {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			os.Exit(1)
		}
		defer conn.Close()
	}
	_ = newDemo().ServeStdio(context.Background())
	select {}
}
