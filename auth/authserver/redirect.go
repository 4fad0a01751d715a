package authserver

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// scheme is a private-use URI scheme: a domain name in reverse order, so that it
// has a dot (RFC 8252, section 7.1).
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$`)

// checkRedirect reports what is wrong with a redirect URI that somebody wants to
// register: it has to be https, http to the loopback interface, or of a private-use
// scheme. Nothing that a browser would run or show is among those.
func (s *Server) checkRedirect(uri string) error {
	if strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:") {
		if _, err := oauthwire.ParseURL(uri); err != nil {
			return fmt.Errorf("redirect %w", err)
		}
		return nil
	}
	visible := !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' })
	u, err := url.Parse(uri)
	if err != nil || !visible || len(uri) > 2048 || strings.ContainsAny(uri, "#\"'<>\\^`{|}") || !strings.HasPrefix(uri, u.Scheme+":/") {
		return errors.New("redirect URI: it is not a URI that can be redirected to")
	}
	if !scheme.MatchString(u.Scheme) && !slices.Contains(s.opts.Schemes, u.Scheme) {
		return fmt.Errorf("redirect URI: scheme %q: it must be https, http to the loopback interface, or a reversed domain name", u.Scheme)
	}
	return nil
}

// redirectsTo reports whether uri is registered: the same, byte for byte, but for
// the port of a URI on the loopback interface (RFC 8252, section 7.3).
func (c *client) redirectsTo(uri string) bool {
	portless, loopback := withoutPort(uri)
	return slices.ContainsFunc(c.redirects, func(registered string) bool {
		if registered == uri {
			return true
		}
		other, alsoLoopback := withoutPort(registered)
		return loopback && alsoLoopback && portless == other
	})
}

// withoutPort cuts the port out of an http URI on the loopback interface, and
// reports false for others.
func withoutPort(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "http://")
	if !ok {
		return uri, false
	}
	u, err := oauthwire.ParseURL(uri) // which lets http to loopback through only
	if err != nil {
		return uri, false
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	host := authority
	if port := u.Port(); port != "" {
		host = strings.TrimSuffix(authority, ":"+port)
	}
	return "http://" + host + rest[len(authority):], true
}

// local reports whether a redirect URI stays on the user's machine.
func local(uri string) bool {
	_, loopback := withoutPort(uri)
	return loopback || !strings.HasPrefix(uri, "https:")
}

// canonicalResource returns a resource indicator with scheme and host in lower
// case, and without the slash of an empty path ("Canonical Server URI").
func canonicalResource(resource string) (string, error) {
	u, err := oauthwire.ParseURL(resource)
	if err != nil {
		return "", fmt.Errorf("resource: %w", err)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "/" && u.RawQuery == "" {
		u.Path = ""
	}
	return u.String(), nil
}

// resource returns which of the resources a request is for, as the options have it:
// the one named, or the first one if none is.
func (s *Server) resource(named []string) (string, error) {
	if len(named) == 0 {
		return s.opts.Resources[0], nil
	}
	if len(named) > 1 {
		return "", refuse(oauthwire.ErrorInvalidTarget, "a token is for one resource only: ask for one after the other")
	}
	want, err := canonicalResource(named[0])
	if err == nil {
		for _, resource := range s.opts.Resources {
			if got, err := canonicalResource(resource); err == nil && got == want {
				return resource, nil
			}
		}
	}
	return "", refuse(oauthwire.ErrorInvalidTarget, "there are no tokens for this resource here")
}
