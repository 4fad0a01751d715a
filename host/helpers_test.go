package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

var info = mcp.Implementation{Name: "test", Version: "1"}

// A peer is a server in this process that can be reached, lost and kept down.
type peer struct {
	srv  *server.Server
	down atomic.Bool // refuses connections
	// legacy hides what only stateless servers answer.
	legacy bool
	start  time.Duration // how long it takes to start
	dials  atomic.Int32

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns []transport.Conn
}

// newPeer returns a peer that ends with the test.
func newPeer(t *testing.T, legacy bool, opts *server.Options) *peer {
	t.Helper()
	p := &peer{srv: server.New(mcp.Implementation{Name: "peer", Version: "1"}, opts), legacy: legacy}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if legacy {
		p.srv.Handle(mcp.MethodServerDiscover, func(context.Context, *server.Call) (any, error) {
			return nil, &errNoMethod
		})
	}
	t.Cleanup(func() {
		p.cancel()
		p.wg.Wait()
		_ = p.srv.Close()
	})
	return p
}

func (p *peer) dial(context.Context) (transport.Conn, error) {
	p.dials.Add(1)
	if p.down.Load() {
		return nil, errors.New("nobody is at home")
	}
	c, s := transport.Pipe()
	p.mu.Lock()
	p.conns = append(p.conns, s)
	p.mu.Unlock()
	p.wg.Go(func() {
		if p.start > 0 {
			<-time.After(p.start)
		}
		_ = p.srv.ServeConn(p.ctx, s)
	})
	return c, nil
}

// drop ends all connections.
func (p *peer) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *peer) upstream(name string) host.Upstream {
	return host.Upstream{Name: name, Transport: transport.Dial(p.dial)}
}

// tool adds a tool that says which one it is and what it got.
func (p *peer) tool(names ...string) {
	for _, name := range names {
		p.srv.AddRawTool(mcp.Tool{Name: name}, func(_ context.Context, c *server.Call) (any, error) {
			return json.RawMessage(`{"content":[{"type":"text","text":"` + name + `"}],"extra":{"kept":true}}`), nil
		})
	}
}

func noPrefix(u host.Upstream) host.Upstream { u.Prefix = new(string); return u }

// A watched is a host with a way to wait for something to become true.
type watched struct {
	*host.Host
	changed chan struct{}
}

func newHost(t *testing.T, opts *host.Options, upstreams ...host.Upstream) *watched {
	t.Helper()
	w := &watched{Host: host.New(info, opts), changed: make(chan struct{}, 1)}
	w.Watch(host.Hooks{Changed: func() {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}})
	for _, u := range upstreams {
		if err := w.Add(u); err != nil {
			t.Fatalf("Add(%q): %v", u.Name, err)
		}
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w
}

func (w *watched) start(t *testing.T) {
	t.Helper()
	if err := w.Start(t.Context()); err != nil {
		t.Fatalf("Start: %v", err)
	}
}

// until waits for something that the host will tell of.
func (w *watched) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for !ok() {
		select {
		case <-w.changed:
		case <-t.Context().Done():
			t.Fatalf("test ended before: %s; status %+v", what, w.Status())
		}
	}
}

// tools returns the names shown.
func (w *watched) tools() []string {
	names := []string{}
	for _, tool := range w.Catalog().Tools {
		names = append(names, tool.Tool.Name)
	}
	return names
}

func (w *watched) state(name string) host.UpstreamStatus {
	for _, s := range w.Status() {
		if s.Name == name {
			return s
		}
	}
	return host.UpstreamStatus{}
}
