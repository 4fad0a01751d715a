package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// TestListFails has lists that cannot be read at first, later, or ever.
func TestListFails(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, legacy bool) {
		p := newPeer(t, legacy, &server.Options{Capabilities: mcp.ServerCapabilities{
			Tools: &mcp.ToolsCapability{}, Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
		}})
		var asked atomic.Int32
		p.srv.Handle(mcp.MethodToolsList, func(context.Context, *server.Call) (any, error) {
			if asked.Add(1) <= 3 {
				return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "not yet")
			}
			return json.RawMessage(`{"tools":[{"name":"x"},{"name":"x"},{"name":""}]}`), nil
		})
		p.srv.AddRawPrompt(mcp.Prompt{Name: "ask"}, func(context.Context, *server.Call) (any, error) { return nil, nil })
		p.srv.Handle(mcp.MethodResourcesList, func(context.Context, *server.Call) (any, error) { return nil, &errNoMethod })
		p.srv.Handle(mcp.MethodResourcesTemplatesList, func(context.Context, *server.Call) (any, error) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "never")
		})
		w := newHost(t, nil, p.upstream("p"))
		w.start(t)
		if s := w.state("p"); s.State != host.Ready || s.Tools != 0 || s.Prompts != 1 {
			t.Errorf("status = %+v", s)
		}
		w.until(t, "the tools", func() bool { return slices.Equal(w.tools(), []string{"p_x"}) })
		if c := w.Catalog(); len(c.Warnings) != 2 {
			t.Errorf("warnings = %q", c.Warnings)
		}
	})
}

// TestListHangs has a list that never comes: the others do.
func TestListHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, true, nil)
		p.tool("x")
		p.srv.AddRawPrompt(mcp.Prompt{Name: "ask"}, func(context.Context, *server.Call) (any, error) { return nil, nil })
		p.srv.Handle(mcp.MethodToolsList, func(ctx context.Context, _ *server.Call) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		w := newHost(t, &host.Options{Grace: -1, ConnectTimeout: 10 * time.Second}, p.upstream("p"))
		w.start(t)
		w.until(t, "the prompts", func() bool { return len(w.Catalog().Prompts) == 1 })
	})
}

// TestNoListen has stateless servers that tell of no changes, that end the
// stream again and again, and that answer late.
func TestNoListen(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]func(ctx context.Context) (any, error){
		"refuses": func(context.Context) (any, error) { return nil, &errNoMethod },
		"fails":   func(context.Context) (any, error) { return nil, jsonrpc.Errorf(jsonrpc.CodeInternal, "no") },
		"ends":    func(context.Context) (any, error) { return nil, nil },
		"silent":  func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, false, nil)
				p.tool("x")
				var opened atomic.Int32
				p.srv.Handle(mcp.MethodSubscriptionsListen, func(ctx context.Context, _ *server.Call) (any, error) {
					opened.Add(1)
					return listen(ctx)
				})
				w := newHost(t, nil, p.upstream("p"))
				w.start(t)
				if got := w.tools(); !slices.Equal(got, []string{"p_x"}) {
					t.Errorf("tools = %q", got)
				}
				timer := time.NewTimer(10 * time.Second)
				<-timer.C
				if n := opened.Load(); (n > 1) != (name == "fails" || name == "ends") || n > 10 {
					t.Errorf("listened %d times", n)
				}
			})
		})
	}
}

// TestMissedChanges has a stream of changes that opens anew: what changed
// meanwhile is found.
func TestMissedChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, false, nil)
		p.tool("x")
		var opened atomic.Int32
		p.srv.Handle(mcp.MethodSubscriptionsListen, func(ctx context.Context, c *server.Call) (any, error) {
			again := opened.Add(1) > 1
			if again {
				p.tool("y") // nobody tells of it
			}
			if err := c.Notify(ctx, mcp.NotificationSubscriptionsAcknowledged, &mcp.AcknowledgedParams{
				Notifications: mcp.SubscriptionFilter{ToolsListChanged: true},
			}); err != nil {
				return nil, err
			}
			if again {
				<-ctx.Done()
			}
			return nil, nil
		})
		w := newHost(t, nil, p.upstream("p"))
		w.start(t)
		w.until(t, "what was missed", func() bool { return len(w.tools()) == 2 })
	})
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err       error
		want      string
		temporary bool
	}{
		{nil, `server "s" is not reachable: it is still connecting`, true},
		{&client.UnreachableError{Method: "m", Err: errors.New("no route")}, `server "s" is not reachable: no route`, true},
		{&client.TimeoutError{Method: "tools/call", Limit: time.Second}, `server "s": tools/call: no answer within 1s`, true},
		{&client.TimeoutError{Method: "connect", Limit: time.Second}, `server "s" is not reachable: connect: no answer within 1s`, true},
		{&client.ProtocolError{Method: "m", Problem: "nonsense"}, `server "s": m: malformed answer: nonsense`, false},
		{fmt.Errorf("m: %w", client.ErrClosed), `server "s" is not reachable: m: session is closed`, true},
	} {
		err := &host.UpstreamError{Upstream: "s", Err: test.err}
		if got := err.Error(); got != test.want || err.Temporary() != test.temporary || errors.Unwrap(err) != test.err {
			t.Errorf("text of %v = %q, want %q", test.err, got, test.want)
		}
	}
	if got := (&host.NotFoundError{What: "tool", Name: "x"}).Error(); !strings.Contains(got, `unknown tool "x"`) {
		t.Errorf("text = %q", got)
	}
}
