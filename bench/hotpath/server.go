package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// paths are all paths.
func paths() []path {
	const said, listed, sum = `"text":"Words to say`, `"inputSchema"`, `"structuredContent":{"sum":3}`
	return []path{
		{"conn echo", overConn("echo", said, 0)},
		{"conn echo, stateless", overConn("echo-modern", said, 0)},
		{"conn add", overConn("add", sum, 0)},
		{"conn list", overConn("list", listed, 996)},
		{"http echo, session", overHTTP("echo", said, true)},
		{"http echo, stateless", overHTTP("echo-modern", said, false)},
		{"client conn echo", clientOverConn},
		{"client http echo", clientOverHTTP},
	}
}

type echoIn struct {
	Text string `json:"text"`
}

type addIn struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type addOut struct {
	Sum float64 `json:"sum"`
}

func newServer(more int) *server.Server {
	srv := server.New(mcp.Implementation{Name: "hotpath", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in echoIn) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(in.Text)}}, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in addIn) (addOut, error) {
		return addOut{in.A + in.B}, nil
	})
	for i := range more {
		srv.AddRawTool(mcp.Tool{Name: fmt.Sprintf("tool-%d", i)}, func(context.Context, *server.Call) (any, error) {
			return nil, errors.New("this tool is only there to be listed")
		})
	}
	return srv
}

// A wire is a connection that allocates nothing itself. It hands over frames
// without waiting for anybody but the server.
type wire struct {
	in  chan []byte
	out chan struct{}

	want []byte
	bad  error
}

// Read implements transport.Conn.
func (w *wire) Read() ([]byte, error) {
	f, ok := <-w.in
	if !ok {
		return nil, io.EOF
	}
	return f, nil
}

// Write implements transport.Conn.
func (w *wire) Write(f []byte) error {
	if !bytes.Contains(f, w.want) {
		w.bad = fmt.Errorf("no %s in the reply %.200s", w.want, f)
	}
	w.out <- struct{}{}
	return nil
}

// Close implements transport.Conn.
func (w *wire) Close() error { return nil }

// overConn has a server answer a frame over a connection. The server ends with
// the process.
func overConn(name, want string, tools int) func(context.Context) (func() error, error) {
	return func(ctx context.Context) (func() error, error) {
		w := &wire{in: make(chan []byte), out: make(chan struct{})}
		serve(func() { _ = newServer(tools).ServeConn(ctx, w) }) // it ends with the process
		w.in <- frame("initialize")
		<-w.out
		rq := frame(name)
		w.want = []byte(want)
		return func() error {
			w.in <- rq
			<-w.out
			return w.bad
		}, nil
	}
}

// overHTTP has a handler answer a frame, without net/http around it.
func overHTTP(name, want string, session bool) func(context.Context) (func() error, error) {
	return func(ctx context.Context) (func() error, error) {
		h := httpserver.New(newServer(0), nil)
		header := http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		}
		w := &answer{header: http.Header{}}
		body := new(bytes.Reader)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/mcp", io.NopCloser(body))
		if err != nil {
			return nil, err
		}
		r.Header = header
		post := func(f []byte) {
			clear(w.header)
			w.body.Reset()
			w.status = http.StatusOK
			body.Reset(f)
			r.ContentLength = int64(len(f))
			h.ServeHTTP(w, r)
		}
		if session {
			post(frame("initialize"))
			header.Set("Mcp-Session-Id", w.header.Get("Mcp-Session-Id"))
			post(frame("initialized"))
		} else {
			header.Set("Mcp-Method", "tools/call")
			header.Set("Mcp-Name", "echo")
		}
		if err := setVersion(header, session); err != nil {
			return nil, err
		}
		rq, wanted := frame(name), []byte(want)
		return func() error {
			post(rq)
			if w.status != http.StatusOK || !bytes.Contains(w.body.Bytes(), wanted) {
				return fmt.Errorf("status %d, no %s in the reply %.200s", w.status, want, w.body.Bytes())
			}
			return nil
		}, nil
	}
}

// An answer takes a response and allocates nothing once it has grown.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// Flush implements http.Flusher.
func (a *answer) Flush() {}
