package oauthwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
)

// The values of application_type: what runs on a user's machine, and what runs on a
// server and is used with a remote browser (OpenID Connect Registration, section 2).
const (
	ApplicationNative = "native"
	ApplicationWeb    = "web"
)

// ClientMetadata describes a client: as the body of a registration request (RFC
// 7591, section 2), where it has no client id, and as a Client ID Metadata Document,
// where the client id is the URL of the document.
type ClientMetadata struct {
	ClientID          string          `json:"client_id,omitempty"`
	Name              string          `json:"client_name,omitempty"`
	URI               string          `json:"client_uri,omitempty"`
	LogoURI           string          `json:"logo_uri,omitempty"`
	TermsURI          string          `json:"tos_uri,omitempty"`
	PolicyURI         string          `json:"policy_uri,omitempty"`
	Contacts          []string        `json:"contacts,omitempty"`
	RedirectURIs      []string        `json:"redirect_uris,omitempty"`
	ApplicationType   string          `json:"application_type,omitempty"`
	GrantTypes        []string        `json:"grant_types,omitempty"`
	ResponseTypes     []string        `json:"response_types,omitempty"`
	TokenAuthMethod   string          `json:"token_endpoint_auth_method,omitempty"`
	TokenAuthAlg      string          `json:"token_endpoint_auth_signing_alg,omitempty"`
	Scope             string          `json:"scope,omitempty"`
	JWKSURI           string          `json:"jwks_uri,omitempty"`
	JWKS              json.RawMessage `json:"jwks,omitempty"`
	SoftwareID        string          `json:"software_id,omitempty"`
	SoftwareVersion   string          `json:"software_version,omitempty"`
	SoftwareStatement string          `json:"software_statement,omitempty"`
	DPoPBoundTokens   bool            `json:"dpop_bound_access_tokens,omitempty"`
}

// Registration is what an authorization server answers to a registration request:
// what it made of the metadata, and the credentials (RFC 7591, section 3.2.1).
type Registration struct {
	ClientMetadata
	ClientSecret            Secret  `json:"client_secret,omitempty"`
	ClientIDIssuedAt        Seconds `json:"client_id_issued_at,omitempty"`
	ClientSecretExpiresAt   Seconds `json:"client_secret_expires_at,omitempty"` // since 1970; 0 is never
	RegistrationAccessToken Secret  `json:"registration_access_token,omitempty"`
	RegistrationClientURI   string  `json:"registration_client_uri,omitempty"`
}

// LogValue implements slog.LogValuer: a log of JSON would have the secrets in it.
func (r Registration) LogValue() slog.Value {
	return slog.GroupValue(slog.String("client_id", r.ClientID))
}

// ReadClientMetadata reads the body of a registration request. What a client may
// be, and which redirect URIs it may have, is for the authorization server to say.
func ReadClientMetadata(data []byte) (*ClientMetadata, error) {
	var m ClientMetadata
	if err := read("client metadata", data, &m); err != nil {
		return nil, err
	}
	return &m, nil
}

// ReadClientDocument reads the Client ID Metadata Document that was found at the
// URL clientID, which must be the client_id in it, byte for byte. It must not have
// a secret, nor a way to authenticate that needs one.
func ReadClientDocument(data []byte, clientID string) (*ClientMetadata, error) {
	const what = "client ID metadata document"
	var m struct {
		ClientMetadata
		ClientSecret          json.RawMessage `json:"client_secret"`
		ClientSecretExpiresAt json.RawMessage `json:"client_secret_expires_at"`
	}
	if err := read(what, data, &m); err != nil {
		return nil, err
	}
	switch {
	case m.ClientID != clientID:
		return nil, errors.New("read " + what + ": its client_id is not its own URL")
	case m.ClientSecret != nil || m.ClientSecretExpiresAt != nil:
		return nil, errors.New("read " + what + ": it has a client secret")
	case slices.Contains([]string{ClientSecretBasic, ClientSecretPost, "client_secret_jwt"}, m.TokenAuthMethod):
		return nil, errors.New("read " + what + ": it has a way to authenticate that needs a secret")
	case m.Name == "":
		return nil, errors.New("read " + what + ": it has no client_name")
	case len(m.RedirectURIs) == 0:
		return nil, errors.New("read " + what + ": it has no redirect_uris")
	}
	return &m.ClientMetadata, nil
}

// ParseClientIDURL reads a client id that is the URL of its metadata document: https
// with a path that has no dot segments, and neither fragment nor credentials.
// Loopback http is let through for development; who fetches it may be stricter.
func ParseClientIDURL(clientID string) (*url.URL, error) {
	u, err := ParseURL(clientID)
	if err != nil {
		return nil, fmt.Errorf("client id: %w", err)
	}
	if u.Path == "" || u.Path == "/" {
		return nil, fmt.Errorf("client id: URL %s: has no path", shown(clientID))
	}
	if clean := u.JoinPath(); clean.EscapedPath() != u.EscapedPath() {
		return nil, fmt.Errorf("client id: URL %s: has dot segments or empty ones in its path", shown(clientID))
	}
	return u, nil
}

// ReadRegistration reads the answer to a registration request.
func ReadRegistration(data []byte) (*Registration, error) {
	const what = "client registration"
	var m Registration
	if err := read(what, data, &m); err != nil {
		return nil, err
	}
	if m.ClientID == "" {
		return nil, errors.New("read " + what + ": it has no client_id")
	}
	return &m, nil
}
