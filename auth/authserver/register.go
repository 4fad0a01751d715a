package authserver

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// Bounds of what a client may register, which all goes into its id.
const (
	maxRegistration = 8 << 10 // bytes of a request
	maxRedirects    = 8
	maxRedirectText = 1024 // bytes of all of them
	maxName         = 100  // bytes
)

// A newcomer is a client that has registered itself. It is kept nowhere but in its
// client id, so that no number of registrations is too many for the server.
type newcomer struct {
	Name      string   `json:"n,omitempty"`
	Redirects []string `json:"r,omitempty"`
	Method    string   `json:"m"`
	Grants    []string `json:"g"`
	DPoP      bool     `json:"d,omitempty"`
	Issued    int64    `json:"i"`
}

const (
	newcomerSeal   = "client"
	newcomerPrefix = "dyn-"
)

// serveRegister registers a client (RFC 7591, section 3).
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) {
	if !s.newcomers.allow() {
		w.Header().Set("Retry-After", "60")
		s.writeError(w, r, &failure{http.StatusTooManyRequests, oauthwire.Error{
			Code: oauthwire.ErrorTemporarilyUnavailable, Description: "too many clients register now",
		}})
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRegistration))
	if err != nil {
		s.writeError(w, r, refuse(oauthwire.ErrorInvalidClientMetadata, "the request cannot be read, or is too long"))
		return
	}
	asked, err := oauthwire.ReadClientMetadata(data)
	if err != nil {
		s.writeError(w, r, refuse(oauthwire.ErrorInvalidClientMetadata, "the request is not the metadata of a client in JSON"))
		return
	}
	answer, err := s.register(asked)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.writeJSON(w, r, http.StatusCreated, answer)
}

// register makes a client of metadata, and says what has become of it.
func (s *Server) register(asked *oauthwire.ClientMetadata) (*oauthwire.Registration, error) {
	n := newcomer{
		Name:      oauthwire.Printable(asked.Name, maxName),
		Redirects: asked.RedirectURIs,
		Method:    cmp.Or(asked.TokenAuthMethod, oauthwire.ClientSecretBasic),
		Grants:    asked.GrantTypes,
		DPoP:      asked.DPoPBoundTokens,
		Issued:    time.Now().Unix(),
	}
	if n.Grants == nil {
		n.Grants = []string{oauthwire.GrantAuthorizationCode}
	}
	n.Grants = slices.DeleteFunc(slices.Clone(n.Grants), func(grant string) bool {
		return !slices.Contains(newcomerGrants, grant)
	})
	if err := s.checkNewcomer(&n, asked); err != nil {
		return nil, err
	}
	id, err := s.vault.seal(newcomerSeal, n)
	if err != nil {
		return nil, err
	}
	answer := &oauthwire.Registration{ClientMetadata: oauthwire.ClientMetadata{
		ClientID: newcomerPrefix + id, Name: n.Name, RedirectURIs: n.Redirects, GrantTypes: n.Grants,
		ResponseTypes: []string{"code"}, TokenAuthMethod: n.Method, ApplicationType: asked.ApplicationType,
		DPoPBoundTokens: n.DPoP,
	}}
	answer.ClientIDIssuedAt = oauthwire.Seconds(n.Issued)
	if n.Method != oauthwire.NoClientAuth {
		answer.ClientSecret = oauthwire.Secret(s.newcomerSecret(answer.ClientID))
	}
	return answer, nil
}

// newcomerGrants are the grant types for clients that nobody has looked at: what
// they get is what a user allows.
var newcomerGrants = []string{oauthwire.GrantAuthorizationCode, oauthwire.GrantRefreshToken}

func (s *Server) checkNewcomer(n *newcomer, asked *oauthwire.ClientMetadata) error {
	const invalid = oauthwire.ErrorInvalidClientMetadata
	if !slices.Contains(n.Grants, oauthwire.GrantAuthorizationCode) {
		return refuse(invalid, "clients that register themselves use authorization_code and refresh_token")
	}
	if asked.ResponseTypes != nil && !slices.Contains(asked.ResponseTypes, "code") {
		return refuse(invalid, "the only response type is code")
	}
	switch n.Method {
	case oauthwire.NoClientAuth, oauthwire.ClientSecretBasic, oauthwire.ClientSecretPost:
	default:
		return refuse(invalid, "clients that register themselves authenticate with none, client_secret_basic or client_secret_post")
	}
	if len(n.Redirects) == 0 || len(n.Redirects) > maxRedirects {
		return refuse(oauthwire.ErrorInvalidRedirectURI, "there must be 1 to %d redirect URIs", maxRedirects)
	}
	length := 0
	for _, uri := range n.Redirects {
		if err := s.checkRedirect(uri); err != nil {
			return refuse(oauthwire.ErrorInvalidRedirectURI, "%v", err)
		}
		if length += len(uri); length > maxRedirectText {
			return refuse(oauthwire.ErrorInvalidRedirectURI, "the redirect URIs are longer than %d bytes together", maxRedirectText)
		}
		if asked.ApplicationType == oauthwire.ApplicationWeb && local(uri) {
			return refuse(oauthwire.ErrorInvalidRedirectURI, "a web application is not on the user's machine; register as native")
		}
	}
	return nil
}

// newcomer returns the client that has registered and was given an id.
func (s *Server) newcomer(id string) (*client, bool) {
	if s.opts.NoRegistration || len(id) < len(newcomerPrefix) || id[:len(newcomerPrefix)] != newcomerPrefix {
		return nil, false
	}
	var n newcomer
	if s.vault.open(newcomerSeal, id[len(newcomerPrefix):], &n) != nil {
		return nil, false
	}
	c := &client{
		id: id, name: n.Name, origin: registered, method: n.Method, redirects: n.Redirects, grants: n.Grants, dpop: n.DPoP,
	}
	if n.Method != oauthwire.NoClientAuth {
		c.secret = s.newcomerSecret(id)
	}
	return c, true
}

func (s *Server) newcomerSecret(id string) string { return s.vault.mac("client secret", id) }
