package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

var errNoMethod = jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no such method"}

// eras runs a test with servers with sessions and with stateless ones, in a
// bubble of its own.
func eras(t *testing.T, test func(t *testing.T, legacy bool)) {
	for name, legacy := range map[string]bool{"sessions": true, "stateless": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, legacy) })
		})
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ARCH-ONE-CLIENT-PER-SERVER")
	eras(t, func(t *testing.T, legacy bool) {
		a, b := newPeer(t, legacy, nil), newPeer(t, !legacy, nil)
		a.tool("one", "two")
		b.tool("one")
		a.srv.AddPrompt(mcp.Prompt{Name: "greet"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "hello"}, nil
		})
		read := func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "", "text")}}, nil
		}
		b.srv.AddResource(mcp.Resource{URI: "x://1", Name: "1"}, read)
		b.srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "y://{id}", Name: "y"}, read)
		w := newHost(t, nil, a.upstream("a"), noPrefix(b.upstream("b")))
		w.start(t)
		if got, want := w.tools(), []string{"a_one", "a_two", "one"}; !slices.Equal(got, want) {
			t.Errorf("tools = %q, want %q", got, want)
		}
		s := w.state("b")
		if s.State != host.Ready || s.Tools != 1 || s.Resources != 1 || s.Templates != 1 || s.Server.Name != "peer" && legacy || s.Revision == "" {
			t.Errorf("status of b = %+v", s)
		}

		for name, want := range map[string]string{"a_two": "two", "one": "one"} {
			raw, err := w.CallTool(t.Context(), name, json.RawMessage(`{ "arguments": {"x": 1e2}, "name": "whatever" }`), nil)
			if err != nil {
				t.Fatalf("CallTool(%s): %v", name, err)
			}
			if got := string(raw); !strings.Contains(got, `"text":"`+want+`"`) || !strings.Contains(got, `"extra":{"kept":true}`) {
				t.Errorf("CallTool(%s) = %s", name, got)
			}
		}
		if raw, err := w.GetPrompt(t.Context(), "a_greet", nil, nil); err != nil || !strings.Contains(string(raw), "hello") {
			t.Errorf("GetPrompt = %s, %v", raw, err)
		}
		for _, uri := range []string{"x://1", "y://7"} {
			if raw, err := w.ReadResource(t.Context(), uri, nil, nil); err != nil || !strings.Contains(string(raw), uri) {
				t.Errorf("ReadResource(%s) = %s, %v", uri, raw, err)
			}
		}
		for _, uri := range []string{"x://2", "z://1", "no uri"} {
			var missing *mcp.ResourceNotFoundError
			if raw, err := w.ReadResource(t.Context(), uri, nil, nil); !errors.As(err, &missing) {
				t.Errorf("ReadResource(%s) = %s, %v; want not found", uri, raw, err)
			}
		}
		var missing *host.NotFoundError
		if _, err := w.CallTool(t.Context(), "b_one", nil, nil); !errors.As(err, &missing) {
			t.Errorf("CallTool(b_one) = %v, want not found", err)
		}
		if _, err := w.GetPrompt(t.Context(), "greet", nil, nil); !errors.As(err, &missing) {
			t.Errorf("GetPrompt(greet) = %v, want not found", err)
		}
	})
}

func TestListChanged(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, &server.Options{Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}}})
		p.tool("one")
		w := newHost(t, nil, p.upstream("p"))
		w.start(t)
		synctest.Wait()
		for _, name := range []string{"two", "three", "four"} {
			p.tool(name)
		}
		w.until(t, "new tools shown", func() bool { return len(w.tools()) == 4 })
		p.srv.RemoveTools("one", "two", "three")
		w.until(t, "old tools gone", func() bool { return slices.Equal(w.tools(), []string{"p_four"}) })
	})
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, nil)
		p.tool("one")
		p.down.Store(true)
		w := newHost(t, nil, p.upstream("p"))
		w.start(t)
		s := w.state("p")
		if s.State != host.Failed || s.Err == nil || !strings.Contains(s.Err.Error(), "nobody is at home") {
			t.Errorf("status = %+v, want failed", s)
		}
		began := time.Now()
		w.until(t, "three attempts", func() bool { return w.state("p").Attempts == 3 })
		p.down.Store(false)
		w.until(t, "ready", func() bool { return w.state("p").State == host.Ready })
		// Pauses of at most 0.5, 1 and 2 s, and at least half of that.
		if took := time.Since(began); took < 1750*time.Millisecond || took > 3500*time.Millisecond {
			t.Errorf("ready after %v", took)
		}

		p.down.Store(true)
		p.drop()
		w.until(t, "loss", func() bool { return w.state("p").State == host.Failed })
		if got := w.tools(); len(got) != 0 {
			t.Errorf("tools of a lost server: %q", got)
		}
		_, err := w.CallTool(t.Context(), "p_one", nil, nil)
		var down *host.UpstreamError
		if !errors.As(err, &down) || down.Upstream != "p" || !strings.HasPrefix(err.Error(), `server "p" is not reachable: `) {
			t.Errorf("CallTool of a lost server: %v", err)
		}
		p.down.Store(false)
		w.until(t, "ready again", func() bool { return slices.Equal(w.tools(), []string{"p_one"}) })
	})
}

// TestSlow has a server that never answers: the others are ready at once and
// Start comes back.
func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, true, nil)
		p.tool("one")
		var kept []transport.Conn
		silent := host.Upstream{Name: "silent", Transport: transport.Dial(func(context.Context) (transport.Conn, error) {
			c, s := transport.Pipe()
			kept = append(kept, s)
			return c, nil
		})}
		w := newHost(t, &host.Options{Grace: 2 * time.Second}, silent, p.upstream("p"))
		began := time.Now()
		w.start(t)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("Start took %v", took)
		}
		if got := w.state("silent").State; got != host.Connecting {
			t.Errorf("silent is %v", got)
		}
		if s := w.state("p"); s.State != host.Ready || !s.Since.Equal(began) {
			t.Errorf("p = %+v, want ready at once", s)
		}
		began = time.Now()
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("Close took %v", took)
		}
		if got := w.state("silent").State; got != host.Stopped {
			t.Errorf("silent is %v after Close", got)
		}
	})
}

// TestStuck has a transport that does not heed its context.
func TestStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := host.New(info, nil)
		if err := h.Add(host.Upstream{Name: "stuck", Transport: transport.Dial(func(context.Context) (transport.Conn, error) {
			<-release
			return nil, errors.New("released")
		})}); err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := h.Close(); err == nil || !strings.Contains(err.Error(), "stuck") {
			t.Errorf("Close = %v, want one that names the server", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("Close took %v", took)
		}
		close(release)
		if err := h.Close(); err != nil {
			t.Errorf("second Close = %v", err)
		}
		if err := h.Start(t.Context()); !errors.Is(err, host.ErrClosed) {
			t.Errorf("Start after Close = %v", err)
		}
		if err := h.Add(host.HTTP("late", "http://localhost:1", nil)); !errors.Is(err, host.ErrClosed) {
			t.Errorf("Add after Close = %v", err)
		}
	})
}

func TestProgressAndErrors(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, nil)
		cancelled := make(chan struct{})
		p.srv.AddRawTool(mcp.Tool{Name: "work"}, func(ctx context.Context, c *server.Call) (any, error) {
			_ = c.Progress(ctx, 1, 2, "half")
			_ = c.Progress(ctx, 2, 2, "done")
			return json.RawMessage(`{"content":[]}`), nil
		})
		p.srv.AddRawTool(mcp.Tool{Name: "wait"}, func(ctx context.Context, c *server.Call) (any, error) {
			_ = c.Progress(ctx, 1, 0, "begun")
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		})
		p.srv.AddRawTool(mcp.Tool{Name: "fail"}, func(context.Context, *server.Call) (any, error) {
			return nil, &jsonrpc.Error{Code: 4711, Message: "no luck", Data: json.RawMessage(`{"why":1}`)}
		})
		large := strings.Repeat("x", 3<<20)
		p.srv.AddRawTool(mcp.Tool{Name: "large"}, func(context.Context, *server.Call) (any, error) {
			return json.RawMessage(`{"content":[{"type":"text","text":"` + large + `"}]}`), nil
		})
		w := newHost(t, nil, p.upstream("p"))
		w.start(t)

		var steps []string
		params := json.RawMessage(`{"name":"p_work","_meta":{"progressToken":"theirs","other":1}}`)
		_, err := w.CallTool(t.Context(), "p_work", params, &client.CallOptions{
			Progress: func(p mcp.ProgressParams) { steps = append(steps, p.Message) },
		})
		if err != nil || !slices.Equal(steps, []string{"half", "done"}) {
			t.Errorf("progress = %q, %v", steps, err)
		}
		_, err = w.CallTool(t.Context(), "p_fail", nil, nil)
		want := &jsonrpc.Error{Code: 4711, Message: "no luck", Data: json.RawMessage(`{"why":1}`)}
		var got *jsonrpc.Error
		if !errors.As(err, &got) || cmp.Diff(got, want) != "" {
			t.Errorf("error = %#v, want %#v", err, want)
		}
		if raw, err := w.CallTool(t.Context(), "p_large", nil, nil); err != nil || len(raw) < len(large) {
			t.Errorf("large result: %d bytes, %v", len(raw), err)
		}
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err = w.CallTool(ctx, "p_wait", nil, &client.CallOptions{Progress: func(mcp.ProgressParams) { cancel(reason) }})
		if !errors.Is(err, reason) {
			t.Errorf("cancelled call = %v, want %v", err, reason)
		}
		<-cancelled
		if _, err = w.CallTool(t.Context(), "p_work", json.RawMessage(`[1]`), nil); !errors.Is(err, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams}) {
			t.Errorf("params that are no object: %v", err)
		}
	})
}

func TestAdd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, true, nil)
		p.tool("one")
		w := newHost(t, nil)
		for _, bad := range []host.Upstream{{}, {Name: "x"}, {Transport: transport.Dial(p.dial)}} {
			if err := w.Add(bad); err == nil {
				t.Errorf("Add(%+v) = nil", bad)
			}
		}
		w.start(t)
		if err := w.Add(p.upstream("p")); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(p.upstream("p")); err == nil {
			t.Error("second Add of the same name = nil")
		}
		w.until(t, "joined", func() bool { return len(w.tools()) == 1 })
	})
}

func TestNeverStarted(t *testing.T) {
	t.Parallel()
	w := newHost(t, nil, host.Stdio("child", "/no/such/program", "x"))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if s := w.state("child"); s.State != host.Stopped {
		t.Errorf("status = %+v", s)
	}
}

// TestSlowStart connects to a server that is downloaded before it starts: it must
// not be taken for one of the older revisions, which would be remembered.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, false, nil)
		p.start = 20 * time.Second
		w := newHost(t, nil, p.upstream("slow"))
		w.start(t)
		w.until(t, "ready", func() bool { return w.Status()[0].State == host.Ready })
		if got := w.Status()[0].Revision; got != "2026-07-28" {
			t.Errorf("got revision %s, want the newest", got)
		}
	})
}
