package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/transport"
)

// configured writes an mcp.json and returns its path.
func configured(t *testing.T, dir string, servers map[string]any) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// everyday is a configuration with the filesystem and memory servers over dir.
func everyday(t *testing.T, dir string) string {
	return configured(t, t.TempDir(), map[string]any{
		"fs": map[string]any{"command": "node", "args": []string{installed(t, "server-filesystem", "dist/index.js"), dir}},
		"memory": map[string]any{
			"command": "node", "args": []string{installed(t, "server-memory", "dist/index.js")},
			"env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")},
		},
	})
}

// slowest is how long ferry up waits for its servers: a busy machine takes
// seconds to start a program of node.
const slowest = "60s"

// up runs ferry up over HTTP and returns the URL it serves.
func up(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"up", "--wait", slowest, "--address", "127.0.0.1:0"}, args...)
	return start(t, program("ferry"), args...)
}

// TestUp serves filesystem, memory and the servers that come with ferry at one
// endpoint, and uses all of them in every revision over both carriers.
func TestUp(t *testing.T) {
	need(t)
	for _, carrier := range []string{"HTTP", "stdio"} {
		for _, asked := range slices.Concat([]string{""}, all) {
			m := meeting{ferry, gateway + " with server-filesystem, server-memory, files, time", carrier, asked, asked}
			if asked == "" {
				m.asked, m.revision = automatic, r5
			}
			t.Run(carrier+"/"+m.asked, func(t *testing.T) {
				t.Parallel()
				dir := folder(t)
				args := []string{"--config", everyday(t, dir), "--dir", dir}
				var via transport.Transport
				if carrier == "stdio" {
					via = command(t, program("ferry"), append([]string{"up", "--stdio", "--wait", slowest}, args...)...)
				} else {
					via = httpclient.New(up(t, args...), nil)
				}
				tasks := append(renamed("filesystem ", filesystemTasks(dir, "fs_")), renamed("memory ", memoryTasks("memory_"))...)
				tasks = append(tasks,
					task{"files read", calling("files_read_file", map[string]string{"path": "hello.txt"}), "Hello, world!\n"},
					task{"time list", counting("time_"), "2 tools"},
				)
				if m.revision == r1 || m.revision == r2 {
					i := slices.IndexFunc(tasks, func(t task) bool { return t.name == "memory structured" })
					tasks[i].want = "nothing" // these revisions have text only
				}
				perform(t, visit(t, via, asked), m, tasks)
			})
		}
	}
}

func renamed(prefix string, tasks []task) []task {
	for i := range tasks {
		tasks[i].name = prefix + tasks[i].name
	}
	return tasks
}

// TestUpTour puts the servers of others that offer everything behind ferry up, and
// goes through all of it with our client and with those of others: what passes
// through the gateway has to come out as it went in.
func TestUpTour(t *testing.T) {
	need(t)
	upstreams := map[string][]string{
		first: {"server-v1.mjs", "stdio"},
		twin:  {"server-v2.mjs", "stdio"},
	}
	for server, args := range upstreams {
		for _, c := range []struct{ name, asked, revision string }{
			{ferry, r1, r1},
			{ferry, r2, r2},
			{ferry, r3, r3},
			{ferry, r4, r4},
			{ferry, automatic, r5},
			{first, "its default", r4},
			{second, "its default", r4},
			{second, automatic, r5},
		} {
			m := meeting{c.name, gateway + " with " + short(server), "HTTP", c.asked, c.revision}
			t.Run(short(server)+"/"+short(c.name)+"/"+c.asked, func(t *testing.T) {
				t.Parallel()
				file := configured(t, t.TempDir(), map[string]any{"everything": map[string]any{
					"command": "node", "args": append([]string{script(t, args[0])}, args[1:]...), "prefix": "",
				}})
				url := up(t, "--no-builtin", "--config", file)
				want := downgraded(c.revision)
				want["server"] = "ferry: "
				judge(t, m, tourBy(t, c.name, c.asked, url), want)
			})
		}
	}
}

// tourBy is the report of a client, ours or one of the others, on a server at url.
func tourBy(t *testing.T, client, asked, url string) report {
	t.Helper()
	switch {
	case client == first:
		return runClient(t, append(commandOf(t, "client-v1.mjs"), url))
	case client == second && asked == automatic:
		return runClient(t, append(commandOf(t, "client-v2.mjs", "auto"), url))
	case client == second:
		return runClient(t, append(commandOf(t, "client-v2.mjs", "legacy"), url))
	case asked == automatic:
		asked = ""
	}
	return visitAsked(t, httpclient.New(url, nil), asked).tour(t.Context())
}

// TestUpByHand talks to ferry up as one does with curl, in both eras.
func TestUpByHand(t *testing.T) {
	need(t)
	dir := folder(t)
	url := up(t, "--config", everyday(t, dir), "--dir", dir)
	call := `{"name":"fs_read_text_file","arguments":{"path":` + indented(filepath.Join(dir, "hello.txt")) + `}%s}`

	t.Run("stateless", func(t *testing.T) {
		meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + r5 + `","io.modelcontextprotocol/clientCapabilities":{}}`
		response, body := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+fmt.Sprintf(call, meta)+`}`, map[string]string{
			"MCP-Protocol-Version": r5, "Mcp-Method": "tools/call", "Mcp-Name": "fs_read_text_file",
		})
		if response.StatusCode != http.StatusOK || !strings.Contains(body, `Hello, world!\n`) || !strings.Contains(body, `"resultType":"complete"`) {
			t.Errorf("got %s: %s", response.Status, body)
		}
		response, body = post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+fmt.Sprintf(call, meta)+`}`, map[string]string{
			"MCP-Protocol-Version": r5, "Mcp-Method": "tools/call", "Mcp-Name": "memory_read_graph",
		})
		if response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "-32020") {
			t.Errorf("with the wrong name in the header: got %s: %s", response.Status, body)
		}
	})
	t.Run("sessions", func(t *testing.T) {
		response, body := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+r3+
			`","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}`, nil)
		session := response.Header.Get("Mcp-Session-Id")
		if response.StatusCode != http.StatusOK || session == "" || !strings.Contains(body, `"protocolVersion":"`+r3+`"`) {
			t.Fatalf("initialize: got %s, session %q: %s", response.Status, session, body)
		}
		headers := map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": r3}
		if response, body := post(t, url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers); response.StatusCode != http.StatusAccepted {
			t.Errorf("initialized: got %s: %s", response.Status, body)
		}
		response, body = post(t, url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":`+fmt.Sprintf(call, "")+`}`, headers)
		if response.StatusCode != http.StatusOK || !strings.Contains(body, `Hello, world!\n`) || strings.Contains(body, "resultType") {
			t.Errorf("got %s: %s", response.Status, body)
		}
	})
}

// post sends a message as curl would and returns the response and its body.
func post(t *testing.T, url, message string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url, bytes.NewBufferString(message))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}
