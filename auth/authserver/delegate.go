package authserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// delegationLife is how long users may take to sign in at the provider.
const delegationLife = 10 * time.Minute

// renewLease is how long nobody else renews a login while one does.
const renewLease = 2 * upstreamTimeout

// A delegation is a user who is on the way to the provider, after consent.
type delegation struct {
	State    string `json:"state"`
	Browser  string `json:"browser"` // the cookie of the browser that left
	Query    string `json:"query"`   // the authorization request
	Verifier string `json:"verifier"`
	Nonce    string `json:"nonce"`
}

const delegationKind = "delegation"

// An upstreamLogin is what the provider has issued for a grant.
type upstreamLogin struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires"`
	Checked time.Time `json:"checked"`        // when the provider was last asked
	Lease   time.Time `json:"lease,omitzero"` // until when somebody asks it
}

// challengeOf returns the code challenge of a verifier (RFC 7636, section 4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// delegate sends a user who has agreed to the provider. Nothing was kept before, and
// the browser had no cookie to come back with. Anybody can come this far, so there is a
// limit: or else the store would fill up for everybody.
func (s *Server) delegate(w http.ResponseWriter, r *http.Request, a *authorization) {
	if !s.leaving.allow() {
		s.sendError(w, r, a, &failure{http.StatusServiceUnavailable, oauthwire.Error{
			Code: oauthwire.ErrorTemporarilyUnavailable, Description: "too many users sign in now",
		}})
		return
	}
	d := &delegation{
		State: rand.Text(), Browser: rand.Text(), Query: r.URL.RawQuery, Verifier: rand.Text() + rand.Text(), Nonce: rand.Text(),
	}
	target, err := s.provider.authorizeURL(r.Context(), d)
	if err == nil {
		err = update(r.Context(), s.vault, delegationKind, d.State, func(*delegation) (*delegation, time.Time, error) {
			return d, time.Now().Add(delegationLife), nil
		})
	}
	if err != nil {
		s.sendError(w, r, a, s.failureOf(r.Context(), err))
		return
	}
	s.setCookie(w, "state", d.Browser, delegationLife)
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// serveCallback is where the provider sends users back to.
func (s *Server) serveCallback(w http.ResponseWriter, r *http.Request) {
	noStore(w)
	query := r.URL.Query()
	d, err := s.returned(r, query)
	if err != nil {
		s.log.WarnContext(r.Context(), "authorization server: a login was not begun here", "error", err)
		s.showError(w, http.StatusForbidden, "This login was not begun in this browser, or took too long. Go back to the application and start again.")
		return
	}
	s.setCookie(w, "state", "", -time.Second)
	asked, err := url.ParseQuery(d.Query)
	if err != nil {
		s.showError(w, http.StatusBadRequest, "The request of the application cannot be read.")
		return
	}
	c, redirect, err := s.recipient(r.Context(), asked)
	if err != nil {
		s.showError(w, http.StatusBadRequest, "The application is not known any more.")
		return
	}
	a, err := s.authorization(c, redirect, asked)
	if err == nil {
		var code string
		if code, err = s.signedIn(r.Context(), d, query, a); err == nil {
			s.redirect(w, r, a, url.Values{"code": {code}})
			return
		}
	}
	s.redirectFailure(w, r, a, err)
}

// redirectFailure tells the application, which the user has agreed to, that signing
// in went wrong. Why, the log knows.
func (s *Server) redirectFailure(w http.ResponseWriter, r *http.Request, a *authorization, err error) {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		s.log.WarnContext(r.Context(), "authorization server: sign in at the provider", "error", err)
		f = refuse(oauthwire.ErrorAccessDenied, "the user could not sign in")
	}
	s.redirect(w, r, a, url.Values{"error": {f.says.Code}, "error_description": {f.says.Description}})
}

var errState = errors.New("the state is not known, or of another browser")

// returned finds the delegation that a user comes back from, once.
func (s *Server) returned(r *http.Request, query url.Values) (*delegation, error) {
	cookie, err := r.Cookie(s.cookieName("state"))
	if err != nil || len(query["state"]) != 1 {
		return nil, errState
	}
	var found *delegation
	err = update(r.Context(), s.vault, delegationKind, query.Get("state"), func(d *delegation) (*delegation, time.Time, error) {
		if d == nil || !sameSecret(cookie.Value, d.Browser) {
			return nil, time.Time{}, errState
		}
		found = d
		return nil, time.Time{}, nil
	})
	return found, err
}

// signedIn makes the code for a user whom the provider has sent back.
func (s *Server) signedIn(ctx context.Context, d *delegation, query url.Values, a *authorization) (string, error) {
	m, err := s.provider.metadata(ctx)
	if err != nil {
		return "", err
	}
	// The answer of another provider must not be shown to this one (RFC 9207).
	if iss := query.Get("iss"); iss != m.Issuer && (iss != "" || m.IssParameter) {
		return "", errors.New("the answer is not from the provider")
	}
	if code := query.Get("error"); code != "" {
		return "", &oauthwire.Error{Code: code, Description: query.Get("error_description")}
	}
	tokens, err := s.provider.exchange(ctx, url.Values{
		"grant_type": {oauthwire.GrantAuthorizationCode}, "code": {query.Get("code")},
		"redirect_uri": {s.provider.redirect}, "code_verifier": {d.Verifier},
	})
	if err != nil {
		return "", err
	}
	user, err := s.provider.identify(ctx, string(tokens.IDToken), d.Nonce)
	if err != nil {
		return "", err
	}
	if user.Subject == "" {
		return "", errors.New("the user has no subject")
	}
	a.login = loginOf(tokens, nil)
	return s.newCode(ctx, a, user)
}

// renew makes sure that the login at the provider that a grant is bound to is good:
// by what the provider has said, or by asking it if that has expired, or is older
// than age. A grant whose login has ended ends.
func (s *Server) renew(ctx context.Context, g *grant, age time.Duration) (*grant, error) {
	if g == nil || g.Login == nil {
		return g, nil
	}
	now := time.Now()
	switch expired := now.After(g.Login.Expires.Add(-clockSkew)); {
	case !expired && (g.Login.Refresh == "" || now.Sub(g.Login.Checked) < age):
		return g, nil
	case g.Login.Refresh == "":
		return nil, s.revokeGrant(ctx, g.ID)
	case now.Before(g.Login.Lease) && now.Before(g.Login.Expires):
		return g, nil // somebody asks already
	}
	held, err := s.lease(ctx, g.ID)
	if err != nil || held == nil {
		return nil, err
	}
	tokens, err := s.provider.exchange(ctx, url.Values{
		"grant_type": {oauthwire.GrantRefreshToken}, "refresh_token": {held.Login.Refresh},
	})
	if errors.Is(err, errEnded) {
		return nil, s.revokeGrant(ctx, g.ID)
	}
	// Whoever asked may have gone; what the provider said must not be lost.
	ctx = context.WithoutCancel(ctx)
	login := *held.Login
	login.Lease = time.Time{}
	if err == nil {
		login = *loginOf(tokens, held.Login)
	}
	kept := s.keepLogin(ctx, g.ID, &login)
	if err != nil {
		s.log.WarnContext(ctx, "authorization server: renew a login at the provider", "error", err)
		return nil, &failure{http.StatusServiceUnavailable, oauthwire.Error{
			Code: oauthwire.ErrorTemporarilyUnavailable, Description: "the provider of the login cannot be reached",
		}}
	}
	held.Login = &login
	return held, kept
}

// lease takes the right to renew the login of a grant; nil if the grant has ended.
func (s *Server) lease(ctx context.Context, id string) (held *grant, err error) {
	err = update(ctx, s.vault, grantKind, id, func(g *grant) (*grant, time.Time, error) {
		switch {
		case g == nil || g.Revoked || g.Login == nil:
			return g, s.expiresOf(g), nil
		case time.Now().Before(g.Login.Lease):
			return nil, time.Time{}, &failure{http.StatusServiceUnavailable, oauthwire.Error{Code: oauthwire.ErrorTemporarilyUnavailable}}
		}
		login := *g.Login
		login.Lease = time.Now().Add(renewLease)
		next := *g
		next.Login = &login
		held = &next
		return held, s.grantExpires(held), nil
	})
	return held, err
}

func (s *Server) expiresOf(g *grant) time.Time {
	if g == nil {
		return time.Time{}
	}
	return s.grantExpires(g)
}

func (s *Server) keepLogin(ctx context.Context, id string, login *upstreamLogin) error {
	return update(ctx, s.vault, grantKind, id, func(g *grant) (*grant, time.Time, error) {
		if g == nil {
			return nil, time.Time{}, nil
		}
		next := *g
		next.Login = login
		return &next, s.grantExpires(&next), nil
	})
}

// UpstreamToken returns the access token of the provider for the login that a token
// of this server is bound to, to use the provider's interfaces as that user. It is
// for the process that the server is in; nobody else can have it. The error is
// [auth.ErrToken] when the login has ended.
func (s *Server) UpstreamToken(ctx context.Context, id *auth.Identity) (string, error) {
	var session string
	if _, err := id.Claim("sid", &session); err != nil {
		return "", err
	}
	g, err := s.live(ctx, session)
	if err == nil {
		g, err = s.renew(ctx, g, upstreamLife)
	}
	switch {
	case err != nil:
		return "", err
	case g == nil || g.Login == nil || id.Issuer != s.opts.Issuer || id.Subject != g.Subject:
		return "", auth.ErrToken
	}
	return g.Login.Access, nil
}
