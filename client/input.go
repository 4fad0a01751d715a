package client

import (
	"context"
	stdjson "encoding/json"
	"log/slog"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// This file is where the server asks and the client answers: with requests of
// its own in the revisions with sessions, with input-required results in the
// stateless ones.

// maxServing bounds how many of the server's requests are worked on at a time,
// and as many again are refused; what comes on top gets no answer.
const maxServing = 64

// An inputHandler answers one method that a server may call.
type inputHandler func(ctx context.Context, params stdjson.RawMessage) (any, error)

// inputHandlers are the methods that every client answers.
var inputHandlers = map[string]inputHandler{
	mcp.MethodPing: func(context.Context, stdjson.RawMessage) (any, error) { return mcp.EmptyResult{}, nil },
}

// serve answers a request off the reader's goroutine, which must not wait for
// handlers, nor for a server that does not take the answer.
func (l *link) serve(m jsonrpc.Message) {
	if l.mute.Load() {
		l.sess.log.Warn("request from a server of a revision that has none", slog.String("method", m.Method))
		return
	}
	work := func() { l.answer(m) }
	if !l.sess.serving.start(l.sess, work) {
		refuse := func() {
			l.reply(&transport.Outgoing{ID: m.ID, Error: jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests in progress")})
		}
		if !l.sess.refusing.start(l.sess, refuse) {
			l.sess.log.Warn("request of the server dropped, too many in progress", slog.String("method", m.Method))
		}
	}
}

func (l *link) answer(m jsonrpc.Message) {
	out := &transport.Outgoing{ID: m.ID}
	handler, ok := inputHandlers[m.Method]
	if !ok {
		out.Error = jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method %q is not supported", m.Method)
		l.reply(out)
		return
	}
	result, err := handler(l.sess.ctx, m.Params)
	if err != nil {
		out.Error = jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error")
		l.sess.log.Error("handler of a server's request", slog.String("method", m.Method), slog.Any("error", err))
	} else {
		out.Result = result
	}
	l.reply(out)
}

// reply sends a response as soon as the connection is there to take it.
func (l *link) reply(m *transport.Outgoing) {
	select {
	case <-l.opened:
	case <-l.ctx.Done():
		return
	}
	if d := l.dialect.Load(); d != nil {
		(*d).oneWay(m)
	}
	if err := l.rt.Send(l.ctx, m); err != nil && l.ctx.Err() == nil {
		l.sess.log.Warn("response not sent", slog.Any("error", err))
	}
}

// inputRequired makes the error of a call whose server wants input first.
func inputRequired(method string, raw stdjson.RawMessage) error {
	result := new(mcp.InputRequiredResult)
	if err := decodeResult(method, raw, result, "inputRequests", "requestState"); err != nil {
		return err
	}
	return &InputRequiredError{Method: method, Result: result}
}
