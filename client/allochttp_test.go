package client_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
)

// newEchoServer returns the URL of an HTTP server that does what an echoConn does.
// It is not one of net/http, which would allocate more than the client.
func newEchoServer(t *testing.T, revision string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { serveEcho(c, revision) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// serveEcho answers the requests of one connection until the client closes it.
func serveEcho(c net.Conn, revision string) {
	defer c.Close()
	in := bufio.NewReader(c)
	var body, out []byte
	for {
		post, length := true, 0
		for first := true; ; first = false {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if first {
				post = bytes.HasPrefix(line, []byte("POST"))
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
			if len(bytes.TrimSpace(line)) == 0 {
				break
			}
		}
		body = append(body[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		status, reply := "405 Method Not Allowed", []byte(nil)
		if post {
			status, reply = "202 Accepted", answerTo(body, revision)
		}
		if reply != nil {
			status = "200 OK"
		}
		out = append(append(out[:0], "HTTP/1.1 "...), status...)
		out = append(out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		out = append(strconv.AppendInt(out, int64(len(reply)), 10), "\r\n\r\n"...)
		if _, err := c.Write(append(out, reply...)); err != nil {
			return
		}
	}
}
