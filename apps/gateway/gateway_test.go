package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/apps/config"
	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

var info = mcp.Implementation{Name: "test", Version: "1"}

// serve makes a server reachable over pipes for as long as the test runs. With
// sessions set it does not answer as a stateless server.
func serve(t *testing.T, srv *server.Server, sessions bool) transport.Transport {
	t.Helper()
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); wg.Wait() })
	if sessions {
		srv.Handle(mcp.MethodServerDiscover, func(context.Context, *server.Call) (any, error) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no such method")
		})
	}
	return transport.Dial(func(context.Context) (transport.Conn, error) {
		near, far := transport.Pipe()
		wg.Go(func() { _ = srv.ServeConn(ctx, far) })
		return near, nil
	})
}

// open connects a host to the upstreams and returns a gateway to it.
func open(t *testing.T, opts *gateway.Options, upstreams ...host.Upstream) *gateway.Gateway {
	t.Helper()
	h := host.New(info, nil)
	for _, u := range upstreams {
		if err := h.Add(u); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := gateway.New(h, opts)
	t.Cleanup(func() {
		if err := errors.Join(g.Close(), h.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return g
}

func connect(t *testing.T, g *gateway.Gateway, opts *client.Options) *client.Session {
	t.Helper()
	sess, err := client.New(info, opts).Connect(t.Context(), serve(t, g.Server(), false))
	if err != nil {
		t.Fatalf("connect to the gateway: %v", err)
	}
	t.Cleanup(func() { _ = sess.Close() })
	return sess
}

func toolNames(t *testing.T, sess *client.Session) []string {
	t.Helper()
	var names []string
	for tool, err := range sess.Tools(t.Context()) {
		if err != nil {
			t.Fatalf("tools: %v", err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// upstream is a server that has one of everything.
func upstream() *server.Server {
	srv := server.New(mcp.Implementation{Name: "up", Version: "1"}, &server.Options{
		Complete: func(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
			return &mcp.Completion{Values: []string{p.Ref.Name + p.Ref.URI + ":" + p.Argument.Value}}, nil
		},
	})
	server.AddTool(srv, mcp.Tool{Name: "greet", Title: "Greet"}, func(ctx context.Context, c *server.Call, in struct {
		Name string `json:"name"`
	},
	) (map[string]string, error) {
		if in.Name == "" {
			return nil, errors.New("nobody to greet")
		}
		if err := c.Progress(ctx, 1, 2, "greeting"); err != nil {
			return nil, err
		}
		return map[string]string{"text": "hello " + in.Name}, nil
	})
	srv.AddRawTool(mcp.Tool{Name: "refuse"}, func(context.Context, *server.Call) (any, error) {
		return nil, &jsonrpc.Error{Code: 4711, Message: "refused", Data: json.RawMessage(`[1]`)}
	})
	srv.AddPrompt(mcp.Prompt{Name: "ask", Arguments: []mcp.PromptArgument{{Name: "q", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "asks " + args["q"]}, nil
		})
	read := func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", "content of "+uri)}}, nil
	}
	srv.AddResource(mcp.Resource{URI: "thing://a", Name: "a"}, read)
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "item://{id}", Name: "item"}, read)
	return srv
}

// TestRevisions passes everything through between clients of every revision and
// servers of both eras.
func TestRevisions(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		for name, sessions := range map[string]bool{"sessions": true, "stateless": false} {
			t.Run(revision+" to "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					g := open(t, nil, host.Upstream{Name: "up", Transport: serve(t, upstream(), sessions)})
					passThrough(t, connect(t, g, &client.Options{Revision: revision}))
				})
			})
		}
	}
}

func passThrough(t *testing.T, sess *client.Session) {
	ctx := t.Context()
	if got, want := toolNames(t, sess), []string{"up_greet", "up_refuse"}; !slices.Equal(got, want) {
		t.Errorf("tools = %q, want %q", got, want)
	}
	var steps []float64
	result, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"name":"you"}`)},
		&client.CallOptions{Progress: func(p mcp.ProgressParams) { steps = append(steps, p.Progress) }})
	if err != nil || result.IsError || !strings.Contains(result.Content[0].Text, "hello you") || !slices.Equal(steps, []float64{1}) {
		t.Errorf("greet = %+v, %v; progress %v", result, err, steps)
	}
	result, err = sess.CallTool(ctx, &mcp.CallToolParams{Name: "up_greet", Arguments: json.RawMessage(`{"name":""}`)}, nil)
	if err != nil || !result.IsError || result.Content[0].Text != "nobody to greet" {
		t.Errorf("greet nobody = %+v, %v", result, err)
	}
	_, err = sess.CallTool(ctx, &mcp.CallToolParams{Name: "up_refuse"}, nil)
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != 4711 || refused.Message != "refused" || string(refused.Data) != "[1]" {
		t.Errorf("refuse = %v", err)
	}
	prompt, err := sess.GetPrompt(ctx, &mcp.GetPromptParams{Name: "up_ask", Arguments: map[string]string{"q": "why"}}, nil)
	if err != nil || prompt.Description != "asks why" {
		t.Errorf("prompt = %+v, %v", prompt, err)
	}
	for _, uri := range []string{"thing://a", "item://7"} {
		read, err := sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}, nil)
		if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != "content of "+uri {
			t.Errorf("read %s = %+v, %v", uri, read, err)
		}
	}
	if _, err = sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: "other://x"}, nil); !client.IsRemote(err) {
		t.Errorf("read of a missing resource = %v", err)
	}
	for ref, want := range map[string]mcp.Reference{"ask:x": mcp.PromptRef("up_ask"), "item://{id}:x": mcp.ResourceRef("item://{id}")} {
		done, err := sess.Complete(ctx, &mcp.CompleteParams{Ref: want, Argument: mcp.CompleteArgument{Name: "q", Value: "x"}})
		if err != nil || !slices.Equal(done.Completion.Values, []string{ref}) {
			t.Errorf("complete %+v = %+v, %v", want, done, err)
		}
	}
}

// TestChanges has features come and go while a client is connected.
func TestChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := server.New(info, &server.Options{Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}, Resources: &mcp.ResourcesCapability{}}})
		g := open(t, nil, host.Upstream{Name: "up", Transport: serve(t, up, true)})
		heard := make(chan string, 16)
		sess := connect(t, g, &client.Options{Revision: "2025-11-25", OnNotification: func(method string, _ json.RawMessage) { heard <- method }})
		if caps := sess.ServerCapabilities(); caps.Tools == nil || caps.Prompts == nil || caps.Resources == nil || caps.Completions == nil {
			t.Errorf("capabilities = %+v", caps)
		}
		hear := func(want string) {
			t.Helper()
			if got := <-heard; got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		}
		raw := func(context.Context, *server.Call) (any, error) { return json.RawMessage(`{"content":[]}`), nil }
		synctest.Wait() // until the gateway knows that the client has ended the handshake
		up.AddRawTool(mcp.Tool{Name: "late"}, raw)
		hear(mcp.NotificationToolsListChanged)
		if got := toolNames(t, sess); !slices.Equal(got, []string{"up_late"}) {
			t.Errorf("tools = %q", got)
		}
		up.AddRawTool(mcp.Tool{Name: "late", Description: "changed"}, raw)
		hear(mcp.NotificationToolsListChanged)
		up.RemoveTools("late")
		hear(mcp.NotificationToolsListChanged)
		if got := toolNames(t, sess); len(got) != 0 {
			t.Errorf("tools = %q", got)
		}

		up.AddResource(mcp.Resource{URI: "x://1", Name: "1"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return nil, nil
		})
		hear(mcp.NotificationResourcesListChanged)
		sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x://1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		up.ResourceUpdated("x://1")
		hear(mcp.NotificationResourcesUpdated)
		synctest.Wait()
		if len(heard) != 0 {
			t.Errorf("heard %s as well", <-heard)
		}
	})
}

// TestBadFeatures has a server that describes what must not be passed on.
func TestBadFeatures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := server.New(info, &server.Options{Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}, Resources: &mcp.ResourcesCapability{}, Prompts: &mcp.PromptsCapability{}}})
		for method, list := range map[string]string{
			mcp.MethodToolsList: `{"tools":[{"name":"a b","inputSchema":{}},{"name":"c","inputSchema":{"properties":{}},"outputSchema":[],"execution":{"taskSupport":"required"}},` +
				`{"name":"d","inputSchema":7},{"name":"e","inputSchema":{"type":["object"],"Type":"object"}},{"name":"f"},{"name":""}]}`,
			mcp.MethodResourcesList:          `{"resources":[{"uri":"x://1"},{"uri":""}]}`,
			mcp.MethodResourcesTemplatesList: `{"resourceTemplates":[{"uriTemplate":"x://{"},{"uriTemplate":"y://{id}"}]}`,
			mcp.MethodPromptsList:            `{"prompts":[{"name":"p"},{"name":"p"},{"name":""}]}`,
		} {
			up.Handle(method, func(context.Context, *server.Call) (any, error) { return json.RawMessage(list), nil })
		}
		var log bytes.Buffer
		g := open(t, &gateway.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, host.Upstream{Name: "up", Transport: serve(t, up, true)})
		sess := connect(t, g, nil)
		if got, want := toolNames(t, sess), []string{"up_a_b", "up_c", "up_d", "up_e", "up_f"}; !slices.Equal(got, want) {
			t.Errorf("tools = %q, want %q", got, want)
		}
		for tool := range sess.Tools(t.Context()) {
			if !strings.HasPrefix(string(tool.InputSchema), `{"type":"object"`) || tool.OutputSchema != nil || tool.Execution != nil {
				t.Errorf("tool = %+v, schema %s", tool, tool.InputSchema)
			}
		}
		resources, err := sess.ListResources(t.Context(), nil)
		if err != nil || len(resources.Resources) != 1 || resources.Resources[0].Name != "x://1" {
			t.Errorf("resources = %+v, %v", resources, err)
		}
		templates, err := sess.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 {
			t.Errorf("templates = %+v, %v", templates, err)
		}
		if !strings.Contains(log.String(), "feature left out") {
			t.Errorf("log = %s", log.String())
		}
	})
}

// TestDown calls a server that is not there.
func TestDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := false
		ctx, cancel := context.WithCancel(t.Context())
		up := upstream()
		var wg sync.WaitGroup
		t.Cleanup(func() { cancel(); wg.Wait() })
		dial := transport.Dial(func(context.Context) (transport.Conn, error) {
			if down {
				return nil, errors.New("gone fishing")
			}
			near, far := transport.Pipe()
			wg.Go(func() { _ = up.ServeConn(ctx, far) })
			return near, nil
		})
		g := open(t, nil, host.Upstream{Name: "up", Transport: dial})
		sess := connect(t, g, nil)
		down = true
		cancel()
		synctest.Wait()
		if got := g.Status()[0]; got.State != host.Failed {
			t.Errorf("status = %+v", got)
		}
		if got := toolNames(t, sess); len(got) != 0 {
			t.Errorf("tools of a lost server = %q", got)
		}
		_, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "thing://a"}, nil)
		if err == nil || !strings.Contains(err.Error(), `server "up" is not reachable`) {
			t.Errorf("read at a lost server = %v", err)
		}
	})
}

// TestInput passes a question of a stateless server on to a stateless client, and
// tells others that they cannot be asked.
func TestInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := server.New(info, nil)
		up.AddRawTool(mcp.Tool{Name: "ask"}, func(_ context.Context, c *server.Call) (any, error) {
			if c.ClientCapabilities().Elicitation == nil {
				return json.RawMessage(`{"content":[{"type":"text","text":"input_required is just a text"}]}`), nil
			}
			return json.RawMessage(`{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}`), nil
		})
		up.AddRawTool(mcp.Tool{Name: "insist"}, func(context.Context, *server.Call) (any, error) {
			return json.RawMessage(`{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}`), nil
		})
		g := open(t, nil, host.Upstream{Name: "up", Transport: serve(t, up, false)})
		able := &client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}
		var asked *client.InputRequiredError
		if _, err := connect(t, g, able).CallTool(t.Context(), &mcp.CallToolParams{Name: "up_ask"}, nil); !errors.As(err, &asked) {
			t.Errorf("ask = %v, want an input request", err)
		}
		old := connect(t, g, &client.Options{Revision: "2025-06-18"})
		if r, err := old.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_ask"}, nil); err != nil || len(r.Content) != 1 {
			t.Errorf("ask from an older client = %+v, %v", r, err)
		}
		if r, err := old.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_insist"}, nil); !client.IsRemote(err) {
			t.Errorf("insist = %+v, %v; want an error", r, err)
		}
	})
}

// TestView hides what a view hides, read or listed.
func TestView(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		view := &server.View{Resource: func(uri string) bool { return uri != "thing://a" }}
		opts := &gateway.Options{Server: server.Options{View: func(context.Context, *server.Call) *server.View { return view }}}
		g := open(t, opts, host.Upstream{Name: "up", Transport: serve(t, upstream(), true)})
		sess := connect(t, g, nil)
		if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "thing://a"}, nil); !client.IsRemote(err) {
			t.Errorf("read of a hidden resource = %v", err)
		}
		if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "item://1"}, nil); err != nil {
			t.Errorf("read = %v", err)
		}
	})
}

func emptyServer(t *testing.T) *server.Server {
	srv := server.New(mcp.Implementation{Name: "empty", Version: "1"}, nil)
	t.Cleanup(func() { _ = srv.Close() })
	return srv
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &safeBuffer{}
	cfg := &config.Config{
		Dir: dir,
		Servers: []config.Server{
			{Name: "child", Kind: config.Stdio, Command: os.Args[0], Env: config.Secrets{"GATEWAY_TEST_CHILD": "1"}, Prefix: "c", Tools: config.Filter{Allow: []string{"p*"}, Deny: []string{"pw*"}}},
			{Name: "off", Kind: config.Stdio, Command: "/no/such", Disabled: true},
			{Name: "web", Kind: config.HTTP, URL: "http://127.0.0.1:1/mcp", Headers: config.Secrets{"X-Key": "secret"}, Prefix: "web"},
			{Name: "old", Kind: config.SSE, URL: mcptest.ServeSSE(t, emptyServer(t), nil)},
		},
		Ferry: config.Ferry{Separator: "-", Builtins: []config.Server{
			{Name: "time", Kind: config.Builtin, Command: "time", Args: []string{"UTC"}},
			{Name: "files", Kind: config.Builtin, Command: "files", Args: []string{"--read-only", dir}, Prefix: "fs"},
		}},
	}
	g, err := gateway.Open(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]host.State{}
	for _, s := range g.Status() {
		states[s.Name] = s.State
	}
	want := map[string]host.State{"child": host.Ready, "time": host.Ready, "files": host.Ready, "web": host.Failed, "old": host.Ready}
	if !maps.Equal(states, want) {
		t.Errorf("status = %v, want %v", g.Status(), want)
	}
	sess := connect(t, g, nil)
	names := toolNames(t, sess)
	for _, name := range []string{"c-pid", "get_current_time", "fs-read_file"} {
		if !slices.Contains(names, name) {
			t.Errorf("tools %q lack %q", names, name)
		}
	}
	if slices.Contains(names, "c-pwd") || slices.Contains(names, "c-other") {
		t.Errorf("tools %q have what was filtered", names)
	}
	for name, args := range map[string]string{"get_current_time": `{"timezone":"UTC"}`, "c-pid": `{}`} {
		if r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)}, nil); err != nil || r.IsError {
			t.Errorf("%s = %+v, %v", name, r, err)
		}
	}
	if g.Host() == nil {
		t.Error("no host")
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if text := log.String(); !strings.Contains(text, "child begins") || strings.Contains(text, "secret") {
		t.Errorf("log = %s", text)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]config.Server{
		"kind":         {Name: "x", Kind: "?"},
		"builtin":      {Name: "x", Kind: config.Builtin, Command: "nothing"},
		"clock":        {Name: "x", Kind: config.Builtin, Command: "clock", Args: []string{"No/Where"}},
		"clock args":   {Name: "x", Kind: config.Builtin, Command: "clock", Args: []string{"UTC", "UTC"}},
		"folder":       {Name: "x", Kind: config.Builtin, Command: "files", Args: []string{"/no/such/folder"}},
		"files option": {Name: "x", Kind: config.Builtin, Command: "files", Args: []string{"--what"}},
		"no name":      {Kind: config.Stdio, Command: "x"},
	} {
		g, err := gateway.Open(t.Context(), &config.Config{Servers: []config.Server{s}}, nil)
		if err == nil {
			t.Errorf("%s: no error", name)
			_ = g.Close()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := &config.Config{Servers: []config.Server{{Name: "x", Kind: config.Stdio, Command: os.Args[0], Env: config.Secrets{"GATEWAY_TEST_CHILD": "silent"}}}}
	if _, err := gateway.Open(ctx, cfg, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a context that has ended = %v", err)
	}
}

// safeBuffer may be written to concurrently.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestMain is also the child process of the tests.
func TestMain(m *testing.M) {
	switch os.Getenv("GATEWAY_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "silent":
		_, _ = os.Stdin.Read(make([]byte, 1<<20))
		select {}
	}
	_, _ = os.Stderr.WriteString("child begins\n\n")
	srv := server.New(mcp.Implementation{Name: "child", Version: "1"}, nil)
	for _, name := range []string{"pid", "pwd", "other"} {
		srv.AddRawTool(mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call) (any, error) {
			_ = c.Log(ctx, mcp.LevelError, "child", "log of the child")
			return json.RawMessage(`{"content":[]}`), nil
		})
	}
	if err := srv.ServeStdio(context.Background()); err != nil {
		os.Exit(1)
	}
}
