package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// A forgetful server loses its session when told to.
type forgetful struct {
	lost    atomic.Bool
	refuses atomic.Bool // to initialize
}

func (f *forgetful) answer(m *transport.Outgoing) (transport.Response, error) {
	switch {
	case m.Method == mcp.MethodInitialize && f.refuses.Load():
		return transport.Response{}, badStatusError(503)
	case m.Method == mcp.MethodInitialize:
		f.lost.Store(false)
		return ok(greeting(r4)), nil
	case f.lost.Load():
		return transport.Response{}, transport.ErrSessionLost
	default:
		return ok(`{"content":[],"tools":[]}`), nil
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-SESSION-REINIT", "PAGE-CURSOR-NO-PERSIST")
	opts := &client.Options{Revision: r4}
	bubble(t, "repeats what changes nothing", func(t *testing.T) {
		f := &forgetful{}
		via := &fakeHTTP{answer: f.answer}
		sess := connect(t, via, opts)
		if err := sess.SetLogLevel(t.Context(), "info"); err != nil {
			t.Fatal(err)
		}
		sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:1"}})
		if err != nil {
			t.Fatal(err)
		}
		f.lost.Store(true)
		if _, err := sess.ListTools(t.Context(), nil); err != nil {
			t.Error(err)
		}
		want := []string{
			mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodLoggingSetLevel, mcp.MethodResourcesSubscribe,
			mcp.MethodToolsList,
			mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodLoggingSetLevel, mcp.MethodResourcesSubscribe,
			mcp.MethodToolsList,
		}
		if diff := cmp.Diff(want, via.methods()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		if c, err := sub.Next(t.Context()); err != nil || c.Kind != client.Missed {
			t.Errorf("after the renewal: got %v, %v, want %v", c, err, client.Missed)
		}
	})
	bubble(t, "never a tool call", func(t *testing.T) {
		f := &forgetful{}
		sess := connect(t, &fakeHTTP{answer: f.answer}, opts)
		f.lost.Store(true)
		_, err := sess.CallTool(t.Context(), &noPause, nil)
		if e, ok := errors.AsType[*client.SessionRenewedError](err); !ok || e.Method != mcp.MethodToolsCall || client.IsRemote(err) {
			t.Errorf("got %v, want a SessionRenewedError", err)
		}
		if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil {
			t.Errorf("after the renewal: %v", err)
		}
	})
	bubble(t, "never a later page of a list", func(t *testing.T) {
		f := &forgetful{}
		via := &fakeHTTP{}
		via.answer = func(m *transport.Outgoing) (transport.Response, error) {
			resp, err := f.answer(m)
			if err != nil || m.Method != mcp.MethodToolsList {
				return resp, err
			}
			if p, _ := m.Params.(*mcp.PageParams); p == nil {
				return ok(`{"tools":[],"nextCursor":"a"}`), nil
			}
			f.lost.Store(true)
			return ok(`{"tools":[],"nextCursor":"b"}`), nil
		}
		sess := connect(t, via, opts)
		var last error
		for _, last = range sess.Tools(t.Context()) { // the third page is another session's
		}
		var renewed *client.SessionRenewedError
		if !errors.As(last, &renewed) {
			t.Errorf("the list ended with %v, want a SessionRenewedError", last)
		}
		f.lost.Store(true)
		if _, err := sess.Call(t.Context(), mcp.MethodToolsList, json.RawMessage(`{"cursor":"b"}`), nil); !errors.As(err, &renewed) {
			t.Errorf("got %v, want a SessionRenewedError", err)
		}
		want := []string{
			mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodToolsList, mcp.MethodToolsList, mcp.MethodToolsList,
			mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodToolsList,
			mcp.MethodInitialize, mcp.NotificationInitialized,
		}
		if diff := cmp.Diff(want, via.methods()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
	bubble(t, "once for all calls", func(t *testing.T) {
		f := &forgetful{}
		via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
			if m.Method == mcp.MethodToolsList && f.lost.Load() {
				<-time.After(time.Second) // so that all calls find the session lost
				return transport.Response{}, transport.ErrSessionLost
			}
			return f.answer(m)
		}}
		sess := connect(t, via, opts)
		f.lost.Store(true)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if _, err := sess.ListTools(t.Context(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		count := 0
		for _, method := range via.methods() {
			if method == mcp.MethodInitialize {
				count++
			}
		}
		if count != 2 {
			t.Errorf("%d handshakes, want 2", count)
		}
	})
	bubble(t, "fails, and is tried again", func(t *testing.T) {
		f := &forgetful{}
		sess := connect(t, &fakeHTTP{answer: f.answer}, opts)
		f.lost.Store(true)
		f.refuses.Store(true)
		_, err := sess.ListTools(t.Context(), nil)
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
			t.Errorf("got %v, want an UnreachableError", err)
		}
		f.refuses.Store(false)
		if _, err := sess.ListTools(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "not while closing", func(t *testing.T) {
		f := &forgetful{}
		entered := make(chan struct{})
		via := &fakeHTTP{}
		via.answer = func(m *transport.Outgoing) (transport.Response, error) {
			if m.Method == mcp.MethodInitialize && f.lost.Load() {
				close(entered)
				<-time.After(500 * time.Millisecond)
			}
			return f.answer(m)
		}
		sess := connect(t, via, opts)
		f.lost.Store(true)
		var call sync.WaitGroup
		call.Go(func() {
			if _, err := sess.ListTools(t.Context(), nil); err == nil {
				t.Error("a call of a closed session worked")
			}
		})
		<-entered
		if err := sess.Close(); err != nil {
			t.Error(err)
		}
		call.Wait()
	})
	bubble(t, "not in a stateless revision", func(t *testing.T) {
		sess := connect(t, &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
			if m.Method == mcp.MethodServerDiscover {
				return ok(discovery(r5)), nil
			}
			return transport.Response{}, transport.ErrSessionLost
		}}, nil)
		_, err := sess.ListTools(t.Context(), nil)
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
			t.Errorf("got %v, want an UnreachableError", err)
		}
	})
}

// TestMidwayRefusals looks at HTTP refusals of calls.
func TestMidwayRefusals(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() (transport.Response, error){
		"error":    func() (transport.Response, error) { return transport.Response{}, badStatusError(500) },
		"response": func() (transport.Response, error) { return transport.Response{Status: 500}, nil },
	} {
		bubble(t, name, func(t *testing.T) {
			f := &forgetful{}
			sess := connect(t, &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) {
				if m.Method == mcp.MethodInitialize {
					return f.answer(m)
				}
				return answer()
			}}, &client.Options{Revision: r4})
			_, err := sess.ListTools(t.Context(), nil)
			var status interface{ HTTPStatus() int }
			if _, ok := errors.AsType[*client.UnreachableError](err); !ok || !errors.As(err, &status) || status.HTTPStatus() != 500 {
				t.Errorf("got %v, want an UnreachableError with status 500", err)
			}
		})
	}
}

// TestStandingStream opens the stream of what belongs to no request, again and
// again for as long as the server has one.
func TestStandingStream(t *testing.T) {
	t.Parallel()
	message := jsonrpc.Message{Method: mcp.NotificationToolsListChanged}
	tests := []struct {
		name  string
		err   error
		opens int32 // in the first ten seconds
	}{
		{"ended", nil, 4},
		{"broken", errors.New("broken"), 4},
		{"none", errors.ErrUnsupported, 1},
		{"refused", badStatusError(404), 1},
		{"session lost", transport.ErrSessionLost, 1},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			var opens, heard atomic.Int32
			f := &forgetful{}
			sess, err := client.New(info, &client.Options{
				Revision:       r4,
				OnNotification: func(string, json.RawMessage) { heard.Add(1) },
			}).Connect(t.Context(), &fakeHTTP{answer: f.answer, listen: func(_ context.Context, recv transport.Receiver, _ func()) error {
				opens.Add(1)
				recv.Receive(message, jsonrpc.ID{})
				return test.err
			}})
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
			synctest.Wait()
			if err := sess.Close(); err != nil {
				t.Error(err)
			}
			if opens.Load() != test.opens || heard.Load() != test.opens {
				t.Errorf("opened %d times, heard %d messages, want %d", opens.Load(), heard.Load(), test.opens)
			}
		})
	}
}

// What a server sends before the stream is open is lost, so Connect waits for
// it, but not for long: some servers answer only when they have something to say.
func TestConnectWaitsForTheStream(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		open func(opened func()) // what happens after 100 ms
		want time.Duration
	}{
		{"opened", func(opened func()) { opened() }, 100 * time.Millisecond},
		{"never opened", func(func()) {}, 500 * time.Millisecond},
	}
	for _, test := range tests {
		bubble(t, test.name, func(t *testing.T) {
			began := time.Now()
			sess, err := client.New(info, &client.Options{Revision: r4}).Connect(t.Context(), &fakeHTTP{
				answer: new(forgetful).answer,
				listen: func(ctx context.Context, _ transport.Receiver, opened func()) error {
					<-time.After(100 * time.Millisecond)
					test.open(opened)
					<-ctx.Done()
					return context.Cause(ctx)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != test.want {
				t.Errorf("Connect took %v, want %v", took, test.want)
			}
			if err := sess.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	bubble(t, "refused", func(t *testing.T) {
		began := time.Now()
		sess, err := client.New(info, &client.Options{Revision: r4}).Connect(t.Context(), &fakeHTTP{answer: new(forgetful).answer})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("Connect took %v", took)
		}
		_ = sess.Close()
	})
}
