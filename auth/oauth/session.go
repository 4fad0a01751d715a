package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A session is what a Client knows of one MCP endpoint.
type session struct {
	c        *Client
	name     string // the endpoint, as stores know it
	endpoint *url.URL
	fetch    *fetcher
	nonces   nonces

	mu     sync.Mutex
	cred   *credential // the latest that is known; nil if none
	loaded bool        // the store was asked
	flight *flight     // nil: none
	failed *failure    // nil: the last flight went well
	steps  map[stepHash]bool
}

// A need is why a token is wanted.
type need struct {
	stale     oauthwire.Secret // a token that is no good; empty if there was none
	scopes    []string         // that a challenge asks for in addition
	challenge oauthwire.Challenge
	revision  string // of the protocol, as the request says
	again     bool   // a token that was just refreshed is no good either
	login     bool   // somebody wants to log in, whatever there is
}

// meets reports whether a credential is what is needed.
func (n *need) meets(c *credential) bool {
	return c != nil && !n.login && c.Access != n.stale && !c.expired() && c.wants(n.scopes)
}

// alike reports whether what fails for one need will fail for the other.
func (n *need) alike(m *need) bool {
	return n.login == m.login && slices.Equal(n.scopes, m.scopes)
}

// A flight is the one attempt to get a token for an endpoint that is under way.
type flight struct {
	need *need
	done chan struct{} // closed when the rest is set
	cred *credential
	err  error
}

// A failure is remembered for a while: a page that the user has closed must not open
// again with every request.
type failure struct {
	need  *need
	err   error
	until time.Time
}

const (
	failureMemory   = 30 * time.Second
	temporaryMemory = time.Second
	despairMemory   = 5 * time.Minute
)

var errRefused = errors.New("the server refuses tokens that were just issued for it")

// despair remembers that a token has not helped that was obtained for nothing else.
func (s *session) despair(n *need) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = &failure{n, fail("send", s.name, errRefused), time.Now().Add(despairMemory)}
}

// token returns the credential for a request; nil if there is none yet, which the
// server's answer is then to.
func (s *session) token(ctx context.Context, r *http.Request) (*credential, error) {
	s.mu.Lock()
	c, loaded := s.cred, s.loaded
	s.mu.Unlock()
	if !loaded {
		var err error
		if c, err = s.reload(ctx); err != nil {
			return nil, err
		}
	}
	if c == nil || c.fresh() {
		return c, nil
	}
	if c.Refresh == "" && s.c.opts.Grant == nil {
		if c.expired() {
			c = nil // its challenge says what to ask the user for
		}
		return c, nil
	}
	next, err := s.obtain(ctx, &need{stale: c.Access, revision: revisionOf(r)})
	if err != nil && !c.expired() && temporary(err) {
		return c, nil
	}
	return next, err
}

// reload takes what the store has for the endpoint.
func (s *session) reload(ctx context.Context) (*credential, error) {
	var p pointer
	found, err := load(ctx, s.c.opts.Store, pointerKey(s.name), &p)
	if err != nil {
		return nil, err
	}
	var c *credential
	if found && covers(p.Resource, s.endpoint) {
		if c, err = loadCredential(ctx, s.c.opts.Store, p.Issuer, p.Resource); err != nil {
			return nil, err
		}
	}
	s.adopt(c)
	return c, nil
}

func (s *session) adopt(c *credential) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cred, s.loaded = c, true
}

// obtain returns a credential that meets the need. Whatever it takes is done once for
// all who wait, and goes on when they have gone.
func (s *session) obtain(ctx context.Context, n *need) (*credential, error) {
	for {
		f, err := s.join(ctx, n)
		if err != nil {
			return nil, err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch {
		case f.need == n || f.err != nil && f.need.alike(n):
			return f.cred, f.err
		case n.meets(f.cred):
			return f.cred, nil
		}
	}
}

// join returns the flight that is under way, or starts one for n.
func (s *session) join(ctx context.Context, n *need) (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight != nil {
		return s.flight, nil
	}
	f := &flight{need: n, done: make(chan struct{})}
	err := s.c.start(ctx, func(ctx context.Context) {
		f.cred, f.err = s.acquire(ctx, n)
		s.land(f)
	})
	if err != nil {
		return nil, fail("authorize", s.name, err)
	}
	s.flight = f
	return f, nil
}

// land ends a flight.
func (s *session) land(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight = nil
	remembered := s.failed != nil && f.err == s.failed.err //nolint:errorlint // the very same
	switch {
	case f.err == nil:
		s.cred, s.loaded, s.failed = f.cred, true, nil
	case !remembered:
		memory := failureMemory
		if e, ok := errors.AsType[*Error](f.err); ok && e.Temporary {
			memory = min(max(temporaryMemory, e.RetryAfter), failureMemory)
		}
		s.failed = &failure{f.need, f.err, time.Now().Add(memory)}
	}
	close(f.done)
}

// acquire gets a credential that meets the need, in the cheapest way there is: from
// the store, where others may have put it, by refreshing what is there, or anew.
func (s *session) acquire(ctx context.Context, n *need) (*credential, error) {
	c, err := s.reload(ctx)
	if err != nil && n.login {
		err = forget(ctx, s.c.opts.Store, pointerKey(s.name))
	}
	if err != nil || n.meets(c) {
		return c, err
	}
	if err := s.recent(n); err != nil {
		return nil, err
	}
	if c != nil && c.Refresh != "" && len(n.scopes) == 0 && !n.again && !n.login && s.stillNamed(ctx, c, n) {
		next, err := s.refresh(ctx, c)
		if err == nil || temporary(err) || stepOf(err) != "refresh" {
			return next, err
		}
	}
	return s.login(ctx, n)
}

func stepOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Step
	}
	return ""
}

// recent returns the failure of a moment ago.
func (s *session) recent(n *need) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.login || s.failed == nil || !s.failed.need.alike(n) || time.Now().After(s.failed.until) {
		return nil
	}
	return s.failed.err
}

// stillNamed reports whether the endpoint names the issuer of a credential that it has
// refused. When it is another by now, the old one is not bothered.
func (s *session) stillNamed(ctx context.Context, c *credential, n *need) bool {
	if n.challenge.Scheme == "" {
		return true // it has not refused anything
	}
	prm, err := s.resourceMetadata(ctx, n.challenge, http.Header{})
	if err != nil {
		return temporary(err)
	}
	return prm == nil || prm.Resource == c.Resource && (len(prm.AuthorizationServers) == 0 || slices.Contains(prm.AuthorizationServers, c.Issuer))
}

// login gets a credential anew, one process at a time: ten of them must not open ten
// pages.
func (s *session) login(ctx context.Context, n *need) (*credential, error) {
	if s.c.opts.Grant == nil && s.c.opts.Unattended {
		e := fail("authorize", s.name, ErrLoginRequired)
		e.Scopes = slices.Clone(n.scopes)
		return nil, e
	}
	unlock, err := lock(ctx, s.c.opts.Store, pointerKey(s.name))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !n.login {
		if c, err := s.reload(ctx); err != nil || n.meets(c) {
			return c, err
		}
	}
	a, err := s.discover(ctx, n)
	if err != nil {
		return nil, err
	}
	old, err := loadCredential(ctx, s.c.opts.Store, a.issuer, a.resource)
	if err != nil && !n.login {
		return nil, err
	}
	if c, err := s.common(ctx, old, n); c != nil || err != nil {
		return c, err
	}
	scopes := s.chooseScopes(n, a, old)
	var c *credential
	if s.c.opts.Grant != nil {
		c, err = s.grant(ctx, a, scopes)
	} else {
		c, err = s.authorize(ctx, a, scopes)
	}
	if err != nil {
		return nil, err
	}
	return c, s.keep(ctx, c)
}

// common returns the credential of a resource that the endpoint has in common with
// another one, if it is what is needed or can be made so without a user.
func (s *session) common(ctx context.Context, c *credential, n *need) (*credential, error) {
	if c == nil || c.Access == n.stale || n.login || n.again || !c.wants(n.scopes) {
		return nil, nil
	}
	if !c.fresh() {
		next, err := s.refresh(ctx, c)
		if err != nil && !temporary(err) && stepOf(err) == "refresh" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		c = next
	}
	return c, s.point(ctx, c)
}

// chooseScopes returns the scopes to ask for ("Scope Selection Strategy"): those of
// the challenge, or else all that the resource has, together with those that we had
// before. None means that the server decides.
func (s *session) chooseScopes(n *need, a *authority, old *credential) []string {
	scopes := n.scopes
	if len(scopes) == 0 {
		scopes = oauthwire.Scopes(n.challenge.Param(oauthwire.ParamScope))
	}
	var before []string
	if old != nil {
		before = old.Scopes
	}
	if len(scopes) == 0 && len(before) == 0 {
		scopes = a.scopes
	}
	scopes = oauthwire.UnionScopes(before, scopes, s.c.opts.Scopes)
	if len(scopes) > 0 && s.c.opts.Grant == nil && slices.Contains(a.meta.ScopesSupported, oauthwire.ScopeOffline) {
		scopes = oauthwire.UnionScopes(scopes, []string{oauthwire.ScopeOffline})
	}
	return scopes
}

// keep keeps a credential that was just obtained.
func (s *session) keep(ctx context.Context, c *credential) error {
	unlock, err := lock(ctx, s.c.opts.Store, credentialKey(c.Issuer, c.Resource))
	if err != nil {
		return err
	}
	defer unlock()
	s.c.opts.Logger.Info("obtained a token", "issuer", c.Issuer, "resource", c.Resource, "scopes", c.Scopes)
	s.put(ctx, c)
	if c.Client.Asked {
		if err := save(ctx, s.c.opts.Store, clientKey(c.Issuer), &c.Client); err != nil {
			return err
		}
	}
	return s.point(ctx, c)
}

// point remembers where the tokens of the endpoint are.
func (s *session) point(ctx context.Context, c *credential) error {
	p := pointer{Issuer: c.Issuer, Resource: c.Resource, Prebound: c.prebound}
	return save(ctx, s.c.opts.Store, pointerKey(s.name), &p)
}
