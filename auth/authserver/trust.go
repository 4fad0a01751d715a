package authserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A Trust is an issuer whose word is taken for who somebody is (RFC 7523): users
// whom the identity provider of an enterprise vouches for, and programs that have an
// identity where they run.
type Trust struct {
	// Issuer is what its assertions say in iss.
	Issuer string
	// JWKS is the URL of its keys; empty means what its metadata says. Keys are the
	// keys themselves, a JSON Web Key Set, and then nobody is asked.
	JWKS string
	Keys []byte
	// Client fetches metadata and keys; nil means one of package auth.
	Client *http.Client
	// Workloads are the clients that its assertions stand for, by their subject. Such a
	// client is one of Options.Clients with the grant type of JWT bearer.
	Workloads map[string]string
	// Users makes it one that vouches for users ("Enterprise-Managed Authorization"):
	// its identity assertions are accepted from clients that have a secret or a key.
	Users bool
	// User says who a user is here, and whether that user may. Nil takes everybody, by
	// issuer and subject.
	User func(ctx context.Context, id *auth.Identity) (User, error)
}

const (
	typeIDJAG    = jose.ContentType("oauth-id-jag+jwt")
	profileIDJAG = "urn:ietf:params:oauth:grant-profile:id-jag"
)

// A trust is a Trust that can verify.
type trust struct {
	Trust

	users     *auth.JWT
	workloads *auth.JWT
}

func newTrust(t Trust) (*trust, error) {
	options := auth.JWTOptions{JWKS: t.JWKS, Keys: t.Keys, Client: t.Client, Types: []string{string(typeIDJAG)}}
	users, err := auth.NewJWT(t.Issuer, &options)
	if err != nil {
		return nil, err
	}
	options.Types = []string{"jwt", ""}
	workloads, err := auth.NewJWT(t.Issuer, &options)
	return &trust{t, users, workloads}, err
}

// grantAssertion answers with a token for an assertion of an issuer that is trusted
// (RFC 7523, section 2.1).
func (s *Server) grantAssertion(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	assertion := rq.form.Get("assertion")
	var claims assertionClaims
	signed, err := parseAssertion(assertion, &claims)
	if err != nil {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion is no JWT signed with an algorithm in the metadata")
	}
	from := s.trusted[claims.Issuer]
	if from == nil {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the issuer of the assertion is not trusted")
	}
	typ, _ := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType].(string)
	var answer *oauthwire.TokenResponse
	if typ == string(typeIDJAG) {
		answer, err = s.grantUser(ctx, rq, from, assertion, &claims)
	} else {
		answer, err = s.grantWorkload(ctx, rq, from, assertion)
	}
	if errors.Is(err, auth.ErrToken) {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion does not hold: %v", err)
	}
	return answer, err
}

// jagClaims are those of an identity assertion for us (the Identity Assertion JWT
// Authorization Grant), besides the usual ones.
type jagClaims struct {
	Client   string
	Resource string
	Scope    string
}

// grantUser takes the word of an enterprise's identity provider for a user: that the
// user may use the resource with this client. There is no refresh token, so that the
// provider is asked again.
func (s *Server) grantUser(ctx context.Context, rq *tokenRequest, from *trust, assertion string, claims *assertionClaims) (*oauthwire.TokenResponse, error) {
	if !from.Users {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the issuer of the assertion does not vouch for users")
	}
	if rq.client == nil || rq.client.public() {
		return nil, refuse(oauthwire.ErrorInvalidClient, "the client has to authenticate")
	}
	id, err := from.users.Verify(ctx, assertion)
	if err != nil {
		return nil, err
	}
	var jag jagClaims
	for name, value := range map[string]*string{"client_id": &jag.Client, "resource": &jag.Resource, "scope": &jag.Scope} {
		if _, err := id.Claim(name, value); err != nil {
			return nil, refuse(oauthwire.ErrorInvalidGrant, "the %s of the assertion cannot be read", name)
		}
	}
	resource, err := s.resource([]string{jag.Resource})
	switch {
	case err != nil:
		return nil, err
	case jag.Client != rq.client.id:
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion was issued to another client")
	case id.Subject == "":
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion is about nobody")
	}
	if err := s.accept(ctx, claims, s.opts.Issuer); err != nil {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion: %v", err)
	}
	user := User{Subject: id.Issuer + " " + id.Subject}
	if from.User != nil {
		if user, err = from.User(ctx, id); err != nil || user.Subject == "" {
			s.log.WarnContext(ctx, "authorization server: a user is not let in", "issuer", id.Issuer, "error", err)
			return nil, refuse(oauthwire.ErrorInvalidGrant, "the user is not let in")
		}
	}
	return s.answerAssertion(ctx, rq, user.Subject, resource, jag.Scope)
}

// grantWorkload takes the word of a platform for a program: that it is a client that
// is known here ("Workload Identity Federation"). The assertion is what the client
// authenticates with.
func (s *Server) grantWorkload(ctx context.Context, rq *tokenRequest, from *trust, assertion string) (*oauthwire.TokenResponse, error) {
	id, err := from.workloads.Verify(ctx, assertion)
	if err != nil {
		return nil, err
	}
	client, known := from.Workloads[id.Subject]
	named := rq.form.Get("client_id")
	switch {
	case !known, named != "" && named != client, rq.client != nil && rq.client.id != client:
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion does not stand for this client")
	case len(id.Audience) != 1 || !slices.Contains([]string{s.opts.Issuer, s.base, s.base + "/token"}, id.Audience[0]):
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the audience of the assertion is neither the issuer nor the token endpoint")
	case id.Expires.IsZero():
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the assertion does not expire")
	}
	rq.client = s.clients[client]
	if !rq.client.allows(oauthwire.GrantJWTBearer) {
		return nil, refuse(oauthwire.ErrorUnauthorizedClient, "the client may not use this grant type")
	}
	resource, err := s.resource(rq.form["resource"])
	if err != nil {
		return nil, err
	}
	return s.answerAssertion(ctx, rq, client, resource, "")
}

// answerAssertion issues a token for somebody whom an assertion speaks of. It
// narrows the scopes that the assertion has, if it has any, to those asked for.
func (s *Server) answerAssertion(ctx context.Context, rq *tokenRequest, subject, resource, most string) (*oauthwire.TokenResponse, error) {
	if named := rq.form["resource"]; len(named) > 0 {
		if asked, err := s.resource(named); err != nil || asked != resource {
			return nil, refuse(oauthwire.ErrorInvalidTarget, "the assertion is for another resource")
		}
	}
	wanted := oauthwire.Scopes(rq.form.Get("scope"))
	if most != "" {
		wanted = slices.DeleteFunc(wanted, func(scope string) bool { return !slices.Contains(oauthwire.Scopes(most), scope) })
		switch {
		case rq.form.Get("scope") == "":
			wanted = oauthwire.Scopes(most)
		case len(wanted) == 0:
			return nil, refuse(oauthwire.ErrorInvalidScope, "the assertion has none of the scopes")
		}
	}
	scopes, err := s.grantable(rq.client, oauthwire.JoinScopes(wanted))
	if err != nil {
		return nil, err
	}
	return s.issue(ctx, rq, accessClaims{Subject: subject, Audience: resource, Scope: oauthwire.JoinScopes(withoutUsers(scopes))})
}

// withoutUsers takes out the scopes that are about users who are there.
func withoutUsers(scopes []string) []string {
	return slices.DeleteFunc(scopes, func(scope string) bool { return scope == scopeOpenID || scope == oauthwire.ScopeOffline })
}

// checkTrusts prepares Options.Trusts.
func (s *Server) checkTrusts() error {
	for _, t := range s.opts.Trusts {
		ready, err := newTrust(t)
		if err != nil {
			return fmt.Errorf("trust: %w", err)
		}
		if s.trusted[t.Issuer] != nil {
			return fmt.Errorf("trust in %s is there twice", t.Issuer)
		}
		for subject, id := range t.Workloads {
			if s.clients[id] == nil {
				return fmt.Errorf("trust in %s: subject %q: there is no client %q", t.Issuer, subject, id)
			}
		}
		s.trusted[t.Issuer] = ready
	}
	return nil
}
