// Greeter is a complete server with one tool. Hosts launch it and speak to it
// over its standard input and output:
//
//	ferry call greet name=Ada -- go run ./examples/greeter
package main

import (
	"context"
	"log"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// Greet is what the tool needs to know. The schema that clients see is made of
// this type.
type Greet struct {
	Name string `json:"name" jsonschema:"who to greet"`
}

func main() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet", Description: "Greets somebody"},
		func(_ context.Context, _ *server.Call, in Greet) (string, error) {
			return "Hello, " + in.Name + "!", nil
		})
	if err := srv.ServeStdio(context.Background()); err != nil {
		log.Fatal(err)
	}
}
