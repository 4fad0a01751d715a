package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/host"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// TestMain is also the child process of the tests.
func TestMain(m *testing.M) {
	if os.Getenv("HOST_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	srv := server.New(mcp.Implementation{Name: "child", Version: "1"}, nil)
	srv.AddRawTool(mcp.Tool{Name: "pid"}, func(context.Context, *server.Call) (any, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"` + strconv.Itoa(os.Getpid()) + `"}]}`), nil
	})
	srv.AddRawTool(mcp.Tool{Name: "exit"}, func(context.Context, *server.Call) (any, error) {
		os.Exit(3)
		return nil, nil
	})
	if err := srv.ServeStdio(context.Background()); err != nil {
		os.Exit(1)
	}
}

func pid(t *testing.T, w *watched) string {
	t.Helper()
	raw, err := w.CallTool(t.Context(), "child_pid", nil, nil)
	if err != nil {
		t.Fatalf("pid: %v", err)
	}
	var r mcp.CallToolResult
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("pid = %s, %v", raw, err)
	}
	return r.Content[0].Text
}

// TestKill has a child process end, by itself and killed.
func TestKill(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-RESTART")
	child := host.Stdio("child", os.Args[0])
	child.Transport.(*transport.Command).Env = []string{"HOST_TEST_CHILD=1"}
	w := newHost(t, &host.Options{MinRetry: 10 * time.Millisecond, Grace: 30 * time.Second}, child)
	w.start(t)
	lost := make(chan struct{}, 1)
	stop := w.Watch(host.Hooks{Changed: func() {
		if w.state("child").State == host.Failed {
			select {
			case lost <- struct{}{}:
			default:
			}
		}
	}})
	defer stop()
	ready := func() bool { return slices.Contains(w.tools(), "child_pid") && w.state("child").State == host.Ready }

	first := pid(t, w)
	_, err := w.CallTool(t.Context(), "child_exit", nil, nil)
	var down *host.UpstreamError
	if !errors.As(err, &down) || !strings.Contains(err.Error(), `server "child" is not reachable`) || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("call of a server that exits = %v", err)
	}
	<-lost
	w.until(t, "another child", ready)
	second := pid(t, w)
	if second == first {
		t.Errorf("the child is still %s", first)
	}

	number, err := strconv.Atoi(second)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(number)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-lost
	w.until(t, "a third child", ready)
	if third := pid(t, w); third == second {
		t.Errorf("the child is still %s", third)
	}
}

// TestWeb has a server over HTTP go away, which only a call or a ping notices.
func TestWeb(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "web", Version: "1"}, nil)
	srv.AddRawTool(mcp.Tool{Name: "x"}, func(context.Context, *server.Call) (any, error) {
		return json.RawMessage(`{"content":[]}`), nil
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := httpserver.New(srv, nil)
	web := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	w := newHost(t, &host.Options{Ping: 5 * time.Millisecond, MinRetry: time.Hour}, host.HTTP("web", "http://"+listener.Addr().String()+"/mcp", nil))
	w.start(t)
	if s := w.state("web"); s.State != host.Ready {
		t.Fatalf("status = %+v", s)
	}
	if _, err := w.CallTool(t.Context(), "web_x", nil, nil); err != nil {
		t.Error(err)
	}
	_ = web.Close()
	<-served
	_ = handler.Close()
	w.until(t, "loss", func() bool { return w.state("web").State == host.Failed })
	if _, err = w.CallTool(t.Context(), "web_x", nil, nil); err == nil {
		t.Error("call of a server that is gone = nil")
	}
}
