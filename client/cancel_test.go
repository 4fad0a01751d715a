package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// A server may be in the middle of the handshake: it is not told that nobody
// waits for that any more.
func TestInitializeIsNotCancelled(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "CANCEL-NOT-INITIALIZE")
	bubble(t, "", func(t *testing.T) {
		via := fake(t, func(p *peer) {
			p.want(mcp.MethodInitialize)
			if m, ok := p.next(); ok {
				t.Errorf("client sent %s %s", m.Method, m.Params)
			}
		})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, &client.CancelError{Reason: "enough"})
		defer cancel()
		_, err := client.New(info, &client.Options{Revision: r4}).Connect(ctx, via)
		if _, ok := errors.AsType[*client.CancelError](err); !ok {
			t.Errorf("got %v, want the cause of the context", err)
		}
	})
}
