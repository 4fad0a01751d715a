// Web serves a tool with structured output, a resource and a prompt over HTTP,
// to clients of every revision at one URL:
//
//	go run ./examples/web &
//	ferry call http://127.0.0.1:8080/mcp add a=1 b=2
package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// Terms are the numbers to add.
type Terms struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Sum is the structured result; its schema is shown to clients.
type Sum struct {
	Sum float64 `json:"sum"`
}

func main() {
	mux := http.NewServeMux()
	mux.Handle("/mcp", httpserver.New(newServer(), nil))
	web := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(web.ListenAndServe())
}

func newServer() *server.Server {
	srv := server.New(mcp.Implementation{Name: "web", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add", Description: "Adds two numbers"},
		func(_ context.Context, _ *server.Call, in Terms) (Sum, error) {
			return Sum{in.A + in.B}, nil
		})
	srv.AddResource(mcp.Resource{URI: "note:welcome", Name: "welcome", MIMEType: "text/plain"},
		func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			text := mcp.TextResource(uri, "text/plain", "Welcome aboard.")
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{text}}, nil
		})
	srv.AddPrompt(mcp.Prompt{Name: "explain", Arguments: []mcp.PromptArgument{{Name: "topic", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			message := mcp.PromptMessage{Role: mcp.RoleUser, Content: mcp.Text("Explain " + args["topic"] + " briefly.")}
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{message}}, nil
		})
	return srv
}
