package authserver

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// exchangeLife is how long what comes of a token exchange is good for at most.
const exchangeLife = 5 * time.Minute

// An actor is who uses a token in somebody's name (RFC 8693, section 4.1).
type actor struct {
	Subject string `json:"sub"`
	Actor   *actor `json:"act,omitempty"` // who did before
}

// grantExchange answers with another token for one that the client has (RFC 8693):
// the server of a resource gets one with which it calls another resource in the
// caller's name, and does not pass on the one it has; and a client that knows the
// user, from an ID token, gets an assertion for another authorization server.
func (s *Server) grantExchange(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	if rq.client.public() {
		return nil, refuse(oauthwire.ErrorInvalidClient, "the client has to authenticate")
	}
	if rq.form.Get("actor_token") != "" {
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the actor is the client; there is no actor_token")
	}
	switch asked := rq.form.Get("requested_token_type"); {
	case asked == oauthwire.TypeIDJAG:
		return s.exchangeIdentity(ctx, rq)
	case asked != "" && asked != oauthwire.TypeAccessToken && asked != oauthwire.TypeJWT:
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the requested_token_type is not supported")
	case rq.form.Get("subject_token_type") != oauthwire.TypeAccessToken:
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the subject_token_type is not that of an access token")
	}
	claims, err := s.subject(ctx, rq)
	if err != nil {
		return nil, err
	}
	resource, err := s.resource(rq.form["resource"])
	if err != nil {
		return nil, err
	}
	scopes, err := s.narrower(rq, claims.Scope)
	if err != nil {
		return nil, err
	}
	rq.until = earlier(time.Unix(claims.Expires, 0), time.Now().Add(exchangeLife))
	answer, err := s.issue(ctx, rq, accessClaims{
		Subject: claims.Subject, Audience: resource, Scope: oauthwire.JoinScopes(scopes), SignedIn: claims.SignedIn, Grant: claims.Grant,
		Actor: &actor{rq.client.id, claims.Actor},
	})
	if err == nil {
		answer.IssuedTokenType = oauthwire.TypeAccessToken
	}
	return answer, err
}

// subject returns the claims of the token that the server of a resource has got from
// its caller.
func (s *Server) subject(ctx context.Context, rq *tokenRequest) (*accessClaims, error) {
	claims, err := s.active(ctx, rq.form.Get("subject_token"))
	switch {
	case err != nil:
		return nil, err
	case claims == nil, rq.client.resource == "" || claims.Audience != rq.client.resource:
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the subject_token is no token for the resource that this client is the server of")
	case claims.Confirmation != nil && rq.thumbprint == "":
		return nil, refuse(oauthwire.ErrorInvalidDPoPProof, "the subject_token is bound to a key: so must its successor be")
	}
	return claims, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// narrower returns the scopes asked for, which must be among those there are; when none
// are asked for, all of them that the client may have.
func (s *Server) narrower(rq *tokenRequest, have string) ([]string, error) {
	all, asked := oauthwire.Scopes(have), oauthwire.Scopes(rq.form.Get("scope"))
	if len(asked) == 0 {
		return withoutUsers(slices.DeleteFunc(all, func(scope string) bool { return !rq.client.may(scope) })), nil
	}
	if slices.ContainsFunc(asked, func(scope string) bool { return !slices.Contains(all, scope) || !rq.client.may(scope) }) {
		return nil, refuse(oauthwire.ErrorInvalidScope, "the subject_token does not have all of these scopes, or the client may not")
	}
	return withoutUsers(asked), nil
}

// identityAssertion are the claims of an ID-JAG.
type identityAssertion struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Resource string `json:"resource"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope,omitempty"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// exchangeIdentity answers with an identity assertion for another authorization
// server, one of those that the client may have them for, about the user whose ID
// token the client has ("Enterprise-Managed Authorization").
func (s *Server) exchangeIdentity(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	if rq.form.Get("subject_token_type") != oauthwire.TypeIDToken {
		return nil, refuse(oauthwire.ErrorInvalidRequest, "the subject_token_type is not that of an ID token")
	}
	var claims idClaims
	err := s.verify(ctx, typeID, rq.form.Get("subject_token"), &claims)
	if err != nil || claims.Issuer != s.opts.Issuer || claims.Audience != rq.client.id || time.Now().Unix() >= claims.Expires {
		return nil, refuse(oauthwire.ErrorInvalidGrant, "the subject_token is no ID token of this server for this client, or has expired")
	}
	if g, err := s.live(ctx, claims.Grant); err != nil || g == nil {
		return nil, cmpError(err, refuse(oauthwire.ErrorInvalidGrant, "the login of the subject_token has ended"))
	}
	audience := rq.form.Get("audience")
	other, known := rq.client.elsewhere[audience]
	if !known || len(rq.form["resource"]) != 1 {
		return nil, refuse(oauthwire.ErrorInvalidTarget, "the client gets no assertions for this audience, or there is not one resource")
	}
	now := time.Now()
	assertion := identityAssertion{
		Issuer: s.opts.Issuer, Subject: claims.Subject, Audience: audience, Resource: rq.form.Get("resource"), Client: other,
		Scope: oauthwire.JoinScopes(oauthwire.Scopes(rq.form.Get("scope"))), ID: rand.Text(), IssuedAt: now.Unix(), Expires: now.Add(exchangeLife).Unix(),
	}
	token, err := s.sign(ctx, typeIDJAG, assertion)
	return &oauthwire.TokenResponse{
		AccessToken: oauthwire.Secret(token), TokenType: "N_A", IssuedTokenType: oauthwire.TypeIDJAG,
		ExpiresIn: oauthwire.Seconds(exchangeLife.Seconds()), Scope: assertion.Scope,
	}, err
}

// cmpError returns the first of two errors that is one.
func cmpError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
