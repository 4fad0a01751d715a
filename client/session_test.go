package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

var noPause = mcp.CallToolParams{Name: "slow"}

// TestTimeouts lets calls go unanswered and looks at when they end, with what,
// and what the server is told.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "LIFE-TIMEOUT", "LIFE-TIMEOUT-CONFIG", "LIFE-TIMEOUT-MAX", "LIFE-TIMEOUT-PROGRESS-RESET",
		"LIFE-TIMEOUT-CANCEL-LEGACY", "LIFE-TIMEOUT-CANCEL-MODERN", "STDIO-CANCEL-NOTIFY", "TOOL-SEC-CLIENT-TIMEOUT",
		"CANCEL-CLIENT-SEND")
	steady := func(time.Duration) func(*peer, jsonrpc.Message) {
		return func(p *peer, m jsonrpc.Message) {
			for i := range 100 {
				<-time.After(40 * time.Second)
				p.notify(mcp.NotificationProgress, fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, m.ID, i))
			}
		}
	}
	silent := func(*peer, jsonrpc.Message) {}
	watch := func(mcp.ProgressParams) {}
	tests := []struct {
		name  string
		reply func(*peer, jsonrpc.Message)
		opts  client.Options
		call  client.CallOptions
		after time.Duration
		max   bool
	}{
		{"default", silent, client.Options{}, client.CallOptions{}, time.Minute, false},
		{"default, progress asked for", silent, client.Options{}, client.CallOptions{Progress: watch}, time.Minute, false},
		{"option", silent, client.Options{Timeout: time.Second}, client.CallOptions{}, time.Second, false},
		{"call option", silent, client.Options{Timeout: time.Second}, client.CallOptions{Timeout: time.Hour, MaxTimeout: 2 * time.Hour}, time.Hour, false},
		{"maximum below", silent, client.Options{MaxTimeout: time.Second}, client.CallOptions{}, time.Second, true},
		{"no limit but the maximum", silent, client.Options{Timeout: -1}, client.CallOptions{}, 10 * time.Minute, true},
		{"maximum with progress", steady(0), client.Options{}, client.CallOptions{Progress: watch}, 10 * time.Minute, true},
		{"no maximum", silent, client.Options{MaxTimeout: -1}, client.CallOptions{Progress: watch}, time.Minute, false},
	}
	for _, revision := range []string{r4, r5} {
		for _, test := range tests {
			bubble(t, revision+"/"+test.name, func(t *testing.T) {
				cancelled := make(chan string, 1)
				var via transport.Transport = fake(t, func(p *peer) {
					p.open(revision)
					call := p.want(mcp.MethodToolsCall)
					var scribe sync.WaitGroup
					defer scribe.Wait()
					scribe.Go(func() { test.reply(p, call) })
					m := p.want(mcp.NotificationCancelled)
					if !strings.Contains(string(m.Params), `"requestId":`+call.ID.String()+",") {
						p.t.Errorf("cancelled %s, want id %s", m.Params, call.ID)
					}
					cancelled <- string(m.Params)
					p.idle()
				})
				if revision == r5 {
					via = transport.Tap(via, func(transport.Frame) {}) // it cannot abandon requests
				}
				sess := connect(t, via, &test.opts)
				began := time.Now()
				_, err := sess.CallTool(t.Context(), &noPause, &test.call)
				if after := time.Since(began); after != test.after {
					t.Errorf("ended after %v, want %v", after, test.after)
				}
				timeout, ok := errors.AsType[*client.TimeoutError](err)
				if !ok || timeout.Max != test.max || timeout.Limit != test.after || !timeout.Timeout() || client.IsRemote(err) {
					t.Errorf("got %#v, want a time-out, maximum: %v", err, test.max)
				}
				if reason := <-cancelled; !strings.Contains(reason, "timed out") {
					t.Errorf("reason %s", reason)
				}
			})
		}
	}
}

func TestCallerCancels(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-LATE-RESPONSE", "CANCEL-FORMAT", "CANCEL-CLIENT-OWN", "CANCEL-RACE",
		"CANCEL-RECEIVER-IGNORE")
	for _, progress := range []func(mcp.ProgressParams){nil, func(mcp.ProgressParams) {}} {
		bubble(t, fmt.Sprint(progress != nil), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("secret of the caller")
			told := make(chan string, 1)
			sess := connect(t, fake(t, func(p *peer) {
				p.open(r4)
				m := p.want(mcp.MethodToolsCall)
				cancel(reason)
				told <- string(p.want(mcp.NotificationCancelled).Params)
				p.result(m, `{"content":[]}`) // too late
				p.result(p.want(mcp.MethodPing), `{}`)
				p.idle()
			}), nil)
			_, err := sess.CallTool(ctx, &noPause, &client.CallOptions{Progress: progress})
			if !errors.Is(err, reason) {
				t.Errorf("got %v, want %v", err, reason)
			}
			if got := <-told; strings.Contains(got, "secret") {
				t.Errorf("server was told %s", got)
			}
			if err := sess.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReasonsOfCancellations(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{
		&client.CancelError{Reason: "stop was pressed"}:                  "stop was pressed",
		fmt.Errorf("again: %w", &server.CancelledError{Reason: "bored"}): "bored",
		&client.CancelError{}: "the client no longer wants an answer",
	} {
		bubble(t, want, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			sess := connect(t, fake(t, func(p *peer) {
				p.open(r4)
				p.want(mcp.MethodToolsCall)
				cancel(cause)
				var told mcp.CancelledParams
				if err := json.Unmarshal(p.want(mcp.NotificationCancelled).Params, &told); err != nil || told.Reason != want {
					t.Errorf("server was told %q, %v, want %q", told.Reason, err, want)
				}
			}), nil)
			if _, err := sess.CallTool(ctx, &noPause, nil); !errors.Is(err, cause) {
				t.Errorf("got %v, want %v", err, cause)
			}
			synctest.Wait()
		})
	}
}

// TestProgress checks that progress comes in order, before the result, and only
// to the call it is for.
func TestProgress(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROG-TOKEN-REQUEST", "PROG-TOKEN-REQUEST-CLIENT", "PROG-TRACK")
	for _, revision := range []string{r1, r5} {
		bubble(t, revision, func(t *testing.T) {
			var stray []string
			sess := connect(t, fake(t, answering(revision, func(p *peer, m jsonrpc.Message) {
				if !strings.Contains(string(m.Params), `"progressToken":`+m.ID.String()) {
					p.t.Errorf("call with %s, want a progress token", m.Params)
				}
				p.notify(mcp.NotificationProgress, `{"progressToken":"unknown","progress":1}`)
				p.notify(mcp.NotificationProgress, `{"progress":1}`)
				p.notify(mcp.NotificationProgress, `{"progressToken":`+m.ID.String()+`,"progress":"much"}`)
				for i := range 1000 {
					p.notify(mcp.NotificationProgress, fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":1000}`, m.ID, i))
				}
				p.result(m, `{"content":[]}`)
			})), &client.Options{OnNotification: func(method string, params json.RawMessage) { stray = append(stray, string(params)) }})
			for range 2 {
				var seen []float64
				_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{
					Progress: func(p mcp.ProgressParams) { seen = append(seen, p.Progress) },
				})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.IsSorted(seen) || len(seen) < 256 || seen[len(seen)-1] != 999 {
					t.Errorf("%d steps, the last of %v: want the last one to be 999", len(seen), seen[max(0, len(seen)-3):])
				}
			}
			synctest.Wait()
			if len(stray) != 4 {
				t.Errorf("notifications %q, want those without a call", stray)
			}
		})
	}
}

func TestProgressMayCall(t *testing.T) {
	t.Parallel()
	bubble(t, "reentrant", func(t *testing.T) {
		var slow jsonrpc.Message
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			if m.Method == mcp.MethodToolsCall {
				slow = m
				p.notify(mcp.NotificationProgress, `{"progressToken":`+m.ID.String()+`,"progress":1}`)
				return
			}
			p.result(m, `{}`)
			p.result(slow, `{"content":[]}`)
		})), nil)
		_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{Progress: func(mcp.ProgressParams) {
			if err := sess.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		}})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	bubble(t, "in order", func(t *testing.T) {
		var got []string
		connect(t, fake(t, func(p *peer) {
			p.open(r4)
			for i := range 50 {
				p.notify("notifications/message", fmt.Sprintf(`{"level":"info","data":%d}`, i))
			}
			p.idle()
		}), &client.Options{OnNotification: func(method string, params json.RawMessage) { got = append(got, string(params)) }})
		synctest.Wait()
		for i, params := range got {
			if want := fmt.Sprintf(`{"level":"info","data":%d}`, i); params != want {
				t.Fatalf("notification %d is %s, want %s", i, params, want)
			}
		}
		if len(got) != 50 {
			t.Errorf("%d notifications, want 50", len(got))
		}
	})
	bubble(t, "a slow hook holds up nobody", func(t *testing.T) {
		release := make(chan struct{})
		count := 0
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			for range 3000 {
				p.notify("notifications/message", `{}`)
			}
			p.result(p.want(mcp.MethodPing), `{}`)
			p.idle()
		}), &client.Options{OnNotification: func(string, json.RawMessage) { <-release; count++ }})
		if err := sess.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
		if count < 1024 || count > 1026 {
			t.Errorf("%d notifications came, want the bound", count)
		}
	})
	bubble(t, "the hook may close", func(t *testing.T) {
		var sess *client.Session
		connected := make(chan struct{})
		sess = connect(t, fake(t, func(p *peer) {
			p.open(r4)
			p.notify("notifications/message", `{}`)
			p.idle()
		}), &client.Options{OnNotification: func(string, json.RawMessage) {
			<-connected
			_ = sess.Close()
		}})
		close(connected)
		<-sess.Done()
	})
}

// TestServerRequests has the server ask the client.
func TestServerRequests(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "BASE-CLIENT-NO-RESPONSES", "STDIO-NO-CLIENT-RESPONSE", "PING-RESPOND")
	bubble(t, "session", func(t *testing.T) {
		answers := make(chan string, 2)
		connect(t, fake(t, func(p *peer) {
			// A ping may come before the handshake is complete.
			p.write(`{"jsonrpc":"2.0","id":"early","method":"ping"}`)
			early, discover := jsonrpc.Message{}, jsonrpc.Message{}
			for range 2 {
				m, _ := p.next()
				if m.Kind() == jsonrpc.Response {
					early = m
				} else {
					discover = m
				}
			}
			p.fail(discover, -32601, "")
			p.initialize(r4)
			answers <- early.ID.String() + string(early.Result)
			p.write(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
			m, _ := p.next()
			answers <- fmt.Sprint(m.ID.String(), " ", m.Error)
			p.idle()
		}), nil)
		for _, want := range []string{`"early"{}`, `7 method "roots/list" is not supported (-32601)`} {
			if got := <-answers; got != want {
				t.Errorf("client answered %s, want %s", got, want)
			}
		}
	})
	bubble(t, "stateless servers get no responses", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r5)
			m := p.want(mcp.MethodToolsCall)
			p.write(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
			p.result(m, `{"content":[]}`)
			if m, ok := p.next(); ok {
				p.t.Errorf("client sent id %s, method %q", m.ID, m.Method)
			}
		}), nil)
		if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
	bubble(t, "a flood from a server that reads nothing", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			for i := range 1000 {
				p.write(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
			}
			<-time.After(time.Second)
			counts := map[string]int{}
			for range 64 + 128 { // the pipe's frames, and what waits
				m, _ := p.next()
				if m.Error != nil {
					counts["refused"]++
				} else {
					counts["answered"]++
				}
			}
			if counts["answered"] == 0 || counts["refused"] == 0 {
				p.t.Errorf("got %v, want some of both", counts)
			}
			p.idle()
		}), nil)
		<-time.After(2 * time.Second)
		if sess.Err() != nil {
			t.Error(sess.Err())
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	bubble(t, "with calls in flight", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(*peer, jsonrpc.Message) {})), nil)
		if sess.Err() != nil {
			t.Errorf("error %v while open", sess.Err())
		}
		var calls sync.WaitGroup
		for _, progress := range []func(mcp.ProgressParams){nil, func(mcp.ProgressParams) {}} {
			calls.Go(func() {
				_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{Progress: progress})
				if !errors.Is(err, client.ErrClosed) {
					t.Errorf("got %v, want %v", err, client.ErrClosed)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if err := errors.Join(sess.Close(), sess.Close()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("close took %v", took)
		}
		calls.Wait()
		<-sess.Done()
		ctx := t.Context()
		_, unused := sess.CallTool(ctx, &noPause, nil)
		for _, err := range []error{unused, sess.Err(), sess.Ping(ctx), sess.Notify(ctx, "x", nil), sess.SetLogLevel(ctx, "info")} {
			if !errors.Is(err, client.ErrClosed) {
				t.Errorf("got %v, want %v", err, client.ErrClosed)
			}
		}
		if sess.Revision() != r4 || sess.ServerInfo().Name != "fake" {
			t.Error("a closed session forgot who it was with")
		}
	})
	bubble(t, "with a dead peer and a stuck hook", func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			p.notify("notifications/message", `{}`)
			<-stuck
		}), &client.Options{OnNotification: func(string, json.RawMessage) { <-stuck }})
		synctest.Wait()
		began := time.Now()
		if err := sess.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("close took %v", took)
		}
	})
	bubble(t, "context of connect does not matter", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sess, err := client.New(info, nil).Connect(ctx, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) { p.result(m, `{}`) })))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		if err := errors.Join(sess.Ping(t.Context()), sess.Close()); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "connect gives up with its context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.New(info, nil).Connect(ctx, fake(t, (*peer).idle))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "connect cannot open", func(t *testing.T) {
		broken := errors.New("no such program")
		_, err := client.New(info, nil).Connect(t.Context(), transport.Dial(func(context.Context) (transport.Conn, error) { return nil, broken }))
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok || !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

func TestConnectionLost(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-SERVER")
	bubble(t, "in a call", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			p.want(mcp.MethodToolsCall)
		}), nil)
		_, err := sess.CallTool(t.Context(), &noPause, nil)
		<-sess.Done()
		_, after := sess.CallTool(t.Context(), &noPause, nil)
		for _, err := range []error{err, after, sess.Err(), sess.Notify(t.Context(), "x", nil)} {
			if _, ok := errors.AsType[*client.UnreachableError](err); !ok || !errors.Is(err, transport.ErrClosed) || errors.Is(err, client.ErrClosed) {
				t.Errorf("got %v, want an UnreachableError", err)
			}
		}
	})
}
