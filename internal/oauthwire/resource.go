package oauthwire

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ResourceMetadata is the document in which a resource server says who issues
// tokens for it (RFC 9728, section 2).
type ResourceMetadata struct {
	Resource              string   `json:"resource"`
	AuthorizationServers  []string `json:"authorization_servers,omitempty"`
	JWKSURI               string   `json:"jwks_uri,omitempty"`
	ScopesSupported       []string `json:"scopes_supported,omitempty"`
	BearerMethods         []string `json:"bearer_methods_supported,omitempty"`
	SigningAlgorithms     []string `json:"resource_signing_alg_values_supported,omitempty"`
	Name                  string   `json:"resource_name,omitempty"`
	Documentation         string   `json:"resource_documentation,omitempty"`
	PolicyURI             string   `json:"resource_policy_uri,omitempty"`
	TermsURI              string   `json:"resource_tos_uri,omitempty"`
	DPoPSigningAlgorithms []string `json:"dpop_signing_alg_values_supported,omitempty"`
	DPoPBoundTokens       bool     `json:"dpop_bound_access_tokens_required,omitempty"`
}

// ReadResourceMetadata reads such a document. It needs a resource; what that must
// be, and whether there must be authorization servers, is for the caller to check.
func ReadResourceMetadata(data []byte) (*ResourceMetadata, error) {
	const what = "protected resource metadata"
	var m ResourceMetadata
	if err := read(what, data, &m); err != nil {
		return nil, err
	}
	if m.Resource == "" {
		return nil, errors.New("read " + what + ": it has no resource")
	}
	if u, err := url.Parse(m.Resource); err != nil || !u.IsAbs() || u.Host == "" || strings.Contains(m.Resource, "#") {
		return nil, fmt.Errorf("read %s: resource %s is not an absolute URL without a fragment", what, shown(m.Resource))
	}
	for _, issuer := range m.AuthorizationServers {
		if _, err := ParseIssuer(issuer); err != nil {
			return nil, fmt.Errorf("read %s: authorization_servers: %w", what, err)
		}
	}
	return &m, nil
}
