package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// known returns who we are at an authorization server, as far as that can be said
// without asking anybody: by the options, by our metadata document, or by an earlier
// registration ("Client Registration"). It returns nil if nothing is known.
func (s *session) known(ctx context.Context, a *authority) (*identity, error) {
	id, err := s.preregistered(ctx, a.issuer)
	if id != nil || err != nil {
		return id, err
	}
	if a.meta.ClientMetadataDocument && s.c.opts.MetadataURL != "" {
		return &identity{ID: s.c.opts.MetadataURL, key: s.c.opts.MetadataKey, keyID: s.c.opts.MetadataKeyID}, nil
	}
	kept := new(identity)
	found, err := load(ctx, s.c.opts.Store, clientKey(a.issuer), kept)
	if err != nil {
		s.c.opts.Logger.Warn("a registration cannot be read, so there will be another", "issuer", a.issuer, "error", err)
	}
	if !found {
		return nil, nil
	}
	if !kept.SecretExpires.IsZero() && time.Until(kept.SecretExpires) < time.Minute {
		return nil, nil
	}
	return kept, nil
}

// preregistered returns the client of the options for an issuer. One without an issuer
// belongs to the issuer that this endpoint has named first.
func (s *session) preregistered(ctx context.Context, issuer string) (*identity, error) {
	var open *Registration
	for i := range s.c.opts.Registrations {
		switch r := &s.c.opts.Registrations[i]; {
		case r.Issuer == issuer:
			return r.identity(), nil
		case r.Issuer == "" && open == nil:
			open = r
		}
	}
	if len(s.c.opts.Registrations) == 0 {
		return nil, nil
	}
	var p pointer
	if _, err := load(ctx, s.c.opts.Store, pointerKey(s.name), &p); err != nil {
		return nil, err
	}
	if open != nil && (p.Prebound != open.ID || p.Issuer == issuer) {
		id := open.identity()
		id.prebound = open.ID
		return id, nil
	}
	if open != nil || p.Issuer != "" && p.Issuer != issuer && s.registeredAt(p.Issuer) {
		err := fmt.Errorf("the client is registered at %s, but the server now names another issuer", oauthwire.Printable(p.Issuer, 200))
		return nil, fail("register", issuer, err)
	}
	return nil, nil
}

func (s *session) registeredAt(issuer string) bool {
	return slices.ContainsFunc(s.c.opts.Registrations, func(r Registration) bool { return r.Issuer == issuer })
}

// register gets a client id from the authorization server (RFC 7591) or, if it gives
// none, from the user.
func (s *session) register(ctx context.Context, a *authority, redirect string) (*identity, error) {
	if a.meta.RegistrationEndpoint == "" {
		return s.askClient(ctx, a.issuer)
	}
	rq := s.c.opts.clientMetadata(registrationMethod(a.meta.TokenAuthMethods), redirect)
	body, err := json.Marshal(rq)
	if err != nil {
		return nil, err
	}
	res, err := s.fetch.post(ctx, "register", a.meta.RegistrationEndpoint, httpwire.TypeJSON, body, http.Header{})
	if err != nil {
		return nil, err
	}
	if res.status != http.StatusOK && res.status != http.StatusCreated {
		e := res.refusal("register", a.issuer)
		if e.Code == oauthwire.ErrorInvalidRedirectURI || e.Code == oauthwire.ErrorInvalidClientMetadata {
			e.Err = fmt.Errorf("the server does not accept a %s client with the redirect URI %s: %w", rq.ApplicationType, redirect, e.Err)
		}
		return nil, e
	}
	r, err := oauthwire.ReadRegistration(res.body)
	if err != nil {
		return nil, fail("register", a.issuer, err)
	}
	id := &identity{ID: r.ClientID, Secret: r.ClientSecret, Method: r.TokenAuthMethod, Kept: true, Redirect: redirect}
	if r.ClientSecret != "" && r.ClientSecretExpiresAt > 0 {
		id.SecretExpires = time.Unix(int64(r.ClientSecretExpiresAt), 0)
	}
	s.c.opts.Logger.Info("registered a client", "issuer", a.issuer, "client_id", id.ID)
	return id, save(ctx, s.c.opts.Store, clientKey(a.issuer), id)
}

// clientMetadata is what we say of ourselves. Refresh tokens are asked for where they
// exist.
func (o *Options) clientMetadata(method, redirect string) *oauthwire.ClientMetadata {
	m := &oauthwire.ClientMetadata{
		Name:            o.Name,
		URI:             o.URI,
		RedirectURIs:    []string{redirect},
		ApplicationType: oauthwire.ApplicationNative,
		GrantTypes:      []string{oauthwire.GrantAuthorizationCode, oauthwire.GrantRefreshToken},
		ResponseTypes:   []string{"code"},
		TokenAuthMethod: method,
		DPoPBoundTokens: o.DPoP,
	}
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "https" {
		m.ApplicationType = oauthwire.ApplicationWeb
	}
	return m
}

// MetadataDocument returns the Client ID Metadata Document to publish at MetadataURL,
// as JSON: what the other options say. With a MetadataKey it lists the public key.
func (o *Options) MetadataDocument() ([]byte, error) {
	filled, err := o.complete()
	if err != nil {
		return nil, err
	}
	if filled.MetadataURL == "" {
		return nil, errors.New("oauth options: a metadata document needs a MetadataURL")
	}
	m := filled.clientMetadata(oauthwire.NoClientAuth, filled.RedirectURL)
	m.ClientID = filled.MetadataURL
	if filled.MetadataKey != nil {
		m.TokenAuthMethod = oauthwire.PrivateKeyJWT
		if m.JWKS, err = publicKeys(filled.MetadataKey, filled.MetadataKeyID); err != nil {
			return nil, err
		}
	}
	return json.Marshal(m)
}

// registrationMethod returns how we want to authenticate: not at all, because a
// program on a user's machine can keep no secret of its own, or else as can be.
func registrationMethod(supported []string) string {
	for _, method := range []string{oauthwire.NoClientAuth, oauthwire.ClientSecretBasic, oauthwire.ClientSecretPost} {
		if slices.Contains(supported, method) {
			return method
		}
	}
	return oauthwire.NoClientAuth
}

func (s *session) askClient(ctx context.Context, issuer string) (*identity, error) {
	if s.c.opts.AskClient == nil || s.c.opts.Unattended {
		return nil, fail("register", issuer, errors.New("the server registers no clients by itself: get a client id from it and set it in the options"))
	}
	r, err := s.c.opts.AskClient(ctx, issuer)
	if err == nil && (r == nil || r.ID == "") {
		err = errors.New("no client id was given")
	}
	if err != nil {
		return nil, fail("register", issuer, err)
	}
	id := &identity{ID: r.ID, Secret: oauthwire.Secret(r.Secret), Method: r.Method, Kept: true, Asked: true, key: r.Key, keyID: r.KeyID}
	return id, save(ctx, s.c.opts.Store, clientKey(issuer), id)
}
