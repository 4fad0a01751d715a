package client

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// sendTime bounds how long is tried to tell the server that a request was
// given up.
const sendTime = time.Second

// Call sends a request and returns its result as it came. Params are a value
// that encodes as an object, raw JSON, or nil. What the revision wants in the
// metadata of every request is added, and metadata in params is kept; it can
// replace the client's identity and capabilities, not the revision. The result
// may be one that asks for input, if there is no handler for that in Options.
//
// The method need not be one that this package knows. The error is one of those
// that the package documentation names, or the context's.
func (s *Session) Call(ctx context.Context, method string, params any, opts *CallOptions) (stdjson.RawMessage, error) {
	raw, _, err := s.converse(ctx, method, params, opts)
	return raw, err
}

// repeatable are the methods that change nothing, or the same again: they are
// repeated in a renewed session.
var repeatable = map[string]bool{
	mcp.MethodPing:                   true,
	mcp.MethodToolsList:              true,
	mcp.MethodPromptsList:            true,
	mcp.MethodPromptsGet:             true,
	mcp.MethodResourcesList:          true,
	mcp.MethodResourcesTemplatesList: true,
	mcp.MethodResourcesRead:          true,
	mcp.MethodResourcesSubscribe:     true,
	mcp.MethodResourcesUnsubscribe:   true,
	mcp.MethodCompletionComplete:     true,
	mcp.MethodLoggingSetLevel:        true,
}

// hasCursor reports whether a call asks for a later page of a list. Cursors are
// of one session: https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
func hasCursor(params any) bool {
	raw, err := json.Marshal(params)
	if err != nil {
		return false
	}
	cursor, there := json.Member(raw, "cursor")
	return there && string(cursor) != "null"
}

// call is Call without answering questions. It also returns the dialect of the
// answer.
func (s *Session) call(ctx context.Context, method string, params any, opts *CallOptions) (stdjson.RawMessage, dialect, error) {
	l, err := s.current(method)
	if err != nil {
		return nil, nil, err
	}
	raw, err := s.attempt(ctx, l, method, params, opts)
	if err == nil || !s.forgotten(l, err) {
		return raw, l.speaks(), err
	}
	if err := s.renew(ctx, l); err != nil {
		return nil, nil, fmt.Errorf("%s: renew session: %w", method, err)
	}
	if !repeatable[method] || hasCursor(params) {
		return nil, nil, &SessionRenewedError{Method: method, Err: err}
	}
	if l, err = s.current(method); err != nil {
		return nil, nil, err
	}
	raw, err = s.attempt(ctx, l, method, params, opts)
	return raw, l.speaks(), err
}

// forgotten reports whether a call failed because the server no longer knows the
// session of its link. A link that was replaced while the call was in flight
// has been closed under it for the same reason.
func (s *Session) forgotten(l *link, err error) bool {
	if !l.speaks().renewable() {
		return false
	}
	if errors.Is(err, transport.ErrSessionLost) {
		return true
	}
	_, unreachable := errors.AsType[*UnreachableError](err)
	s.mu.Lock()
	defer s.mu.Unlock()
	return unreachable && s.err == nil && s.link != l
}

// attempt makes one request on a link, and another if the first had the wrong
// headers.
func (s *Session) attempt(ctx context.Context, l *link, method string, params any, opts *CallOptions) (stdjson.RawMessage, error) {
	if opts == nil {
		opts = plainCall
	}
	epoch := s.cache.now()
	raw, m, err := s.try(ctx, l, method, params, opts)
	if err != nil && s.relearn(ctx, l, m, err) {
		raw, _, err = s.try(ctx, l, method, params, opts)
	}
	if key, keeps := keyOf(method, params); err == nil && keeps && !opts.varies() && l.speaks().revision().Modern() {
		s.cache.keep(ctx, key, raw, epoch)
	}
	if err != nil {
		s.cache.refused(method, params, err)
	}
	return raw, err
}

func (s *Session) try(ctx context.Context, l *link, method string, params any, opts *CallOptions) (stdjson.RawMessage, *transport.Outgoing, error) {
	m := &transport.Outgoing{ID: s.nextID(), Method: method, Params: params}
	if extra := opts.meta(l.speaks().revision()); extra != nil {
		added, err := addMeta(params, extra)
		if err != nil {
			return nil, m, fmt.Errorf("%s: encode params: %w", method, err)
		}
		m.Params = added
	}
	var token jsonrpc.ID
	if opts.Progress != nil {
		token = m.ID // unique for as long as the session lives
	}
	raw, err := s.transact(ctx, l, m, token, opts)
	return raw, m, err
}

// transact sends a request and waits for its result.
func (s *Session) transact(ctx context.Context, l *link, m *transport.Outgoing, token jsonrpc.ID, opts *CallOptions) (stdjson.RawMessage, error) {
	d := l.speaks()
	if err := d.request(m, token); err != nil {
		return nil, err
	}
	if s.client.asked && mayAsk[m.Method] && !l.mute.Load() {
		l.served.began(m.ID, opts.Answer)
	}
	resp, err := s.timed(ctx, l, m, opts)
	if err != nil {
		l.served.gaveUp(m.ID)
	}
	l.served.ended(m.ID)
	if err == nil {
		return answer(d, m, resp)
	}
	if ctx.Err() != nil {
		s.giveUp(l, m, reasonOf(ctx))
		return nil, fmt.Errorf("%s: %w", m.Method, context.Cause(ctx))
	}
	if _, late := errors.AsType[*TimeoutError](err); late {
		s.giveUp(l, m, "the request timed out")
		return nil, err
	}
	return nil, s.failure(m, err)
}

// timed makes the round trip within the limits of the call: progress starts the
// time-out anew, and questions of the server put it off. The error is a
// *TimeoutError if a limit was reached.
func (s *Session) timed(ctx context.Context, l *link, m *transport.Outgoing, opts *CallOptions) (transport.Response, error) {
	d := &deadline{
		call:  m,
		limit: limit(opts.Timeout, s.client.opts.Timeout),
		most:  limit(opts.MaxTimeout, s.client.opts.MaxTimeout),
	}
	if (opts.Answer != nil || s.client.opts.answers()) && !l.mute.Load() {
		d.served = &l.served
	}
	var canAbandon bool
	if d.rt, canAbandon = l.rt.(abandoner); !canAbandon {
		ctx, d.cancel = context.WithCancelCause(ctx)
		defer d.cancel(nil)
	}
	s.alarm.set(d)
	var resp transport.Response
	var err error
	if opts.Progress == nil {
		resp, err = l.rt.RoundTrip(ctx, m)
	} else {
		resp, err = s.trip(ctx, l, d, opts.Progress)
	}
	if late := s.alarm.clear(d); late != nil && err != nil {
		err = late
	}
	return resp, err
}

// answer takes a response apart.
func answer(d dialect, m *transport.Outgoing, resp transport.Response) (stdjson.RawMessage, error) {
	switch {
	case resp.Error != nil && resp.Error.Code == mcp.CodeUnsupportedVersion && d.revision().Modern():
		return nil, versionError(d.revision(), resp.Error)
	case resp.Error != nil && resp.Error.Code == mcp.CodeURLElicitationRequired && d.revision().DefinesServer(mcp.NotificationElicitationComplete):
		return nil, &remoteError{wire: resp.Error, typed: mcp.TypedError(resp.Error)}
	case resp.Error != nil:
		return nil, resp.Error
	case len(resp.Result) > 0:
		return d.received(m.Method, resp.Result), nil
	case resp.Status >= 300:
		return nil, &UnreachableError{Method: m.Method, Err: statusError(resp.Status)}
	default:
		return nil, malformed(m.Method, "neither a result nor an error")
	}
}

// failure makes the error of a round trip or a send that brought none of the
// peer's.
func (s *Session) failure(m *transport.Outgoing, err error) error {
	if _, ended := s.current(m.Method); ended != nil {
		return ended
	}
	if bad, ok := errors.AsType[*transport.MalformedError](err); ok {
		return malformed(m.Method, "%s", bad.Problem)
	}
	if _, ok := m.Params.(stdjson.RawMessage); !ok {
		if _, bad := json.Marshal(m.Params); bad != nil {
			return fmt.Errorf("%s: encode params: %w", m.Method, bad)
		}
	}
	return &UnreachableError{Method: m.Method, Err: err}
}

// reasonOf returns what the server is told of why a context has ended: what its
// cause says for that purpose. Other causes are nobody else's business.
func reasonOf(ctx context.Context) string {
	if cause, ok := errors.AsType[interface {
		error
		CancelReason() string
	}](context.Cause(ctx)); ok {
		if reason := cause.CancelReason(); reason != "" {
			return reason
		}
	}
	return "the client no longer wants an answer"
}

// giveUp tells the server that a request is no longer waited for. The caller
// does not wait for that: the server may be one that reads nothing any more.
func (s *Session) giveUp(l *link, m *transport.Outgoing, reason string) {
	if m.Method == mcp.MethodInitialize { // must not be cancelled
		return
	}
	out := &transport.Outgoing{
		Method: mcp.NotificationCancelled,
		Params: &mcp.CancelledParams{RequestID: m.ID, Reason: reason},
	}
	l.speaks().oneWay(out)
	s.cancelling.start(s, func() {
		ctx, cancel := context.WithTimeout(l.ctx, sendTime)
		defer cancel()
		if err := l.rt.Send(ctx, out); err != nil && l.ctx.Err() == nil {
			s.log.Debug("cancellation not sent", slog.String("method", m.Method), slog.Any("error", err))
		}
		s.awaitNotice(l)
	})
}

// Notify sends a notification. That it was sent does not mean that the server
// has read it.
func (s *Session) Notify(ctx context.Context, method string, params any) error {
	l, err := s.current(method)
	if err != nil {
		return err
	}
	m := &transport.Outgoing{Method: method, Params: params}
	l.speaks().oneWay(m)
	limited, cancel := withLimit(ctx, s.client.opts.Timeout)
	defer cancel()
	err = l.rt.Send(limited, m)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case limited.Err() != nil:
		return &TimeoutError{Method: method, Limit: s.client.opts.Timeout}
	default:
		return s.failure(m, err)
	}
}
