package oauthwire

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/httpwire"
)

const maxURL = 8 << 10

// ParseURL reads a URL that came from a peer and that something will be sent to,
// or that a browser will open: absolute, https, or http to the loopback interface,
// with a host, without user, password and fragment, and made of the characters of
// URLs only (security best practices, "URL validation").
func ParseURL(text string) (*url.URL, error) {
	u, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("URL %s: %w", shown(text), err)
	}
	return u, nil
}

func parse(text string) (*url.URL, error) {
	if text == "" || len(text) > maxURL {
		return nil, errors.New("is empty or too long")
	}
	// Browsers and shells have their own ideas about these.
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) || strings.ContainsAny(text, "\"'<>\\^`{|}") {
		return nil, errors.New("has a character that URLs do not have")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("is not a URL") // the error would repeat it
	}
	switch {
	case u.Opaque != "" || u.Hostname() == "" || !u.IsAbs():
		return nil, errors.New("is not absolute")
	case u.User != nil:
		return nil, errors.New("has a user or a password")
	case strings.Contains(text, "#"):
		return nil, errors.New("has a fragment")
	case !validHost(u):
		return nil, errors.New("has no valid host and port")
	case u.Scheme == "https", u.Scheme == "http" && Loopback(u.Hostname()):
		return u, nil
	}
	return nil, errors.New("is neither https nor http to the loopback interface")
}

func validHost(u *url.URL) bool {
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return false
	}
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Zone() == ""
	}
	return httpwire.ValidToken(host) && !strings.ContainsAny(host, "!#$%&'*+^`|~")
}

// ParseIssuer reads the identifier of an authorization server: a URL under the
// rules of ParseURL that has no query (RFC 8414, section 2).
func ParseIssuer(text string) (*url.URL, error) {
	u, err := ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if u.RawQuery != "" || u.ForceQuery {
		return nil, fmt.Errorf("issuer: URL %s: has a query", shown(text))
	}
	return u, nil
}

// Loopback reports whether host, a name or an address without port and brackets,
// is this machine for certain: an address of the loopback interface, or localhost,
// which RFC 6761 lets be nothing else.
func Loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	default:
		return "80"
	}
}

// shown returns text from a peer as it may be in an error: short, printable and
// without the query, which may hold secrets.
func shown(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return strconv.QuoteToASCII(Printable(text, 200))
}

// optionalURL checks a member of a document that may be absent.
func optionalURL(name, text string) error {
	if text == "" {
		return nil
	}
	if _, err := ParseURL(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
