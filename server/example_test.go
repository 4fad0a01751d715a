package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func add(_ context.Context, _ *server.Call, in addIn) (addOut, error) {
	return addOut{Sum: in.A + in.B}, nil
}

func ExampleNew() {
	srv := server.New(mcp.Implementation{Name: "calculator", Version: "1.0.0"}, &server.Options{
		Instructions: "Use add for sums.",
	})
	defer srv.Close()
	fmt.Println(srv.Info().Name)
	// Output: calculator
}

func ExampleAddTool() {
	type args struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet", Description: "Greet somebody."},
		func(_ context.Context, _ *server.Call, in args) (string, error) {
			if in.Name == "" {
				return "", fmt.Errorf("a name is needed") // the model reads this
			}
			return "Hello, " + in.Name + "!", nil
		})
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`))
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}}
}

// ServeConn serves any connection; a program that a host launches calls
// ServeStdio instead.
func ExampleServer_ServeConn() {
	srv := server.New(mcp.Implementation{Name: "calculator", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add"}, add)

	client, conn := transport.Pipe()
	done := make(chan error)
	go func() { done <- srv.ServeConn(context.Background(), conn) }()

	_ = client.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	answer, _ := client.Read()
	fmt.Println(string(answer))

	_ = client.Close()
	fmt.Println(<-done)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// <nil>
}

func ExampleServer_AddResourceTemplate() {
	srv := server.New(mcp.Implementation{Name: "users", Version: "1.0.0"}, nil)
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "users://{id}", Name: "user"},
		func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			if vars["id"] != "7" {
				return nil, &mcp.ResourceNotFoundError{URI: uri}
			}
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", "Ada")}}, nil
		})
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"users://7"}}`))
	// Output: {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"users://7","mimeType":"text/plain","text":"Ada"}]}}
}

func ExampleServer_Use() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	srv.Use(func(next server.Handler) server.Handler {
		return func(ctx context.Context, c *server.Call) (any, error) {
			if !strings.HasPrefix(c.Method, "notifications/") {
				fmt.Println("asked for", c.Method)
			}
			return next(ctx, c)
		}
	})
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	// Output:
	// asked for initialize
	// asked for ping
	// {"jsonrpc":"2.0","id":1,"result":{}}
}

// A stateless client answers a question by calling again.
func ExampleElicit() {
	type confirm struct {
		Sure bool `json:"sure"`
	}
	srv := server.New(mcp.Implementation{Name: "files", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "clear"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		answer, err := server.Elicit[confirm](ctx, c, "sure", "Delete everything?")
		if err != nil {
			return "", err
		}
		if !answer.Accepted() || !answer.Value.Sure {
			return "Nothing deleted", nil
		}
		return "Everything deleted", nil
	})
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"clear",%s"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	for _, answers := range []string{``, `"inputResponses":{"sure":{"action":"accept","content":{"sure":true}}},`} {
		answer := exchange(srv, fmt.Sprintf(request, answers))
		fmt.Println(strings.Contains(answer, "Delete everything?"), strings.Contains(answer, "Everything deleted"))
	}
	// Output:
	// true false
	// false true
}

// What cannot be done twice is done once, however often the handler asks.
func ExampleOnce() {
	srv := server.New(mcp.Implementation{Name: "desk", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "open"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		return server.Once(ctx, c, "ticket", func(context.Context) (string, error) { return "ticket 7", nil })
	})
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open"}}`))
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ticket 7"}]}}
}

// exchange opens a session, sends one request and returns the answer.
func exchange(srv *server.Server, request string) string {
	client, conn := transport.Pipe()
	done := make(chan error)
	go func() { done <- srv.ServeConn(context.Background(), conn) }()
	_ = client.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
	_, _ = client.Read()
	_ = client.Write([]byte(request))
	answer, _ := client.Read()
	_ = client.Close()
	<-done
	return string(answer)
}

// Users see what fits while they type; clients get at most 100 values.
func ExampleServer_CompletePrompt() {
	srv := server.New(mcp.Implementation{Name: "travel", Version: "1.0.0"}, nil)
	srv.AddPrompt(mcp.Prompt{Name: "plan", Arguments: []mcp.PromptArgument{{Name: "city"}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Plan " + args["city"])}}}, nil
		})
	srv.CompletePrompt("plan", "city", server.OneOf("New Bern", "Paris", "Bern"))
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{`+
		`"ref":{"type":"ref/prompt","name":"plan"},"argument":{"name":"city","value":"b"}}}`))
	// Output: {"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["Bern","New Bern"],"total":2}}}
}

// A handler logs to its caller like to any other log.
func ExampleCall_LogHandler() {
	srv := server.New(mcp.Implementation{Name: "files", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "scan"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		log := slog.New(c.LogHandler("scanner"))
		log.WarnContext(ctx, "file skipped", "path", "/tmp/x")
		return "done", nil
	})
	fmt.Println(exchange(srv, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scan"}}`))
	// Output: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"scanner","data":{"msg":"file skipped","path":"/tmp/x"}}}
}
