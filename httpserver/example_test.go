package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func Example() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	type input struct {
		Name string `json:"name"`
	}
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(_ context.Context, _ *server.Call, in input) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	handler := httpserver.New(srv, nil)
	defer handler.Close()

	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	// In a program: http.ListenAndServe("localhost:8080", mux)
	web := httptest.NewServer(mux)
	defer web.Close()

	// What a client does: a session is opened, and named in what follows.
	post := func(session, body string) *http.Response {
		r, _ := http.NewRequest(http.MethodPost, web.URL+"/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", session)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		return res
	}
	opened := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
		"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"example","version":"1.0"}}}`)
	defer opened.Body.Close()
	fmt.Println(opened.Status)
	called := post(opened.Header.Get("Mcp-Session-Id"),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)
	defer called.Body.Close()
	body, _ := io.ReadAll(called.Body)
	fmt.Println(string(body))
	// Output:
	// 200 OK
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, Ada!"}]}}
}
