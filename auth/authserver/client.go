package authserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A Client is an application that is known from the start.
type Client struct {
	ID   string
	Name string // for the consent page; empty means ID
	// Secret makes the client one that authenticates with it (client_secret_basic or
	// client_secret_post); it has at least 16 bytes.
	Secret string
	// JWKS is a JSON Web Key Set with the public keys of a client that authenticates
	// with signed assertions (private_key_jwt). With neither it, nor Secret, nor
	// Workloads, the client is a public one.
	JWKS []byte
	// RedirectURIs are where users are sent back to, compared exactly. The port of one
	// on the loopback interface does not matter (RFC 8252, section 7.3).
	RedirectURIs []string
	// Grants are the grant types that it may use; nil means authorization_code and
	// refresh_token with RedirectURIs, else client_credentials.
	Grants []string
	// Scopes are the most it may be granted; nil means all.
	Scopes []string
	// Trusted leaves out the consent page: for applications of who runs the server.
	Trusted bool
	// Resource is one of Options.Resources that this client is the server of: it may
	// introspect tokens for it, and exchange them for ones to other resources.
	Resource string
	// Elsewhere are the other authorization servers that the client gets identity
	// assertions for, by their issuer, with its client id there ("Enterprise-Managed
	// Authorization"): this server is then the identity provider.
	Elsewhere map[string]string
}

// The kinds of clients, by how they came to be known.
type origin int

const (
	configured origin = iota // Options.Clients
	registered               // RFC 7591
	documented               // Client ID Metadata Documents
)

// minSecret is the size of the shortest secret of a client, in bytes.
const minSecret = 16

var (
	grantTypes = []string{
		oauthwire.GrantAuthorizationCode, oauthwire.GrantRefreshToken, oauthwire.GrantClientCredentials,
		oauthwire.GrantJWTBearer, oauthwire.GrantTokenExchange,
	}
	authMethods = []string{
		oauthwire.NoClientAuth, oauthwire.ClientSecretBasic, oauthwire.ClientSecretPost, oauthwire.PrivateKeyJWT,
	}
)

// A client is one of any kind.
type client struct {
	id, name  string
	origin    origin
	method    string // token_endpoint_auth_method; configured clients with a secret may use either
	secret    string
	keys      *jose.JSONWebKeySet
	redirects []string
	grants    []string
	scopes    []string // nil: all
	trusted   bool
	resource  string // canonical
	elsewhere map[string]string
	dpop      bool // its tokens are always bound
}

// configured returns the client for one in the options.
func (s *Server) configured(c Client) (*client, error) {
	out := &client{
		id: c.ID, name: cmp.Or(c.Name, c.ID), origin: configured, method: oauthwire.NoClientAuth,
		redirects: c.RedirectURIs, grants: c.Grants, scopes: c.Scopes, trusted: c.Trusted, elsewhere: c.Elsewhere,
	}
	if c.ID == "" {
		return nil, errors.New("it has no ID")
	}
	if c.Secret != "" {
		if len(c.Secret) < minSecret {
			return nil, fmt.Errorf("its secret has less than %d bytes", minSecret)
		}
		out.method, out.secret = oauthwire.ClientSecretBasic, c.Secret
	}
	if c.JWKS != nil {
		if c.Secret != "" {
			return nil, errors.New("it has both a secret and keys")
		}
		keys, err := readKeys(c.JWKS)
		if err != nil {
			return nil, err
		}
		out.method, out.keys = oauthwire.PrivateKeyJWT, keys
	}
	for _, uri := range c.RedirectURIs {
		if err := s.checkRedirect(uri); err != nil {
			return nil, err
		}
	}
	if out.grants == nil {
		out.grants = []string{oauthwire.GrantClientCredentials}
		if len(c.RedirectURIs) > 0 {
			out.grants = []string{oauthwire.GrantAuthorizationCode, oauthwire.GrantRefreshToken}
		}
	}
	if out.method == oauthwire.NoClientAuth && slices.Contains(out.grants, oauthwire.GrantClientCredentials) {
		return nil, errors.New("it cannot use client credentials, which it has none of")
	}
	if c.Resource != "" {
		var err error
		if out.resource, err = s.resource([]string{c.Resource}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readKeys reads the public keys of somebody else.
func readKeys(data []byte) (*jose.JSONWebKeySet, error) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	usable := slices.ContainsFunc(set.Keys, func(key jose.JSONWebKey) bool { return key.IsPublic() && key.Valid() })
	if !usable {
		return nil, errors.New("read key set: it has no public key")
	}
	// Private and symmetric keys are for nobody to publish.
	set.Keys = slices.DeleteFunc(set.Keys, func(key jose.JSONWebKey) bool { return !key.IsPublic() || !key.Valid() })
	return &set, nil
}

// client returns the client with an id; a failure if there is none.
func (s *Server) client(ctx context.Context, id string) (*client, error) {
	if c := s.clients[id]; c != nil {
		return c, nil
	}
	if c, ok := s.newcomer(id); ok {
		return c, nil
	}
	if isDocument(id) && !s.opts.NoDocuments {
		return s.documents.client(ctx, id)
	}
	return nil, refuse(oauthwire.ErrorInvalidClient, "the client is not known here; it may have to register again")
}

// public reports whether c cannot prove who it is.
func (c *client) public() bool { return c.method == oauthwire.NoClientAuth }

// allows reports whether c may use a grant type.
func (c *client) allows(grant string) bool { return slices.Contains(c.grants, grant) }

// grantable returns which of the scopes in a parameter c is granted: those that the
// server has and the client may have. Others are left out, which the answer tells
// (OAuth 2.1, section 1.4.1), unless nothing remains.
func (s *Server) grantable(c *client, parameter string) ([]string, error) {
	var out []string
	if parameter == "" {
		for _, scope := range s.opts.Scopes {
			if scope.Default && c.may(scope.Name) {
				out = append(out, scope.Name)
			}
		}
		return out, nil
	}
	for _, name := range oauthwire.Scopes(parameter) {
		if _, known := s.scopes[name]; known && c.may(name) {
			out = append(out, name)
		}
	}
	if out == nil {
		return nil, refuse(oauthwire.ErrorInvalidScope, "none of the scopes can be granted")
	}
	return out, nil
}

func (c *client) may(scope string) bool { return c.scopes == nil || slices.Contains(c.scopes, scope) }
