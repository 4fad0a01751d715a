package httpclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// encode returns m as JSON. The bytes are not pooled: net/http may go on
// sending a body after the answer has come.
func encode(m *transport.Outgoing) ([]byte, error) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	var err error
	switch {
	case m.Method != "" && m.ID.IsZero():
		err = jsonrpc.WriteNotification(buf, m.Method, m.Params)
	case m.Method != "":
		err = jsonrpc.WriteRequest(buf, m.ID, m.Method, m.Params)
	case m.Error != nil:
		jsonrpc.WriteError(buf, m.ID, m.Error)
	case m.ID.IsZero():
		err = errors.New("a response needs an id")
	default:
		err = jsonrpc.WriteResult(buf, m.ID, m.Result)
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
}

// Values of headers that never change, shared by all requests.
var (
	acceptBoth = []string{httpwire.AcceptBoth}
	acceptSSE  = []string{httpwire.TypeSSE}
	typeJSON   = []string{httpwire.TypeJSON}
)

// post sends the message m, encoded as body.
func (x *exchange) post(m *transport.Outgoing, body []byte) (*http.Response, error) {
	r := x.request(http.MethodPost)
	r.Header = x.letterhead(m.Revision, m.Method != mcp.MethodInitialize)
	if m.Route != nil || !x.own || x.opts.Authorize != nil {
		h := make(http.Header, len(r.Header)+2)
		maps.Copy(h, r.Header)
		r.Header = h
	}
	if m.Route != nil {
		if err := route(r.Header, m); err != nil {
			return nil, err
		}
	}
	setBody(r, body)
	res, err := x.do(r)
	if err != nil {
		return nil, err
	}
	return res, x.checkSession(res, m.Method)
}

func setBody(r *http.Request, body []byte) {
	r.ContentLength = int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

// get opens the standing stream or, with the id of the last event that came,
// goes on with a stream, whichever it is.
func (x *exchange) get(revision, lastID string) (*http.Response, error) {
	r := x.request(http.MethodGet)
	x.mu.Lock()
	r.Header = x.headerLocked(revision, x.session)
	x.mu.Unlock()
	r.Header["Accept"] = acceptSSE
	if lastID != "" {
		r.Header[httpwire.HeaderLastEventID] = []string{lastID}
	}
	return x.do(r)
}

// farewell tells the server that the session, if there is one, is over. A
// server that does not answer will forget the session by itself.
func (c *conn) farewell(ctx context.Context) {
	c.mu.Lock()
	session := c.session
	header := c.headerLocked(c.revision, session)
	c.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &exchange{conn: c, caller: ctx, ctx: ctx, cancel: cancel}
	r := x.request(http.MethodDelete)
	r.Header = header
	if res, err := x.do(r); err == nil {
		x.drain(res)
	}
}

// request returns a request without headers.
func (x *exchange) request(method string) *http.Request {
	r := x.base.WithContext(x.ctx)
	r.Method = method
	return r
}

// A letterhead is the headers of a message that has none of its own.
type letterhead struct {
	revision, session string
	header            http.Header
}

// letterhead returns headers for a message, which must not be changed: they serve
// all messages until the session or its revision is another.
func (x *exchange) letterhead(revision string, inSession bool) http.Header {
	x.mu.Lock()
	defer x.mu.Unlock()
	session := ""
	if inSession {
		session = x.session
	}
	if l := &x.letters; l.header == nil || l.revision != revision || l.session != session {
		*l = letterhead{revision, session, x.headerLocked(revision, session)}
		l.header["Accept"], l.header["Content-Type"] = acceptBoth, typeJSON
	}
	return x.letters.header
}

// headerLocked returns the headers that all requests have.
func (c *conn) headerLocked(revision, session string) http.Header {
	h := make(http.Header, len(c.base.Header)+5)
	maps.Copy(h, c.base.Header)
	if revision != "" {
		c.revision = revision
		h[httpwire.HeaderProtocolVersion] = []string{revision}
	}
	if session != "" {
		h[httpwire.HeaderSessionID] = []string{session}
	}
	return h
}

// route repeats in headers what intermediaries route by.
func route(h http.Header, m *transport.Outgoing) error {
	if m.Method == "" {
		return nil
	}
	h[httpwire.HeaderMethod] = []string{httpwire.EncodeValue(m.Method)}
	if m.Route.Name != "" {
		h[httpwire.HeaderName] = []string{httpwire.EncodeValue(m.Route.Name)}
	}
	for name, value := range m.Route.Params {
		if !httpwire.ValidToken(name) {
			return fmt.Errorf("%q cannot be part of a header name", name)
		}
		h.Set(httpwire.HeaderParamPrefix+name, httpwire.EncodeValue(value))
	}
	return nil
}

// A refusal is the error of a client that got an answer and has dealt with it, such as
// one that could not log in.
type refusal interface {
	error
	HTTPStatus() int
}

// do sends r. The error is an *UnreachableError, a *RedirectError or a refusal, or
// comes from Options.Authorize.
func (x *exchange) do(r *http.Request) (*http.Response, error) {
	if x.opts.Authorize != nil {
		u := *r.URL
		r.URL = &u
		if err := x.opts.Authorize(x.ctx, r); err != nil {
			return nil, err
		}
	}
	res, err := x.send(r)
	if err == nil {
		return res, nil
	}
	if redirect, ok := errors.AsType[*RedirectError](err); ok {
		return nil, redirect
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if refused, ok := errors.AsType[refusal](err); ok && refused.HTTPStatus() == http.StatusUnauthorized {
		return nil, refused
	}
	return nil, &UnreachableError{URL: redact(r.URL), Err: err}
}

// send is Client.Do. A client of ours has nothing to do but to follow redirects,
// and prepares for them at some expense, so it comes in when there has been one.
func (x *exchange) send(r *http.Request) (*http.Response, error) {
	if !x.direct.Load() {
		return x.client.Do(r)
	}
	res, err := x.client.Transport.RoundTrip(r)
	if bad, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(bad.RecordHeader[:]) == "HTTP/" {
		return nil, http.ErrSchemeMismatch
	}
	if err != nil || res.StatusCode/100 != 3 || res.Header.Get("Location") == "" {
		return res, err
	}
	_ = res.Body.Close()
	x.direct.Store(false)
	again := r.WithContext(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return x.client.Do(again)
}

// checkSession takes the session id that the answer to an initialize request
// brings.
func (x *exchange) checkSession(res *http.Response, method string) error {
	if method != mcp.MethodInitialize || res.StatusCode/100 != 2 {
		return nil
	}
	id := res.Header.Get(httpwire.HeaderSessionID)
	if id == "" {
		return nil
	}
	if !httpwire.ValidSessionID(id) {
		_ = res.Body.Close()
		return fmt.Errorf("server assigned the invalid session id %q", id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.session = id
	return nil
}
