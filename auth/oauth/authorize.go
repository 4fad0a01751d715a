package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// authorize lets a user authorize us, and exchanges what that gives for a token
// (OAuth 2.1, section 4.1).
func (s *session) authorize(ctx context.Context, a *authority, scopes []string) (*credential, error) {
	if err := checkFlow(a); err != nil {
		return nil, err
	}
	id, err := s.known(ctx, a)
	if err != nil {
		return nil, err
	}
	back, err := s.listen(ctx, id)
	if err != nil {
		return nil, fail("authorize", a.issuer, err)
	}
	defer back.close(ctx)
	if id == nil || id.Kept && !id.Asked && id.Redirect != back.uri {
		if id, err = s.register(ctx, a, back.uri); err != nil {
			return nil, err
		}
	}
	key, err := a.newKey()
	if err != nil {
		return nil, err
	}
	p := newPending(a, back.uri, key)
	code, err := s.visit(ctx, back, p, id, scopes)
	if err != nil {
		return nil, err
	}
	c, err := s.exchange(ctx, a, p, id, code, scopes)
	back.finish(err)
	return c, err
}

// checkFlow refuses servers with which the flow cannot be safe, or cannot be at all.
// PKCE without an announcement may be no PKCE.
func checkFlow(a *authority) error {
	switch {
	case a.meta.AuthorizationEndpoint == "" || a.meta.TokenEndpoint == "":
		return fail("authorize", a.issuer, errors.New("the server has no endpoints for users to authorize"))
	case !slices.Contains(a.meta.CodeChallengeMethods, oauthwire.MethodS256):
		return fail("authorize", a.issuer, errors.New("the server does not announce PKCE with S256 in code_challenge_methods_supported"))
	}
	return nil
}

// A pending is an authorization request that was not answered yet: what its answer is
// judged by. The issuer is that of validated metadata.
type pending struct {
	issuer   string
	iss      bool // answers name the issuer
	resource string
	endpoint string
	redirect string
	state    string
	verifier string
	key      *dpop.Key
}

func newPending(a *authority, redirect string, key *dpop.Key) *pending {
	return &pending{
		issuer: a.meta.Issuer, iss: a.meta.IssParameter, resource: a.resource,
		endpoint: a.meta.AuthorizationEndpoint, redirect: redirect,
		state: rand.Text(), verifier: rand.Text() + rand.Text(), key: key,
	}
}

// url returns the page that the user decides on.
func (p *pending) url(clientID string, scopes []string) (string, error) {
	u, err := oauthwire.ParseURL(p.endpoint)
	if err != nil {
		return "", err
	}
	challenge := sha256.Sum256([]byte(p.verifier))
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", clientID)
	q.Set("redirect_uri", p.redirect)
	q.Set("state", p.state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(challenge[:]))
	q.Set("code_challenge_method", oauthwire.MethodS256)
	q.Set("resource", p.resource)
	if scope := oauthwire.JoinScopes(scopes); scope != "" {
		q.Set("scope", scope)
	}
	if slices.Contains(scopes, oauthwire.ScopeOffline) {
		q.Set("prompt", "consent") // or else providers of OpenID leave it out
	}
	if p.key != nil {
		q.Set("dpop_jkt", p.key.Thumbprint())
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

var errForeign = errors.New("the answer does not belong to this login")

// mine reports whether an answer is to this request. Anybody can send the browser to
// the redirect URI; without the state it is not looked at any further.
func (p *pending) mine(q url.Values) bool {
	state := q["state"]
	return len(state) == 1 && subtle.ConstantTimeCompare([]byte(state[0]), []byte(p.state)) == 1
}

// code returns the code in an answer, after the checks that come before it may go to
// any token endpoint ("Authorization Response Validation", RFC 9207, section 2.4).
// What an answer of another issuer says is not even repeated.
func (p *pending) code(q url.Values) (string, error) {
	if !p.mine(q) {
		return "", errForeign
	}
	for _, name := range []string{"iss", "code", "error"} {
		if len(q[name]) > 1 {
			return "", fmt.Errorf("the answer has two parameters %q", name)
		}
	}
	switch iss := q.Get("iss"); {
	case q.Has("iss") && iss != p.issuer:
		return "", errors.New("the answer is from another issuer")
	case !q.Has("iss") && p.iss:
		return "", errors.New("the answer does not name its issuer, which this server does")
	}
	if code := q.Get("error"); code != "" {
		said := &oauthwire.Error{Code: code, Description: q.Get("error_description")}
		return "", &Error{Step: "authorize", Server: p.issuer, Code: code, Err: said}
	}
	if q.Get("code") == "" {
		return "", errors.New("the answer has no code")
	}
	return q.Get("code"), nil
}

// visit sends the user to the authorization server and waits for the decision.
func (s *session) visit(ctx context.Context, back *receiver, p *pending, id *identity, scopes []string) (string, error) {
	page, err := p.url(id.ID, scopes)
	if err != nil {
		return "", fail("authorize", p.issuer, err)
	}
	s.c.opts.Logger.Info("asking a user to authorize", "issuer", p.issuer, "resource", p.resource, "scopes", scopes)
	var q url.Values
	if s.c.opts.Authorize != nil {
		rq := &AuthorizationRequest{URL: page, RedirectURI: p.redirect, Issuer: p.issuer, Resource: p.resource, Scopes: slices.Clone(scopes)}
		var redirected string
		if redirected, err = s.c.opts.Authorize(ctx, rq); err == nil {
			q, err = queryOf(redirected, p.redirect)
		}
	} else {
		back.expect(p.mine)
		if err = s.c.opts.Open(ctx, page); err == nil {
			q, err = back.wait(ctx)
		}
	}
	var code string
	if err == nil {
		code, err = p.code(q)
	}
	if err != nil {
		back.finish(err)
		if _, ok := errors.AsType[*Error](err); !ok {
			err = fail("authorize", p.issuer, err)
		}
		return "", err
	}
	return code, nil
}

// queryOf returns the parameters of a URL that must be the redirect URI.
func queryOf(redirected, redirect string) (url.Values, error) {
	u, err := url.Parse(strings.TrimSpace(redirected))
	if err != nil {
		return nil, errors.New("what the browser was sent to is not a URL")
	}
	want, err := url.Parse(redirect)
	if err != nil {
		return nil, err
	}
	if u.Scheme != want.Scheme || u.Host != want.Host || u.EscapedPath() != want.EscapedPath() {
		return nil, fmt.Errorf("what the browser was sent to does not begin with %s", redirect)
	}
	return url.ParseQuery(u.RawQuery)
}

// exchange exchanges a code for a token.
func (s *session) exchange(ctx context.Context, a *authority, p *pending, id *identity, code string, scopes []string) (*credential, error) {
	c := &credential{Issuer: a.issuer, Resource: a.resource, Client: id.stored(), Server: a.endpoints(), Scopes: scopes}
	if err := c.bind(p.key); err != nil {
		return nil, err
	}
	res, err := s.requestToken(ctx, &tokenRequest{
		step: "exchange", issuer: a.issuer, server: &c.Server, id: id, key: p.key,
		form: url.Values{
			"grant_type": {oauthwire.GrantAuthorizationCode}, "code": {code}, "redirect_uri": {p.redirect},
			"code_verifier": {p.verifier}, "resource": {p.resource},
		},
	})
	if err != nil {
		if codeOf(err) == oauthwire.ErrorInvalidClient && id.Kept && !id.Asked {
			err = errors.Join(err, s.forgetClient(ctx, a.issuer, id.ID))
		}
		return nil, err
	}
	if c, err = c.accept(res); err != nil {
		return nil, fail("exchange", a.issuer, err)
	}
	c.prebound = id.prebound
	return c, nil
}
