package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// A handler that keeps its call must not get at the connection of whoever asks
// next.
func TestDisconnectAfterTheCall(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	p, kept := addPuppet(e.srv, "puppet"), make(chan *server.Call, 1)
	server.AddTool(e.srv, mcp.Tool{Name: "keep"}, func(_ context.Context, c *server.Call, _ struct{}) (string, error) {
		kept <- c
		return "", nil
	})
	sess := e.session(r4)
	e.post(sess, call("1", "keep", "{}"))
	result := make(chan answer)
	go func() { result <- e.post(sess, call("2", "puppet", "{}")) }()
	<-p.calls
	if c := <-kept; c.Disconnect(0) {
		t.Error("a call that is over has let go of a connection")
	}
	p.steps <- ""
	if a := <-result; !strings.Contains(a.body, `"id":2,"result"`) {
		t.Errorf("the next request was answered with %q", a.body)
	}
}

// Clients that resume a stream many times at once, and leave again, find the
// response in the end.
func TestReadersReplaceEachOther(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	p, sess := addPuppet(e.srv, "puppet"), e.session(r4)
	opened := make(chan *stream)
	go func() { opened <- e.open("POST", sess, call("1", "puppet", "{}")) }()
	c := <-p.calls
	p.steps <- "one"
	s := <-opened
	s.want("one")
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for j := range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20*i+j)*time.Microsecond)
				serve(ctx, e.h, request(ctx, t, "GET", "/", sess+lastID(s.id), ""))
				cancel()
				if i == 0 {
					c.Disconnect(time.Millisecond)
				}
			}
		})
	}
	readers.Wait()
	p.steps <- ""
	<-p.done
	last := e.open("GET", sess+lastID(s.id), "")
	last.want(`"id":1,"result"`)
	last.want("")
}

// A client that sends request after request on one connection, and reads no
// answer, holds no request for longer than one write may take.
func TestPipelineThatIsNotRead(t *testing.T) {
	t.Parallel()
	e := start(t, &httpserver.Options{WriteTimeout: 100 * time.Millisecond})
	server.AddTool(e.srv, mcp.Tool{Name: "medium"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return strings.Repeat("x", 3900), nil
	})
	address := strings.TrimPrefix(e.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := statelessCall("1", "medium", "{}")
	head := "Host: " + address + "\nContent-Type: application/json\nAccept: application/json\n" + statelessHeader("medium")
	post := strings.ReplaceAll(fmt.Sprintf("POST / HTTP/1.1\n%sContent-Length: %d\n\n", head, len(body)), "\n", "\r\n") + body
	for {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(conn, post); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break // nothing is taken any more
			}
			return // the server has given the connection up
		}
	}
	if err := e.h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
