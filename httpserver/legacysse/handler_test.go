package legacysse_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

// An env is a handler behind a real server: streams need one.
type env struct {
	t       *testing.T
	srv     *server.Server
	h       *legacysse.Handler
	url     string
	started chan struct{} // tool "wait" has begun
	proceed chan struct{} // lets it end
	ended   chan error    // what became of its context
	log     *logBuffer
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

type text struct {
	Text string `json:"text"`
}

func start(t *testing.T, opts *legacysse.Options) *env {
	t.Helper()
	e := &env{t: t, started: make(chan struct{}, 9), proceed: make(chan struct{}), ended: make(chan error, 9), log: &logBuffer{}}
	e.srv = server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(e.srv, mcp.Tool{Name: "echo"}, func(_ context.Context, c *server.Call, in text) (string, error) {
		return c.Principal + in.Text, nil
	})
	server.AddTool(e.srv, mcp.Tool{Name: "big"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return strings.Repeat("x", 1<<20), nil
	})
	server.AddTool(e.srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		e.started <- struct{}{}
		select {
		case <-e.proceed:
		case <-ctx.Done():
		}
		e.ended <- ctx.Err()
		return "waited", nil
	})
	if opts == nil {
		opts = &legacysse.Options{}
	}
	opts.Logger = slog.New(slog.NewTextHandler(e.log, nil))
	e.h = legacysse.New(e.srv, opts)
	web := httptest.NewServer(e.h)
	e.url = web.URL + "/sse"
	t.Cleanup(func() {
		if err := e.h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		web.Close()
		_ = e.srv.Close()
	})
	return e
}

func (e *env) do(method, url, body string, header ...string) *http.Response {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, url, err)
	}
	e.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// A client has a stream open.
type client struct {
	*env
	body     io.ReadCloser
	lines    *bufio.Reader
	header   []string
	endpoint string
}

var endpointPattern = regexp.MustCompile(`^(/[^?]*)\?sessionId=[A-Z2-7]{26}$`)

// connect opens a stream and reads where messages go.
func (e *env) connect(header ...string) *client {
	e.t.Helper()
	res := e.do(http.MethodGet, e.url, "", header...)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		e.t.Fatalf("GET: %s %v", res.Status, res.Header)
	}
	c := &client{env: e, body: res.Body, lines: bufio.NewReader(res.Body), header: header}
	event, uri := c.event()
	if event != "endpoint" || !endpointPattern.MatchString(uri) {
		e.t.Fatalf("first event: %q %q, want an endpoint with a session", event, uri)
	}
	c.endpoint = strings.TrimSuffix(e.url, "/sse") + uri
	return c
}

// session connects and initializes with a revision.
func (e *env) session(revision string, header ...string) *client {
	e.t.Helper()
	c := e.connect(header...)
	c.post(202, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, revision))
	c.want(`"protocolVersion":"` + revision + `"`)
	c.post(202, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// event reads the next event; comments have the name ":", the end has none.
func (c *client) event() (name, data string) {
	for {
		line, err := c.lines.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		switch {
		case err != nil:
			return "", ""
		case line == ":":
			name = ":"
		case line == "" && name != "":
			return name, data
		default:
			field, value, _ := strings.Cut(line, ": ")
			if field == "event" {
				name = value
			} else {
				data = value
			}
		}
	}
}

func (c *client) want(part string) {
	c.t.Helper()
	name, data := c.event()
	if part == "" && name == "" {
		return
	}
	if name != "message" || !strings.Contains(data, part) || part == "" {
		c.t.Errorf("event %q %q, want a message with %q", name, data, part)
	}
}

func (c *client) post(status int, body string, header ...string) {
	c.t.Helper()
	res := c.do(http.MethodPost, c.endpoint, body, slices.Concat(c.header, header)...)
	if got, _ := io.ReadAll(res.Body); res.StatusCode != status || (status == 202) != (len(got) == 0) {
		c.t.Errorf("POST: %d %s, want %d", res.StatusCode, got, status)
	}
}

func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

const (
	r1, r2, r4, r5 = "2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"

	ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`
)

func TestSession(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-TWO-ENDPOINTS", "SSE-ENDPOINT-EVENT", "SSE-MESSAGE-EVENT")
	e := start(t, nil)
	for _, revision := range []string{r1, r2, r4} {
		c := e.session(revision)
		c.post(202, call("1", "echo", `{"text":"é"}`))
		c.want(`"id":1,"result":{"content":[{"type":"text","text":"é"}]`)
		c.post(202, `{"jsonrpc":"2.0","id":2,"method":"nosuch"}`)
		c.want(`"id":2,"error":{"code":-32601`)
		c.post(202, `{"jsonrpc":`)
		c.want(`"error":{"code":-32700`)
		e.srv.ResourceUpdated("test://a") // nobody subscribed
		e.srv.RemoveTools("nosuch")
		c.post(202, ping)
		c.want(`"id":9,"result":{}`)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	batch := "[" + ping + "," + strings.Replace(ping, "9", "8", 1) + "]"
	c := e.session(r2)
	c.post(202, batch)
	c.want(`[{"jsonrpc":"2.0","id":9,"result":{}},{"jsonrpc":"2.0","id":8,"result":{}}]`)
	c = e.session(r1)
	c.post(202, batch)
	c.want("no batches")
}

// Stateless revisions have another transport.
func TestModernIsRefused(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	c := e.connect()
	meta := fmt.Sprintf(`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}`, r5)
	c.post(202, `{"jsonrpc":"2.0","id":1,"method":"server/discover",`+meta+`}`)
	c.want(`"id":1,"error":{"code":-32600,"message":"this connection carries only revisions that open with initialize`)
	c.post(202, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, r5))
	c.want(`"protocolVersion":"` + r4 + `"`)
}

func TestChangesAndCancellation(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	c := e.session(r1)
	c.post(202, ping)
	c.want(`"id":9`) // initialized has been read
	e.srv.RemoveTools("big")
	c.want("notifications/tools/list_changed")
	c.post(202, call("1", "wait", "{}"))
	c.post(202, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if err := <-e.ended; err == nil {
		t.Error("the request was not cancelled")
	}
	c.post(202, call("2", "wait", "{}"))
	<-e.started
	<-e.started
	_ = c.body.Close() // the client has gone
	if err := <-e.ended; err == nil {
		t.Error("the request was not cancelled with its stream")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-ORIGIN-VALIDATE")
	e := start(t, &legacysse.Options{MaxBody: 100})
	c := e.connect()
	for _, tt := range []struct {
		name, method, url, body string
		status                  int
		header                  []string
	}{
		{"foreign page opens a stream", "GET", e.url, "", 403, []string{"Origin", "https://evil.example"}},
		{"foreign page posts", "POST", c.endpoint, ping, 403, []string{"Origin", "https://evil.example"}},
		{"rebound name", "GET", e.url, "", 403, []string{"Host", "evil.example"}},
		{"no events wanted", "GET", e.url, "", 406, []string{"Accept", "application/json"}},
		{"other method", "DELETE", e.url, "", 405, nil},
		{"no session", "POST", e.url, ping, 404, nil},
		{"unknown session", "POST", e.url + "?sessionId=AAAAAAAAAAAAAAAAAAAAAAAAAA", ping, 404, nil},
		{"form", "POST", c.endpoint, ping, 415, []string{"Content-Type", "text/plain"}},
		{"large", "POST", c.endpoint, strings.Repeat(" ", 101), 413, nil},
		{"fine", "POST", c.endpoint, ping, 202, nil},
	} {
		if res := e.do(tt.method, tt.url, tt.body, tt.header...); res.StatusCode != tt.status {
			t.Errorf("%s: %s, want %d", tt.name, res.Status, tt.status)
		}
	}
	c.want(`"id":9`)
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	e := start(t, &legacysse.Options{Principal: func(r *http.Request) (string, error) {
		if name := r.Header.Get("Authorization"); name != "" {
			return name, nil
		}
		return "", errors.New("who is it?")
	}})
	if res := e.do("GET", e.url, ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("GET by nobody: %s", res.Status)
	}
	c := e.session(r1, "Authorization", "ada")
	c.post(404, ping, "Authorization", "eve")
	c.post(202, call("1", "echo", `{"text":"!"}`))
	c.want(`"text":"ada!"`)
}

func TestSessionCap(t *testing.T) {
	t.Parallel()
	e := start(t, &legacysse.Options{MaxSessions: 1})
	c := e.connect()
	if res := e.do("GET", e.url, ""); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("GET of a second stream: %s, want 503", res.Status)
	}
	c.post(202, ping)
	c.want(`"id":9`)
}

func TestKeepalive(t *testing.T) {
	t.Parallel()
	e := start(t, &legacysse.Options{Keepalive: 10 * time.Millisecond})
	c := e.connect()
	for range 3 {
		if name, _ := c.event(); name != ":" {
			t.Fatalf("event %q, want a comment", name)
		}
	}
}

func TestSilentClient(t *testing.T) {
	t.Parallel()
	e := start(t, &legacysse.Options{InitializeTimeout: 300 * time.Millisecond})
	e.connect().want("")
	_ = e.h.Close() // the log is complete then
	if got := e.log.String(); !strings.Contains(got, "sent nothing for 300ms") {
		t.Errorf("log: %q", got)
	}
}

// A client that does not read loses its stream; what waits for it is bounded.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	e := start(t, &legacysse.Options{WriteTimeout: 300 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(e.url, "http://"), "/sse"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	var uri string
	for !strings.HasPrefix(uri, "data: ") {
		if uri, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c := &client{env: e, endpoint: strings.TrimSuffix(e.url, "/sse") + strings.TrimSpace(strings.TrimPrefix(uri, "data: "))}
	c.post(202, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, r1))
	status := 202
	for i := 0; status == 202 && i < 1000; i++ {
		res := e.do("POST", c.endpoint, call(fmt.Sprint(i+1), "big", "{}"))
		status = res.StatusCode
		_ = res.Body.Close()
	}
	if status != 404 {
		t.Errorf("POST for a client that does not read: in the end %d, want 404", status)
	}
	_ = e.h.Shutdown(t.Context()) // the log is complete then
	if got := e.log.String(); !strings.Contains(got, "read nothing for 300ms") {
		t.Errorf("log: %q", got)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	idle, busy := e.session(r1), e.session(r1)
	busy.post(202, call("1", "wait", "{}"))
	<-e.started
	done := make(chan error)
	go func() { done <- e.h.Shutdown(t.Context()) }()
	idle.want("")
	if res := e.do("GET", e.url, ""); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("GET during shutdown: %s", res.Status)
	}
	close(e.proceed)
	busy.want("waited")
	busy.want("")
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	c := e.session(r1)
	c.post(202, call("1", "wait", "{}"))
	<-e.started
	began := time.Now()
	if err := e.h.Close(); err != nil || time.Since(began) > time.Second {
		t.Errorf("Close: %v after %v", err, time.Since(began))
	}
	if err := <-e.ended; err == nil {
		t.Error("the request was not cancelled")
	}
	c.want("")
	if err := e.h.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// The endpoint is of the same origin whatever the request looks like.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ target, message, want string }{
		{"/sse", "", "/sse"},
		{"/a/sse?x=y", "", "/a/sse"},
		{"//evil.example/sse", "", "/evil.example/sse"},
		{"http://example.com/b%20c", "", "/b%20c"},
		{"/sse", "/messages", "/messages"},
		{"/sse", "//messages", "/messages"},
	} {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
		h := legacysse.New(srv, &legacysse.Options{MessagePath: tt.message})
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the client goes as soon as the stream is open
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.RequestURI = tt.target
		if u, err := r.URL.Parse(tt.target); err == nil {
			r.URL = u
		}
		h.ServeHTTP(w, r)
		_, data, _ := strings.Cut(w.Body.String(), "data: ")
		got := endpointPattern.FindStringSubmatch(strings.TrimSpace(data))
		if got == nil || got[1] != tt.want {
			t.Errorf("GET %s with %q: %q, want the path %q", tt.target, tt.message, w.Body, tt.want)
		}
		_ = h.Close()
		_ = srv.Close()
	}
}
