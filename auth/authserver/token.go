package authserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// The types of JWT that the server makes.
const (
	typeAccess = jose.ContentType("at+jwt") // RFC 9068
	typeID     = jose.ContentType("JWT")
)

// accessClaims are those of an access token (RFC 9068, section 2.2).
type accessClaims struct {
	Issuer       string        `json:"iss"`
	Subject      string        `json:"sub"`
	Audience     string        `json:"aud"`
	Client       string        `json:"client_id"`
	Scope        string        `json:"scope,omitempty"`
	ID           string        `json:"jti"`
	IssuedAt     int64         `json:"iat"`
	Expires      int64         `json:"exp"`
	SignedIn     int64         `json:"auth_time,omitempty"`
	Grant        string        `json:"sid,omitempty"`
	Confirmation *confirmation `json:"cnf,omitempty"`
	Actor        *actor        `json:"act,omitempty"`
}

// A confirmation names the key that a token is bound to (RFC 9449, section 6.1).
type confirmation struct {
	Thumbprint string `json:"jkt"`
}

// idClaims are those of an ID token (OpenID Connect Core, section 2).
type idClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	SignedIn int64  `json:"auth_time,omitempty"`
	Nonce    string `json:"nonce,omitempty"`
	Grant    string `json:"sid,omitempty"`
}

// A tokenRequest is a request to the token endpoint of a client that has
// authenticated.
type tokenRequest struct {
	client     *client
	form       url.Values
	thumbprint string    // of the key of the DPoP proof; empty without one
	until      time.Time // when access tokens expire at the latest, unless it is zero
}

// serveToken is the token endpoint (OAuth 2.1, section 3.2).
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answerToken(w, r)
	if err != nil {
		if errors.Is(err, dpop.ErrNonce) {
			w.Header().Set("DPoP-Nonce", s.nonces.Current())
			err = refuse(oauthwire.ErrorUseDPoPNonce, "the DPoP proof needs the nonce in the DPoP-Nonce header")
		}
		s.writeError(w, r, err)
		return
	}
	if s.opts.RequireNonce && answer.TokenType == oauthwire.SchemeDPoP {
		w.Header().Set("DPoP-Nonce", s.nonces.Current())
	}
	s.writeJSON(w, r, http.StatusOK, answer)
}

func (s *Server) answerToken(w http.ResponseWriter, r *http.Request) (*oauthwire.TokenResponse, error) {
	form, err := readForm(w, r)
	if err != nil {
		return nil, err
	}
	grantType := form.Get("grant_type")
	grants := map[string]func(context.Context, *tokenRequest) (*oauthwire.TokenResponse, error){
		oauthwire.GrantAuthorizationCode: s.grantCode,
		oauthwire.GrantRefreshToken:      s.grantRefresh,
		oauthwire.GrantClientCredentials: s.grantClientCredentials,
		oauthwire.GrantTokenExchange:     s.grantExchange,
		oauthwire.GrantJWTBearer:         s.grantAssertion,
	}
	serve := grants[grantType]
	if serve == nil {
		return nil, refuse(oauthwire.ErrorUnsupportedGrantType, "the grant type is missing, or not supported")
	}
	rq := &tokenRequest{form: form}
	if rq.client, err = s.requester(r, form, grantType); err != nil {
		return nil, err
	}
	if rq.thumbprint, err = s.proof(r); err != nil {
		return nil, err
	}
	if rq.client != nil && rq.client.dpop && rq.thumbprint == "" {
		return nil, refuse(oauthwire.ErrorInvalidDPoPProof, "the client has registered for tokens that are bound to a key: the request needs a DPoP proof")
	}
	return serve(r.Context(), rq)
}

// requester returns the client that wants a token and may use the grant type. It is
// nil if what authenticates it is the grant itself: an assertion that stands for it.
func (s *Server) requester(r *http.Request, form url.Values, grantType string) (*client, error) {
	bare := r.Header.Get("Authorization") == "" && !form.Has("client_secret") && !form.Has("client_assertion")
	if grantType == oauthwire.GrantJWTBearer && bare {
		return nil, nil
	}
	c, err := s.authenticate(r, form)
	if err != nil {
		return nil, err
	}
	allowed := c.allows(grantType)
	switch grantType {
	case oauthwire.GrantRefreshToken:
		allowed = allowed || c.allows(oauthwire.GrantAuthorizationCode) // with offline_access
	case oauthwire.GrantTokenExchange:
		allowed = allowed || c.resource != "" || c.elsewhere != nil
	}
	if !allowed {
		return nil, refuse(oauthwire.ErrorUnauthorizedClient, "the client may not use this grant type")
	}
	return c, nil
}

// proof returns the thumbprint of the key that a request has a DPoP proof of (RFC
// 9449, section 5); nothing if it has none.
func (s *Server) proof(r *http.Request) (string, error) {
	headers := r.Header.Values("DPoP")
	if len(headers) == 0 {
		return "", nil
	}
	if len(headers) > 1 {
		return "", refuse(oauthwire.ErrorInvalidDPoPProof, "there is more than one DPoP header")
	}
	rules := &dpop.Rules{Replays: &s.proofs}
	if s.opts.RequireNonce {
		rules.Nonce = s.nonces.Valid
	}
	proof, err := dpop.Check(headers[0], dpop.Request{Method: r.Method, URL: s.base + "/token"}, rules)
	switch {
	case errors.Is(err, dpop.ErrProof):
		return "", refuse(oauthwire.ErrorInvalidDPoPProof, "%v", err)
	case errors.Is(err, dpop.ErrReplays):
		return "", errors.Join(err, &failure{http.StatusServiceUnavailable, oauthwire.Error{Code: oauthwire.ErrorTemporarilyUnavailable}})
	case err != nil:
		return "", err
	}
	return proof.Thumbprint, nil
}

// grantCode answers with tokens for a code (OAuth 2.1, section 4.1.3).
func (s *Server) grantCode(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	g, err := s.redeem(ctx, rq)
	if err != nil {
		return nil, err
	}
	return s.answerGrant(ctx, rq, g)
}

// grantRefresh answers with tokens for a refresh token (OAuth 2.1, section 4.3).
func (s *Server) grantRefresh(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	g, err := s.refresh(ctx, rq)
	if err != nil {
		return nil, err
	}
	return s.answerGrant(ctx, rq, g)
}

// answerGrant makes the tokens of a grant.
func (s *Server) answerGrant(ctx context.Context, rq *tokenRequest, g *grant) (*oauthwire.TokenResponse, error) {
	scopes, err := s.asked(rq, g)
	if err != nil {
		return nil, err
	}
	if g.Login != nil {
		rq.until = g.Login.Expires
	}
	answer, err := s.issue(ctx, rq, accessClaims{
		Subject: g.Subject, Audience: g.Resource, Scope: oauthwire.JoinScopes(scopes), SignedIn: g.SignedIn.Unix(), Grant: g.ID,
	})
	if err != nil {
		return nil, err
	}
	if g.Offline {
		token, err := s.refreshToken(g)
		if err != nil {
			return nil, err
		}
		answer.RefreshToken = oauthwire.Secret(token)
	}
	if slices.Contains(scopes, scopeOpenID) {
		token, err := s.idToken(ctx, g)
		if err != nil {
			return nil, err
		}
		answer.IDToken = oauthwire.Secret(token)
	}
	return answer, nil
}

// idToken tells a client who has signed in.
func (s *Server) idToken(ctx context.Context, g *grant) (string, error) {
	now := time.Now()
	return s.sign(ctx, typeID, idClaims{
		Issuer: s.opts.Issuer, Subject: g.Subject, Audience: g.Client, IssuedAt: now.Unix(),
		Expires: now.Add(s.opts.TokenLife).Unix(), SignedIn: g.SignedIn.Unix(), Nonce: g.Nonce, Grant: g.ID,
	})
}

// grantClientCredentials answers with a token for the client itself (OAuth 2.1,
// section 4.2).
func (s *Server) grantClientCredentials(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	resource, err := s.resource(rq.form["resource"])
	if err != nil {
		return nil, err
	}
	scopes, err := s.grantable(rq.client, rq.form.Get("scope"))
	if err != nil {
		return nil, err
	}
	return s.issue(ctx, rq, accessClaims{Subject: rq.client.id, Audience: resource, Scope: oauthwire.JoinScopes(withoutUsers(scopes))})
}

// issue fills in and signs an access token.
func (s *Server) issue(ctx context.Context, rq *tokenRequest, claims accessClaims) (*oauthwire.TokenResponse, error) {
	now := time.Now()
	expires := now.Add(s.opts.TokenLife)
	if !rq.until.IsZero() && rq.until.Before(expires) {
		expires = rq.until
	}
	claims.Issuer, claims.Client, claims.ID = s.opts.Issuer, rq.client.id, rand.Text()
	claims.IssuedAt, claims.Expires = now.Unix(), expires.Unix()
	answer := &oauthwire.TokenResponse{
		TokenType: oauthwire.SchemeBearer, Scope: claims.Scope, ExpiresIn: oauthwire.Seconds(max(0, claims.Expires-claims.IssuedAt)),
	}
	if rq.thumbprint != "" {
		claims.Confirmation = &confirmation{rq.thumbprint}
		answer.TokenType = oauthwire.SchemeDPoP
	}
	token, err := s.sign(ctx, typeAccess, claims)
	answer.AccessToken = oauthwire.Secret(token)
	return answer, err
}
