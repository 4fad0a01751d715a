// Package oauthwire holds what OAuth writes on the wire, as data: metadata of
// protected resources and authorization servers, documents of clients, answers of
// token endpoints, challenges, and the URLs at which all of that is found. Client,
// resource server and authorization server decide with it what to send and accept.
//
// It does no I/O, and signs and verifies nothing. What it reads comes from peers:
// readers check the JSON, the members that must be there and every URL. Whether a
// document is the right one, such as that its issuer is the one that was asked
// for, is for the caller to say.
package oauthwire

import (
	"fmt"

	"github.com/ferrymcp/ferry/internal/json"
)

// MaxDocument is how many bytes of a document a reader should take from a peer.
const MaxDocument = 1 << 20

// The grant types, by the section of the standard that defines them.
const (
	GrantAuthorizationCode = "authorization_code"                              // OAuth 2.1, section 4.1
	GrantRefreshToken      = "refresh_token"                                   // OAuth 2.1, section 4.3
	GrantClientCredentials = "client_credentials"                              // OAuth 2.1, section 4.2
	GrantTokenExchange     = "urn:ietf:params:oauth:grant-type:token-exchange" //nolint:gosec // RFC 8693, section 2.1; no credential
	GrantJWTBearer         = "urn:ietf:params:oauth:grant-type:jwt-bearer"     //nolint:gosec // RFC 7523, section 2.1; no credential
)

// The ways in which a client says who it is at the token endpoint.
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
	PrivateKeyJWT     = "private_key_jwt"
	NoClientAuth      = "none"
)

// AssertionJWTBearer is the client_assertion_type of a JWT (RFC 7523, section 2.2).
const AssertionJWTBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" //nolint:gosec // a name

// The types of tokens in a token exchange (RFC 8693, section 3, and the identity
// assertion authorization grant).
const (
	TypeAccessToken  = "urn:ietf:params:oauth:token-type:access_token"  //nolint:gosec // a name
	TypeRefreshToken = "urn:ietf:params:oauth:token-type:refresh_token" //nolint:gosec // a name
	TypeIDToken      = "urn:ietf:params:oauth:token-type:id_token"      //nolint:gosec // a name
	TypeSAML2        = "urn:ietf:params:oauth:token-type:saml2"         //nolint:gosec // a name
	TypeJWT          = "urn:ietf:params:oauth:token-type:jwt"
	TypeIDJAG        = "urn:ietf:params:oauth:token-type:id-jag"
)

// MethodS256 is the one code challenge method that is any good (RFC 7636).
const MethodS256 = "S256"

// ScopeOffline asks for refresh tokens (OpenID Connect Core, section 11).
const ScopeOffline = "offline_access"

// read decodes the document in data, which must be a JSON object.
func read(what string, data []byte, v any) error {
	if len(data) > MaxDocument {
		return fmt.Errorf("read %s: it is larger than %d bytes", what, MaxDocument)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}
