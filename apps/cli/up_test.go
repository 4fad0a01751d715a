package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/cli"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// patience bounds every wait for something that should happen at once.
const patience = 20 * time.Second

// A running is a run of the command line that goes on.
type running struct {
	stop  context.CancelFunc
	lines <-chan string // of standard error
	code  <-chan int
}

// run starts the command line in this process.
func run(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	lines, code := make(chan string, 1000), make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	})
	wg.Go(func() {
		code <- cli.Main(ctx, args, strings.NewReader(""), io.Discard, w)
		_ = w.Close()
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return &running{cancel, lines, code}
}

// await waits for a line that matches, and returns its first group.
func (r *running) await(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var seen []string
	late := time.After(patience)
	for {
		select {
		case line, ok := <-r.lines:
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
			if !ok {
				t.Fatalf("no line matches %s in:\n%s", pattern, strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
		case <-late:
			t.Fatalf("no line matches %s in time, got:\n%s", pattern, strings.Join(seen, "\n"))
		}
	}
}

// end stops it and checks the exit code.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	select {
	case code := <-r.code:
		if code != 0 {
			t.Errorf("exit code after a stop: got %d, want 0", code)
		}
	case <-time.After(patience):
		t.Fatal("does not stop")
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUp serves a folder and two configured servers, one of which comes up
// later.
func TestUp(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SSE-COMPAT-SERVER")
	var behind atomic.Pointer[neturl.URL] // what answers for "later"; nothing does at first
	later := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target := behind.Load(); target != nil {
			httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
			return
		}
		http.Error(w, "not yet", http.StatusServiceUnavailable)
	}))
	t.Cleanup(later.Close)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "README.md"), "read me")
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, fmt.Sprintf(`{"servers": {
		"later": {"type": "http", "url": "%s/mcp"},
		"demo": {"type": "http", "url": %q}}}`, later.URL, mcptest.Serve(t, newDemo(), nil)))

	up := run(t, "up", "--address", "127.0.0.1:0", "--dir", dir, "--config", file)
	url := up.await(t, `^ferry serves (http://127\.0\.0\.1:\d+/mcp)$`)
	up.await(t, `^  files +ready, \d+ tools, 1 resource, 1 resource template$`)
	up.await(t, `^  time +ready, 2 tools$`)
	up.await(t, `^  later +left out for now: .*503`)
	up.await(t, `^  demo +ready, 10 tools, 1 prompt, 2 resources, 1 resource template$`)
	for _, line := range []string{
		"claude mcp add --transport http ferry " + url,
		`{"name":"ferry","type":"http","url":"` + url + `"}`,
		`{"mcpServers":{"ferry":{"url":"` + url + `"}}}`,
	} {
		up.await(t, regexp.QuoteMeta(line))
	}

	old := mcptest.Connect(t, httpclient.New(strings.TrimSuffix(url, "/mcp")+"/sse", nil), nil)
	if tools, err := old.ListTools(t.Context(), nil); err != nil || len(tools.Tools) < 25 {
		t.Errorf("tools over HTTP+SSE: %v, %v", tools, err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}

	sess := mcptest.Connect(t, httpclient.New(url, nil), nil)
	got, err := sess.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "files_read_file", Arguments: json.RawMessage(`{"path":"README.md"}`),
	}, nil)
	if err != nil || len(got.Content) != 1 || got.Content[0].Text != "read me" {
		t.Errorf("files_read_file README.md: got %+v, %v, want its text", got, err)
	}

	health := struct {
		Status  string
		Servers []struct{ Name, State, Problem string }
	}{}
	base := strings.TrimSuffix(url, "/mcp")
	if err := json.Unmarshal([]byte(get(t, base+"/healthz", "", http.StatusOK)), &health); err != nil {
		t.Fatal(err)
	}
	down := slices.IndexFunc(health.Servers, func(s struct{ Name, State, Problem string }) bool { return s.Problem != "" })
	if health.Status != "ok" || len(health.Servers) < 4 || down < 0 || health.Servers[down].Name != "later" {
		t.Errorf("health: got %+v, want ok, and a problem with the server later", health)
	}
	get(t, base+"/healthz", "evil.example", http.StatusForbidden)
	get(t, base+"/healthz", "localhost", http.StatusOK)
	get(t, base+"/", "", http.StatusNotFound)

	serve := run(t, "serve", "time", "--http", "127.0.0.1:0")
	target, err := neturl.Parse(serve.await(t, `^ferry serves time at (http://127\.0\.0\.1:\d+)/mcp$`))
	if err != nil {
		t.Fatal(err)
	}
	behind.Store(target)
	up.await(t, `^later: ready, 2 tools$`)
	serve.end(t)
	up.end(t)
	if _, err := sess.ListTools(t.Context(), nil); err == nil {
		t.Error("list tools after the end: got tools, want an error")
	}
}

// get checks the status of an answer and returns its body.
func get(t *testing.T, url, host string, want int) string {
	t.Helper()
	rq, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	rq.Host = host
	resp, err := http.DefaultClient.Do(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Errorf("GET %s as %q: got %d, %v, want %d", url, host, resp.StatusCode, err, want)
	}
	return string(body)
}

// TestUpAddress tells what is in the way of an address.
func TestUpAddress(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, fmt.Sprintf(`{"ferry": {"listen": %q, "builtins": ["time"]}}`, l.Addr()))
	var out bytes.Buffer
	code := cli.Main(t.Context(), []string{"up", "--config", file}, strings.NewReader(""), io.Discard, &out)
	if code != 3 || !strings.Contains(out.String(), "is in use") || !strings.Contains(out.String(), "--address 127.0.0.1:0") {
		t.Errorf("up at an address in use: got %d, %s, want 3 and what to do", code, &out)
	}

	up := run(t, "up", "--address", "0.0.0.0:0", "--allow-remote", "--no-builtin", "--config", file)
	up.await(t, "there is nothing to serve")
	up = run(t, "up", "--address", "0.0.0.0:0", "--allow-remote", "--config", file)
	up.await(t, `^  time  ready, 2 tools`)
	up.await(t, `^WARNING: other machines can connect`)
	up.end(t)
}

// TestUpStopsEarly ends it while a server has not answered yet.
func TestUpStopsEarly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	hanging, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := hanging.Accept()
		if err == nil {
			defer conn.Close()
			cancel()
			_, _ = io.Copy(io.Discard, conn)
		}
	})
	defer wg.Wait()
	defer hanging.Close()
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, fmt.Sprintf(`{"servers": {"slow": {"type": "http", "url": "http://%s/mcp"}}}`, hanging.Addr()))
	var out bytes.Buffer
	code := cli.Main(ctx, []string{"up", "--address", "127.0.0.1:0", "--config", file}, strings.NewReader(""), io.Discard, &out)
	if code != 0 || out.Len() > 0 {
		t.Errorf("up, ended while it connects: got %d, %q, want 0 and silence", code, &out)
	}
}

// TestInterrupt gives up a call that takes long.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	url := mcptest.Serve(t, newDemo(), nil)
	for _, flag := range []string{"--json=false", "--json"} {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		w := &cancelOn{Writer: &out, text: `"name":"hang"`, cancel: cancel}
		code := cli.Main(ctx, []string{"call", url, "hang", "--trace", flag}, strings.NewReader(""), io.Discard, w)
		if code != 130 || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("call %s, interrupted: got %d, %s, want 130 and a word about it", flag, code, &out)
		}
	}
}

// A cancelOn ends a context when a request is seen.
type cancelOn struct {
	io.Writer
	text   string
	cancel context.CancelFunc
}

func (c *cancelOn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(c.text)) && bytes.Contains(b, []byte("tools/call")) {
		c.cancel()
	}
	return c.Writer.Write(b)
}

// TestStdioOverStreams serves on streams that are not those of the process.
func TestStdioOverStreams(t *testing.T) {
	t.Parallel()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	code := make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		code <- cli.Main(t.Context(), []string{"up", "--stdio", "--dir", "testdata"}, fromClient, toClient, io.Discard)
	})
	defer wg.Wait()
	via := transport.Dial(func(context.Context) (transport.Conn, error) {
		return transport.Lines(fromServer, toServer, nil), nil
	})
	sess, err := client.New(mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), via)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := sess.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) < 15 {
		t.Errorf("tools over stdio: got %d, %v, want 15 or more", len(tools.Tools), err)
	}
	_ = sess.Close()
	if got := <-code; got != 0 {
		t.Errorf("exit code once the client has gone: got %d, want 0", got)
	}
}
