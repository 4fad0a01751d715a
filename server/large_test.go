package server_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// TestLargeResultsAreEncodedOnce measures what it takes to write a large
// result: one buffer of its size and some room, no copies beside it.
func TestLargeResultsAreEncodedOnce(t *testing.T) {
	if underRace {
		t.Skip("the race detector changes what is allocated")
	}
	const size = 64 << 20
	text := strings.Repeat("0123456789abcdef", size/16)
	raw := json.RawMessage(`{"content":[{"type":"text","text":"` + text + `"}]}`)
	for name, result := range map[string]any{
		"text":     &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(text)}},
		"data":     &mcp.CallToolResult{Content: []mcp.Content{mcp.Image([]byte(text)[:size*3/4], "image/png")}},
		"resource": &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("a:b", "", text)}},
		"raw":      raw,
	} {
		t.Run(name, func(t *testing.T) {
			response := &server.Response{ID: jsonrpc.IntID(1), Result: result}
			var buf bytes.Buffer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			response.Write(&buf)
			runtime.ReadMemStats(&after)
			if buf.Len() < size {
				t.Fatalf("wrote %d bytes, want at least %d", buf.Len(), size)
			}
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(size*3/2); got > limit {
				t.Errorf("allocated %d MiB for a result of %d MiB, want at most %d", got>>20, size>>20, limit>>20)
			}
		})
	}
}
