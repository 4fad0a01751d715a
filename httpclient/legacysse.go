package httpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// This file is HTTP+SSE, the transport of the oldest revision
// (2024-11-05/basic/transports#http-with-sse), and all there is of it on this
// side. Without it the package works as before and clients do not fall back.

// endpointTime bounds the wait for the event that says where messages go.
const endpointTime = 10 * time.Second

// An SSE reaches a server over HTTP+SSE, the transport of revision 2024-11-05:
// messages are POSTed, and all answers come on one event stream. A client that
// is given a [Transport] comes to it by itself; it is for servers that are known
// to have no other.
type SSE struct {
	url  string
	opts Options
}

var (
	_ transport.Transport  = (*SSE)(nil)
	_ transport.Fallbacker = (*Transport)(nil)
)

// NewSSE returns an SSE for the event stream at url, such as
// "https://example.com/sse".
func NewSSE(url string, opts *Options) *SSE {
	t := &SSE{url: url}
	if opts != nil {
		t.opts = *opts
	}
	return t
}

// Fallback implements transport.Fallbacker: the same URL over HTTP+SSE.
func (t *Transport) Fallback() transport.Transport { return NewSSE(t.url, &t.opts) }

// Legacy tells clients not to ask whether the server is stateless.
func (t *SSE) Legacy() bool { return true }

// Open implements transport.Transport. It opens the event stream and waits
// until the server has said where messages go. A stream that is lost cannot be
// resumed: what fails for that matches [ErrSessionLost]. ctx lends its values
// but, once it is open, not its end.
func (t *SSE) Open(ctx context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	u, err := parseURL(t.url)
	if err != nil {
		return nil, err
	}
	s := &sseConn{http: newConn(ctx, u, &t.opts, nil)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return transport.Duplex(s, recv), nil
}

// A sseConn is the event stream and the POSTs beside it. Each runs in the
// goroutine of its caller.
type sseConn struct {
	http   *conn
	body   *http.Response
	events *httpwire.Reader
	// endpoint is where messages are POSTed to.
	endpoint *url.URL
}

var errNoEndpoint = fmt.Errorf("the server has not said within %v where messages go", endpointTime)

// open sends the GET and reads the first event.
func (s *sseConn) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endpointTime, errNoEndpoint)
	defer cancel()
	// The stream lasts as long as the connection, but may take no longer to open
	// than the caller waits.
	stop := context.AfterFunc(ctx, s.http.cancel)
	defer stop()
	x := &exchange{conn: s.http, caller: ctx, ctx: s.http.ctx, cancel: s.http.cancel}
	r := x.request(http.MethodGet)
	r.Header = maps.Clone(s.http.base.Header)
	r.Header["Accept"] = acceptSSE
	res, err := x.do(r)
	if err != nil {
		return x.explain(err)
	}
	if res.StatusCode/100 != 2 {
		_, err := x.refusal(res, jsonrpc.ID{})
		return x.explain(err)
	}
	s.body = res
	if !httpwire.IsSSE(res.Header.Get("Content-Type")) {
		return newStatusError(res, nil, nil)
	}
	s.events = httpwire.NewReader(res.Body, s.http.opts.maxMessage())
	event, err := s.events.Next()
	switch {
	case err != nil:
		return x.explain(fmt.Errorf("read the first event: %w", err))
	case event.Name != "endpoint":
		return fmt.Errorf("the stream at %s begins with the event %q and not with \"endpoint\": this is not HTTP+SSE",
			redact(res.Request.URL), printable([]byte(event.Name)))
	case !stop():
		return context.Cause(ctx)
	}
	s.endpoint, err = resolve(res.Request.URL, string(event.Data))
	return err
}

// resolve returns the URL for messages. It has to be of the origin of the
// stream, because the headers for that go there too.
func resolve(stream *url.URL, endpoint string) (*url.URL, error) {
	ref, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil {
		return nil, fmt.Errorf("the server's endpoint for messages is no URL: %s", printable([]byte(endpoint)))
	}
	u := stream.ResolveReference(ref)
	if u.Scheme != stream.Scheme || !strings.EqualFold(hostPort(u), hostPort(stream)) || u.Opaque != "" {
		return nil, fmt.Errorf("the server's endpoint for messages, %s, is of another origin than its stream, %s", redact(u), redact(stream))
	}
	u.User = stream.User
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// hostPort returns the host of a URL with its port.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}

// A lostError tells that the session is over. It matches ErrSessionLost.
type lostError struct{ err error }

func (e *lostError) Error() string { return "session lost: " + e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

func (e *lostError) Is(target error) bool { return target == ErrSessionLost }

// Read implements transport.Conn.
func (s *sseConn) Read() ([]byte, error) {
	for {
		event, err := s.events.Next()
		if err != nil {
			if closed := s.http.Err(); closed != nil {
				return nil, closed
			}
			return nil, &lostError{fmt.Errorf("the event stream ended: %w", err)}
		}
		if len(event.Data) > 0 && (event.Name == "" || event.Name == "message") {
			return event.Data, nil
		}
	}
}

// Write implements transport.Conn.
func (s *sseConn) Write(frame []byte) error { return s.WriteContext(s.http.ctx, frame) }

// WriteContext POSTs a message and waits until the server has accepted it or
// ctx ends.
func (s *sseConn) WriteContext(ctx context.Context, frame []byte) error {
	x, err := s.http.begin(ctx, jsonrpc.ID{})
	if err != nil {
		return err
	}
	defer x.end()
	r := x.request(http.MethodPost)
	r.URL, r.Host = s.endpoint, s.endpoint.Host
	r.Header = maps.Clone(s.http.base.Header)
	r.Header["Content-Type"] = typeJSON
	setBody(r, bytes.Clone(frame)) // net/http may go on sending after the answer has come
	res, err := x.do(r)
	if err != nil {
		return x.explain(err)
	}
	if res.StatusCode/100 == 2 {
		x.drain(res)
		return nil
	}
	_, err = x.refusal(res, jsonrpc.ID{})
	if res.StatusCode == http.StatusNotFound {
		err = &lostError{err}
	}
	return x.explain(err)
}

// Close implements transport.Conn.
func (s *sseConn) Close() error {
	err := s.http.Close()
	if s.body != nil {
		_ = s.body.Body.Close()
	}
	return err
}
