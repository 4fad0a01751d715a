package server

import (
	"context"
	"errors"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// ErrUnresponsive is matched by the error of ServeConn when the client has not
// answered a ping: see Options.KeepAlive. It is the cause of the contexts of the
// requests that end with the connection.
var ErrUnresponsive = errors.New("the client gives no sign of life")

// keepAlive asks the client of the connection's session for a sign of life again
// and again, and cancels ctx when there is none. Clients of the stateless
// revisions are not asked.
//
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
func (d *duplex) keepAlive(ctx context.Context, cancel context.CancelCauseFunc) {
	every := d.srv.opts.KeepAlive
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if d.sess.introduced() && d.sess.revision().DefinesServer(mcp.MethodPing) {
			d.ping(ctx, cancel, every)
		}
	}
}

// ping waits for any answer to a ping. The time runs while it is sent as well: a
// client that reads nothing is as good as gone.
func (d *duplex) ping(ctx context.Context, cancel context.CancelCauseFunc, limit time.Duration) {
	q, err := d.sess.asked.begin()
	if err != nil {
		return // there is enough that the client has not answered
	}
	defer d.sess.asked.end(q)
	alarm := time.AfterFunc(limit, func() { cancel(ErrUnresponsive) })
	defer alarm.Stop()
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	if jsonrpc.WriteRequest(buf, q.id, mcp.MethodPing, nil) != nil || d.conn.Write(buf.Bytes()) != nil {
		return // a lost connection shows in Read
	}
	select {
	case <-q.answered:
	case <-ctx.Done():
	}
}
