package legacysse_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func Example() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0"}, nil)
	handler := httpserver.New(srv, nil)
	defer handler.Close()
	old := legacysse.New(srv, &legacysse.Options{MessagePath: "/message"})
	defer old.Close()

	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/sse", old) // for clients of the oldest revision
	mux.Handle("/message", old)
	web := httptest.NewServer(mux)
	defer web.Close()

	// What such a client sees first.
	res, err := http.Get(web.URL + "/sse")
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for range 2 {
		lines.Scan()
		line, _, _ := strings.Cut(lines.Text(), "?")
		fmt.Println(line)
	}
	// Output:
	// event: endpoint
	// data: /message
}
