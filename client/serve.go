package client

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// maxServing bounds how many of the server's requests are with handlers at a
// time. As many that need none are answered beside them, and as many again are
// refused; what comes on top gets no answer.
const maxServing = 64

var (
	errCallEnded = errors.New("the call that the question belongs to has ended")
	errWithdrawn = errors.New("the server has withdrawn the question")
)

// served are the requests of a server that are with handlers, by their ids.
type served struct {
	mu   sync.Mutex
	open map[jsonrpc.ID]*servedRequest
	last time.Time // when one ended
	// calls are those of ours in flight that the server may ask about.
	calls map[jsonrpc.ID]answerer
	// clear is when the server has had time to notice the calls with an answerer
	// of their own that were given up.
	clear  time.Time
	asking bool // whether it has noticed
}

// An answerer is CallOptions.Answer; nil if the call has none.
type answerer func(context.Context, mcp.InputRequest) (any, error)

type servedRequest struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	related jsonrpc.ID // the call of ours it came with, zero when not known
	answer  answerer   // of the call it is about; nil for the handlers of Options
}

// begin notes a request; there must be none with its id.
func (v *served) begin(ctx context.Context, id, related jsonrpc.ID, answer answerer) (*servedRequest, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open[id] != nil {
		return nil, false
	}
	if v.open == nil {
		v.open = map[jsonrpc.ID]*servedRequest{}
	}
	r := &servedRequest{related: related, answer: answer}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	v.open[id] = r
	return r, true
}

func (v *served) end(id jsonrpc.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.open[id]; r != nil {
		r.cancel(nil)
		delete(v.open, id)
		v.last = time.Now()
	}
}

// withdraw cancels the request that a cancellation names, and reports whether
// there is one.
func (v *served) withdraw(params stdjson.RawMessage) bool {
	var p mcp.CancelledParams
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.open[p.RequestID]
	if r != nil {
		r.cancel(errWithdrawn)
	}
	return r != nil
}

// began notes a call that the server may ask about.
func (v *served) began(call jsonrpc.ID, answer answerer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls == nil {
		v.calls = map[jsonrpc.ID]answerer{}
	}
	v.calls[call] = answer
}

// about returns who answers a question about a call. When the carrier does not
// tell which one it is, it is the only one in flight; what could be about the
// calls of several callers is about none.
func (v *served) about(call jsonrpc.ID) (answer answerer, clear bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !call.IsZero() {
		return v.calls[call], true
	}
	for _, one := range v.calls {
		if one != nil {
			return one, len(v.calls) == 1 && time.Now().After(v.clear)
		}
	}
	return nil, true
}

// ended cancels what belongs to a call that is over.
func (v *served) ended(call jsonrpc.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.calls, call)
	for _, r := range v.open {
		if r.related == call {
			r.cancel(errCallEnded)
		}
	}
}

// grace returns for how long a server that is silent about a call may stay so:
// while the user is thinking about its questions, and for the limit after that.
func (v *served) grace(call jsonrpc.ID, limit time.Duration) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.open {
		if r.related == call || r.related.IsZero() {
			return limit
		}
	}
	return limit - time.Since(v.last)
}

// serve answers a request off the reader's goroutine, which must not wait for
// handlers, nor for a server that does not take the answer.
func (l *link) serve(m jsonrpc.Message, related jsonrpc.ID) {
	if l.mute.Load() {
		l.sess.log.Warn("request from a server of a revision that has none", slog.String("method", m.Method))
		return
	}
	out := &transport.Outgoing{ID: m.ID}
	who, clear := l.served.about(related)
	if m.Method == mcp.MethodPing || l.dialect.Load() == nil || who == nil && !l.sess.client.opts.handles(m.Method) {
		if m.Method == mcp.MethodPing {
			out.Result = mcp.EmptyResult{}
		} else {
			out.Error = jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method %q is not supported", m.Method)
		}
		if !l.sess.serving.start(l.sess, func() { l.reply(out) }) {
			l.refuse(m, jsonrpc.CodeInternal, "too many requests in progress")
		}
		return
	}
	if !clear {
		l.refuse(m, jsonrpc.CodeInternal, "it cannot be told which of several calls the request is about")
		return
	}
	r, ok := l.served.begin(l.ctx, m.ID, related, who)
	if !ok {
		l.refuse(m, jsonrpc.CodeInvalidRequest, "a request with this id is in progress")
		return
	}
	if !l.sess.answering.start(l.sess, func() { l.answer(r, m) }) {
		l.served.end(m.ID)
		l.refuse(m, jsonrpc.CodeInternal, "too many requests in progress")
	}
}

func (l *link) refuse(m jsonrpc.Message, code int, why string) {
	out := &transport.Outgoing{ID: m.ID, Error: jsonrpc.Errorf(code, "%s", why)}
	if !l.sess.refusing.start(l.sess, func() { l.reply(out) }) {
		l.sess.log.Warn("request of the server dropped, too many in progress", slog.String("method", m.Method))
	}
}

// answer asks a handler, and tells the server unless it no longer wants to know.
func (l *link) answer(r *servedRequest, m jsonrpc.Message) {
	defer l.served.end(m.ID)
	out := &transport.Outgoing{ID: m.ID}
	q, err := question(m.Method, m.Params)
	if err == nil {
		out.Result, err = l.sess.respond(r.ctx, l.speaks().revision(), q, r.answer)
	}
	if errors.Is(context.Cause(r.ctx), errWithdrawn) {
		return
	}
	if err != nil {
		out.Result = nil
		if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
			out.Error = wire
		} else {
			out.Error = jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error")
			l.sess.log.Error("request of the server not answered", slog.String("method", m.Method), slog.Any("error", err))
		}
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
