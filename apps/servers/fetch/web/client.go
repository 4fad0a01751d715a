// Package web gets pages that a model asks for: within limits of size, time and
// redirects, and only from where it may.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/netguard"
)

// Options configures a client. The zero value is valid.
type Options struct {
	// Proxy connects for the client; nil for none. What a name stands for is then up
	// to the proxy: only addresses in URLs can be refused.
	Proxy *url.URL
	// Dialer decides what is connected to; nil connects to public addresses only.
	Dialer *netguard.Dialer
	// MaxBytes is how long a page may be, decompressed; 0 means 10 MiB.
	MaxBytes int64
	// Timeout is how long a page may take with its redirects; 0 means 30 s.
	Timeout time.Duration
	// MaxRedirects is how many of them are followed; 0 means 5.
	MaxRedirects int
	// Accepts reports whether a page of a media type is wanted; nil wants all.
	Accepts func(mediaType string) bool
}

// A Client gets pages. It may be used concurrently and holds no connections.
type Client struct {
	opts      Options
	transport *http.Transport
	cache     cache
	sites     sites
}

// New makes a client.
func New(opts Options) *Client {
	opts.MaxBytes = or(opts.MaxBytes, 10<<20)
	opts.Timeout = or(opts.Timeout, 30*time.Second)
	opts.MaxRedirects = or(opts.MaxRedirects, 5)
	c := &Client{opts: opts}
	// Connections are not kept: what nobody closes would outlive the server.
	c.transport = &http.Transport{
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout:    10 * time.Second,
		DialContext:            opts.Dialer.DialContext,
	}
	if opts.Proxy != nil {
		c.transport.Proxy = http.ProxyURL(opts.Proxy)
		c.transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return c
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// A Page is what a URL led to.
type Page struct {
	Asked     string   // the URL that was asked for, without credentials
	URL       *url.URL // where the page was found, without credentials
	Type      string   // as the server says it, with parameters; may be empty
	MediaType string   // the type without parameters, in lower case
	Body      []byte   // must not be changed
	validators
}

// A Request is for a page.
type Request struct {
	URL   string
	Agent string // the User-Agent
	// Robots tells to ask the sites' robots.txt.
	Robots bool
}

// Get gets a page. Its errors are for whoever asked for it, and tell nothing of this
// machine's network.
func (c *Client) Get(ctx context.Context, r *Request) (*Page, error) {
	u, err := Parse(r.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	first := u
	for range c.opts.MaxRedirects + 1 {
		if err := c.allowed(ctx, r, u); err != nil {
			return nil, err
		}
		page, next, err := c.visit(ctx, r, u)
		if err != nil {
			return nil, err
		}
		if page != nil {
			found, asked := *page, *first // one page may be found under several URLs
			asked.User = nil
			found.Asked = asked.String()
			return &found, nil
		}
		// Credentials are for the origin that they were given with, and nobody
		// else names some.
		next.User = nil
		if next.Scheme == first.Scheme && next.Host == first.Host {
			next.User = first.User
		}
		u = next
	}
	return nil, fmt.Errorf("%s redirects more than %d times", first.Redacted(), c.opts.MaxRedirects)
}

// maxURL is how long a URL may be.
const maxURL = 8 << 10

// Parse reads a URL that may be fetched.
func Parse(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("the URL is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, errors.New("this is not a URL: give one such as https://example.com/page")
	}
	return u, check(u)
}

func check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only URLs that begin with http:// or https:// can be fetched")
	case u.Hostname() == "":
		return errors.New("the URL names no host: give one such as https://example.com/page")
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("there is no port %s", port)
		}
	}
	// Numbers that are no address to us may be one to a proxy or a resolver.
	host := strings.TrimSuffix(u.Hostname(), ".")
	if _, err := netip.ParseAddr(host); err != nil && numeric(host[strings.LastIndexByte(host, '.')+1:]) {
		return fmt.Errorf("%q is neither a name nor an address", u.Hostname())
	}
	return nil
}

// numeric reports whether a name's last label makes it an address in one of the old
// notations.
func numeric(label string) bool {
	if len(label) > 1 && label[0] == '0' && label[1]|0x20 == 'x' {
		return true
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// visit makes one request: it returns the page or where it is.
func (c *Client) visit(ctx context.Context, r *Request, u *url.URL) (*Page, *url.URL, error) {
	known := c.cache.get(u, r.Agent)
	resp, err := c.send(ctx, r.Agent, u, known)
	if err != nil {
		return nil, nil, c.explain(u, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && known != nil:
		return known, nil, nil
	case isRedirect(resp.StatusCode) && resp.Header.Get("Location") != "":
		next, err := u.Parse(resp.Header.Get("Location"))
		if err != nil || len(resp.Header.Get("Location")) > maxURL {
			return nil, nil, fmt.Errorf("%s redirects to what is not a URL", u.Redacted())
		}
		if err := check(next); err != nil {
			return nil, nil, fmt.Errorf("%s redirects elsewhere: %w", u.Redacted(), err)
		}
		return nil, next, nil
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, nil, fmt.Errorf("Failed to fetch %s - status code %d", u.Redacted(), resp.StatusCode) //nolint:staticcheck // the text that models know
	}
	page, err := c.read(u, resp)
	if err != nil {
		return nil, nil, err
	}
	c.cache.put(u, r.Agent, resp.Header, page)
	return page, nil, nil
}

func isRedirect(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// send sends a request, with what makes the answer short if the page is still that.
func (c *Client) send(ctx context.Context, agent string, u *url.URL, known *Page) (*http.Response, error) {
	if c.opts.Proxy != nil {
		if err := literal(u.Hostname(), c.opts.Dialer); err != nil {
			return nil, err
		}
	}
	bare := *u
	bare.User, bare.Fragment, bare.RawFragment = nil, "", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.5")
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	if known != nil {
		known.ask(req.Header)
	}
	return c.transport.RoundTrip(req)
}

// literal refuses addresses that a proxy would connect to.
func literal(host string, d *netguard.Dialer) error {
	if d != nil && slices.ContainsFunc(d.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		name = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return nil
	}
	if d != nil && slices.ContainsFunc(d.Prefixes, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) }) {
		return nil
	}
	return netguard.Check(addr)
}

// read reads a page that has arrived.
func (c *Client) read(u *url.URL, resp *http.Response) (*Page, error) {
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fmt.Errorf("%s is compressed in a way that was not asked for", u.Redacted())
	}
	where := *u
	where.User = nil
	page := &Page{URL: &where, Type: resp.Header.Get("Content-Type")}
	page.MediaType, _, _ = mime.ParseMediaType(page.Type)
	if page.MediaType != "" && c.opts.Accepts != nil && !c.opts.Accepts(page.MediaType) {
		return nil, fmt.Errorf("%s is %s: what can be fetched are web pages, text, JSON, images and PDF documents", u.Redacted(), page.MediaType)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.opts.MaxBytes+1))
	if err != nil {
		return nil, c.explain(u, err)
	}
	if int64(len(body)) > c.opts.MaxBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", u.Redacted(), c.opts.MaxBytes)
	}
	page.Body = body
	return page, nil
}

// explain says what went wrong without the addresses of names and of name servers.
func (c *Client) explain(u *url.URL, err error) error {
	var refused *netguard.Error
	var dns *net.DNSError
	var timeout net.Error
	where := u.Redacted()
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused):
		return fmt.Errorf("%s may not be fetched: %s is not on the public Internet; who runs this server can allow it with --allow-host or --allow-private", where, u.Hostname())
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("%s cannot be fetched: there is no host %s", where, u.Hostname())
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s takes too long: the limit is %v", where, c.opts.Timeout)
	}
	return fmt.Errorf("%s cannot be fetched: the connection failed, or the answer is not HTTP", where)
}
