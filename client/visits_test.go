package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

const twoPages = `{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example/1","message":"one"},` +
	`{"mode":"url","elicitationId":"2","url":"https://a.example/2","message":"two"}]}`

// TestVisits calls a tool that the user must visit two pages for first.
func TestVisits(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "ELICIT-COMPLETE-AUTO-RETRY", "ELICIT-COMPLETE-IGNORE-UNKNOWN")
	// serving refuses the first calls with the error and tells that pages are done
	// once the user was there.
	serving := func(refusals int, visited <-chan string, calls *int) func(*peer) {
		return answering(r4, func(p *peer, m jsonrpc.Message) {
			if *calls++; *calls > refusals {
				p.result(m, `{"content":[]}`)
				return
			}
			p.fail(m, mcp.CodeURLElicitationRequired, twoPages)
			for range 2 {
				if id := <-visited; id != "" {
					p.notify(mcp.NotificationElicitationComplete, `{"elicitationId":"unknown"}`)
					p.notify(mcp.NotificationElicitationComplete, fmt.Sprintf(`{"elicitationId":%q}`, id))
					p.notify(mcp.NotificationElicitationComplete, fmt.Sprintf(`{"elicitationId":%q}`, id))
				}
			}
		})
	}
	options := func(visited chan<- string, action string, noted *[]string) *client.Options {
		opts := able()
		opts.OnElicit = func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if !p.IsURL() || p.URL != "https://a.example/"+p.ElicitationID {
				return nil, errors.New("not a page")
			}
			if action == mcp.ElicitAccept {
				visited <- p.ElicitationID
			}
			return &mcp.ElicitResult{Action: action}, nil
		}
		opts.OnNotification = func(_ string, params json.RawMessage) { *noted = append(*noted, string(params)) }
		return opts
	}
	bubble(t, "accepted", func(t *testing.T) {
		visited, calls, noted := make(chan string, 2), 0, []string(nil)
		sess := connect(t, fake(t, serving(1, visited, &calls)), options(visited, mcp.ElicitAccept, &noted))
		if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil || calls != 2 {
			t.Errorf("got %v after %d calls", err, calls)
		}
		synctest.Wait()
		if want := []string{`{"elicitationId":"1"}`, `{"elicitationId":"2"}`}; !slices.Equal(noted, want) {
			t.Errorf("the hook got %q, want each page once", noted)
		}
	})
	required := func(t *testing.T, err error) {
		t.Helper()
		e, ok := errors.AsType[*mcp.URLElicitationRequiredError](err)
		if !ok || len(e.Elicitations) != 2 || !client.IsRemote(err) {
			t.Errorf("got %T %v, want the typed error", err, err)
		}
	}
	bubble(t, "declined", func(t *testing.T) {
		visited, calls, noted := make(chan string, 2), 0, []string(nil)
		close(visited)
		sess := connect(t, fake(t, serving(1, visited, &calls)), options(nil, mcp.ElicitDecline, &noted))
		_, err := sess.CallTool(t.Context(), &noPause, nil)
		if required(t, err); calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
	for name, opts := range map[string]*client.Options{"nobody to ask": nil, "forms only": {OnElicit: able().OnElicit}, "no reply": able()} {
		bubble(t, name, func(t *testing.T) {
			visited, calls := make(chan string), 0
			close(visited)
			relay := &client.CallOptions{Relay: name == "no reply"}
			_, err := connect(t, fake(t, serving(1, visited, &calls)), opts).CallTool(t.Context(), &noPause, relay)
			required(t, err)
		})
	}
	bubble(t, "never done", func(t *testing.T) {
		visited, calls := make(chan string), 0
		close(visited)
		opts := able()
		opts.MaxTimeout = time.Hour
		_, err := connect(t, fake(t, serving(1, visited, &calls)), opts).CallTool(t.Context(), &noPause, nil)
		if e, ok := errors.AsType[*client.TimeoutError](err); !ok || !e.Max || calls != 1 {
			t.Errorf("got %v after %d calls", err, calls)
		}
	})
	bubble(t, "shared by two calls, one of which ends", func(t *testing.T) {
		complete := make(chan struct{})
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			for range 2 {
				p.fail(p.want(mcp.MethodToolsCall), mcp.CodeURLElicitationRequired, `{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example/1","message":"one"}]}`)
			}
			<-complete
			p.notify(mcp.NotificationElicitationComplete, `{"elicitationId":"1"}`)
			p.result(p.want(mcp.MethodToolsCall), `{"content":[]}`)
			p.idle()
		}), able())
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = sess.CallTool(ctx, &noPause, nil) })
		synctest.Wait()
		calls.Go(func() {
			if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil {
				t.Errorf("the other call: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(complete)
		calls.Wait()
	})
	bubble(t, "not in a stateless revision", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r5, func(p *peer, m jsonrpc.Message) { p.fail(m, mcp.CodeURLElicitationRequired, twoPages) })), able())
		_, err := sess.CallTool(t.Context(), &noPause, nil)
		if _, ok := errors.AsType[*mcp.URLElicitationRequiredError](err); ok || !client.IsRemote(err) {
			t.Errorf("got %T %v", err, err)
		}
	})
}

// TestUserTakesTime checks that a call does not run out of time while the user
// thinks, and that it does when the server is to blame.
func TestUserTakesTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer time.Duration // how long the server takes after the user's answer
		max    time.Duration
		want   time.Duration // when the call fails; 0 means that it does not
	}{
		{"patient", 20 * time.Second, 0, 0},
		{"server too slow", time.Hour, 0, 130 * time.Second},
		{"maximum", 0, time.Minute, time.Minute},
	}
	for _, test := range tests {
		for _, progress := range []func(mcp.ProgressParams){nil, func(mcp.ProgressParams) {}} {
			bubble(t, fmt.Sprintf("%s/%v", test.name, progress != nil), func(t *testing.T) {
				opts := &client.Options{Timeout: 30 * time.Second, MaxTimeout: test.max}
				opts.OnRoots = func(context.Context) ([]mcp.Root, error) {
					<-time.After(100 * time.Second)
					return nil, nil
				}
				sess := connect(t, fake(t, func(p *peer) {
					p.open(r4)
					m := p.want(mcp.MethodToolsCall)
					p.write(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
					for {
						answer, there := p.next()
						if !there {
							return
						}
						if answer.Kind() == jsonrpc.Response {
							<-time.After(test.answer)
							p.result(m, `{"content":[]}`)
						}
					}
				}), opts)
				began := time.Now()
				_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{Progress: progress})
				took := time.Since(began)
				if _, late := errors.AsType[*client.TimeoutError](err); late != (test.want != 0) || late && took != test.want {
					t.Errorf("got %v after %v, want a time-out after %v", err, took, test.want)
				}
				<-time.After(2 * time.Hour)
			})
		}
	}
}
