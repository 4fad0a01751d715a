package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/jsonrpc"
)

// A Guard keeps web pages of other sites out. Browsers name the page in Origin
// and the address they were told in Host; a page that lets its own name point
// at this machine is found out by the latter.
type Guard struct {
	origins  []string
	hosts    []string
	anyHost  bool
	anyPages bool
}

// NewGuard returns a guard that lets the given values of the Host and Origin
// headers through, besides those that are safe.
func NewGuard(hosts, origins []string) Guard {
	g := Guard{anyHost: slices.Contains(hosts, "*"), anyPages: slices.Contains(origins, "*")}
	for _, origin := range origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(origin, "/")))
	}
	for _, host := range hosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	return g
}

// Admit says who the caller of a request is, or refuses the request: because of
// where it comes from, or of who sent it. principal may be nil.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request, principal func(*http.Request) (string, error)) (string, bool) {
	if err := g.check(r); err != nil {
		Refuse(w, http.StatusForbidden, jsonrpc.ID{}, err)
		return "", false
	}
	return authenticate(w, r, principal)
}

// check returns why the request is refused, if it is.
func (g *Guard) check(r *http.Request) *jsonrpc.Error {
	if !g.hostAllowed(r) {
		return Invalid("the host %q is not served here", r.Host)
	}
	for _, origin := range r.Header["Origin"] {
		if !g.originAllowed(origin, r.Host) {
			return Invalid("pages of %q may not use this server", origin)
		}
	}
	return nil
}

func (g *Guard) hostAllowed(r *http.Request) bool {
	if g.anyHost {
		return true
	}
	name := hostName(r.Host)
	local := onLoopback(r)
	if local && isLoopback(name) {
		return true
	}
	if len(g.hosts) == 0 {
		return !local
	}
	return slices.Contains(g.hosts, strings.ToLower(r.Host)) || slices.Contains(g.hosts, strings.ToLower(name))
}

// onLoopback reports whether the request came in on an address that only this
// machine reaches.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

func (g *Guard) originAllowed(origin, host string) bool {
	if g.anyPages || slices.Contains(g.origins, strings.ToLower(origin)) {
		return true
	}
	page, err := url.Parse(origin)
	if err != nil || page.Host == "" {
		return false // "null" as well: it can be any page
	}
	if isLoopback(hostName(page.Host)) && isLoopback(hostName(host)) {
		return true
	}
	return strings.EqualFold(withPort(page.Host, page.Scheme), withPort(host, page.Scheme))
}

// withPort adds the default port of the scheme to a host that has none.
func withPort(host, scheme string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	if scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}

// hostName cuts the port off.
func hostName(host string) string {
	if strings.HasPrefix(host, "[") {
		inner, _, _ := strings.Cut(host[1:], "]")
		return inner
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// isLoopback reports whether a host name, without port, means this machine to
// every browser.
func isLoopback(name string) bool {
	switch name {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}
