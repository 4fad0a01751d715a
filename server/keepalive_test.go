package server_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PING-PERIODIC", "PING-TIMEOUT-ACTION", "PING-REMOVED")
	run := func(name string, test func(t *testing.T, d *dialog, ended <-chan error)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := newServer(t, &server.Options{KeepAlive: time.Second})
				client, conn := transport.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- srv.ServeConn(t.Context(), conn) }()
				test(t, &dialog{t: t, conn: client}, ended)
				_ = client.Close()
				synctest.Wait()
			})
		})
	}
	run("answers", func(t *testing.T, d *dialog, ended <-chan error) {
		d.open("2025-11-25")
		for i := range 3 {
			m := d.read()
			if m.Method != mcp.MethodPing || m.Kind() != jsonrpc.Request {
				t.Fatalf("got %+v, want a ping", m)
			}
			answer := `"result":{}`
			if i == 1 {
				answer = `"error":{"code":-32601,"message":"no"}` // somebody is there
			}
			d.send(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + answer + `}`)
		}
		_ = d.conn.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	run("silence", func(t *testing.T, d *dialog, ended <-chan error) {
		d.open("2025-11-25")
		began := time.Now()
		if err := <-ended; !errors.Is(err, server.ErrUnresponsive) || time.Since(began) > 3*time.Second {
			t.Errorf("got %v after %v, want %v", err, time.Since(began), server.ErrUnresponsive)
		}
	})
	run("nobody to ask", func(t *testing.T, d *dialog, ended <-chan error) {
		d.askModern("tools/list", "")
		<-time.After(time.Minute)
		d.askModern("tools/list", "") // and no ping before the answer
		_ = d.conn.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
