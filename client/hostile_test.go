package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// TestSubscribersRenew loses a session while nobody calls: who waits for changes
// hears that some may have been missed.
func TestSubscribersRenew(t *testing.T) {
	t.Parallel()
	for _, refusals := range []int{0, 3} {
		bubble(t, fmt.Sprint(refusals, " refusals"), func(t *testing.T) {
			f := &forgetful{}
			lose := make(chan struct{})
			via := &fakeHTTP{answer: f.answer, listen: func(ctx context.Context, _ transport.Receiver, opened func()) error {
				opened()
				select {
				case <-lose:
					return transport.ErrSessionLost
				case <-ctx.Done():
					return ctx.Err()
				}
			}}
			sess := connect(t, via, &client.Options{Revision: r4})
			sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ToolsListChanged: true})
			if err != nil {
				t.Fatal(err)
			}
			f.refuses.Store(refusals > 0)
			time.AfterFunc(10*time.Second, func() { f.refuses.Store(false) })
			lose <- struct{}{}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if c, err := sub.Next(ctx); err != nil || c.Kind != client.Missed {
				t.Errorf("got %v, %v, want %v", c, err, client.Missed)
			}
		})
	}
}

// TestListenAgain opens the standing stream again after trouble that may pass.
func TestListenAgain(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{503: true, 502: true, 429: true, 501: false, 404: false, 403: false} {
		bubble(t, fmt.Sprint(status), func(t *testing.T) {
			var attempts atomic.Int32
			via := &fakeHTTP{answer: (&forgetful{}).answer, listen: func(ctx context.Context, _ transport.Receiver, opened func()) error {
				if attempts.Add(1) == 1 {
					return badStatusError(status)
				}
				opened()
				<-ctx.Done()
				return ctx.Err()
			}}
			began := time.Now()
			connect(t, via, &client.Options{Revision: r4})
			if waited := time.Since(began); waited > 0 {
				t.Errorf("Connect waited %v for a stream that is refused", waited)
			}
			<-time.After(time.Minute)
			synctest.Wait()
			if got := attempts.Load() > 1; got != again {
				t.Errorf("opened again: %v, want %v", got, again)
			}
		})
	}
}

// TestEndlessLists calls tools of servers whose lists have no end: reading them
// anew takes no longer than a call.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	bubble(t, "headers", func(t *testing.T) {
		pages := 0
		via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
			switch m.Method {
			case mcp.MethodServerDiscover:
				return ok(discovery(r5)), nil
			case mcp.MethodToolsList:
				pages++
				<-time.After(time.Second)
				return ok(toolPage(fmt.Sprint(pages), "other", `{}`)), nil
			default:
				return refusal(400, mcp.CodeHeaderMismatch, ""), nil
			}
		}}
		sess := connect(t, via, &client.Options{Timeout: 5 * time.Second})
		began := time.Now()
		if err := callTool(t, sess, "t", `{}`); err == nil || time.Since(began) > 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
	bubble(t, "output", func(t *testing.T) {
		first, pages := true, 0
		via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
			switch {
			case m.Method == mcp.MethodServerDiscover:
				return ok(discovery(r5)), nil
			case m.Method == mcp.MethodToolsList && first:
				first = false
				return ok(`{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`), nil
			case m.Method == mcp.MethodToolsList:
				pages++
				<-time.After(time.Second)
				return ok(toolPage(fmt.Sprint(pages), "other", `{}`)), nil
			default:
				return ok(called), nil
			}
		}}
		sess := connect(t, via, &client.Options{Timeout: 5 * time.Second})
		if _, err := sess.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := callTool(t, sess, "t", `{}`); err == nil || time.Since(began) > 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// TestLateQuestion has a server ask about a call that was given up while another
// caller's is in flight: that one is not asked before the server has noticed.
func TestLateQuestion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answers bool          // the ping that finds out whether it has noticed
		wait    time.Duration // until it must have
	}{
		{"answers the ping", true, 0},
		{"answers nothing", false, 30 * time.Second},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			replies := make(chan jsonrpc.Message, 2)
			asks := make(chan struct{})
			ask := func(p *peer) {
				<-asks
				p.write(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
				for m, ok := p.next(); ok; m, ok = p.next() {
					if m.Kind() == jsonrpc.Response {
						replies <- m
						return
					}
				}
			}
			via := fake(t, func(p *peer) {
				p.open(r4)
				p.want(mcp.MethodToolsCall)
				p.want(mcp.NotificationCancelled)
				ping := p.want(mcp.MethodPing)
				second := p.want(mcp.MethodToolsCall)
				ask(p)
				if test.answers {
					p.result(ping, `{}`)
				}
				ask(p)
				p.result(second, called)
				p.idle()
			})
			sess := connect(t, via, &client.Options{Revision: r4, Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}})
			answer := func(who string) *client.CallOptions {
				return &client.CallOptions{Answer: func(context.Context, mcp.InputRequest) (any, error) {
					return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"who":"` + who + `"}`)}, nil
				}}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := sess.CallTool(ctx, &noPause, answer("first")); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
			synctest.Wait()
			var second sync.WaitGroup
			second.Go(func() {
				if _, err := sess.CallTool(t.Context(), &noPause, answer("second")); err != nil {
					t.Error(err)
				}
			})
			asks <- struct{}{}
			if m := <-replies; m.Error == nil {
				t.Errorf("the second caller was asked about the first call: %s", m.Result)
			}
			<-time.After(test.wait)
			synctest.Wait()
			asks <- struct{}{}
			if m := <-replies; !strings.Contains(string(m.Result), "second") {
				t.Errorf("later: got %s, %v, want the answer of the second caller", m.Result, m.Error)
			}
			second.Wait()
		})
	}
}

// TestCacheKeepsNoMore checks that what is kept is not a part of the message it
// came in, which may be much bigger.
func TestCacheKeepsNoMore(t *testing.T) {
	t.Parallel()
	page := []byte(`{"resultType":"complete","ttlMs":60000,"cacheScope":"private","tools":[{"name":"kept","inputSchema":{"type":"object"}}]}`)
	via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
		if m.Method == mcp.MethodServerDiscover {
			return ok(discovery(r5)), nil
		}
		return transport.Response{Status: 200, Message: jsonrpc.Message{Result: page}}, nil
	}}
	sess := connect(t, via, nil)
	if _, err := sess.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	before, _, _ := bytes.Cut(page, []byte("kept"))
	copy(page[len(before):], "lost")
	if r, err := sess.ListTools(t.Context(), nil); err != nil || r.Tools[0].Name != "kept" {
		t.Errorf("got %+v, %v", r, err)
	}
}
