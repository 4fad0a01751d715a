package httpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

const (
	r2     = "2025-03-26"
	r3     = "2025-06-18"
	r4     = "2025-11-25"
	modern = "2026-07-28"
)

// meta is the _meta of a stateless request.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}`

// gates let tests decide when the tools of newServer go on.
type gates struct {
	started chan struct{} // a value for each call of "wait"
	proceed chan struct{} // lets one call of "wait" end
	ended   chan error    // why the context of "wait" ended, if it did
}

// newServer returns a server with tools for all that can happen.
func newServer() (*server.Server, *gates) {
	g := &gates{started: make(chan struct{}, 100), proceed: make(chan struct{}), ended: make(chan error, 100)}
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return in.Text, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "progress"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		for i := range 2 {
			if err := c.Progress(ctx, float64(i+1), 2, ""); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		g.started <- struct{}{}
		select {
		case <-g.proceed:
			return "done", nil
		case <-ctx.Done():
			g.ended <- context.Cause(ctx)
			return "", context.Cause(ctx)
		}
	})
	srv.AddRawTool(mcp.Tool{Name: "panic"}, func(context.Context, *server.Call) (any, error) { panic("secret") })
	srv.AddRawTool(mcp.Tool{Name: "big"}, func(context.Context, *server.Call) (any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(strings.Repeat("x", 300_000))}}, nil
	})
	srv.AddRawTool(mcp.Tool{Name: "needy"}, func(context.Context, *server.Call) (any, error) {
		return nil, &mcp.MissingCapabilityError{Required: mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}}
	})
	srv.AddResource(mcp.Resource{URI: "test://a", Name: "a"}, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{URI: uri, Text: "text"}}}, nil
	})
	return srv, g
}

// An endpoint is a handler at a URL.
type endpoint struct {
	t   testing.TB
	srv *server.Server
	h   *httpserver.Handler
	*gates
	url string
}

func start(t testing.TB, opts *httpserver.Options) *endpoint {
	t.Helper()
	srv, g := newServer()
	e := startServerWith(t, srv, opts)
	e.gates = g
	return e
}

// startServer serves a server of the test's own.
func startServer(t testing.TB, srv *server.Server) *endpoint {
	t.Helper()
	return startServerWith(t, srv, nil)
}

func startServerWith(t testing.TB, srv *server.Server, opts *httpserver.Options) *endpoint {
	t.Helper()
	h := httpserver.New(srv, opts)
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		web.Close()
		_ = srv.Close()
	})
	return &endpoint{t: t, srv: srv, h: h, url: web.URL}
}

// A header is written as "Name: value" lines; "Name:" alone removes the default.
func request(ctx context.Context, t testing.TB, method, url, header, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	seen := map[string]bool{}
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, value = http.CanonicalHeaderKey(name), strings.TrimSpace(value)
		switch {
		case name == "":
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		case seen[name]:
			r.Header.Add(name, value)
		default:
			r.Header.Set(name, value)
		}
		seen[name] = true
	}
	return r
}

// An answer is all that came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (e *endpoint) do(method, header, body string) answer {
	e.t.Helper()
	res, err := http.DefaultClient.Do(request(e.t.Context(), e.t, method, e.url, header, body))
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, body, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		e.t.Fatalf("%s %s: read the answer: %v", method, body, err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

func (e *endpoint) post(header, body string) answer {
	e.t.Helper()
	return e.do(http.MethodPost, header, body)
}

// code returns the code of the JSON-RPC error in the body; 0 when there is none.
func (a answer) code() int {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(a.body), &m)
	return m.Error.Code
}

// session opens a session of a revision and returns the header that names it.
func (e *endpoint) session(revision string) string {
	e.t.Helper()
	a := e.post("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		e.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	header := "Mcp-Session-Id: " + id + "\n"
	if a := e.post(header, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); a.status != 202 || a.body != "" {
		e.t.Fatalf("initialized: %d %q", a.status, a.body)
	}
	return header
}

// call is the body of a tools/call, in the form of a session.
func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"progressToken":1}}}`
}

// statelessCall is the body and statelessHeader the header of a stateless tools/call.
func statelessCall(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,` + meta + `}}`
}

func statelessHeader(tool string) string {
	return "MCP-Protocol-Version: " + modern + "\nMcp-Method: tools/call\nMcp-Name: " + tool + "\n"
}

// A stream is an open event stream.
type stream struct {
	t      testing.TB
	res    *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
	id     string // the last one
	retry  string // the last one
}

func (e *endpoint) open(method, header, body string) *stream {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.t.Context()))
	e.t.Cleanup(cancel)
	res, err := http.DefaultClient.Do(request(ctx, e.t, method, e.url, header, body))
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, body, err)
	}
	e.t.Cleanup(func() { _ = res.Body.Close() })
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		raw, _ := io.ReadAll(res.Body)
		e.t.Fatalf("%s %s: %d %s %s", method, body, res.StatusCode, got, raw)
	}
	return &stream{t: e.t, res: res, lines: bufio.NewScanner(res.Body), cancel: cancel}
}

// line returns the next comment or message, "" at the end of the stream.
func (s *stream) line() string {
	s.t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "id":
			s.id = value
		case name == "retry":
			s.retry = value
		case name == "" && value == "", name == "data" && value == "":
		default:
			return s.lines.Text()
		}
	}
	if err := s.lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
		s.t.Errorf("the stream ends with %v", err)
	}
	return ""
}

func (s *stream) want(part string) {
	s.t.Helper()
	if got := s.line(); !strings.Contains(got, part) || part == "" && got != "" {
		s.t.Fatalf("line %q, want one with %q", got, part)
	}
}
