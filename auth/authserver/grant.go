package authserver

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A grant is what a user has allowed a client: all that comes of one code.
type grant struct {
	ID         string         `json:"id"`
	Client     string         `json:"client"`
	Subject    string         `json:"sub"`
	Scopes     []string       `json:"scopes,omitempty"`
	Resource   string         `json:"resource"`
	Nonce      string         `json:"nonce,omitempty"`
	Thumbprint string         `json:"jkt,omitempty"` // of the DPoP key that refresh tokens are bound to
	SignedIn   time.Time      `json:"at"`
	Offline    bool           `json:"offline,omitempty"`
	Turn       int            `json:"turn,omitempty"`    // of the refresh token that is good
	Turned     time.Time      `json:"turned,omitzero"`   // when it was handed out
	Login      *upstreamLogin `json:"login,omitempty"`   // at the provider, if there is one
	Revoked    bool           `json:"revoked,omitempty"` // kept until the last token has expired
}

// A code is an authorization code: the grant that is made of it, and what the token
// request must have.
type code struct {
	Grant     grant  `json:"grant"`
	Redirect  string `json:"redirect"`
	Challenge string `json:"challenge"`
	Used      bool   `json:"used,omitempty"`
}

// The kinds of records.
const (
	codeKind  = "code"
	grantKind = "grant"
)

// newCode makes the code for what a user has allowed.
func (s *Server) newCode(ctx context.Context, a *authorization, user User) (string, error) {
	now := time.Now()
	record := &code{
		Grant: grant{
			ID: rand.Text(), Client: a.client.id, Subject: user.Subject, Scopes: a.scopes, Resource: a.resource,
			Nonce: a.nonce, Thumbprint: a.thumbprint, SignedIn: now, Offline: a.offline(), Login: a.login,
		},
		Redirect: a.redirect, Challenge: a.challenge,
	}
	text := rand.Text() + rand.Text()
	err := update(ctx, s.vault, codeKind, text, func(*code) (*code, time.Time, error) { return record, now.Add(codeLife), nil })
	return text, err
}

var errCode = refuse(oauthwire.ErrorInvalidGrant, "the code is not known, has expired, was used, or is not for this request")

// redeem makes a grant of a code, for the client that it was issued to and with the
// verifier of the request it was issued for. A second use ends the grant, because
// one of the two was not the client (OAuth 2.1, section 4.1.3).
func (s *Server) redeem(ctx context.Context, rq *tokenRequest) (*grant, error) {
	c, text, redirect := rq.client, rq.form.Get("code"), rq.form.Get("redirect_uri")
	var g grant
	reused := false
	err := update(ctx, s.vault, codeKind, text, func(record *code) (*code, time.Time, error) {
		switch {
		case record == nil:
			return nil, time.Time{}, errCode
		case record.Used:
			g, reused = record.Grant, true
			return nil, time.Time{}, errCode
		case record.Grant.Client != c.id, redirect != "" && redirect != record.Redirect, !proves(rq.form.Get("code_verifier"), record.Challenge),
			record.Grant.Thumbprint != "" && record.Grant.Thumbprint != rq.thumbprint:
			return nil, time.Time{}, errCode
		}
		if _, err := s.asked(rq, &record.Grant); err != nil {
			return nil, time.Time{}, err
		}
		g = record.Grant
		used := *record
		used.Used = true
		// It is remembered for as long as its first refresh token may be waited for.
		return &used, time.Now().Add(s.idleLife()), nil
	})
	if reused {
		return nil, errors.Join(s.revokeGrant(ctx, g.ID), errCode)
	}
	if err != nil {
		return nil, err
	}
	if g.Thumbprint = rq.thumbprint; !c.public() {
		g.Thumbprint = "" // it is bound to the client, which authenticates
	}
	err = update(ctx, s.vault, grantKind, g.ID, func(old *grant) (*grant, time.Time, error) {
		if old != nil { // a second use was faster
			return nil, time.Time{}, errCode
		}
		g.Turned = time.Now()
		return &g, s.grantExpires(&g), nil
	})
	return &g, err
}

// asked returns the scopes that a token request is for, which may be fewer than
// those of its grant, and refuses one for more or for another resource.
func (s *Server) asked(rq *tokenRequest, g *grant) ([]string, error) {
	if named := rq.form["resource"]; len(named) > 0 {
		if resource, err := s.resource(named); err != nil || resource != g.Resource {
			return nil, refuse(oauthwire.ErrorInvalidTarget, "the user has allowed access to another resource")
		}
	}
	scopes := oauthwire.Scopes(rq.form.Get("scope"))
	if len(scopes) == 0 {
		return g.Scopes, nil
	}
	if slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(g.Scopes, scope) }) {
		return nil, refuse(oauthwire.ErrorInvalidScope, "the user has not granted all of these scopes")
	}
	return scopes, nil
}

// proves reports whether a verifier is the one of a challenge (RFC 7636, section
// 4.6). It has 43 to 128 characters.
func proves(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	return sameSecret(challengeOf(verifier), challenge)
}

// idleLife is how long a refresh token that is not used is good for.
func (s *Server) idleLife() time.Duration { return max(s.opts.GrantLife/4, s.opts.TokenLife) }

// grantExpires returns when nothing of a grant is good any more.
func (s *Server) grantExpires(g *grant) time.Time {
	end := g.SignedIn.Add(s.opts.GrantLife)
	if idle := g.Turned.Add(s.idleLife()); !g.Offline || idle.Before(end) {
		end = idle
	}
	if !g.Offline {
		end = g.Turned
	}
	// Its access tokens may be the last to go, and are asked about until then.
	return end.Add(s.opts.TokenLife + time.Minute)
}

// revokeGrant ends a grant: its refresh tokens, and its access tokens for those who
// ask. What is not there yet cannot come to be.
func (s *Server) revokeGrant(ctx context.Context, id string) error {
	err := update(ctx, s.vault, grantKind, id, func(g *grant) (*grant, time.Time, error) {
		if g == nil {
			g = &grant{ID: id, SignedIn: time.Now(), Turned: time.Now()}
		}
		ended := *g
		ended.Revoked, ended.Login = true, nil
		return &ended, s.grantExpires(&ended), nil
	})
	if err == nil {
		s.log.InfoContext(ctx, "authorization server: a grant has ended", "grant", id)
	}
	return err
}

// live returns a grant that has not ended; nil if it has.
func (s *Server) live(ctx context.Context, id string) (*grant, error) {
	var g grant
	found, err := s.vault.load(ctx, grantKind, id, &g)
	if err != nil || !found || g.Revoked {
		return nil, err
	}
	return &g, nil
}

// A refreshToken is what is in one.
type refreshToken struct {
	Grant string `json:"g"`
	Turn  int    `json:"t"`
}

const refreshSeal = "refresh"

func (s *Server) refreshToken(g *grant) (string, error) {
	return s.vault.seal(refreshSeal, refreshToken{g.ID, g.Turn})
}

var errRefresh = refuse(oauthwire.ErrorInvalidGrant, "the refresh token has expired, was revoked, was used before, or is not for this client")

// refresh takes a refresh token and makes the next turn of its grant. One that was
// used before ends the grant: either the one who used it first or the one who does
// now has stolen it (OAuth 2.1, section 4.3.1).
func (s *Server) refresh(ctx context.Context, rq *tokenRequest) (*grant, error) {
	var token refreshToken
	if err := s.vault.open(refreshSeal, rq.form.Get("refresh_token"), &token); err != nil {
		return nil, errRefresh
	}
	if known, err := s.live(ctx, token.Grant); err != nil {
		return nil, err
	} else if known, err = s.renew(ctx, known, s.opts.TokenLife/2); err != nil {
		return nil, err
	} else if known == nil {
		return nil, errRefresh
	}
	var g grant
	reused := false
	err := update(ctx, s.vault, grantKind, token.Grant, func(old *grant) (*grant, time.Time, error) {
		now := time.Now()
		switch {
		case old == nil, old.Revoked, !old.Offline, old.Client != rq.client.id, now.After(old.SignedIn.Add(s.opts.GrantLife)),
			now.After(old.Turned.Add(s.idleLife())), old.Thumbprint != "" && old.Thumbprint != rq.thumbprint:
			return nil, time.Time{}, errRefresh
		}
		if _, err := s.asked(rq, old); err != nil {
			return nil, time.Time{}, err
		}
		g = *old
		switch {
		case token.Turn == old.Turn:
			g.Turn, g.Turned = old.Turn+1, now
		case token.Turn == old.Turn-1 && now.Sub(old.Turned) < s.opts.RefreshGrace:
			// The answer may have been lost: the same successor again.
		default:
			reused = true
			return nil, time.Time{}, errRefresh
		}
		return &g, s.grantExpires(&g), nil
	})
	if reused {
		s.log.WarnContext(ctx, "authorization server: a refresh token was used twice", "grant", token.Grant, "client", rq.client.name)
		return nil, errors.Join(s.revokeGrant(ctx, token.Grant), errRefresh)
	}
	return &g, err
}

// EndGrant ends a grant, which the claim sid of its tokens names: nobody gets tokens
// for it any more, and those there are, are not good for those who ask. It is for
// operators, and for users who sign out.
func (s *Server) EndGrant(ctx context.Context, sid string) error { return s.revokeGrant(ctx, sid) }
