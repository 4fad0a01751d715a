package server_test

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// scripted gives frames one after the other and counts what is answered.
type scripted struct {
	frames [][]byte

	mu      sync.Mutex
	answers map[string]int
	bad     []byte
}

func (c *scripted) Read() ([]byte, error) {
	if len(c.frames) == 0 {
		return nil, io.EOF
	}
	frame := c.frames[0]
	c.frames = c.frames[1:]
	return bytes.Clone(frame), nil
}

func (c *scripted) Write(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	messages := []jsonrpc.BatchItem{{}}
	if jsonrpc.IsBatch(frame) {
		messages, _ = jsonrpc.DecodeBatch(bytes.Clone(frame))
	} else {
		messages[0].Message, messages[0].Err = jsonrpc.Decode(bytes.Clone(frame))
	}
	for _, m := range messages {
		switch {
		case m.Err != nil && m.Error == nil:
			c.bad = bytes.Clone(frame)
		case m.Kind() == jsonrpc.Response:
			c.answers[m.ID.String()]++
		}
	}
	return nil
}

func (c *scripted) Close() error { return nil }

// Whatever comes in, nothing panics, all that is written is valid, and every
// request is answered once.
func FuzzServeConn(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},` + modernMeta + `}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n" +
		`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7]`))
	f.Add([]byte("{\n[]\nnull\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"",` + modernMeta + `}}` + "\n" + `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":null}`))
	srv := server.New(mcp.Implementation{Name: "fuzz", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add"}, add)
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := &scripted{answers: map[string]int{}}
		want := map[string]int{}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			m, err := jsonrpc.Decode(line)
			if err == nil && (m.Method == mcp.MethodSubscriptionsListen || m.Method == mcp.NotificationCancelled) {
				continue // not answered when cancelled
			}
			if jsonrpc.IsBatch(line) {
				continue // may hold those
			}
			if err == nil && m.Kind() == jsonrpc.Request {
				want[m.ID.String()]++
			} else if err != nil && m.Error == nil {
				want[m.ID.String()]++
			}
			conn.frames = append(conn.frames, line)
		}
		if err := srv.ServeConn(t.Context(), conn); err != nil {
			t.Errorf("ServeConn: %v", err)
		}
		if conn.bad != nil {
			t.Errorf("wrote %s", conn.bad)
		}
		for id, n := range want {
			if conn.answers[id] != n {
				t.Errorf("%q was asked %d times and answered %d times", id, n, conn.answers[id])
			}
		}
	})
}

// FuzzBatch is FuzzServeConn for the members of batches.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"initialize"},{"jsonrpc":"2.0","id":1,"result":{}}`))
	srv := server.New(mcp.Implementation{Name: "fuzz", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add"}, add)
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := &scripted{answers: map[string]int{}, frames: [][]byte{
			[]byte(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`),
			append(append([]byte("["), data...), ']'),
		}}
		if bytes.Contains(data, []byte("subscriptions")) || bytes.Contains(data, []byte("cancelled")) || bytes.Contains(data, []byte(`\u`)) {
			return // not answered when cancelled
		}
		if err := srv.ServeConn(t.Context(), conn); err != nil {
			t.Errorf("ServeConn: %v", err)
		}
		items, err := jsonrpc.DecodeBatch(append(append([]byte("["), data...), ']'))
		want := map[string]int{`"open"`: 1}
		if err != nil {
			want[""]++
		}
		for _, m := range items {
			if m.Err == nil && m.Kind() == jsonrpc.Request || m.Err != nil && m.Error == nil {
				want[m.ID.String()]++
			}
		}
		for id, n := range want {
			if conn.answers[id] != n {
				t.Errorf("%q was asked %d times and answered %d times", id, n, conn.answers[id])
			}
		}
		if conn.bad != nil {
			t.Errorf("wrote %s", conn.bad)
		}
	})
}
