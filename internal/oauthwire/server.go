package oauthwire

import (
	"errors"
	"fmt"
)

// ServerMetadata is the document in which an authorization server describes itself
// (RFC 8414, section 2, and OpenID Connect Discovery 1.0, section 3).
type ServerMetadata struct {
	Issuer                 string   `json:"issuer"`
	AuthorizationEndpoint  string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint          string   `json:"token_endpoint,omitempty"`
	RegistrationEndpoint   string   `json:"registration_endpoint,omitempty"`
	IntrospectionEndpoint  string   `json:"introspection_endpoint,omitempty"`
	RevocationEndpoint     string   `json:"revocation_endpoint,omitempty"`
	UserinfoEndpoint       string   `json:"userinfo_endpoint,omitempty"`
	JWKSURI                string   `json:"jwks_uri,omitempty"`
	ScopesSupported        []string `json:"scopes_supported,omitempty"`
	ResponseTypes          []string `json:"response_types_supported,omitempty"`
	ResponseModes          []string `json:"response_modes_supported,omitempty"`
	GrantTypes             []string `json:"grant_types_supported,omitempty"`
	TokenAuthMethods       []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	TokenAuthAlgorithms    []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	CodeChallengeMethods   []string `json:"code_challenge_methods_supported,omitempty"`
	SubjectTypes           []string `json:"subject_types_supported,omitempty"`
	IDTokenAlgorithms      []string `json:"id_token_signing_alg_values_supported,omitempty"`
	DPoPAlgorithms         []string `json:"dpop_signing_alg_values_supported,omitempty"`
	GrantProfiles          []string `json:"authorization_grant_profiles_supported,omitempty"`
	Documentation          string   `json:"service_documentation,omitempty"`
	IssParameter           bool     `json:"authorization_response_iss_parameter_supported,omitempty"`
	ClientMetadataDocument bool     `json:"client_id_metadata_document_supported,omitempty"`
}

// ReadServerMetadata reads such a document. Its endpoints are URLs that may be used;
// which of them must be there depends on what the caller wants, and the caller
// compares the issuer.
func ReadServerMetadata(data []byte) (*ServerMetadata, error) {
	const what = "authorization server metadata"
	var m ServerMetadata
	if err := read(what, data, &m); err != nil {
		return nil, err
	}
	if m.Issuer == "" {
		return nil, errors.New("read " + what + ": it has no issuer")
	}
	for _, endpoint := range []struct{ name, url string }{
		{"authorization_endpoint", m.AuthorizationEndpoint},
		{"token_endpoint", m.TokenEndpoint},
		{"registration_endpoint", m.RegistrationEndpoint},
		{"introspection_endpoint", m.IntrospectionEndpoint},
		{"revocation_endpoint", m.RevocationEndpoint},
		{"userinfo_endpoint", m.UserinfoEndpoint},
		{"jwks_uri", m.JWKSURI},
	} {
		if err := optionalURL(endpoint.name, endpoint.url); err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
	}
	return &m, nil
}
