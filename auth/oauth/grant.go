package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A Grant is a way to obtain tokens without a user at hand: ClientCredentials,
// *Enterprise or *Workload.
type Grant interface {
	// form returns the token request, without what all of them have.
	form(ctx context.Context, s *session, a *authority, scopes []string) (url.Values, error)
	// identity returns who we are at the authorization server.
	identity(ctx context.Context, s *session, a *authority) (*identity, error)
}

// ClientCredentials obtains tokens for the program itself ("OAuth Client Credentials"
// extension). It needs one of Options.Registrations with a secret or a key.
type ClientCredentials struct{}

func (ClientCredentials) form(context.Context, *session, *authority, []string) (url.Values, error) { //nolint:unparam // other grants fail
	return url.Values{"grant_type": {oauthwire.GrantClientCredentials}}, nil
}

func (ClientCredentials) identity(ctx context.Context, s *session, a *authority) (*identity, error) {
	id, err := s.known(ctx, a)
	if err == nil && (id == nil || id.Secret == "" && id.key == nil) {
		err = fail("authorize", a.issuer, errors.New("client credentials need a registration with a secret or a key for this issuer"))
	}
	return id, err
}

// Enterprise obtains tokens with the identity that a user has at the identity provider
// of an organization ("Enterprise-Managed Authorization" extension): the provider
// exchanges it for an assertion to the MCP server's authorization server. Who we are
// there is found as for users.
type Enterprise struct {
	// Provider is the issuer of the identity provider. Its metadata is not asked for
	// when TokenEndpoint is set.
	Provider      string
	TokenEndpoint string
	// Client is who we are at the provider; its Issuer is not used.
	Client Registration
	// Identity returns what the provider has given us for the user when they logged in
	// to this program, and its type: IdentityIDToken, IdentitySAML or
	// IdentityRefreshToken. It may be called concurrently.
	Identity func(ctx context.Context) (assertion, kind string, err error)
}

// The types of what a user's login at an identity provider has given.
const (
	IdentityIDToken      = oauthwire.TypeIDToken
	IdentitySAML         = oauthwire.TypeSAML2
	IdentityRefreshToken = oauthwire.TypeRefreshToken
)

func (g *Enterprise) form(ctx context.Context, s *session, a *authority, scopes []string) (url.Values, error) {
	assertion, kind, err := g.Identity(ctx)
	if err != nil {
		return nil, fail("assert", g.Provider, err)
	}
	server := endpoints{Token: g.TokenEndpoint}
	if server.Token == "" {
		meta, err := s.serverMetadata(ctx, g.Provider, http.Header{})
		if err != nil {
			return nil, err
		}
		server = (&authority{meta: meta}).endpoints()
	}
	if _, err := oauthwire.ParseURL(server.Token); err != nil {
		return nil, fail("assert", g.Provider, fmt.Errorf("token endpoint: %w", err))
	}
	form := url.Values{
		"grant_type":           {oauthwire.GrantTokenExchange},
		"requested_token_type": {oauthwire.TypeIDJAG},
		"audience":             {a.issuer},
		"resource":             {a.resource},
		"subject_token":        {assertion},
		"subject_token_type":   {kind},
	}
	if g.Client.Key == nil {
		form.Set("client_id", g.Client.ID)
	}
	if scope := oauthwire.JoinScopes(scopes); scope != "" {
		form.Set("scope", scope)
	}
	res, err := s.requestToken(ctx, &tokenRequest{
		step: "assert", issuer: g.Provider, server: &server, id: g.Client.identity(), form: form,
	})
	if err != nil {
		return nil, err
	}
	// It is no access token, and nothing else is expected (section 4.2).
	if res.IssuedTokenType != oauthwire.TypeIDJAG || !strings.EqualFold(res.TokenType, "N_A") {
		err := fmt.Errorf("the identity provider issued %s instead of an assertion", oauthwire.Printable(res.IssuedTokenType, 100))
		return nil, fail("assert", g.Provider, err)
	}
	return url.Values{"grant_type": {oauthwire.GrantJWTBearer}, "assertion": {string(res.AccessToken)}}, nil
}

func (*Enterprise) identity(ctx context.Context, s *session, a *authority) (*identity, error) {
	id, err := s.known(ctx, a)
	if id == nil && err == nil {
		id, err = s.register(ctx, a, s.c.opts.RedirectURL)
	}
	return id, err
}

// Workload obtains tokens with the identity that a platform gives to its workloads,
// such as the service account of a pod ("Workload Identity Federation" extension).
type Workload struct {
	// Assertion returns a JWT of the platform for an audience, the URL of the token
	// endpoint. It may be called concurrently.
	Assertion func(ctx context.Context, audience string) (string, error)
}

func (g *Workload) form(ctx context.Context, _ *session, a *authority, _ []string) (url.Values, error) {
	assertion, err := g.Assertion(ctx, a.meta.TokenEndpoint)
	if err != nil {
		return nil, fail("assert", a.issuer, err)
	}
	return url.Values{"grant_type": {oauthwire.GrantJWTBearer}, "assertion": {assertion}}, nil
}

// identity: the assertion says who we are; a client of the options may be named too.
func (*Workload) identity(ctx context.Context, s *session, a *authority) (*identity, error) {
	id, err := s.preregistered(ctx, a.issuer)
	if id == nil {
		id = &identity{}
	}
	return id, err
}

// grant obtains a token with the grant of the options.
func (s *session) grant(ctx context.Context, a *authority, scopes []string) (*credential, error) {
	if a.meta.TokenEndpoint == "" {
		return nil, fail("authorize", a.issuer, errors.New("the server has no token endpoint"))
	}
	g := s.c.opts.Grant
	id, err := g.identity(ctx, s, a)
	if err != nil {
		return nil, err
	}
	key, err := a.newKey()
	if err != nil {
		return nil, err
	}
	c := &credential{Issuer: a.issuer, Resource: a.resource, Client: id.stored(), Server: a.endpoints(), Scopes: scopes}
	if err := c.bind(key); err != nil {
		return nil, err
	}
	var res *oauthwire.TokenResponse
	err = retry(ctx, func() error {
		form, err := g.form(ctx, s, a, scopes)
		if err != nil {
			return err
		}
		form.Set("resource", a.resource)
		if scope := oauthwire.JoinScopes(scopes); scope != "" {
			form.Set("scope", scope)
		}
		res, err = s.requestToken(ctx, &tokenRequest{step: "authorize", issuer: a.issuer, server: &c.Server, id: id, form: form, key: key})
		return err
	})
	if err != nil {
		return nil, err
	}
	if c, err = c.accept(res); err != nil {
		return nil, fail("authorize", a.issuer, err)
	}
	c.prebound = id.prebound
	return c, nil
}
