package authserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

const revokedKind = "revoked token"

// serveIntrospect tells a resource server whether a token is good (RFC 7662). It is
// asked by the client that is the server of the token's resource, and says nothing
// of others.
func (s *Server) serveIntrospect(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	c, err := s.authenticate(r, form)
	if err == nil && (c.public() || c.resource == "") {
		err = refuse(oauthwire.ErrorInvalidClient, "the client is not the server of a resource")
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	claims, err := s.active(r.Context(), form.Get("token"))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if claims == nil || claims.Audience != c.resource {
		s.writeJSON(w, r, http.StatusOK, introspection{})
		return
	}
	answer := introspection{Active: true, accessClaims: claims, TokenType: oauthwire.SchemeBearer, Username: claims.Subject}
	if claims.Confirmation != nil {
		answer.TokenType = oauthwire.SchemeDPoP
	}
	s.writeJSON(w, r, http.StatusOK, answer)
}

// introspection is an answer: what is in the token, and what it is.
type introspection struct {
	Active    bool   `json:"active"`
	TokenType string `json:"token_type,omitempty"`
	Username  string `json:"username,omitempty"`
	*accessClaims
}

// active returns the claims of an access token that is good; nil if it is not.
func (s *Server) active(ctx context.Context, token string) (*accessClaims, error) {
	var claims accessClaims
	if err := s.verify(ctx, typeAccess, token, &claims); err != nil {
		if errors.Is(err, errToken) {
			return nil, nil
		}
		return nil, err
	}
	if claims.Issuer != s.opts.Issuer || time.Now().Unix() >= claims.Expires {
		return nil, nil
	}
	var revoked bool
	if found, err := s.vault.load(ctx, revokedKind, claims.ID, &revoked); err != nil || found {
		return nil, err
	}
	if claims.Grant != "" {
		g, err := s.live(ctx, claims.Grant)
		if err == nil {
			g, err = s.renew(ctx, g, s.opts.TokenLife)
		}
		if err != nil || g == nil {
			return nil, err
		}
	}
	return &claims, nil
}

// serveRevoke ends a token (RFC 7009): a refresh token with its whole grant, an
// access token alone, which those who ask can see. Tokens that are no good are
// revoked already, so the answer is always the same.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	c, err := s.authenticate(r, form)
	if err == nil && form.Get("token") == "" {
		err = refuse(oauthwire.ErrorInvalidRequest, "there is no token")
	}
	if err == nil {
		err = s.revoke(r.Context(), c, form.Get("token"))
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

func (s *Server) revoke(ctx context.Context, c *client, text string) error {
	var token refreshToken
	if s.vault.open(refreshSeal, text, &token) == nil {
		g, err := s.live(ctx, token.Grant)
		if err != nil || g == nil || g.Client != c.id {
			return err
		}
		return s.revokeGrant(ctx, g.ID)
	}
	claims, err := s.active(ctx, text)
	if err != nil || claims == nil || claims.Client != c.id {
		return err
	}
	_, err = s.vault.once(ctx, revokedKind, claims.ID, time.Unix(claims.Expires, 0))
	return err
}
