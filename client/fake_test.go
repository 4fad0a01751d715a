package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

const (
	r1 = "2024-11-05"
	r2 = "2025-03-26"
	r3 = "2025-06-18"
	r4 = "2025-11-25"
	r5 = "2026-07-28"
)

var info = mcp.Implementation{Name: "tester", Version: "1"}

// A peer is the server's end of a scripted conversation.
type peer struct {
	t    *testing.T
	conn transport.Conn
}

// next returns the client's next message; ok is false after it has gone.
func (p *peer) next() (m jsonrpc.Message, ok bool) {
	frame, err := p.conn.Read()
	if err != nil {
		return m, false
	}
	m, err = jsonrpc.Decode(frame)
	if err != nil {
		p.t.Errorf("client sent %s: %v", frame, err)
	}
	return m, true
}

// want reads the client's next message, which must have the method.
func (p *peer) want(method string) jsonrpc.Message {
	m, ok := p.next()
	if !ok || m.Method != method {
		p.t.Errorf("client sent %q %s (there: %v), want %q", m.Method, m.Params, ok, method)
	}
	return m
}

func (p *peer) write(format string, args ...any) {
	if err := p.conn.Write(fmt.Appendf(nil, format, args...)); err != nil && !errors.Is(err, transport.ErrClosed) {
		p.t.Errorf("write: %v", err)
	}
}

func (p *peer) result(m jsonrpc.Message, result string) {
	p.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (p *peer) fail(m jsonrpc.Message, code int, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"%s}}`, m.ID, code, data)
}

func (p *peer) notify(method, params string) {
	p.write(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// discovery is a DiscoverResult with the versions given.
func discovery(versions ...string) string {
	list, _ := json.Marshal(versions)
	return fmt.Sprintf(`{"resultType":"complete","supportedVersions":%s,"capabilities":{"tools":{}},"instructions":"be kind",`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"5"}},"ttlMs":0,"cacheScope":"private"}`, list)
}

// greeting is an InitializeResult.
func greeting(version string) string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"fake","version":"4"},"instructions":"be kind"}`, version)
}

// initialize plays the handshake of an older server, which answers the probe
// with an error first if there is one.
func (p *peer) initialize(version string) {
	for {
		m, ok := p.next()
		switch {
		case !ok:
			return
		case m.Method == mcp.MethodServerDiscover:
			p.fail(m, jsonrpc.CodeMethodNotFound, "")
		case m.Method == mcp.MethodInitialize:
			p.result(m, greeting(version))
		case m.Method == mcp.NotificationInitialized:
			return
		default:
			p.t.Errorf("client sent %q before it was initialized", m.Method)
		}
	}
}

// open plays the opening of a server of any revision.
func (p *peer) open(version string) {
	if version != r5 {
		p.initialize(version)
		return
	}
	p.result(p.want(mcp.MethodServerDiscover), discovery(r5))
}

// A fakeTransport starts a script for each connection; the last one serves all
// that come after it. A connection ends when its script does.
type fakeTransport struct {
	t       *testing.T
	scripts []func(*peer)
	scribes sync.WaitGroup

	mu     sync.Mutex
	opened int
}

func fake(t *testing.T, scripts ...func(*peer)) *fakeTransport {
	f := &fakeTransport{t: t, scripts: scripts}
	t.Cleanup(f.scribes.Wait)
	return f
}

func (f *fakeTransport) Open(_ context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	f.mu.Lock()
	script := f.scripts[min(f.opened, len(f.scripts)-1)]
	f.opened++
	f.mu.Unlock()
	ours, theirs := transport.Pipe()
	f.scribes.Go(func() {
		defer func() { _ = theirs.Close() }()
		script(&peer{f.t, theirs})
	})
	return transport.Duplex(ours, recv), nil
}

func (f *fakeTransport) opens() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

// idle reads until the client goes.
func (p *peer) idle() {
	for {
		if _, ok := p.next(); !ok {
			return
		}
	}
}

// connect connects and closes when the test is over.
func connect(t *testing.T, via transport.Transport, opts *client.Options) *client.Session {
	t.Helper()
	sess, err := client.New(info, opts).Connect(t.Context(), via)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := sess.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return sess
}

// bubble runs a test where time is not real and where a goroutine that is left
// over fails it.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

// A fakeHTTP is a transport whose answers have a status. It counts as HTTP by
// being a transport.Listener.
type fakeHTTP struct {
	answer func(m *transport.Outgoing) (transport.Response, error)
	listen func(ctx context.Context, recv transport.Receiver, opened func()) error

	mu   sync.Mutex
	sent []*transport.Outgoing
}

type fakeConn struct {
	*fakeHTTP
	recv transport.Receiver
	done chan struct{}
	once sync.Once
	lost atomic.Bool // done because the server has forgotten the session
}

func (f *fakeHTTP) Open(_ context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	return &fakeConn{fakeHTTP: f, recv: recv, done: make(chan struct{})}, nil
}

func (c *fakeConn) RoundTrip(ctx context.Context, m *transport.Outgoing) (transport.Response, error) {
	c.mu.Lock()
	c.sent = append(c.sent, m)
	c.mu.Unlock()
	resp, err := c.answer(m)
	if ctx.Err() != nil {
		return resp, context.Cause(ctx)
	}
	return resp, err
}

func (c *fakeConn) Send(_ context.Context, m *transport.Outgoing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, m)
	return nil
}

func (c *fakeConn) Listen(ctx context.Context, _ string, opened func()) error {
	if c.listen == nil {
		return errors.ErrUnsupported
	}
	err := c.listen(ctx, c.recv, opened)
	if errors.Is(err, transport.ErrSessionLost) {
		c.lost.Store(true)
		_ = c.Close()
	}
	return err
}

func (c *fakeConn) Done() <-chan struct{} { return c.done }

func (c *fakeConn) Err() error {
	select {
	case <-c.done:
		if c.lost.Load() {
			return transport.ErrSessionLost
		}
		return transport.ErrClosed
	default:
		return nil
	}
}

func (c *fakeConn) Close() error {
	c.once.Do(func() { close(c.done) })
	return nil
}

// methods lists what was sent.
func (f *fakeHTTP) methods() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var methods []string
	for _, m := range f.sent {
		methods = append(methods, m.Method)
	}
	return methods
}

func ok(result string) transport.Response {
	return transport.Response{Status: 200, Message: jsonrpc.Message{Result: json.RawMessage(result)}}
}

func refusal(status, code int, data string) transport.Response {
	e := &jsonrpc.Error{Code: code, Message: "no"}
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	return transport.Response{Status: status, Message: jsonrpc.Message{Error: e}}
}

// A badStatusError is an answer without a message.
type badStatusError int

func (e badStatusError) Error() string   { return fmt.Sprintf("status %d", int(e)) }
func (e badStatusError) HTTPStatus() int { return int(e) }
