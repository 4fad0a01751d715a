package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// waiting adds a tool that waits for its context and hands on the cause.
func waiting(srv *server.Server) (started chan struct{}, causes chan error) {
	started, causes = make(chan struct{}, 64), make(chan error, 64)
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		if err := c.Progress(ctx, 1, 0, ""); c.WantsProgress() && err == nil {
			return "", errors.New("progress was sent for a cancelled request")
		}
		causes <- context.Cause(ctx)
		return "", ctx.Err()
	})
	return started, causes
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-RECEIVER-STOP", "CANCEL-RACE", "CANCEL-INVALID-IGNORE", "CANCEL-RECEIVER-IGNORE", "CANCEL-FORMAT", "STDIO-CANCEL-SILENT",
		"STDIO-CANCEL-STOP")
	for _, era := range []string{"", modernMeta} {
		srv := newServer(t, nil)
		_, causes := waiting(srv)
		d := talk(t, srv)
		params := `"name":"wait"`
		if era == "" {
			d.open("2025-11-25")
		} else {
			params += "," + era
		}
		// The cancellation comes at once, before the tool may have started.
		for range 50 {
			d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + params + `}}`)
			d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + params + `}}`)
			code(t, d.read(), jsonrpc.CodeInvalidRequest)                                             // in use
			d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`) // another id
			d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"bored"}}`)
			d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`)
			err := <-causes
			if cancelled, ok := errors.AsType[*server.CancelledError](err); !ok || cancelled.Reason != "bored" || err.Error() == "" {
				t.Fatalf("cause %v, want a CancelledError that says why", err)
			}
		}
		d.askModern("tools/list", "") // the next answer is this one's
	}
	if (&server.CancelledError{}).Error() == "" {
		t.Error("a CancelledError without a reason says nothing")
	}
}

func TestReasonsOfCancellationsAreLogged(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-LOG-REASON")
	var log lockedBuffer
	srv := newServer(t, &server.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	_, causes := waiting(srv)
	d := talk(t, srv)
	for range 2 {
		d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait",` + modernMeta + `}}`)
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"bored"}}`)
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"again"}}`)
		<-causes
		d.askModern("tools/list", "")
	}
	if got := log.String(); strings.Count(got, "bored") != 2 || strings.Contains(got, "again") {
		t.Errorf("logged %s", got)
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	srv := newServer(t, &server.Options{MaxConcurrent: 2})
	started, _ := waiting(srv)
	d := talk(t, srv)
	for id := range 2 {
		d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait",%s}}`, id, modernMeta))
		<-started
	}
	code(t, d.askModern("tools/list", ""), jsonrpc.CodeInternal)
	result[mcp.DiscoverResult](t, d.askModern("server/discover", "")) // needs no place
	d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
	for {
		if m := d.askModern("tools/list", ""); m.Error == nil {
			break // the place is free again
		}
	}
}

func TestEndOfInputDrains(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-EOF")
	synctest.Test(t, func(t *testing.T) {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
		server.AddTool(srv, mcp.Tool{Name: "slow"}, func(context.Context, *server.Call, struct{}) (string, error) {
			<-time.After(4 * time.Second)
			return "done", nil
		})
		written := make(chan string, 4)
		ended := make(chan error)
		conn := &halfConn{in: make(chan string, 4), out: written, closed: make(chan struct{})}
		go func() { ended <- srv.ServeConn(t.Context(), conn) }()
		conn.in <- `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",` + modernMeta + `}}`
		conn.in <- `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{},` + modernMeta + `}}`
		<-written // the subscription
		close(conn.in)
		if got := <-written; !sameJSON([]byte(got), []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],`+
			`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},"resultType":"complete"}}`)) {
			t.Errorf("got %s", got)
		}
		if err := <-ended; err != nil {
			t.Errorf("ServeConn: %v", err)
		}
	})
}

// A halfConn can end its input while its output is still open, as pipes can.
type halfConn struct {
	in     chan string
	out    chan string
	closed chan struct{}
	broken error
}

func (c *halfConn) Read() ([]byte, error) {
	select {
	case frame, ok := <-c.in:
		switch {
		case !ok && c.broken != nil:
			return nil, c.broken
		case !ok:
			return nil, io.EOF
		case frame == "large":
			return nil, &transport.FrameTooLargeError{}
		}
		return []byte(frame), nil
	case <-c.closed:
		return nil, transport.ErrClosed
	}
}

func (c *halfConn) Write(frame []byte) error {
	select {
	case c.out <- string(frame):
		return nil
	case <-c.closed:
		return transport.ErrClosed
	}
}

func (c *halfConn) Close() error {
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
	return nil
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	conn := &halfConn{in: make(chan string, 4), out: make(chan string, 4), closed: make(chan struct{}), broken: broken}
	conn.in <- "large"
	conn.in <- `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	close(conn.in)
	if err := newServer(t, nil).ServeConn(t.Context(), conn); !errors.Is(err, broken) {
		t.Errorf("ServeConn: %v, want %v", err, broken)
	}
	for _, id := range []string{"", "1"} { // the frame that was too large, then the ping
		m, err := jsonrpc.Decode([]byte(<-conn.out))
		if err != nil || m.ID.String() != id || id == "" && m.Error == nil {
			t.Errorf("got %+v, %v", m, err)
		}
	}
}

// A handler that ignores its context does not keep its connection alive.
func TestHandlerThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-EOF", "LIFE-SHUTDOWN-NO-MESSAGE")
	for _, how := range []string{"end of input", "context", "server"} {
		synctest.Test(t, func(t *testing.T) {
			srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{Drain: 3 * time.Second})
			release := make(chan struct{})
			server.AddTool(srv, mcp.Tool{Name: "deaf"}, func(context.Context, *server.Call, struct{}) (string, error) {
				<-release
				return "", nil
			})
			client, conn := transport.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() { ended <- srv.ServeConn(ctx, conn) }()
			if err := client.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deaf",` + modernMeta + `}}`)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			begun := time.Now()
			limit := 1300 * time.Millisecond
			switch how {
			case "end of input":
				_ = client.Close()
				limit = 4 * time.Second
			case "context":
				cancel()
			case "server":
				_ = srv.Close()
				_ = srv.Close() // again
			}
			if err := <-ended; err != nil {
				t.Errorf("%s: ServeConn: %v", how, err)
			}
			if took := time.Since(begun); took > limit {
				t.Errorf("%s: ServeConn took %v, want at most %v", how, took, limit)
			}
			close(release)
			synctest.Wait()
		})
	}
}

// TestOnlySubscriptionsAreTornDown closes a server that has requests of all kinds
// to answer: it cancels none of the client's requests but the subscription.
func TestOnlySubscriptionsAreTornDown(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-SERVER-ONLY-SUBSCRIPTION", "CANCEL-SERVER-SUBSCRIPTION")
	srv := newServer(t, nil)
	started, causes := waiting(srv)
	d := talk(t, srv)
	d.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	d.read()
	for _, id := range []string{`1`, `"2"`, `3`} {
		d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"wait",` + modernMeta + `}}`)
		<-started
	}
	d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,` + modernMeta + `}}`)
	<-causes
	_ = srv.Close()
	var cancelled []string
	for {
		frame, err := d.conn.Read()
		if err != nil {
			break
		}
		m, err := jsonrpc.Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if m.Method == mcp.NotificationCancelled {
			cancelled = append(cancelled, string(m.Params))
		}
	}
	if len(cancelled) != 1 || !strings.Contains(cancelled[0], `"requestId":"l"`) {
		t.Errorf("the server cancelled %s, want the subscription only", cancelled)
	}
}

func TestCloseAnswersWhatIsRunning(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	started, causes := waiting(srv)
	d := talk(t, srv)
	d.open("2025-11-25")
	d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
	<-started
	if err := srv.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	code(t, d.read(), jsonrpc.CodeInternal)
	if err := <-causes; !errors.Is(err, server.ErrClosing) {
		t.Errorf("cause %v, want %v", err, server.ErrClosing)
	}
	if frame, err := d.conn.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("read %s, %v; want the end", frame, err)
	}
	late, conn := transport.Pipe()
	if err := srv.ServeConn(t.Context(), conn); err != nil {
		t.Errorf("ServeConn of a closed server: %v", err)
	}
	if _, err := late.Read(); err == nil {
		t.Error("a closed server serves")
	}
}
