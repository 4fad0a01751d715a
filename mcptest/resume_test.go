package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// A cutter breaks answers off after some bytes, as a proxy or a network does.
type cutter struct {
	base http.RoundTripper

	mu   sync.Mutex
	cuts map[string][]int // by method: where the next answers are cut; the others are whole
	last map[string]int   // by method: how long the last answer was
	ids  []string         // the Last-Event-ID headers that were sent
}

func newCutter() *cutter { return &cutter{cuts: map[string][]int{}, last: map[string]int{}} }

func (c *cutter) cut(method string, at ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts[method] = at
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	if id := r.Header.Get("Last-Event-Id"); id != "" {
		c.mu.Lock()
		c.ids = append(c.ids, id)
		c.mu.Unlock()
	}
	res, err := c.base.RoundTrip(r)
	if err != nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return res, err
	}
	body := &cutBody{ReadCloser: res.Body, cutter: c, method: r.Method, left: 1 << 30}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.cuts[r.Method]; len(at) > 0 {
		body.left, c.cuts[r.Method] = at[0], at[1:]
	}
	res.Body = body
	return res, nil
}

type cutBody struct {
	io.ReadCloser
	cutter *cutter
	method string
	read   int
	left   int
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		_ = b.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.read += n
	return n, err
}

func (b *cutBody) Close() error {
	b.cutter.mu.Lock()
	b.cutter.last[b.method] = b.read
	b.cutter.mu.Unlock()
	return b.ReadCloser.Close()
}

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// throughCutter runs test, in a bubble, with a session over HTTP whose answers
// c cuts.
func throughCutter(t *testing.T, srv *server.Server, opts *client.Options, c *cutter, test func(t *testing.T, sess *client.Session)) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		h := httpserver.New(srv, &httpserver.Options{RetryAfter: 20 * time.Millisecond})
		web := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		var wg sync.WaitGroup
		wg.Go(func() { _ = web.Serve(l) })
		base := &http.Transport{DialContext: l.dial}
		c.base = base
		sess, err := client.New(mcptest.ClientInfo, opts).Connect(t.Context(), httpclient.New("http://localhost/mcp", &httpclient.Options{Client: &http.Client{Transport: c}}))
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		test(t, sess)
		if err := sess.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Errorf("close the endpoint: %v", err)
		}
		_ = web.Close()
		base.CloseIdleConnections()
		wg.Wait()
	})
}

// resumable are the revisions whose streams can be resumed.
var resumable = []string{"2025-03-26", "2025-06-18", "2025-11-25"}

// Wherever the answer to a call is cut, and what resumes it is cut again, no
// progress is lost, comes twice or out of order, and the result arrives.
func TestAnswerIsCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, revision := range resumable {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			srv := everything()
			defer srv.Close()
			c := newCutter()
			throughCutter(t, srv, &client.Options{Revision: revision}, c, func(t *testing.T, sess *client.Session) {
				const steps = 3
				var seen []float64
				count := func() error {
					seen = nil
					_, err := sess.CallTool(t.Context(),
						&mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(fmt.Sprintf(`{"to":%d}`, steps))},
						&client.CallOptions{Progress: func(p mcp.ProgressParams) { seen = append(seen, p.Progress) }})
					return err
				}
				if err := count(); err != nil {
					t.Fatal(err)
				}
				length, resumed := c.last[http.MethodPost], false
				for at := range length {
					c.cut(http.MethodPost, at)
					c.cut(http.MethodGet, at*7%length, at*11%length)
					asked := len(c.ids)
					err := count()
					if err != nil && !resumed && len(c.ids) == asked {
						continue // no id has come yet: nothing can be asked for
					}
					resumed = resumed || len(c.ids) > asked
					if err != nil || !slices.Equal(seen, []float64{1, 2, 3}) {
						t.Fatalf("cut at %d of %d: progress %v, %v", at, length, seen, err)
					}
				}
				if !resumed {
					t.Error("nothing was resumed")
				}
			})
		})
	}
}

// Wherever the standing stream is cut, no message is lost or comes twice.
func TestStandingStreamIsCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, revision := range resumable {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{
				Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}},
			})
			defer srv.Close()
			const resources = 3
			uri := func(i int) string { return fmt.Sprintf("test://%d", i) }
			for i := range resources {
				srv.AddResource(mcp.Resource{URI: uri(i), Name: "r"}, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
					return &mcp.ReadResourceResult{}, nil
				})
			}
			for at := 0; at < 600; at += 11 {
				var mu sync.Mutex
				var seen []string
				opts := &client.Options{Revision: revision, OnNotification: func(_ string, params json.RawMessage) {
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, string(params))
				}}
				c := newCutter()
				c.cut(http.MethodGet, at, at/2)
				throughCutter(t, srv, opts, c, func(t *testing.T, sess *client.Session) {
					for i := range resources {
						if _, err := sess.Call(t.Context(), mcp.MethodResourcesSubscribe, &mcp.SubscribeParams{URI: uri(i)}, nil); err != nil {
							t.Fatal(err)
						}
					}
					for i := range resources {
						srv.ResourceUpdated(uri(i))
						<-time.After(100 * time.Millisecond)
					}
					<-time.After(time.Minute)
					mu.Lock()
					defer mu.Unlock()
					for i := range resources {
						n := strings.Count(strings.Join(seen, "\n"), uri(i)+`"`)
						if n != 1 && (n != 0 || len(c.ids) > 0) { // without an id nothing can be asked for
							t.Errorf("cut at %d: %s came %d times", at, uri(i), n)
						}
					}
				})
			}
		})
	}
}

// A call that lets go of its connection is polled for.
func TestDisconnectedCall(t *testing.T) {
	t.Parallel()
	srv := everything()
	defer srv.Close()
	server.AddTool(srv, mcp.Tool{Name: "long"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		for i := range 3 {
			if !c.Disconnect(10 * time.Second) {
				return "", errors.New("nothing to let go of")
			}
			if err := c.Progress(ctx, float64(i+1), 0, ""); err != nil {
				return "", err
			}
			select {
			case <-time.After(15 * time.Second):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		return "at last", nil
	})
	c := newCutter()
	throughCutter(t, srv, &client.Options{Revision: "2025-11-25"}, c, func(t *testing.T, sess *client.Session) {
		began := time.Now()
		var seen []float64
		result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "long"},
			&client.CallOptions{Progress: func(p mcp.ProgressParams) { seen = append(seen, p.Progress) }})
		if err != nil || result.IsError || result.Content[0].Text != "at last" || !slices.Equal(seen, []float64{1, 2, 3}) {
			t.Errorf("got %+v, %v, progress %v", result, err, seen)
		}
		if took := time.Since(began); took != 45*time.Second || len(c.ids) != 3 {
			t.Errorf("took %v and the ids %v", took, c.ids)
		}
		// Giving up works while nothing is connected.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "long"}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 50*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
}
