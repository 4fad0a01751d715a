package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// An authority is who issues tokens for an endpoint, and what they say about it.
type authority struct {
	issuer   string // what credentials are kept by
	resource string // what tokens are asked for, byte for byte
	scopes   []string
	dpop     bool // tokens must be bound to a key
	meta     *oauthwire.ServerMetadata
}

// discover finds out who issues tokens for the endpoint: who its metadata names or,
// without metadata, who the options name or else the endpoint's own origin.
func (s *session) discover(ctx context.Context, n *need) (*authority, error) {
	header := http.Header{}
	if n.revision != "" {
		header[httpwire.HeaderProtocolVersion] = []string{n.revision}
	}
	prm, err := s.resourceMetadata(ctx, n.challenge, header)
	if err != nil {
		return nil, err
	}
	a := &authority{resource: endpointOf(s.endpoint), dpop: s.c.opts.DPoP || n.challenge.Is(oauthwire.SchemeDPoP)}
	if prm != nil {
		a.resource, a.dpop = prm.Resource, a.dpop || prm.DPoPBoundTokens
		a.scopes = prm.ScopesSupported[:min(len(prm.ScopesSupported), oauthwire.MaxScopes)]
	}
	switch {
	case prm != nil && len(prm.AuthorizationServers) > 0:
		return a, s.pick(ctx, a, prm.AuthorizationServers, header)
	case s.c.opts.Issuer != "":
		return a, s.pick(ctx, a, []string{s.c.opts.Issuer}, header)
	}
	return a, s.originServer(ctx, a, header)
}

// resourceMetadata fetches the metadata of the endpoint, from where the challenge
// says or from the well-known places ("Protected Resource Metadata Discovery
// Requirements"). It returns nil if there is none.
func (s *session) resourceMetadata(ctx context.Context, c oauthwire.Challenge, header http.Header) (*oauthwire.ResourceMetadata, error) {
	places := oauthwire.ResourceMetadataURLs(s.endpoint)
	if named := c.Param(oauthwire.ParamResourceMetadata); named != "" {
		if _, err := oauthwire.ParseURL(named); err != nil {
			return nil, fail("discover", s.name, fmt.Errorf("resource_metadata: %w", err))
		}
		places = append([]string{named}, slices.DeleteFunc(places, func(p string) bool { return p == named })...)
	}
	for _, place := range places {
		data, err := s.fetchDocument(ctx, place, header)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		m, err := oauthwire.ReadResourceMetadata(data)
		if err != nil {
			return nil, fail("discover", place, err)
		}
		if !covers(m.Resource, s.endpoint) {
			err := fmt.Errorf("the metadata is about %s, not about %s", oauthwire.Printable(m.Resource, 200), s.name)
			return nil, fail("discover", place, err)
		}
		return m, nil
	}
	return nil, nil
}

func (s *session) fetchDocument(ctx context.Context, place string, header http.Header) (data []byte, err error) {
	err = retry(ctx, func() (err error) {
		data, err = s.fetch.get(ctx, "discover", place, header)
		return err
	})
	return data, err
}

// covers reports whether a resource is the endpoint or something that it is a part
// of: of the same origin, and with a path above.
func covers(resource string, endpoint *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || u.User != nil || !oauthwire.SameOrigin(u, endpoint) || u.RawQuery != "" && u.RawQuery != endpoint.RawQuery {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), endpoint.EscapedPath()
	return path == above || strings.HasPrefix(path, above+"/")
}

// pick takes the first of the servers that an endpoint names which describes itself.
// One that we have a registration of goes first (RFC 9728, section 7.6).
func (s *session) pick(ctx context.Context, a *authority, issuers []string, header http.Header) error {
	known := func(issuer string) bool {
		return slices.ContainsFunc(s.c.opts.Registrations, func(r Registration) bool { return r.Issuer == issuer })
	}
	ordered := append(slices.DeleteFunc(slices.Clone(issuers), func(i string) bool { return !known(i) }),
		slices.DeleteFunc(slices.Clone(issuers), known)...)
	var problems []error
	for _, issuer := range ordered[:min(len(ordered), maxIssuers)] {
		meta, err := s.serverMetadata(ctx, issuer, header)
		if err == nil {
			a.issuer, a.meta = issuer, meta
			return nil
		}
		problems = append(problems, err)
	}
	if len(problems) == 1 {
		return problems[0]
	}
	e := fail("discover", s.name, errors.Join(problems...))
	e.Temporary = temporary(problems[0])
	return e
}

// maxIssuers is how many authorization servers of an endpoint are tried.
const maxIssuers = 4

// serverMetadata fetches what an authorization server says of itself ("Authorization
// Server Metadata Discovery"). A document of another issuer is not used.
func (s *session) serverMetadata(ctx context.Context, issuer string, header http.Header) (*oauthwire.ServerMetadata, error) {
	u, err := oauthwire.ParseIssuer(issuer)
	if err != nil {
		return nil, fail("discover", issuer, err)
	}
	problem := errors.New("it has no metadata")
	for _, place := range oauthwire.ServerMetadataURLs(u) {
		data, err := s.fetchDocument(ctx, place, header)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		m, err := oauthwire.ReadServerMetadata(data)
		if err == nil {
			err = checkMetadata(m, issuer)
		}
		if err == nil {
			return m, nil
		}
		problem = err
	}
	return nil, fail("discover", issuer, problem)
}

// checkMetadata compares the issuer, as it is spelled (RFC 8414, section 3.3), and
// keeps servers elsewhere from sending anybody to this machine.
func checkMetadata(m *oauthwire.ServerMetadata, issuer string) error {
	if m.Issuer != issuer {
		return fmt.Errorf("the metadata is that of the issuer %s", oauthwire.Printable(m.Issuer, 200))
	}
	if u, err := url.Parse(issuer); err != nil || oauthwire.Loopback(u.Hostname()) {
		return err
	}
	for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if u, err := url.Parse(endpoint); err != nil || oauthwire.Loopback(u.Hostname()) {
			return errors.New("the metadata has an endpoint on this machine")
		}
	}
	return nil
}

// originServer is the scheme of the oldest revision with authorization, for endpoints
// that name nobody: the origin of the endpoint is the authorization server, described
// by its metadata or by the default paths. Metadata with an issuer elsewhere is only a
// hint: who that is, the issuer says itself, or else the endpoint could have its answers
// sent to a token endpoint of its own (mix-up). What is obtained is kept by the origin
// in any case, so that it cannot pass for somebody else's.
func (s *session) originServer(ctx context.Context, a *authority, header http.Header) error {
	issuer, defaults := oauthwire.OriginServer(s.endpoint)
	u, err := oauthwire.ParseIssuer(issuer)
	if err != nil {
		return fail("discover", s.name, err)
	}
	a.issuer, a.meta = issuer, defaults
	data, err := s.fetchDocument(ctx, oauthwire.ServerMetadataURLs(u)[0], header)
	if err != nil || data == nil {
		return err
	}
	m, err := oauthwire.ReadServerMetadata(data)
	if err == nil {
		err = checkMetadata(m, m.Issuer)
	}
	if err != nil {
		return fail("discover", issuer, err)
	}
	if named, err := url.Parse(m.Issuer); err != nil || !oauthwire.SameOrigin(named, u) {
		a.meta, err = s.serverMetadata(ctx, m.Issuer, header)
		return err
	}
	if m.CodeChallengeMethods == nil {
		m.CodeChallengeMethods = defaults.CodeChallengeMethods // announcing them came later
	}
	a.meta = m
	return nil
}
