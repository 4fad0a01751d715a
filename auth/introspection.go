package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

const (
	defaultAskAgain = 30 * time.Second
	maxInactiveFor  = 10 * time.Second // how long a token that is not active is not asked for again
	maxInactive     = 10_000
	maxInquiries    = 64              // at the same time
	askTime         = 5 * time.Second // how long one may take
	unreachableFor  = time.Second     // how long an issuer that has failed is left alone
)

// IntrospectionOptions configures an [Introspection]. Nil options are of use only
// for an issuer that answers everybody, which none should.
type IntrospectionOptions struct {
	// Endpoint is the URL of the introspection endpoint; by default what the
	// issuer's metadata says. It is https, or http on this machine.
	Endpoint string
	// ClientID and ClientSecret are what the resource shows the issuer
	// (client_secret_basic).
	ClientID, ClientSecret string
	// Authorize, when set, authenticates the resource instead. It sets headers of the
	// request.
	Authorize func(*http.Request) error
	// Audience is what tokens are for of which the issuer does not say it. Set it to
	// the URL of the resource only if the issuer calls no other tokens active when
	// this resource asks.
	Audience string
	// CacheFor is how long the issuer is not asked again about a token, and with that
	// how long one may be used that was revoked; 0 means 30 s.
	CacheFor time.Duration
	// Skew is how much clocks may differ; 0 means 30 s.
	Skew time.Duration
	// Client sends the requests; nil means one of the package, with a time-out of 5
	// s. Redirects of the endpoint are not followed.
	Client *http.Client
}

// An Introspection verifies tokens by asking the authorization server that has
// issued them (RFC 7662). It is for tokens that only their issuer can read; JWTs
// are shown to it only if they name it as their issuer. A token that is not a JWT
// is shown to every Introspection of a [Resource], so there should be one, or
// issuers that trust each other. There is nothing to close.
type Introspection struct {
	opts   IntrospectionOptions
	source *issuerSource
	slots  chan struct{} // has an element for every inquiry

	mu        sync.Mutex
	inquiries map[tokenHash]*inquiry
	inactive  cache[time.Time] // until when not to ask
	endpoint  string           // empty when it is not known
	failedAt  time.Time
}

// An inquiry is a question to the issuer that is under way.
type inquiry struct {
	done chan struct{} // closed when the below is set
	id   *Identity
	err  error
}

// NewIntrospection returns a verifier for the tokens of an issuer: a URL of https,
// or of http on this machine. Nothing is fetched before a token has to be verified.
func NewIntrospection(issuer string, opts *IntrospectionOptions) (*Introspection, error) {
	v := &Introspection{inquiries: map[tokenHash]*inquiry{}, slots: make(chan struct{}, maxInquiries)}
	if opts != nil {
		v.opts = *opts
	}
	if v.opts.CacheFor <= 0 {
		v.opts.CacheFor = defaultAskAgain
	}
	if v.opts.Skew == 0 {
		v.opts.Skew = defaultSkew
	}
	v.inactive.limit = maxInactive
	v.endpoint = v.opts.Endpoint
	if v.endpoint != "" {
		if _, err := oauthwire.ParseURL(v.endpoint); err != nil {
			return nil, fmt.Errorf("IntrospectionOptions.Endpoint: %w", err)
		}
	}
	var err error
	if v.source, err = newIssuerSource(issuer, v.opts.Client); err != nil {
		return nil, err
	}
	// The token must not go where the issuer did not want it, or over plain HTTP.
	client := *v.source.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	v.source.client = &client
	return v, nil
}

// Issuer implements [Verifier].
func (v *Introspection) Issuer() string { return v.source.issuer }

// Verify implements [Verifier].
func (v *Introspection) Verify(ctx context.Context, token string) (*Identity, error) {
	if v.foreign(token) {
		return nil, fmt.Errorf("%w: it is not from %s", ErrToken, v.source.issuer)
	}
	hash := hashOf(token)
	q, first, err := v.join(hash)
	if err != nil {
		return nil, err
	}
	if first {
		v.inquire(ctx, hash, token, q)
	}
	select {
	case <-q.done:
		return q.id, q.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// foreign reports whether a token is a JWT of somebody else, who has not trusted
// this issuer with it.
func (v *Introspection) foreign(token string) bool {
	if strings.Count(token, ".") != 2 {
		return false
	}
	signed, err := jose.ParseSignedCompact(token, everyAlgorithm)
	if err != nil {
		return false
	}
	issuer := issuerOf(signed.UnsafePayloadWithoutVerification())
	return issuer != "" && issuer != v.source.issuer
}

// everyAlgorithm is for reading tokens that are not verified here.
var everyAlgorithm = append([]jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512}, algorithms...)

// join returns the inquiry about a token, and whether the caller has to make it.
func (v *Introspection) join(hash tokenHash) (q *inquiry, first bool, err error) {
	now := time.Now()
	if until, ok := v.inactive.get(hash); ok && now.Before(until) {
		return nil, false, errInactive
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if q, ok := v.inquiries[hash]; ok {
		return q, false, nil
	}
	if now.Sub(v.failedAt) < unreachableFor {
		return nil, false, errors.New("the issuer could not be reached a moment ago")
	}
	q = &inquiry{done: make(chan struct{})}
	v.inquiries[hash] = q
	return q, true, nil
}

var errInactive = fmt.Errorf("%w: it is not active", ErrToken)

// inquire makes an inquiry, also when the one who made it necessary does not wait.
func (v *Introspection) inquire(ctx context.Context, hash tokenHash, token string, q *inquiry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	q.err = errors.New("asking the issuer has panicked") // unless it returns
	defer v.conclude(hash, q)
	q.id, q.err = v.ask(ctx, token)
}

// conclude tells everybody what came out of an inquiry.
func (v *Introspection) conclude(hash tokenHash, q *inquiry) {
	if errors.Is(q.err, errInactive) {
		v.inactive.put(hash, time.Now().Add(min(maxInactiveFor, v.opts.CacheFor)))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.inquiries, hash)
	close(q.done)
	if q.err != nil && !errors.Is(q.err, ErrToken) {
		v.failedAt = time.Now()
	}
}

func (v *Introspection) ask(ctx context.Context, token string) (*Identity, error) {
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		return nil, errors.New("too many tokens are being asked about")
	}
	rq, err := v.request(ctx, token)
	if err != nil {
		return nil, err
	}
	body, err := v.source.do(rq)
	if err != nil {
		v.forget()
		return nil, err
	}
	return v.read(body)
}

// request returns the question about a token (RFC 7662, section 2.1).
func (v *Introspection) request(ctx context.Context, token string) (*http.Request, error) {
	endpoint, err := v.where(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	rq, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode())) //nolint:gosec // the operator, or its issuer, has chosen it
	if err != nil {
		return nil, err
	}
	rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rq.Header.Set("Accept", "application/json")
	switch {
	case v.opts.Authorize != nil:
		err = v.opts.Authorize(rq)
	case v.opts.ClientID != "":
		rq.SetBasicAuth(url.QueryEscape(v.opts.ClientID), url.QueryEscape(v.opts.ClientSecret))
	}
	return rq, err
}

// where returns the endpoint to ask.
func (v *Introspection) where(ctx context.Context) (string, error) {
	v.mu.Lock()
	endpoint := v.endpoint
	v.mu.Unlock()
	if endpoint != "" {
		return endpoint, nil
	}
	metadata, err := v.source.metadata(ctx)
	if err != nil {
		return "", err
	}
	if metadata.IntrospectionEndpoint == "" {
		return "", errors.New("the metadata of the issuer has no introspection_endpoint; set IntrospectionOptions.Endpoint")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endpoint = metadata.IntrospectionEndpoint
	return v.endpoint, nil
}

// forget forgets an endpoint that does not answer, if it was not configured: there
// may be another one by now.
func (v *Introspection) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endpoint = v.opts.Endpoint
}

// read reads the answer (RFC 7662, section 2.2).
func (v *Introspection) read(body []byte) (*Identity, error) {
	var answer struct {
		claims
		Active bool `json:"active"`
	}
	if err := ijson.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read the answer to an introspection: %w", err)
	}
	if !answer.Active {
		return nil, errInactive
	}
	if answer.Issuer == "" {
		answer.Issuer = v.source.issuer
	}
	if len(answer.Audience) == 0 && v.opts.Audience != "" {
		answer.Audience = oauthwire.Strings{v.opts.Audience}
	}
	id, err := answer.identity(body, v.opts.Skew)
	if err != nil {
		return nil, err
	}
	id.VerifyAgain = time.Now().Add(v.opts.CacheFor)
	return id, nil
}
