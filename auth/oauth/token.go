package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

const formType = "application/x-www-form-urlencoded"

// The headers of DPoP.
const (
	headerDPoP      = "Dpop"
	headerDPoPNonce = "Dpop-Nonce"
)

// A tokenRequest is one to a token endpoint.
type tokenRequest struct {
	step   string
	issuer string
	server *endpoints
	id     *identity
	form   url.Values
	key    *dpop.Key // nil: the token is not bound to one
}

// requestToken sends a token request. It is repeated once if the server wants a nonce
// in the proof (RFC 9449, section 8).
func (s *session) requestToken(ctx context.Context, rq *tokenRequest) (*oauthwire.TokenResponse, error) {
	a, err := s.postToken(ctx, rq)
	if err != nil {
		return nil, err
	}
	if a.wantsNonce() && rq.key != nil {
		if a, err = s.postToken(ctx, rq); err != nil {
			return nil, err
		}
	}
	if a.status != http.StatusOK && a.status != http.StatusCreated {
		e := a.refusal(rq.step, rq.issuer)
		// What does not come from the authorization server but from something before
		// it says nothing about credentials.
		e.Temporary = e.Temporary || e.Code == ""
		return nil, e
	}
	res, err := oauthwire.ReadTokenResponse(a.body)
	if err != nil {
		e := fail(rq.step, rq.issuer, err)
		e.Status, e.Temporary = a.status, true
		return nil, e
	}
	return res, nil
}

func (a *answer) wantsNonce() bool {
	if a.status != http.StatusBadRequest && a.status != http.StatusUnauthorized || a.header.Get(headerDPoPNonce) == "" {
		return false
	}
	e, ok := oauthwire.ReadError(a.body)
	return ok && e.Code == oauthwire.ErrorUseDPoPNonce
}

func (s *session) postToken(ctx context.Context, rq *tokenRequest) (*answer, error) {
	form, header := maps.Clone(rq.form), http.Header{}
	if err := rq.id.authenticate(form, header, rq.server, rq.issuer); err != nil {
		return nil, fail(rq.step, rq.issuer, err)
	}
	if rq.key != nil {
		proof, err := rq.key.Proof(dpop.Request{Method: http.MethodPost, URL: rq.server.Token, Nonce: s.nonces.load(rq.server.Token)})
		if err != nil {
			return nil, fail(rq.step, rq.issuer, err)
		}
		header.Set(headerDPoP, proof)
	}
	a, err := s.fetch.post(ctx, rq.step, rq.server.Token, formType, []byte(form.Encode()), header)
	if err == nil {
		s.nonces.note(rq.server.Token, a.header)
	}
	return a, err
}

// nonces are the latest that servers want in proofs, by URL.
type nonces struct {
	mu     sync.Mutex
	latest map[string]string
}

func (n *nonces) load(url string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest[url]
}

func (n *nonces) note(url string, header http.Header) {
	nonce := header.Get(headerDPoPNonce)
	if nonce == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.latest == nil {
		n.latest = map[string]string{}
	}
	n.latest[url] = nonce // only URLs of this session and its servers
}

// newKey returns the key to bind the tokens of an authority to; nil for none.
func (a *authority) newKey() (*dpop.Key, error) {
	if !a.dpop {
		return nil, nil
	}
	if algorithms := a.meta.DPoPAlgorithms; len(algorithms) > 0 && !slices.Contains(algorithms, dpop.Algorithm) {
		return nil, fail("authorize", a.issuer, errors.New("the server has no signature algorithm of ours for DPoP"))
	}
	key, err := dpop.NewKey()
	if err != nil {
		return nil, fail("authorize", a.issuer, err)
	}
	return key, nil
}

func (a *authority) endpoints() endpoints {
	return endpoints{
		Token: a.meta.TokenEndpoint, Revocation: a.meta.RevocationEndpoint,
		Methods: a.meta.TokenAuthMethods, Algorithms: a.meta.TokenAuthAlgorithms,
	}
}

// renewMargin is how long before its end a token is replaced, at most; short ones are
// replaced after nine tenths of their life.
const renewMargin = 30 * time.Second

// accept takes what a token response brings into a copy of the credential.
func (c *credential) accept(res *oauthwire.TokenResponse) (*credential, error) {
	next := *c
	switch {
	case strings.EqualFold(res.TokenType, oauthwire.SchemeDPoP) && c.key != nil:
		next.Scheme = oauthwire.SchemeDPoP
	case strings.EqualFold(res.TokenType, oauthwire.SchemeBearer) && c.key == nil:
		next.Scheme = oauthwire.SchemeBearer
	case strings.EqualFold(res.TokenType, oauthwire.SchemeBearer):
		return nil, errors.New("the server did not bind the token to our key")
	default:
		return nil, fmt.Errorf("the server issued a token of the type %s", oauthwire.Printable(res.TokenType, 50))
	}
	next.Access, next.Expires, next.Renew = res.AccessToken, time.Time{}, time.Time{}
	if res.ExpiresIn > 0 {
		life := time.Duration(min(int64(res.ExpiresIn), maxLife)) * time.Second
		next.Expires = time.Now().Add(life).Round(0)
		next.Renew = next.Expires.Add(-min(renewMargin, life/10))
	}
	if res.RefreshToken != "" {
		next.Refresh = res.RefreshToken
	}
	if res.Scope != "" {
		next.Granted = oauthwire.Scopes(res.Scope)
	}
	return &next, nil
}

// maxLife bounds the life of a token in seconds: a hundred years.
const maxLife = 100 * 365 * 24 * 3600
