package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// BenchmarkCallTool calls a server that only answers, so what it costs is the
// client's, besides the pipe and the decoding of the server's side.
func BenchmarkCallTool(b *testing.B) {
	ctx := context.Background()
	params := &mcp.CallToolParams{Name: "greet", Arguments: json.RawMessage(`{"name":"Ada"}`)}
	for _, call := range []struct {
		name string
		opts *client.CallOptions
	}{
		{"plain", nil},
		{"progress", &client.CallOptions{Progress: func(mcp.ProgressParams) {}}},
	} {
		b.Run(call.name, func(b *testing.B) {
			sess, err := client.New(info, nil).Connect(ctx, transport.Dial(dialGreeter))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = sess.Close() }()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sess.CallTool(ctx, params, call.opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
