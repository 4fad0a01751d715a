package httpserver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func TestShutdown(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	sess := e.session(r4)
	s := e.open("GET", sess, "")
	listen := e.open("POST", v+"Mcp-Method: subscriptions/listen", statelessRequest("subscriptions/listen", `"notifications":{},`))
	listen.want("acknowledged")
	results := make(chan answer)
	go func() { results <- e.post(sess, call("1", "wait", "{}")) }()
	go func() { results <- e.post(statelessHeader("wait"), statelessCall("1", "wait", "{}")) }()
	<-e.started
	<-e.started
	done := make(chan error)
	go func() { done <- e.h.Shutdown(t.Context()) }()
	s.want("")
	listen.want(`"result"`)
	for name, a := range map[string]answer{
		"session": e.post(sess, ping), "initialize": e.post("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+r4+`"}}`),
		"stateless": e.post(statelessHeader("echo"), statelessCall("1", "echo", "{}")), "GET": e.do("GET", sess, ""),
	} {
		if a.status != 503 || a.code() == 0 {
			t.Errorf("%s during shutdown: %d %s", name, a.status, a.body)
		}
	}
	for range 2 {
		e.proceed <- struct{}{}
		if a := <-results; a.status != 200 {
			t.Errorf("a running request: %d %s", a.status, a.body)
		}
	}
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if a := e.post(sess, ping); a.status != 404 {
		t.Errorf("after shutdown: %d %s", a.status, a.body)
	}
}

func TestShutdownGivesUp(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	result := make(chan answer)
	go func() { result <- e.post(statelessHeader("wait"), statelessCall("1", "wait", "{}")) }()
	<-e.started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.h.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-e.ended; !errors.Is(err, server.ErrClosing) {
		t.Errorf("the request ended with %v", err)
	}
	if a := <-result; a.status != 200 || a.code() != -32603 {
		t.Errorf("the request: %d %s", a.status, a.body)
	}
}

func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
		release := make(chan struct{})
		srv.AddRawTool(mcp.Tool{Name: "deaf"}, func(context.Context, *server.Call) (any, error) {
			<-release
			return nil, nil
		})
		h := httpserver.New(srv, nil)
		done := make(chan int)
		go func() { done <- status(t, h, statelessHeader("deaf"), statelessCall("1", "deaf", "{}")) }()
		id := initialize(t, h)
		_, stream := get(t, h, id)
		begun := time.Now()
		if err := h.Close(); err == nil || time.Since(begun) > time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(begun))
		}
		<-stream
		close(release)
		<-done
		if err := h.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
		if got := status(t, h, id, ping); got != 404 {
			t.Errorf("a session after Close: %d", got)
		}
	})
}
