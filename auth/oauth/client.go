package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A Client sends requests to MCP servers with the tokens they want. Each endpoint has
// a token of its own, so one Client will do for many. Its methods may be called
// concurrently.
type Client struct {
	opts Options
	base http.RoundTripper
	own  *http.Transport // base, if it is ours to release

	flights sync.WaitGroup // what gets tokens

	mu       sync.Mutex
	sessions map[string]*session
	cancels  map[int]context.CancelFunc // of the flights
	started  int
	closed   bool
	over     atomic.Bool   // the same as closed, for every request
	idle     chan struct{} // closed when the client is and no flight is left
}

var _ http.RoundTripper = (*Client)(nil)

// New returns a client with the given options, which are not changed; nil means the
// defaults. Nothing is sent before the first request.
func New(opts *Options) (*Client, error) {
	filled, err := opts.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{
		opts: filled, base: filled.Base, sessions: map[string]*session{},
		cancels: map[int]context.CancelFunc{}, idle: make(chan struct{}),
	}
	if c.base == nil {
		c.own = newPool()
		c.base = c.own
	}
	return c, nil
}

// HTTPClient returns a http.Client for one MCP endpoint, such as
// httpclient.Options.Client takes: what goes to the endpoint's origin gets its token,
// also at the other URLs that the HTTP+SSE transport has. Its requests fail if the
// endpoint is not a URL.
func (c *Client) HTTPClient(endpoint string) *http.Client {
	return &http.Client{Transport: &bound{c: c, endpoint: endpoint}}
}

// A bound client is one for the requests of one endpoint.
type bound struct {
	c        *Client
	endpoint string
	once     sync.Once // sets the rest
	s        *session
	err      error
}

// RoundTrip implements http.RoundTripper.
func (b *bound) RoundTrip(r *http.Request) (*http.Response, error) {
	b.once.Do(func() { b.s, b.err = b.c.session(b.endpoint) })
	err := b.err
	if err == nil && b.c.over.Load() {
		err = fail("send", b.s.name, ErrClosed)
	}
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return b.s.roundTrip(r)
}

// CloseIdleConnections is called by http.Client.
func (b *bound) CloseIdleConnections() { b.c.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper for requests to any endpoint, which is the
// URL of the request without its query. The error is an *Error, or that of a
// connection, and comes after the body was closed.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	return (&bound{c: c, endpoint: endpointOf(r.URL)}).RoundTrip(r)
}

// CloseIdleConnections closes connections that nobody uses, as http.Client does.
func (c *Client) CloseIdleConnections() {
	if closer, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// session returns what is known of an endpoint.
func (c *Client) session(endpoint string) (*session, error) {
	u, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, fail("send", "its endpoint", err) // which may have a password
	}
	name := endpointOf(u)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fail("send", name, ErrClosed)
	}
	s, ok := c.sessions[name]
	if !ok {
		s = &session{c: c, name: name, endpoint: u, fetch: newFetcher(&c.opts, u)}
		c.sessions[name] = s
	}
	return s, nil
}

// start runs what gets a token, for as long as a login may take. It goes on without
// the request that ctx is of.
func (c *Client) start(ctx context.Context, run func(context.Context)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.opts.LoginTimeout+time.Minute)
	id := c.started
	c.started++
	c.cancels[id] = cancel
	c.flights.Go(func() {
		run(ctx)
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, id)
		if c.closed && len(c.cancels) == 0 {
			close(c.idle)
		}
	})
	return nil
}

// Close gives up logins that are under way and releases connections. Requests then
// fail. What is in the store stays there.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.over.Store(true)
	for _, cancel := range c.cancels {
		cancel()
	}
	if first && len(c.cancels) == 0 {
		close(c.idle)
	}
	sessions := make([]*session, 0, len(c.sessions))
	for _, s := range c.sessions {
		sessions = append(sessions, s)
	}
	c.mu.Unlock()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	var err error
	select {
	case <-c.idle:
	case <-timer.C:
		err = errors.New("close oauth client: a login does not end")
	}
	for _, s := range sessions {
		if s.fetch.own {
			s.fetch.client.CloseIdleConnections()
		}
	}
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return err
}

// Login obtains a token for an endpoint now, whatever there is. A request would do so
// as well; this is for those who ask first, and have more time than a request.
func (c *Client) Login(ctx context.Context, endpoint string) error {
	s, err := c.session(endpoint)
	if err != nil {
		return err
	}
	if err := s.mayHaveTokens(); err != nil {
		return err
	}
	n, err := s.knock(ctx)
	if err != nil {
		return err
	}
	_, err = s.obtain(ctx, n)
	return err
}

// knock finds out how the endpoint asks for tokens.
func (s *session) knock(ctx context.Context) (*need, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint.String(), http.NoBody)
	if err != nil {
		return nil, fail("send", s.name, err)
	}
	r.Header.Set("Accept", httpwire.TypeSSE)
	res, err := s.c.base.RoundTrip(r)
	if err != nil {
		e := fail("send", s.name, err)
		e.Temporary = true
		return nil, e
	}
	defer res.Body.Close()
	n := &need{login: true}
	if res.StatusCode == http.StatusUnauthorized {
		n.challenge, _ = s.challenge(oauthwire.ParseChallenges(res.Header.Values("WWW-Authenticate")), nil)
		return n, nil
	}
	prm, err := s.resourceMetadata(ctx, n.challenge, http.Header{})
	if err == nil && prm == nil && s.c.opts.Issuer == "" {
		err = fail("discover", s.name, errors.New("the server asks for no authorization"))
	}
	return n, err
}

// A Status is what is known of the tokens for an endpoint.
type Status struct {
	Issuer   string
	Resource string
	ClientID string
	Scopes   []string
	// Expires is when the access token ends; zero if that is not known.
	Expires time.Time
	// Refreshable tells that it can be replaced then without a user.
	Refreshable bool
}

// Status returns what the store has for an endpoint; nil if that is nothing.
func (c *Client) Status(ctx context.Context, endpoint string) (*Status, error) {
	s, err := c.session(endpoint)
	if err != nil {
		return nil, err
	}
	cred, err := s.reload(ctx)
	if cred == nil || err != nil {
		return nil, err
	}
	scopes := cred.Granted
	if scopes == nil {
		scopes = cred.Scopes
	}
	return &Status{
		Issuer: cred.Issuer, Resource: cred.Resource, ClientID: cred.Client.ID, Scopes: slices.Clone(scopes),
		Expires: cred.Expires, Refreshable: cred.Refresh != "" || c.opts.Grant != nil,
	}, nil
}

// Logout forgets the tokens for an endpoint, and the client that was registered for
// them. The server is told, if it wants to be (RFC 7009); that it cannot be told is no
// error. A store that cannot be read any more is cleared all the same.
func (c *Client) Logout(ctx context.Context, endpoint string) error {
	s, err := c.session(endpoint)
	if err != nil {
		return err
	}
	cred, unreadable := s.reload(ctx)
	s.adopt(nil)
	store := c.opts.Store
	if cred == nil {
		if unreadable == nil {
			return nil
		}
		return forget(ctx, store, pointerKey(s.name))
	}
	unlock, err := lock(ctx, store, credentialKey(cred.Issuer, cred.Resource))
	if err != nil {
		return err
	}
	defer unlock()
	s.revoke(ctx, cred)
	err = errors.Join(forget(ctx, store, credentialKey(cred.Issuer, cred.Resource)), forget(ctx, store, pointerKey(s.name)))
	if cred.Client.Kept && !cred.Client.Asked {
		err = errors.Join(err, s.forgetClient(ctx, cred.Issuer, cred.Client.ID))
	}
	return err
}

// revoke tells the server that nobody uses a token any more.
func (s *session) revoke(ctx context.Context, c *credential) {
	id := s.identityOf(c)
	if c.Server.Revocation == "" || id == nil {
		return
	}
	form, header := url.Values{"token": {string(c.Refresh)}, "token_type_hint": {"refresh_token"}}, http.Header{}
	if c.Refresh == "" {
		form = url.Values{"token": {string(c.Access)}, "token_type_hint": {"access_token"}}
	}
	err := id.authenticate(form, header, &c.Server, c.Issuer)
	if err == nil {
		_, err = s.fetch.post(ctx, "revoke", c.Server.Revocation, formType, []byte(form.Encode()), header)
	}
	if err != nil {
		s.c.opts.Logger.Warn("telling the server of a logout", "issuer", c.Issuer, "error", err)
	}
}
