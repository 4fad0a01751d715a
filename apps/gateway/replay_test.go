package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/apps/gateway"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// asked makes a call by hand, with an answer to the only question of the result
// before it, and returns what comes.
func asked(t *testing.T, sess *client.Session, before *mcp.InputRequiredResult, answer string) (*mcp.InputRequiredResult, string, error) {
	t.Helper()
	params := map[string]any{"name": "up_greet", "arguments": map[string]string{"title": "Dr"}}
	if before != nil {
		params["requestState"] = before.RequestState
		responses := map[string]any{}
		for key := range before.InputRequests {
			responses[key] = map[string]any{"action": "accept", "content": person{answer}}
		}
		params["inputResponses"] = responses
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := sess.Call(t.Context(), mcp.MethodToolsCall, json.RawMessage(encoded), &client.CallOptions{Relay: true})
	if err != nil {
		return nil, "", err
	}
	result := new(mcp.InputRequiredResult)
	if err := json.Unmarshal(raw, result); err != nil {
		t.Fatal(err)
	}
	return result, string(raw), nil
}

// TestAnswerTwice sends the answer to the first question again when the server
// waits for that to the second.
func TestAnswerTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		g := openAsking(t, true, &calls)
		opts := answering("2026-07-28", "")
		opts.OnSample = nil
		sess := connect(t, g, opts)
		first, _, err := asked(t, sess, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		second, raw, err := asked(t, sess, first, "Ann")
		if err != nil || !strings.Contains(raw, "last name?") {
			t.Fatalf("got %s, %v, want the second question", raw, err)
		}
		if _, raw, err := asked(t, sess, first, "Ann"); err == nil {
			t.Errorf("the first answer, again: got %s, want an error", raw)
		}
		if _, raw, err := asked(t, sess, second, "Lee"); err != nil || strings.Contains(raw, "over") {
			t.Errorf("the second answer: got %s, %v", raw, err)
		}
	})
}

// TestOthersHeaders has a server refuse the headers of the gateway, which are not
// those of a caller that can be asked.
func TestOthersHeaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := server.New(info, nil)
		up.AddRawTool(mcp.Tool{Name: "odd"}, func(context.Context, *server.Call) (any, error) {
			return nil, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "no"}
		})
		g := openFor(t, up, false)
		for _, opts := range []*client.Options{{}, answering("", "")} {
			_, err := connect(t, g, opts).CallTool(t.Context(), &mcp.CallToolParams{Name: "up_odd"}, nil)
			if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInternal {
				t.Errorf("got %v, want an internal error", err)
			}
		}
	})
}

// TestAnswersStay reads a resource that no list has: what its server asks is not
// answered to others.
func TestAnswersStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		template := mcp.ResourceTemplate{URITemplate: "item://{id}", Name: "item"}
		curious := server.New(info, nil)
		curious.AddResourceTemplate(template, func(_ context.Context, c *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(c.Params()))
			return nil, &mcp.ResourceNotFoundError{URI: uri}
		})
		asks := server.New(info, nil)
		asks.AddResourceTemplate(template, func(ctx context.Context, c *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			who, err := server.Elicit[person](ctx, c, "who", "name?")
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", who.Value.Name)}}, err
		})
		g := open(t, nil,
			host.Upstream{Name: "curious", Transport: serve(t, curious, false)},
			host.Upstream{Name: "asks", Transport: serve(t, asks, false)})
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			r, err := connect(t, g, answering(revision, "Secret")).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "item://1"}, nil)
			if err != nil || r.Contents[0].Text != "nSecret" {
				t.Errorf("%s: got %+v, %v", revision, r, err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(seen, "\n"); len(seen) != 2 || strings.Contains(got, "Secret") || strings.Contains(got, "requestState") {
			t.Errorf("the other server got %s", got)
		}
	})
}

// TestCloseInFlight closes a gateway while a call of each kind of client is at a
// server that does not answer.
func TestCloseInFlight(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{})
			up := server.New(info, nil)
			up.AddRawTool(mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call) (any, error) {
				close(began)
				<-ctx.Done()
				return nil, ctx.Err()
			})
			h := host.New(info, nil)
			if err := errors.Join(h.Add(host.Upstream{Name: "up", Transport: serve(t, up, true)}), h.Start(t.Context())); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = h.Close() })
			g := gateway.New(h, nil)
			sess := mcptest.Connect(t, httpclient.New(mcptest.Serve(t, g.Server(), nil), nil), answering(revision, ""))
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() { _, _ = sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "up_wait"}, nil) })
			<-began
			closed := make(chan struct{})
			wg.Go(func() { _ = g.Close(); close(closed) })
			select {
			case <-closed:
			case <-time.After(3 * time.Second):
				t.Error("Close waits for the call")
				_ = h.Close()
			}
		})
	}
}
