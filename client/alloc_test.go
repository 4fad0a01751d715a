package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// An echoConn is a connection in memory to a server that answers at once. It
// allocates what reading a line does: each frame.
type echoConn struct {
	revision string
	frames   chan []byte
}

func (c *echoConn) Read() ([]byte, error) {
	frame, ok := <-c.frames
	if !ok {
		return nil, io.EOF
	}
	return frame, nil
}

func (c *echoConn) Write(frame []byte) error {
	if reply := answerTo(frame, c.revision); reply != nil {
		c.frames <- reply
	}
	return nil
}

// answerTo returns the reply to a message, nil for a notification.
func answerTo(frame []byte, revision string) []byte {
	id := valueOf(frame, `"id":`)
	switch {
	case id == nil:
		return nil
	case bytes.Contains(frame, []byte(`"method":"tools/call"`)):
		return joined(`{"jsonrpc":"2.0","id":`, id, `,"result":{"content":[{"type":"text","text":`, valueOf(frame, `"text":`), `}]}}`)
	case bytes.Contains(frame, []byte(`"method":"initialize"`)):
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, id, revision)
	case bytes.Contains(frame, []byte(`"method":"server/discover"`)) && revision == r5:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":[%q],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}`, id, revision)
	default:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, id)
	}
}

func (c *echoConn) Close() error { close(c.frames); return nil }

// valueOf returns the number or string after the first occurrence of a member.
func valueOf(frame []byte, member string) []byte {
	_, rest, found := bytes.Cut(frame, []byte(member))
	if !found {
		return nil
	}
	if rest[0] == '"' {
		return rest[:bytes.IndexByte(rest[1:], '"')+2]
	}
	return rest[:bytes.IndexAny(rest, ",}")]
}

func joined(a string, b []byte, c string, d []byte, e string) []byte {
	out := make([]byte, 0, len(a)+len(b)+len(c)+len(d)+len(e))
	return append(append(append(append(append(out, a...), b...), c...), d...), e...)
}

// TestCallAllocations keeps the cost of a call from growing unnoticed. It has 256
// bytes of text, and a server that allocates nothing but the frames that are read.
func TestCallAllocations(t *testing.T) { // not parallel: it counts what the process allocates
	for _, test := range []budget{{r4, 8, 1200}, {r5, 10, 1300}} {
		test.check(t, transport.Dial(func(context.Context) (transport.Conn, error) {
			return &echoConn{revision: test.revision, frames: make(chan []byte, 1)}, nil
		}))
	}
}

// TestCallAllocationsHTTP does the same over HTTP, where more than half is that of
// net/http.
func TestCallAllocationsHTTP(t *testing.T) { // not parallel: see above
	for _, test := range []budget{{r4, 63, 6200}, {r5, 69, 7000}} {
		srv := newEchoServer(t, test.revision)
		test.check(t, httpclient.New(srv, nil))
	}
}

// A budget is what a call may allocate.
type budget struct {
	revision      string
	allocs, bytes uint64
}

func (b *budget) check(t *testing.T, via transport.Transport) {
	const runs = 2000
	arguments, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 256)})
	if err != nil {
		t.Fatal(err)
	}
	params := &mcp.CallToolParams{Name: "echo", Arguments: arguments}
	sess, err := client.New(info, nil).Connect(t.Context(), via)
	if err != nil {
		t.Fatal(err)
	}
	if sess.Revision() != b.revision {
		t.Fatalf("revision %s, want %s", sess.Revision(), b.revision)
	}
	calls := func(n int) {
		for range n {
			if _, err := sess.CallTool(t.Context(), params, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	calls(100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls(runs)
	runtime.ReadMemStats(&after)
	allocs, size := (after.Mallocs-before.Mallocs)/runs, (after.TotalAlloc-before.TotalAlloc)/runs
	t.Logf("%s: %d allocations, %d bytes", b.revision, allocs, size)
	if !raced && (allocs > b.allocs || size > b.bytes) {
		t.Errorf("%s: a call takes %d allocations and %d bytes, want at most %d and %d",
			b.revision, allocs, size, b.allocs, b.bytes)
	}
	if err := sess.Close(); err != nil {
		t.Error(err)
	}
}
