// Package httpclient reaches MCP servers over HTTP. [New] gives a
// transport.Transport for a client: every message is a POST of its own, and its
// answer is JSON or a stream of server-sent events.
//
// A stream that ends too early is resumed after its last event, if the server has
// given it an id: that of an answer until the response has come, the standing
// stream until the server has no more.
//
// The package carries messages. Which revision is spoken and when the standing
// stream is opened is decided by the client above it.
package httpclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/transport"
)

// Options configures a Transport. The zero value and nil are valid.
type Options struct {
	// Client sends the requests; its Timeout, if set, also ends long streams.
	// It stays open when the connection is closed. By default each connection
	// has a client of its own, made for many requests at once to one server.
	// Without a CheckRedirect only redirects within the origin that keep the
	// request as it is are followed.
	Client *http.Client
	// Header is added to every request. What the protocol says itself wins.
	Header http.Header
	// UserAgent is the User-Agent header; "ferry" by default.
	UserAgent string
	// Authorize, when set, is called with every request before it is sent and
	// may set its headers. It may be called concurrently and must return when
	// ctx ends. Its error fails the request and is returned as it is.
	Authorize func(ctx context.Context, r *http.Request) error
	// MaxMessage limits what one message of the server may have, in bytes;
	// 64 MiB by default.
	MaxMessage int
}

func (o *Options) userAgent() string {
	if o.UserAgent == "" {
		return "ferry"
	}
	return o.UserAgent
}

func (o *Options) maxMessage() int {
	if o.MaxMessage <= 0 {
		return httpwire.DefaultEventLimit
	}
	return o.MaxMessage
}

// A Transport reaches the MCP endpoint at one URL.
type Transport struct {
	url  string
	opts Options
}

var _ transport.Transport = (*Transport)(nil)

// New returns a Transport for the endpoint at url, such as
// "https://example.com/mcp". Nothing is sent before the first message.
func New(url string, opts *Options) *Transport {
	t := &Transport{url: url}
	if opts != nil {
		t.opts = *opts
	}
	return t
}

// Open implements transport.Transport. It fails only for an unusable URL, since
// there is no connection before there is a message. The RoundTripper is a
// transport.Listener too. ctx lends its values but not its end.
func (t *Transport) Open(ctx context.Context, recv transport.Receiver) (transport.RoundTripper, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	u, err := parseURL(t.url)
	if err != nil {
		return nil, err
	}
	return newConn(ctx, u, &t.opts, recv), nil
}

// parseURL reads the URL of an endpoint.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read endpoint URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("endpoint URL %q is not an absolute http or https URL", redact(u))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// httpClient returns the client to use and whether it is ours to release.
func (o *Options) httpClient(u *url.URL) (client *http.Client, own bool) {
	if o.Client == nil {
		return &http.Client{Transport: newHTTPTransport(u), CheckRedirect: checkRedirect}, true
	}
	c := *o.Client
	if c.CheckRedirect == nil {
		c.CheckRedirect = checkRedirect
	}
	return &c, false
}

// newHTTPTransport returns a pool that keeps the connections of many concurrent
// requests to the server of u; net/http keeps two by default and opens and drops the others all
// the time. An answer may begin late, so only connecting has a time-out.
// Compression is off: proxies hold back streams in order to compress them.
func newHTTPTransport(u *url.URL) *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	proxy := http.ProxyFromEnvironment
	if via, err := proxy(&http.Request{URL: u}); via == nil && err == nil {
		proxy = nil // which the environment would be asked for each request
	}
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   128,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// header returns the headers that all requests have.
func (o *Options) header() http.Header {
	h := o.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	h.Set("User-Agent", o.userAgent())
	for name, values := range h {
		h[name] = slices.Clip(values) // an Authorize that appends must not reach other requests
	}
	return h
}
