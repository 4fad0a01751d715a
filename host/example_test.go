package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// inMemory stands for a program to start: host.Stdio("notes", "notes-server").
func inMemory(ctx context.Context, name string) host.Upstream {
	srv := server.New(mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "search"}, func(_ context.Context, _ *server.Call, in struct {
		Query string `json:"query"`
	},
	) (string, error) {
		return name + " about " + in.Query, nil
	})
	return host.Upstream{Name: name, Transport: transport.Dial(func(context.Context) (transport.Conn, error) {
		near, far := transport.Pipe()
		go func() { _ = srv.ServeConn(ctx, far) }()
		return near, nil
	})}
}

func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	h := host.New(mcp.Implementation{Name: "agent", Version: "1.0.0"}, nil)
	defer h.Close()
	for _, u := range []host.Upstream{inMemory(ctx, "notes"), inMemory(ctx, "mail")} {
		if err := h.Add(u); err != nil {
			log.Fatal(err)
		}
	}
	if err := h.Start(ctx); err != nil {
		log.Fatal(err)
	}
	for _, t := range h.Catalog().Tools {
		fmt.Println(t.Tool.Name)
	}
	raw, err := h.CallTool(ctx, "mail_search", json.RawMessage(`{"arguments":{"query":"boats"}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	var result mcp.CallToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].Text)
	// Output:
	// notes_search
	// mail_search
	// mail about boats
}
