package authserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// Upstream is an OpenID Connect provider at which users sign in, instead of here
// ("Third-Party Authorization Flow"). The server is a client of it, with the
// redirect URI that is the issuer and "/callback". What it issues is bound to that
// login: it ends when the provider revokes it, or lets it expire.
type Upstream struct {
	Issuer       string // of the provider
	ClientID     string
	ClientSecret string // empty for a public client
	// Scopes are what to ask for; nil means openid, and offline_access if the
	// provider has it, without which users sign in again when its tokens expire.
	Scopes []string
	// User says who has signed in, from the claims of the ID token, and whether that
	// user may. Nil lets everybody in whom the provider knows, by the subject.
	User func(ctx context.Context, id *auth.Identity) (User, error)
	// Client talks to the provider; nil means one of the package.
	Client *http.Client
}

const (
	upstreamTimeout  = 10 * time.Second
	upstreamLife     = time.Hour // of tokens that do not say when they expire
	upstreamMetadata = time.Hour // how long the provider's metadata is kept
)

// A provider is an upstream, as a client of it sees it.
type provider struct {
	Upstream

	issuer   *url.URL
	redirect string
	ids      *auth.JWT // verifies ID tokens
	http     http.Client

	mu      sync.Mutex
	known   *oauthwire.ServerMetadata
	fetched time.Time
}

func newProvider(u Upstream, redirect string) (*provider, error) {
	issuer, err := oauthwire.ParseIssuer(u.Issuer)
	if err != nil {
		return nil, err
	}
	if u.ClientID == "" {
		return nil, errors.New("it has no ClientID")
	}
	p := &provider{Upstream: u, issuer: issuer, redirect: redirect}
	if u.Client != nil {
		p.http = *u.Client
	} else {
		p.http.Timeout = upstreamTimeout
	}
	// Credentials go to where they were meant for and nowhere else.
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.ids, err = auth.NewJWT(u.Issuer, &auth.JWTOptions{Types: []string{"jwt", ""}, Client: &p.http})
	return p, err
}

// metadata returns how the provider describes itself.
func (p *provider) metadata(ctx context.Context) (*oauthwire.ServerMetadata, error) {
	p.mu.Lock()
	known, fetched := p.known, p.fetched
	p.mu.Unlock()
	if known != nil && time.Since(fetched) < upstreamMetadata {
		return known, nil
	}
	var failed error
	for _, location := range oauthwire.ServerMetadataURLs(p.issuer) {
		status, data, err := p.send(ctx, http.MethodGet, location, nil)
		if err != nil || status != http.StatusOK {
			failed = errors.Join(failed, err, fmt.Errorf("%s: status %d", location, status))
			continue
		}
		m, err := oauthwire.ReadServerMetadata(data)
		switch {
		case err != nil:
			return nil, err
		case m.Issuer != p.Issuer:
			return nil, fmt.Errorf("metadata of %s: it is that of another issuer", p.Issuer)
		case m.AuthorizationEndpoint == "" || m.TokenEndpoint == "":
			return nil, fmt.Errorf("metadata of %s: it has no endpoints for codes", p.Issuer)
		}
		p.mu.Lock()
		p.known, p.fetched = m, time.Now()
		p.mu.Unlock()
		return m, nil
	}
	if known != nil {
		return known, nil // older is better than none
	}
	return nil, failed
}

// authorizeURL returns where the user signs in.
func (p *provider) authorizeURL(ctx context.Context, d *delegation) (string, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(m.AuthorizationEndpoint)
	if err != nil {
		return "", err
	}
	scopes := p.Scopes
	if scopes == nil {
		scopes = []string{scopeOpenID}
		if slices.Contains(m.ScopesSupported, oauthwire.ScopeOffline) {
			scopes = append(scopes, oauthwire.ScopeOffline)
		}
	}
	query := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": p.ClientID, "redirect_uri": p.redirect, "scope": oauthwire.JoinScopes(scopes),
		"state": d.State, "nonce": d.Nonce, "code_challenge": challengeOf(d.Verifier), "code_challenge_method": oauthwire.MethodS256,
	} {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// errEnded is the error of a login that the provider has ended.
var errEnded = errors.New("the login at the provider has ended")

// exchange gets tokens for a code, or for a refresh token.
func (p *provider) exchange(ctx context.Context, form url.Values) (*oauthwire.TokenResponse, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return nil, err
	}
	if p.ClientSecret == "" {
		form.Set("client_id", p.ClientID)
	}
	status, data, err := p.send(ctx, http.MethodPost, m.TokenEndpoint, form)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		if e, ok := oauthwire.ReadError(data); ok {
			if e.Code == oauthwire.ErrorInvalidGrant {
				return nil, fmt.Errorf("%w: %w", errEnded, e)
			}
			return nil, e
		}
		return nil, fmt.Errorf("%s: status %d", m.TokenEndpoint, status)
	}
	return oauthwire.ReadTokenResponse(data)
}

// identify returns who an ID token speaks of, if it is for us and for this login
// (OpenID Connect Core, section 3.1.3.7).
func (p *provider) identify(ctx context.Context, token, nonce string) (User, error) {
	id, err := p.ids.Verify(ctx, token)
	if err != nil {
		return User{}, fmt.Errorf("ID token: %w", err)
	}
	var got, party string
	if _, err := id.Claim("nonce", &got); err != nil {
		return User{}, err
	}
	if _, err := id.Claim("azp", &party); err != nil {
		return User{}, err
	}
	switch {
	case id.Subject == "" || id.Expires.IsZero():
		return User{}, errors.New("ID token: it has no subject, or no end")
	case !slices.Contains(id.Audience, p.ClientID), len(id.Audience) > 1 && party != p.ClientID, party != "" && party != p.ClientID:
		return User{}, errors.New("ID token: it is for another client")
	case got != nonce:
		return User{}, errors.New("ID token: it is for another login")
	}
	if p.User != nil {
		return p.User(ctx, id)
	}
	user := User{Subject: id.Subject}
	_, err = id.Claim("name", &user.Name)
	return user, err
}

// send sends a request to the provider and reads the answer.
func (p *provider) send(ctx context.Context, method, location string, form url.Values) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, upstreamTimeout)
	defer cancel()
	var body io.Reader = http.NoBody
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	rq, err := http.NewRequestWithContext(ctx, method, location, body)
	if err != nil {
		return 0, nil, err
	}
	rq.Header.Set("Accept", "application/json")
	if form != nil {
		rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if p.ClientSecret != "" {
			rq.SetBasicAuth(url.QueryEscape(p.ClientID), url.QueryEscape(p.ClientSecret))
		}
	}
	resp, err := p.http.Do(rq)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var data bytes.Buffer
	_, err = data.ReadFrom(io.LimitReader(resp.Body, oauthwire.MaxDocument))
	return resp.StatusCode, data.Bytes(), err
}

// loginOf returns what is kept of tokens of the provider, and of those before.
func loginOf(t *oauthwire.TokenResponse, before *upstreamLogin) *upstreamLogin {
	now := time.Now()
	life := time.Duration(t.ExpiresIn) * time.Second
	if life <= 0 {
		life = upstreamLife
	}
	login := &upstreamLogin{Access: string(t.AccessToken), Refresh: string(t.RefreshToken), Expires: now.Add(life), Checked: now}
	if login.Refresh == "" && before != nil {
		login.Refresh = before.Refresh // it may be used again
	}
	return login
}
