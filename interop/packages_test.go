package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// Servers that people use. All speak the revisions with sessions only.
const (
	filesystemServer = "@modelcontextprotocol/server-filesystem"
	memoryServer     = "@modelcontextprotocol/server-memory"
	everythingServer = "@modelcontextprotocol/server-everything"
)

// A task is a step with what it has to show.
type task struct {
	name string
	run  func(ctx context.Context, v *visitor) (string, error)
	want string
}

// perform carries out tasks and judges what they show.
func perform(t *testing.T, v *visitor, m meeting, tasks []task) {
	t.Helper()
	got, want := report{"revision": v.Revision()}, report{"revision": m.revision}
	for _, task := range tasks {
		got.add(t.Context(), task.name, func(ctx context.Context) (string, error) { return task.run(ctx, v) })
		want[task.name] = task.want
	}
	judge(t, m, got, want)
}

// calling is a task's run that calls a tool and shows the result.
func calling(name string, arguments any) func(context.Context, *visitor) (string, error) {
	return func(ctx context.Context, v *visitor) (string, error) {
		data, err := json.Marshal(arguments)
		if err != nil {
			return "", err
		}
		seen, err := v.call(ctx, name, string(data), nil)
		if strings.HasPrefix(seen, "tool error") {
			seen = "tool error"
		}
		return seen, err
	}
}

// counting is a task's run that counts the tools whose names begin with prefix.
func counting(prefix string) func(context.Context, *visitor) (string, error) {
	return func(ctx context.Context, v *visitor) (string, error) {
		n := 0
		for tool, err := range v.Tools(ctx) {
			if err != nil {
				return "", err
			}
			if strings.HasPrefix(tool.Name, prefix) {
				n++
			}
		}
		return fmt.Sprintf("%d tools", n), nil
	}
}

func pinging(ctx context.Context, v *visitor) (string, error) { return "ok", v.Ping(ctx) }

// folder returns a folder with a file in it, as the filesystem server names it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("Hello, world!\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// filesystemTasks use a filesystem server whose tools have a prefix.
func filesystemTasks(dir, prefix string) []task {
	type args map[string]any
	at := func(name string) args { return args{"path": filepath.Join(dir, name)} }
	return []task{
		{"list", counting(prefix), "14 tools"},
		{"read", calling(prefix+"read_text_file", at("hello.txt")), "Hello, world!\n"},
		{"write", calling(prefix+"write_file", args{"path": filepath.Join(dir, "new.txt"), "content": "new"}), "Successfully wrote to " + filepath.Join(dir, "new.txt")},
		{"list folder", calling(prefix+"list_directory", at(".")), "[FILE] hello.txt\n[FILE] new.txt"},
		{"tool error", calling(prefix+"read_text_file", args{"path": filepath.Dir(dir)}), "tool error"},
		{"wrong arguments", calling(prefix+"read_text_file", args{}), "tool error"},
		{"ping", pinging, "ok"},
	}
}

// memoryTasks use a memory server whose tools have a prefix.
func memoryTasks(prefix string) []task {
	entity := map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"counts"}}
	return []task{
		{"list", counting(prefix), "9 tools"},
		{"create", calling(prefix+"create_entities", map[string]any{"entities": []any{entity}}), indented([]any{ordered("counts")})},
		{"structured", func(ctx context.Context, v *visitor) (string, error) {
			result, err := v.CallTool(ctx, &mcp.CallToolParams{Name: prefix + "read_graph", Arguments: json.RawMessage(`{}`)}, nil)
			if err != nil {
				return "", err
			}
			if len(result.StructuredContent) == 0 {
				return "nothing", nil
			}
			return properties(json.RawMessage(`{"properties":` + string(result.StructuredContent) + `}`)), nil
		}, "entities relations"},
		{"resources", func(ctx context.Context, v *visitor) (string, error) {
			seen, err := names(v.Resources(ctx), resourceURI)
			return seen[max(0, strings.Index(seen, "memory:")):], err
		}, "memory://knowledge-graph"},
		{"read", func(ctx context.Context, v *visitor) (string, error) {
			seen, err := v.read(ctx, "memory://knowledge-graph")
			return strings.Join(strings.Fields(seen), ""), err
		}, `application/json{"entities":[{"name":"Ada","entityType":"person","observations":["counts"]}],"relations":[]}`},
		{"subscription", followGraph(prefix), "memory://knowledge-graph"},
		{"ping", pinging, "ok"},
	}
}

// ordered is an entity with its members in the order in which the server has them.
func ordered(observation string) any {
	return struct {
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
	}{"Ada", "person", []string{observation}}
}

func indented(v any) string {
	data, _ := json.MarshalIndent(v, "", "  ")
	return string(data)
}

// followGraph subscribes to the graph, changes it, and shows what it is told of.
func followGraph(prefix string) func(context.Context, *visitor) (string, error) {
	return func(ctx context.Context, v *visitor) (string, error) {
		const uri = "memory://knowledge-graph"
		stop, err := v.follow(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}})
		if err != nil {
			return "", err
		}
		defer stop()
		_, err = v.call(ctx, prefix+"add_observations",
			`{"observations":[{"entityName":"Ada","contents":["writes"]}]}`, nil)
		if err != nil {
			return "", err
		}
		var updated mcp.ResourceUpdatedParams
		err = v.next(ctx, mcp.NotificationResourcesUpdated, &updated)
		return updated.URI, err
	}
}

// everythingTasks use the everything server.
func everythingTasks() []task {
	return []task{
		{"list", counting(""), "13 tools"},
		{"call", calling("echo", map[string]any{"message": "hi"}), "Echo: hi"},
		{"structured", func(ctx context.Context, v *visitor) (string, error) {
			result, err := v.CallTool(ctx, &mcp.CallToolParams{Name: "get-structured-content", Arguments: json.RawMessage(`{"location":"Chicago"}`)}, nil)
			if err != nil {
				return "", err
			}
			return string(result.StructuredContent), nil
		}, `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
		{"wrong arguments", calling("get-sum", map[string]any{"a": "one"}), "tool error"},
		{"content", func(ctx context.Context, v *visitor) (string, error) {
			result, err := v.CallTool(ctx, &mcp.CallToolParams{Name: "get-resource-links", Arguments: json.RawMessage(`{"count":2}`)}, nil)
			if err != nil {
				return "", err
			}
			var types []string
			for _, block := range result.Content {
				types = append(types, block.Type)
			}
			return strings.Join(types, " "), nil
		}, "text resource_link resource_link"},
		{"progress", func(ctx context.Context, v *visitor) (string, error) {
			var seen []string
			result, err := v.call(ctx, "trigger-long-running-operation", `{"duration":0.1,"steps":2}`, &client.CallOptions{
				Progress: func(p mcp.ProgressParams) { seen = append(seen, fmt.Sprintf("%v/%v", p.Progress, *p.Total)) },
			})
			return strings.Join(append(seen, result), ", "), err
		}, "1/2, 2/2, Long running operation completed. Duration: 0.1 seconds, Steps: 2."},
		{"prompts", func(ctx context.Context, v *visitor) (string, error) {
			return names(v.Prompts(ctx), func(p mcp.Prompt) string { return p.Name })
		}, "args-prompt completable-prompt resource-prompt simple-prompt"},
		{"prompt", func(ctx context.Context, v *visitor) (string, error) {
			result, err := v.GetPrompt(ctx, &mcp.GetPromptParams{Name: "args-prompt", Arguments: map[string]string{"city": "Rome"}}, nil)
			if err != nil {
				return "", err
			}
			return result.Messages[0].Content.Text, nil
		}, "What's weather in Rome?"},
		{"complete", func(ctx context.Context, v *visitor) (string, error) {
			result, err := v.Complete(ctx, &mcp.CompleteParams{
				Ref: mcp.PromptRef("completable-prompt"), Argument: mcp.CompleteArgument{Name: "department", Value: "E"},
			})
			if err != nil {
				return "", err
			}
			return strings.Join(result.Completion.Values, " "), nil
		}, "Engineering"},
		{
			"templates", func(ctx context.Context, v *visitor) (string, error) {
				return names(v.ResourceTemplates(ctx), templateText)
			},
			"demo://resource/dynamic/blob/{resourceId} demo://resource/dynamic/text/{resourceId}",
		},
		{"read", func(ctx context.Context, v *visitor) (string, error) {
			seen, err := v.read(ctx, "demo://resource/dynamic/text/7")
			before, _, _ := strings.Cut(seen, " created at")
			return before, err
		}, "text/plain Resource 7: This is a plaintext resource"},
		{"not found", func(ctx context.Context, v *visitor) (string, error) { return v.read(ctx, "demo://nothing") }, "error -32602"},
		{"ping", pinging, "ok"},
	}
}

// TestPackages lets our client use servers that people use.
func TestPackages(t *testing.T) {
	need(t)
	tests := []struct {
		server, carrier string
		open            func(t *testing.T, dir string) transport.Transport
		tasks           func(dir string) []task
	}{
		{filesystemServer, "stdio", func(t *testing.T, dir string) transport.Transport {
			return command(t, "node", installed(t, "server-filesystem", "dist/index.js"), dir)
		}, func(dir string) []task { return filesystemTasks(dir, "") }},
		{memoryServer, "stdio", func(t *testing.T, dir string) transport.Transport {
			memory := command(t, "node", installed(t, "server-memory", "dist/index.js"))
			memory.Env = []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}
			return memory
		}, func(string) []task { return memoryTasks("") }},
		{everythingServer, "stdio", func(t *testing.T, _ string) transport.Transport {
			return command(t, "node", installed(t, "server-everything", "dist/index.js"), "stdio")
		}, func(string) []task { return everythingTasks() }},
		{everythingServer, "HTTP with sessions", func(t *testing.T, _ string) transport.Transport {
			port := freePort(t)
			background(t, []string{"PORT=" + port}, "node", installed(t, "server-everything", "dist/index.js"), "streamableHttp")
			waitForPort(t, port)
			return httpclient.New("http://127.0.0.1:"+port+"/mcp", nil)
		}, func(string) []task { return everythingTasks() }},
		{everythingServer, overSSE, func(t *testing.T, _ string) transport.Transport {
			port := freePort(t)
			background(t, []string{"PORT=" + port}, "node", installed(t, "server-everything", "dist/index.js"), "sse")
			waitForPort(t, port)
			return httpclient.New("http://127.0.0.1:"+port+"/sse", nil)
		}, func(string) []task { return everythingTasks() }},
	}
	for _, test := range tests {
		for _, asked := range slices.Concat([]string{""}, legacy) {
			m := meeting{ferry, test.server, test.carrier, asked, asked}
			if asked == "" {
				m.asked, m.revision = automatic, r4
			}
			t.Run(short(test.server)+"/"+test.carrier+"/"+m.asked, func(t *testing.T) {
				t.Parallel()
				dir := folder(t)
				perform(t, visit(t, test.open(t, dir), asked), m, test.tasks(dir))
			})
		}
	}
}

// freePort returns a port that nobody uses just now.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
