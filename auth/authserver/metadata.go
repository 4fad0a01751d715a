package authserver

import (
	"net/http"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// scopeOpenID asks for an ID token (OpenID Connect Core, section 3.1.2.1).
const scopeOpenID = "openid"

// serveMetadata answers with the same document at all well-known paths.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	s.writeJSON(w, r, http.StatusOK, s.metadata())
}

func (s *Server) metadata() *oauthwire.ServerMetadata {
	m := &oauthwire.ServerMetadata{
		Issuer:                s.opts.Issuer,
		AuthorizationEndpoint: s.base + "/authorize",
		TokenEndpoint:         s.base + "/token",
		JWKSURI:               s.base + "/jwks",
		RevocationEndpoint:    s.base + "/revoke",
		IntrospectionEndpoint: s.base + "/introspect",
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            grantTypes,
		TokenAuthMethods:      authMethods,
		TokenAuthAlgorithms:   assertionAlgorithmNames,
		CodeChallengeMethods:  []string{oauthwire.MethodS256},
		SubjectTypes:          []string{"public"},
		IDTokenAlgorithms:     []string{string(signingAlgorithm)},
		DPoPAlgorithms:        dpop.Algorithms(),
		IssParameter:          true,
	}
	m.ClientMetadataDocument = !s.opts.NoDocuments
	for _, t := range s.opts.Trusts {
		if t.Users {
			m.GrantProfiles = []string{profileIDJAG}
		}
	}
	if !s.opts.NoRegistration {
		m.RegistrationEndpoint = s.base + "/register"
	}
	for _, scope := range s.opts.Scopes {
		m.ScopesSupported = append(m.ScopesSupported, scope.Name)
	}
	m.ScopesSupported = append(m.ScopesSupported, scopeOpenID, oauthwire.ScopeOffline)
	return m
}
