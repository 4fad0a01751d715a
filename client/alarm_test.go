package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// TestManyLimits has calls of all kinds of limits in flight at a time, which
// share one timer.
func TestManyLimits(t *testing.T) {
	t.Parallel()
	bubble(t, "each ends at its time", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			if m.Method == mcp.MethodPing {
				p.result(m, `{}`)
			}
		})), nil)
		began := time.Now()
		var calls sync.WaitGroup
		defer calls.Wait()
		for i := range 40 {
			limit := time.Duration((i*7)%40+1) * time.Second
			opts := &client.CallOptions{Timeout: limit}
			if i%3 == 0 {
				opts = &client.CallOptions{MaxTimeout: limit, Timeout: -1}
			}
			calls.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%4 == 0 { // these do not come to their limit
					time.AfterFunc(limit/2, cancel)
					limit /= 2
				}
				_, err := sess.CallTool(ctx, &noPause, opts)
				_, late := errors.AsType[*client.TimeoutError](err)
				if took := time.Since(began); took != limit || late == (i%4 == 0) {
					t.Errorf("call %d ended after %v with %v, want it after %v", i, took, err, limit)
				}
			})
		}
		if err := sess.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "before it is sent", func(t *testing.T) {
		sess := connect(t, fake(t, func(p *peer) {
			p.initialize(r4)
			p.idle()
		}), nil)
		_, err := sess.CallTool(t.Context(), &noPause, &client.CallOptions{Timeout: 1})
		if _, late := errors.AsType[*client.TimeoutError](err); !late {
			t.Errorf("got %v, want a TimeoutError", err)
		}
	})
}
