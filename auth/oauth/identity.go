package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// An identity is who we are at an authorization server.
type identity struct {
	ID     string           `json:"client_id,omitempty"`
	Secret oauthwire.Secret `json:"client_secret,omitempty"`
	Method string           `json:"method,omitempty"` // of authentication; empty: what the server supports
	// Kept tells that the identity came from the server or a user and is in the store;
	// those of the options are not written down.
	Kept bool `json:"kept,omitempty"`
	// Asked tells that it came from a user: it fits every redirect URI.
	Asked         bool      `json:"asked,omitempty"`
	Redirect      string    `json:"redirect_uri,omitempty"`
	SecretExpires time.Time `json:"secret_expires,omitzero"`

	key   any // signs assertions; nil for none
	keyID string
	// prebound is the client id of a registration that gets bound to its issuer now.
	prebound string
}

func (r *Registration) identity() *identity {
	kept := r.Keep && r.Key == nil // keys are for their owners to keep
	return &identity{
		ID: r.ID, Secret: oauthwire.Secret(r.Secret), Method: r.Method, key: r.Key, keyID: r.KeyID, Kept: kept, Asked: kept,
	}
}

// stored returns the identity as it is kept with a token.
func (i *identity) stored() identity {
	if i.Kept {
		return *i
	}
	return identity{ID: i.ID}
}

// method returns how to authenticate, of what the server supports (RFC 8414: basic,
// if it does not say).
func (i *identity) method(supported []string) string {
	can := func(method string) bool { return slices.Contains(supported, method) }
	switch {
	case i.key != nil:
		return oauthwire.PrivateKeyJWT
	case i.Secret == "":
		return oauthwire.NoClientAuth
	case i.Method != "" && i.Method != oauthwire.NoClientAuth:
		return i.Method
	case len(supported) == 0 || can(oauthwire.ClientSecretBasic):
		return oauthwire.ClientSecretBasic
	case can(oauthwire.ClientSecretPost):
		return oauthwire.ClientSecretPost
	case can(oauthwire.NoClientAuth):
		return oauthwire.NoClientAuth
	}
	return oauthwire.ClientSecretBasic
}

// authenticate says in a request to a token endpoint who we are (OAuth 2.1, section
// 2.4). audience is the issuer, for assertions.
func (i *identity) authenticate(form url.Values, header http.Header, server *endpoints, audience string) error {
	switch method := i.method(server.Methods); method {
	case oauthwire.PrivateKeyJWT:
		assertion, err := i.assertion(audience, server.Algorithms)
		if err != nil {
			return err
		}
		// The client id is in the assertion.
		form.Set("client_assertion_type", oauthwire.AssertionJWTBearer)
		form.Set("client_assertion", assertion)
	case oauthwire.ClientSecretPost:
		form.Set("client_id", i.ID)
		form.Set("client_secret", string(i.Secret))
	case oauthwire.ClientSecretBasic:
		r := http.Request{Header: header}
		r.SetBasicAuth(url.QueryEscape(i.ID), url.QueryEscape(string(i.Secret)))
	case oauthwire.NoClientAuth:
		if i.ID != "" {
			form.Set("client_id", i.ID)
		}
	default:
		return fmt.Errorf("client authentication %q is not known here", oauthwire.Printable(method, 50))
	}
	return nil
}

// assertionLife is how long an assertion holds. It is used at once; the rest is for
// clocks that differ.
const assertionLife = 2 * time.Minute

// assertion returns a JWT that says who we are (RFC 7523, section 3).
func (i *identity) assertion(audience string, supported []string) (string, error) {
	algorithms, err := keyAlgorithms(i.key)
	if err != nil {
		return "", err
	}
	if len(supported) > 0 {
		algorithms = slices.DeleteFunc(algorithms, func(a jose.SignatureAlgorithm) bool { return !slices.Contains(supported, string(a)) })
	}
	if len(algorithms) == 0 {
		return "", errors.New("the server supports no signature algorithm of the client's key")
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if i.keyID != "" {
		options = options.WithHeader("kid", i.keyID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithms[0], Key: i.key}, options)
	if err != nil {
		return "", fmt.Errorf("sign assertion: %w", err)
	}
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": i.ID, "sub": i.ID, "aud": audience, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", fmt.Errorf("sign assertion: %w", err)
	}
	return signed.CompactSerialize()
}

// keyAlgorithms returns the signature algorithms of a private key, the best first.
func keyAlgorithms(key any) ([]jose.SignatureAlgorithm, error) {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		switch key.Curve.Params().BitSize {
		case 256:
			return []jose.SignatureAlgorithm{jose.ES256}, nil
		case 384:
			return []jose.SignatureAlgorithm{jose.ES384}, nil
		case 521:
			return []jose.SignatureAlgorithm{jose.ES512}, nil
		}
	case *rsa.PrivateKey:
		return []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.RS384, jose.PS384, jose.RS512, jose.PS512}, nil
	case ed25519.PrivateKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}, nil
	}
	return nil, fmt.Errorf("a key of type %s cannot sign assertions", strings.TrimPrefix(fmt.Sprintf("%T", key), "*"))
}

// publicKeys returns the JSON Web Key Set with the public part of a private key.
func publicKeys(key any, id string) ([]byte, error) {
	algorithms, err := keyAlgorithms(key)
	if err != nil {
		return nil, err
	}
	private := jose.JSONWebKey{Key: key, KeyID: id, Use: "sig", Algorithm: string(algorithms[0])}
	return json.Marshal(map[string]any{"keys": []jose.JSONWebKey{private.Public()}})
}
