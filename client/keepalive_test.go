package client_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PING-PERIODIC", "PING-TIMEOUT-ACTION", "PING-TIMEOUT-IS-FAILURE", "PING-REMOVED")
	opts := &client.Options{KeepAlive: time.Second}
	bubble(t, "ends with the answers", func(t *testing.T) {
		pings := 0
		sess := connect(t, fake(t, answering(r4, func(p *peer, m jsonrpc.Message) {
			switch pings++; {
			case m.Method != mcp.MethodPing:
			case pings == 1:
				p.result(m, `{}`)
			case pings == 2:
				p.fail(m, jsonrpc.CodeMethodNotFound, "") // somebody is there
			}
		})), opts)
		began := time.Now()
		<-sess.Done()
		synctest.Wait()
		if took := time.Since(began); took != 4*time.Second || pings != 3 {
			t.Errorf("over after %v and %d pings, want 4s and 3", took, pings)
		}
		lost, ok := errors.AsType[*client.UnreachableError](sess.Err())
		if late, isLate := errors.AsType[*client.TimeoutError](sess.Err()); !ok || !isLate || late.Method != mcp.MethodPing {
			t.Errorf("got %v (%v), want an UnreachableError because of a TimeoutError", sess.Err(), lost)
		}
	})
	bubble(t, "not in a stateless revision", func(t *testing.T) {
		sess := connect(t, fake(t, answering(r5, func(_ *peer, m jsonrpc.Message) {
			t.Errorf("the client sent %s", m.Method)
		})), opts)
		<-time.After(time.Minute)
		if err := sess.Err(); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "renews a session", func(t *testing.T) {
		f := &forgetful{}
		via := &fakeHTTP{answer: func(m *transport.Outgoing) (transport.Response, error) { return f.answer(m) }}
		sess := connect(t, via, &client.Options{Revision: r4, KeepAlive: time.Second})
		f.lost.Store(true)
		<-time.After(3 * time.Second)
		synctest.Wait()
		if err := sess.Err(); err != nil || f.lost.Load() {
			t.Errorf("not renewed, %v", err)
		}
	})
}
