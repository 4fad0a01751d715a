package authserver

import (
	"context"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// maxQuery is the length of the longest authorization request.
const maxQuery = 8 << 10

// codeLife is how long a code may be on its way (OAuth 2.1, section 4.1.2).
const codeLife = time.Minute

// An authorization is a request for one (OAuth 2.1, section 4.1.1) that holds.
type authorization struct {
	client     *client
	redirect   string
	state      string
	challenge  string
	scopes     []string
	resource   string
	nonce      string         // of OpenID Connect
	login      *upstreamLogin // at the provider
	thumbprint string         // of the DPoP key that the code is bound to (RFC 9449, section 10)
}

// serveAuthorize is the authorization endpoint, and where its pages are sent to. No
// state is kept between a page and its answer: the URL has the request, which is
// checked anew.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	noStore(w)
	if r.Method == http.MethodPost {
		// Of browsers that say so, nothing from other sites; the form has a token too.
		if err := s.cross.Check(r); err != nil {
			s.showError(w, http.StatusForbidden, "This form was not sent from its own page.")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			s.showError(w, http.StatusBadRequest, "The form cannot be read.")
			return
		}
	}
	if len(r.URL.RawQuery) > maxQuery {
		s.showError(w, http.StatusRequestURITooLong, "The request of the application is too long.")
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.showError(w, http.StatusBadRequest, "The request of the application cannot be read.")
		return
	}
	// Without a client and a redirect URI that belong together the user must not be
	// sent anywhere (OAuth 2.1, section 4.1.2.1).
	c, redirect, err := s.recipient(r.Context(), query)
	if err != nil {
		f := s.failureOf(r.Context(), err)
		s.showError(w, max(f.status, http.StatusBadRequest), "The application sent a request that cannot be answered: "+f.says.Description+".")
		return
	}
	a, err := s.authorization(c, redirect, query)
	if err != nil {
		s.sendError(w, r, a, s.failureOf(r.Context(), err))
		return
	}
	var user User // known after consent, when somebody else signs users in
	if s.provider == nil {
		var ok bool
		if user, ok = s.login(w, r); !ok {
			return
		}
	}
	s.decide(w, r, a, user)
}

// recipient returns who asks and where the answer goes.
func (s *Server) recipient(ctx context.Context, query url.Values) (*client, string, error) {
	const invalid = oauthwire.ErrorInvalidRequest
	if len(query["client_id"]) != 1 || len(query["redirect_uri"]) > 1 {
		return nil, "", refuse(invalid, "there must be one client_id and one redirect_uri")
	}
	c, err := s.client(ctx, query.Get("client_id"))
	if err != nil {
		return nil, "", err
	}
	redirect := query.Get("redirect_uri")
	switch {
	case redirect == "" && len(c.redirects) == 1:
		redirect = c.redirects[0]
	case !c.redirectsTo(redirect):
		return nil, "", refuse(invalid, "the redirect_uri is not one that the application has registered")
	}
	return c, redirect, nil
}

// authorization checks the rest of a request. With an error, the result says where
// that goes.
func (s *Server) authorization(c *client, redirect string, query url.Values) (*authorization, error) {
	a := &authorization{client: c, redirect: redirect, state: query.Get("state")}
	if err := checkOnce(query); err != nil {
		return a, err
	}
	const invalid = oauthwire.ErrorInvalidRequest
	switch {
	case query.Has("request"):
		return a, refuse("request_not_supported", "requests in a JWT are not supported")
	case query.Has("request_uri"):
		return a, refuse("request_uri_not_supported", "requests by reference are not supported")
	case !c.allows(oauthwire.GrantAuthorizationCode):
		return a, refuse(oauthwire.ErrorUnauthorizedClient, "the client may not use this grant type")
	case query.Get("response_type") != "code":
		return a, refuse(oauthwire.ErrorUnsupportedResponseType, "the response_type must be code")
	case query.Get("response_mode") != "" && query.Get("response_mode") != "query":
		return a, refuse(invalid, "the response_mode must be query")
	case query.Get("code_challenge_method") != oauthwire.MethodS256:
		return a, refuse(invalid, "PKCE is required, with the code_challenge_method S256")
	case !validChallenge(query.Get("code_challenge")):
		return a, refuse(invalid, "the code_challenge is not the SHA-256 of a verifier in base64url")
	case query.Has("dpop_jkt") && !validChallenge(query.Get("dpop_jkt")):
		return a, refuse(invalid, "the dpop_jkt is not the thumbprint of a key")
	case query.Get("prompt") == "none":
		return a, refuse("interaction_required", "the user has to be asked")
	}
	a.challenge, a.nonce, a.thumbprint = query.Get("code_challenge"), query.Get("nonce"), query.Get("dpop_jkt")
	var err error
	if a.resource, err = s.resource(query["resource"]); err != nil {
		return a, err
	}
	a.scopes, err = s.grantable(c, query.Get("scope"))
	return a, err
}

// validChallenge reports whether text is a SHA-256 sum in base64url.
func validChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == 32
}

// decide lets the user decide on a request, or answers it if that has happened.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, a *authorization, user User) {
	decision := ""
	if r.Method == http.MethodPost && r.PostForm.Has("consent") {
		if err := s.checkConsent(r, user); err != nil {
			s.showError(w, http.StatusForbidden, "This page is too old, or was not made for you. Go back to the application and start again.")
			return
		}
		decision = r.PostForm.Get("decision")
	}
	switch {
	case (a.client.trusted || decision == "allow") && s.provider != nil:
		s.delegate(w, r, a)
	case a.client.trusted, decision == "allow":
		code, err := s.newCode(r.Context(), a, user)
		if err != nil {
			s.sendError(w, r, a, s.failureOf(r.Context(), err))
			return
		}
		s.redirect(w, r, a, url.Values{"code": {code}})
	case decision == "deny":
		s.redirect(w, r, a, url.Values{"error": {oauthwire.ErrorAccessDenied}, "error_description": {"the user said no"}})
	default:
		s.askConsent(w, r, a, user)
	}
}

// redirect sends the user back to the application with an answer, which says whose
// it is (RFC 9207).
func (s *Server) redirect(w http.ResponseWriter, r *http.Request, a *authorization, answer url.Values) {
	http.Redirect(w, r, s.answerURL(a, answer), http.StatusSeeOther) //nolint:gosec // the client has registered it
}

func (s *Server) answerURL(a *authorization, answer url.Values) string {
	answer.Set("iss", s.opts.Issuer)
	if a.state != "" {
		answer.Set("state", a.state)
	}
	separator := "?"
	if strings.Contains(a.redirect, "?") {
		separator = "&"
	}
	return a.redirect + separator + answer.Encode()
}

// sendError tells an application that its request does not hold. Nobody has vouched
// for one that is not configured, and the user has not been asked yet: so that
// nobody can use this server to send people elsewhere, they are shown where they
// would go ("Open Redirection").
func (s *Server) sendError(w http.ResponseWriter, r *http.Request, a *authorization, f *failure) {
	answer := url.Values{"error": {f.says.Code}}
	if f.says.Description != "" {
		answer.Set("error_description", f.says.Description)
	}
	if a.client.origin == configured || local(a.redirect) {
		s.redirect(w, r, a, answer)
		return
	}
	s.show(w, http.StatusBadRequest, errorPage, errorView{
		Message: "The application sent a request that cannot be granted: " + oauthwire.Printable(f.Error(), 300) + ".",
		Back:    template.URL(s.answerURL(a, answer)), //nolint:gosec // its scheme was checked
		BackTo:  hostOf(a.redirect),
	})
}

// hostOf returns what a user should know of where a redirect URI leads.
func hostOf(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || u.Host == "" {
		name, _, _ := strings.Cut(redirect, ":")
		return name + " (an application on this device)"
	}
	return u.Host
}

// offline reports whether a grant comes with refresh tokens.
func (a *authorization) offline() bool {
	return a.client.allows(oauthwire.GrantRefreshToken) || slices.Contains(a.scopes, oauthwire.ScopeOffline)
}
