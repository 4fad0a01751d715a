package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// waiting are options with a handler that takes until its context ends, and
// tells how it did.
func waiting(ended chan<- error) *client.Options {
	return &client.Options{OnRoots: func(ctx context.Context) ([]mcp.Root, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}
}

// TestServingIsBounded asks more than the client answers at a time.
func TestServingIsBounded(t *testing.T) {
	t.Parallel()
	bubble(t, "session", func(t *testing.T) {
		ended := make(chan error, 200)
		sess := connect(t, fake(t, func(p *peer) {
			p.open(r4)
			for i := range 70 {
				p.write(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i)
			}
			for range 6 {
				if m, _ := p.next(); m.Error == nil || m.Error.Code != jsonrpc.CodeInternal {
					p.t.Errorf("got %s %v, want a refusal", m.Result, m.Error)
				}
			}
			p.write(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
			if m, _ := p.next(); m.ID.String() != `"p"` || string(m.Result) != `{}` {
				p.t.Errorf("got %s %s %v, want the answer to ping", m.ID, m.Result, m.Error)
			}
			p.write(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
			if m, _ := p.next(); m.Error == nil || m.Error.Code != jsonrpc.CodeInvalidRequest {
				p.t.Errorf("got %s %v, want a refusal of the id", m.Result, m.Error)
			}
			p.idle()
		}), waiting(ended))
		synctest.Wait()
		_ = sess.Close()
		if len(ended) != 64 {
			t.Errorf("%d handlers ended with the session, want 64", len(ended))
		}
	})
}

func TestQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	bubble(t, "session", func(t *testing.T) {
		ended := make(chan error, 1)
		opts := waiting(ended)
		var passed []string
		opts.OnNotification = func(method string, params json.RawMessage) { passed = append(passed, string(params)) }
		connect(t, fake(t, func(p *peer) {
			p.open(r4)
			p.write(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
			p.notify(mcp.NotificationCancelled, `{"requestId":"7"}`)
			p.notify(mcp.NotificationCancelled, `{"requestId":7}`)
			p.write(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
			if m, _ := p.next(); m.ID.String() != "8" {
				p.t.Errorf("client answered %s, which was withdrawn", m.ID)
			}
			p.idle()
		}), opts)
		if err := <-ended; err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ended with %v, want a reason", err)
		}
		synctest.Wait()
		if len(passed) != 1 || passed[0] != `{"requestId":"7"}` {
			t.Errorf("the hook got %q, want the one that names nothing", passed)
		}
	})
}

// TestQuestionEndsWithItsCall asks on the stream of a call, which then ends.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	bubble(t, "http", func(t *testing.T) {
		ended := make(chan error, 1)
		via := &relatedHTTP{t: t}
		opts := waiting(ended)
		opts.Revision = r4
		sess := connect(t, via, opts)
		if _, err := sess.CallTool(t.Context(), &noPause, nil); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ended with %v, want a reason", err)
		}
		synctest.Wait()
		via.mu.Lock()
		defer via.mu.Unlock()
		if len(via.errors) != 1 || via.errors[0] != "internal error (-32603)" {
			t.Errorf("the server was told %q", via.errors)
		}
	})
}

// relatedHTTP asks for the roots on the stream of each call.
type relatedHTTP struct {
	t      *testing.T
	recv   transport.Receiver
	mu     sync.Mutex
	errors []string
}

func (h *relatedHTTP) Open(_ context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	h.recv = recv
	f := &fakeHTTP{answer: h.answer}
	conn, err := f.Open(context.Background(), recv)
	return &relatedConn{conn, h}, err
}

func (h *relatedHTTP) answer(m *transport.Outgoing) (transport.Response, error) {
	if m.Method == mcp.MethodInitialize {
		return ok(greeting(r4)), nil
	}
	h.recv.Receive(jsonrpc.Message{ID: jsonrpc.IntID(99), Method: mcp.MethodRootsList}, m.ID)
	return ok(`{"content":[]}`), nil
}

type relatedConn struct {
	transport.RoundTripper
	h *relatedHTTP
}

func (c *relatedConn) Send(ctx context.Context, m *transport.Outgoing) error {
	if m.Error != nil {
		c.h.mu.Lock()
		c.h.errors = append(c.h.errors, m.Error.Error())
		c.h.mu.Unlock()
	}
	return c.RoundTripper.Send(ctx, m)
}

// TestHandlerThatDoesNotReturn checks that nothing waits for it.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{r4, r5} {
		bubble(t, revision, func(t *testing.T) {
			release := make(chan struct{})
			opts := &client.Options{OnRoots: func(context.Context) ([]mcp.Root, error) {
				<-release
				return nil, nil
			}}
			sess := connect(t, fake(t, func(p *peer) {
				p.open(revision)
				if revision == r4 {
					p.write(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
				}
				for {
					m, there := p.next()
					if !there {
						return
					}
					if m.Method == mcp.MethodToolsCall && revision == r5 {
						p.result(m, `{`+askRoots+`}`)
					}
				}
			}), opts)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := sess.CallTool(ctx, &noPause, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			began := time.Now()
			_ = sess.Close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("close took %v", took)
			}
			close(release)
		})
	}
}

// ExampleOptions_onElicit answers a server's questions, whichever revision it
// speaks.
func ExampleOptions_onElicit() {
	c := client.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, &client.Options{
		OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			fmt.Println("the server asks:", p.Message)
			for _, field := range p.RequestedSchema.Fields {
				fmt.Println("it wants:", field.Name)
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		},
	})
	ctx := context.Background()
	sess, err := c.Connect(ctx, transport.Dial(dialAsker))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = sess.Close() }()
	result, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "greet"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Content[0].Text)
	// Output:
	// the server asks: What is your name?
	// it wants: name
	// Hello, Ada!
}

// dialAsker connects to a server that wants to know a name first.
func dialAsker(context.Context) (transport.Conn, error) {
	ours, theirs := transport.Pipe()
	go func() {
		defer func() { _ = theirs.Close() }()
		for {
			frame, err := theirs.Read()
			if err != nil {
				return
			}
			m, err := jsonrpc.Decode(frame)
			if err != nil {
				return
			}
			var params struct {
				InputResponses mcp.InputResponses `json:"inputResponses"`
			}
			_ = json.Unmarshal(m.Params, &params)
			var answer mcp.ElicitResult
			var given struct {
				Name string `json:"name"`
			}
			_, _ = params.InputResponses.Get("who", &answer)
			_ = answer.Decode(&given)
			result := discovery(r5)
			switch {
			case m.Method == mcp.MethodToolsCall && answer.Accepted():
				result = `{"resultType":"complete","content":[{"type":"text","text":"Hello, ` + given.Name + `!"}]}`
			case m.Method == mcp.MethodToolsCall:
				result = `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"What is your name?",` +
					`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}}`
			}
			_ = theirs.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
		}
	}()
	return ours, nil
}
