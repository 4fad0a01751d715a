package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

var errNotRefreshable = errors.New("there is no refresh token")

// refresh replaces a token that is no good any more with the help of its refresh token.
// Of everybody who shares the store, one at a time does so, and the others take what
// that one got: a refresh token is often good for one use. Only the answer that the
// token is invalid makes it forgotten.
func (s *session) refresh(ctx context.Context, stale *credential) (*credential, error) {
	store, key := s.c.opts.Store, credentialKey(stale.Issuer, stale.Resource)
	unlock, err := lock(ctx, store, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := loadCredential(ctx, store, stale.Issuer, stale.Resource)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, fail("refresh", stale.Issuer, errNotRefreshable) // somebody has logged out
	case c.Access != stale.Access && c.fresh():
		return c, nil
	case c.Refresh == "":
		return nil, fail("refresh", stale.Issuer, errNotRefreshable)
	}
	next, err := s.renew(ctx, c)
	if err == nil {
		s.c.opts.Logger.Debug("refreshed a token", "issuer", c.Issuer, "resource", c.Resource)
		s.put(ctx, next)
		return next, nil
	}
	s.c.opts.Logger.Warn("refreshing a token", "issuer", c.Issuer, "resource", c.Resource, "error", err)
	if !temporary(err) {
		err = errors.Join(err, s.forgetRefused(ctx, c, codeOf(err)))
	}
	return nil, err
}

// renew sends the refresh request.
func (s *session) renew(ctx context.Context, c *credential) (*credential, error) {
	id := s.identityOf(c)
	if id == nil {
		return nil, fail("refresh", c.Issuer, errors.New("the client that the token was issued to is not in the options any more"))
	}
	server := c.Server
	rq := &tokenRequest{
		step: "refresh", issuer: c.Issuer, server: &server, id: id, key: c.key,
		form: url.Values{
			"grant_type": {oauthwire.GrantRefreshToken}, "refresh_token": {string(c.Refresh)}, "resource": {c.Resource},
		},
	}
	var res *oauthwire.TokenResponse
	try := func() (err error) {
		// Once the server has seen the request, the answer must not be lost.
		res, err = s.requestToken(context.WithoutCancel(ctx), rq)
		return err
	}
	err := retry(ctx, try)
	if s.moved(ctx, c, &server, err) {
		err = retry(ctx, try)
	}
	if err != nil {
		return nil, err
	}
	next, err := c.accept(res)
	if err != nil {
		return nil, fail("refresh", c.Issuer, err)
	}
	next.Server = server
	return next, nil
}

// moved finds out whether the token endpoint is not where it was, if that seems so.
func (s *session) moved(ctx context.Context, c *credential, server *endpoints, err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != "" || e.Status != http.StatusNotFound && e.Status != http.StatusGone && e.Status != http.StatusMethodNotAllowed {
		return false
	}
	meta, err := s.serverMetadata(ctx, c.Issuer, http.Header{})
	if err != nil || meta.TokenEndpoint == "" || meta.TokenEndpoint == server.Token {
		return false
	}
	*server = (&authority{issuer: c.Issuer, meta: meta}).endpoints()
	return true
}

// identityOf returns the client that a token was issued to; nil if that is gone.
func (s *session) identityOf(c *credential) *identity {
	if c.Client.Kept || c.Client.ID == "" || c.Client.ID == s.c.opts.MetadataURL {
		id := c.Client
		if c.Client.ID == s.c.opts.MetadataURL {
			id.key, id.keyID = s.c.opts.MetadataKey, s.c.opts.MetadataKeyID
		}
		return &id
	}
	for i := range s.c.opts.Registrations {
		r := &s.c.opts.Registrations[i]
		if r.ID == c.Client.ID && (r.Issuer == c.Issuer || r.Issuer == "") {
			return r.identity()
		}
	}
	return nil
}

// forgetRefused forgets what the server has said is not valid.
func (s *session) forgetRefused(ctx context.Context, c *credential, code string) error {
	store := s.c.opts.Store
	lostClient := code == oauthwire.ErrorInvalidClient && c.Client.Kept && !c.Client.Asked
	if code != oauthwire.ErrorInvalidGrant && !lostClient {
		return nil
	}
	err := forget(ctx, store, credentialKey(c.Issuer, c.Resource))
	if lostClient {
		err = errors.Join(err, s.forgetClient(ctx, c.Issuer, c.Client.ID))
	}
	return err
}

// forgetClient forgets a registration that the server has forgotten, unless there is
// a newer one.
func (s *session) forgetClient(ctx context.Context, issuer, clientID string) error {
	kept := new(identity)
	if found, err := load(ctx, s.c.opts.Store, clientKey(issuer), kept); !found || err != nil || kept.ID != clientID {
		return err
	}
	return forget(ctx, s.c.opts.Store, clientKey(issuer))
}

// put keeps a credential that was just issued. The old one is worth nothing any more,
// so a store that fails is tried again, and then the token is used all the same.
func (s *session) put(ctx context.Context, c *credential) {
	ctx = context.WithoutCancel(ctx)
	err := retry(ctx, func() error {
		err := save(ctx, s.c.opts.Store, credentialKey(c.Issuer, c.Resource), c)
		if e, ok := errors.AsType[*Error](err); ok {
			e.Temporary = true
		}
		return err
	})
	if err != nil {
		s.c.opts.Logger.Error("a new token could not be kept and will be lost with this process", "issuer", c.Issuer, "error", err)
	}
}
