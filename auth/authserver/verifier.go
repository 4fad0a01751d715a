package authserver

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// verifyAgain is how long a resource in this process may go on without asking
// again whether a token was revoked.
const verifyAgain = 5 * time.Second

var _ auth.Verifier = (*Server)(nil)

// Issuer implements [auth.Verifier].
func (s *Server) Issuer() string { return s.opts.Issuer }

// Verify implements [auth.Verifier], for resources in the same process. Unlike who
// checks signatures only, it knows what was revoked.
func (s *Server) Verify(ctx context.Context, token string) (*auth.Identity, error) {
	claims, err := s.active(ctx, token)
	if err != nil {
		return nil, err
	}
	if claims == nil {
		return nil, fmt.Errorf("%w: it has expired, was revoked, or is not one of this server", auth.ErrToken)
	}
	raw, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	id := &auth.Identity{
		Issuer: claims.Issuer, Subject: claims.Subject, ClientID: claims.Client, Audience: []string{claims.Audience},
		Scopes: oauthwire.Scopes(claims.Scope), Expires: time.Unix(claims.Expires, 0), VerifyAgain: time.Now().Add(verifyAgain),
		Claims: raw,
	}
	if claims.Confirmation != nil {
		id.KeyThumbprint = claims.Confirmation.Thumbprint
	}
	return id, nil
}
