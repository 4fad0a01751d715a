package server_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

// TestCallsRunBesideEachOther has every call wait for all the others: one that
// stood in line behind another would never begin.
func TestCallsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	const calls = 100 // those that are ending count too: two rounds stay under the limit
	synctest.Test(t, func(t *testing.T) {
		srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, nil)
		var all sync.WaitGroup
		server.AddTool(srv, mcp.Tool{Name: "meet"}, func(context.Context, *server.Call, struct{}) (string, error) {
			all.Done()
			all.Wait()
			return "met", nil
		})
		client, conn := transport.Pipe()
		var serving sync.WaitGroup
		serving.Go(func() {
			if err := srv.ServeConn(t.Context(), conn); err != nil {
				t.Errorf("ServeConn: %v", err)
			}
		})
		send := func(frame string) {
			if err := client.Write([]byte(frame)); err != nil {
				t.Fatalf("write %s: %v", frame, err)
			}
		}
		receive := func() jsonrpc.Message {
			frame, err := client.Read()
			if err != nil {
				t.Fatalf("read: %v", err)
			}
			m, err := jsonrpc.Decode(frame)
			if err != nil || m.Error != nil {
				t.Fatalf("reply %s: %v", frame, err)
			}
			return m
		}
		send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		receive()
		for range 3 { // goroutines that have ended a call are free for the next
			all.Add(calls)
			for id := range calls {
				send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"meet"}}`, id+1))
			}
			seen := map[jsonrpc.ID]bool{}
			for range calls {
				seen[receive().ID] = true
			}
			if len(seen) != calls {
				t.Errorf("%d calls were answered, want %d", len(seen), calls)
			}
		}
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		serving.Wait()
	})
}
