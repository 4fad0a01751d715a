package oauth

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/netguard"
)

// guarded sends requests to where an endpoint may send us ("Server-Side Request
// Forgery"). Through a proxy it is the proxy that connects, and decides.
type guarded struct{ direct, proxied *http.Transport }

func newGuarded(endpoint *url.URL) *guarded {
	g := &guarded{direct: newPool(), proxied: newPool()}
	guard := &guard{host: endpoint.Hostname()}
	g.direct.Proxy, g.direct.DialContext = nil, guard.dial
	return g
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if proxy, err := http.ProxyFromEnvironment(r); err != nil || proxy != nil {
		return g.proxied.RoundTrip(r)
	}
	return g.direct.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.
func (g *guarded) CloseIdleConnections() {
	g.direct.CloseIdleConnections()
	g.proxied.CloseIdleConnections()
}

// A guard dials for an endpoint. Servers on our machine or network may name others
// there, since it is no news to them what there is; from the Internet nobody may.
type guard struct{ host string }

// private are the networks that a server in one of them may name. Where clouds tell
// their machines secrets is link-local and stays out.
var (
	private  = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16")}
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
)

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &netguard.Dialer{}
	if g.inside(ctx) {
		dialer.Hosts, dialer.Prefixes = []string{g.host}, private
	}
	if oauthwire.Loopback(g.host) {
		dialer.Prefixes = append(loopback, private...) //nolint:gocritic // a new list
	}
	return dialer.DialContext(ctx, network, address)
}

// inside reports whether the endpoint itself is not on the public Internet.
func (g *guard) inside(ctx context.Context) bool {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.host)
	for _, addr := range addrs {
		if netguard.Check(addr) == nil {
			return false
		}
	}
	return err == nil && len(addrs) > 0
}

// newPool returns a transport for many requests at once.
func newPool() *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   128,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return t
}
