package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/internal/uritemplate"
)

const (
	defaultMaxToken  = 16 << 10
	defaultCacheSize = 10_000
	defaultCacheFor  = 5 * time.Minute
	// streamGrace is for how long a stream outlives its token, whose clock may be
	// another one.
	streamGrace = defaultSkew
)

// Options configures a [Resource]. The zero value and nil give safe defaults.
type Options struct {
	// Scopes are needed for every request. offline_access is not one for resources.
	Scopes []string
	// Tools, Prompts and Resources are the scopes needed besides, by the name of the
	// tool or prompt and by the URI, or URI template, of the resource. They count for
	// calls, and for completion and subscriptions, too. A URI that is not there itself
	// needs the scopes of all templates that it matches.
	Tools, Prompts, Resources map[string][]string
	// Needs returns more scopes that a request needs. name is that of a tool or
	// prompt, or the URI of a resource; empty for requests that are about nothing of
	// the kind. It must be quick, and safe for concurrent use.
	Needs func(method, name string) []string
	// Implies tells what broad scopes stand for: "admin": {"read", "write"}. What is
	// implied can imply more.
	Implies map[string][]string
	// Advertise is what clients shall ask for at first, in the metadata of the
	// resource; nil means Scopes.
	Advertise []string
	// Audiences are accepted in tokens besides the URL of the resource, for issuers
	// that have names of their own for it. Comparison is exact.
	Audiences []string
	// Name and Documentation, a URL, are for people; both may be empty.
	Name, Documentation string
	// DPoP tells clients that their tokens can be bound to a key, and says what is
	// asked of such tokens; nil means the defaults, and that it is not told.
	DPoP *DPoP
	// MaxToken is the most bytes a token may have; 0 means 16 KiB.
	MaxToken int
	// CacheSize is how many verified tokens are remembered, by their hash; 0 means
	// 10,000.
	CacheSize int
	// CacheFor is how long a token is not verified again, and with that how long a
	// key is trusted that the issuer has withdrawn; 0 means 5 minutes. It never goes
	// beyond the end of the token.
	CacheFor time.Duration
	// KeepStreams lets streams to a GET, and subscriptions, go on when the token
	// that they were opened with has expired. By default they end, and the client
	// opens them again with a token that is valid. Calls that were begun in time are
	// never cut off, and streams do not notice that a token is revoked.
	KeepStreams bool
	// Logger is told why tokens are refused, and of issuers that cannot be reached,
	// never of a token; nil discards it.
	Logger *slog.Logger
}

// A Resource is something that only callers with an access token may use: an MCP
// endpoint, as OAuth sees it. Its methods may be called concurrently. There is
// nothing to close.
type Resource struct {
	url       *url.URL
	origin    string
	verifiers []Verifier
	opts      Options
	audiences []string
	implies   map[string][]string     // complete
	perCall   bool                    // some requests need more than opts.Scopes
	templates []*uritemplate.Template // of opts.Resources
	known     []string                // the scopes of which anything here speaks
	views     viewCache
	tokens    cache[*visitor]
	proofs    proofs
	metadata  metadata
	challenge []string // for callers without a token
}

// New returns the resource with the given URL: the address of the endpoint, as
// clients know it, and what tokens must have been issued for. It is of https, or of
// http on this machine. A token is shown to one verifier after the other until one
// accepts it, and there must be at least one. Nil options mean the defaults.
func New(resource string, verifiers []Verifier, opts *Options) (*Resource, error) {
	u, err := oauthwire.ParseURL(resource)
	if err != nil {
		return nil, fmt.Errorf("protect a resource: %w", err)
	}
	if len(verifiers) == 0 || slices.Contains(verifiers, nil) {
		return nil, fmt.Errorf("protect %s: there is nothing to verify tokens with", resource)
	}
	r := &Resource{url: u, origin: u.Scheme + "://" + u.Host, verifiers: slices.Clone(verifiers)}
	if opts != nil {
		r.opts = *opts
	}
	r.setDefaults()
	r.audiences = append([]string{resource}, r.opts.Audiences...)
	if err := r.setScopes(); err != nil {
		return nil, fmt.Errorf("protect %s: %w", resource, err)
	}
	r.tokens.limit = r.opts.CacheSize
	if err := errors.Join(r.proofs.init(r.opts.DPoP), r.metadata.init(r, resource)); err != nil {
		return nil, fmt.Errorf("protect %s: %w", resource, err)
	}
	r.challenge = r.challenges("", "", r.opts.Scopes, false)
	return r, nil
}

func (r *Resource) setDefaults() {
	o := &r.opts
	if o.MaxToken <= 0 {
		o.MaxToken = defaultMaxToken
	}
	if o.CacheSize <= 0 {
		o.CacheSize = defaultCacheSize
	}
	if o.CacheFor <= 0 {
		o.CacheFor = defaultCacheFor
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Handler returns next behind the check: what reaches it comes from an [Identity]
// that has Options.Scopes. It also serves the metadata of the resource, at
// [Resource.MetadataPath], to everybody; where requests for that path do not reach
// it, [Resource.Metadata] has to be served there.
//
// The handlers of httpserver and legacysse check the scopes of single calls with
// it. Others have to ask [Resource.Permit] for themselves.
func (r *Resource) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
		if rq.URL.Path == r.metadata.path {
			r.metadata.ServeHTTP(w, rq)
			return
		}
		v, refusal := r.admit(w, rq)
		if refusal != nil {
			refuse(w, refusal)
			return
		}
		ctx := admission.With(rq.Context(), v)
		if ends := v.Expires(); rq.Method == http.MethodGet && !ends.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, ends, ErrExpired)
			defer cancel()
		}
		next.ServeHTTP(w, rq.WithContext(ctx))
	})
}

// admit finds out who called, or what to answer.
func (r *Resource) admit(w http.ResponseWriter, rq *http.Request) (*visitor, *admission.Refusal) {
	scheme, token, wrong := credentials(rq, r.opts.MaxToken)
	switch {
	case wrong != "":
		return nil, r.malformed(wrong)
	case token == "":
		return nil, &admission.Refusal{Status: http.StatusUnauthorized, Challenges: r.challenge, Message: "an access token is needed"}
	}
	v, err := r.verified(rq.Context(), token)
	if err == nil {
		err = r.proofs.check(w, rq, r.origin, scheme, token, v.identity)
	}
	if err != nil {
		return nil, r.unverified(rq.Context(), scheme, err)
	}
	if !v.admitted {
		return nil, v.Refuse(r.wanted(rq))
	}
	return v, nil
}

// verified returns who a token stands for.
func (r *Resource) verified(ctx context.Context, token string) (*visitor, error) {
	hash := hashOf(token)
	if v, ok := r.tokens.get(hash); ok {
		if time.Now().Before(v.until) {
			return v, nil
		}
		r.tokens.drop(hash)
	}
	id, err := r.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if err := r.meant(id); err != nil {
		return nil, err
	}
	now := time.Now()
	v := r.newVisitor(id)
	v.until = earliest(now.Add(r.opts.CacheFor), id.Expires, id.VerifyAgain)
	if now.Before(v.until) {
		r.tokens.put(hash, v)
	}
	return v, nil
}

// verify asks the verifiers. That one of them cannot say is only of interest when
// none accepts the token.
func (r *Resource) verify(ctx context.Context, token string) (*Identity, error) {
	var refused, failed error
	for _, v := range r.verifiers {
		id, err := v.Verify(ctx, token)
		switch {
		case err == nil && id == nil:
			failed = errors.New("a verifier returned nothing")
		case err == nil && id.Issuer != v.Issuer():
			refused = fmt.Errorf("%w: it is not from %s", ErrToken, v.Issuer())
		case err == nil:
			return id, id.check()
		case errors.Is(err, ErrExpired) || errors.Is(err, ErrToken) && !errors.Is(refused, ErrExpired):
			refused = err
		case !errors.Is(err, ErrToken):
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, refused
}

// meant checks that a token was issued for this resource ("Access Token Privilege
// Restriction"; RFC 8707, section 2).
func (r *Resource) meant(id *Identity) error {
	for _, audience := range id.Audience {
		if slices.Contains(r.audiences, audience) || sameResource(audience, r.url) {
			return nil
		}
	}
	return fmt.Errorf("%w: it is for %q", ErrToken, id.Audience)
}

// sameResource reports whether an audience is the URL of the resource in another
// spelling: the case of scheme and host does not matter, and a host without a path
// has the path "/" (RFC 3986, section 6.2).
func sameResource(audience string, resource *url.URL) bool {
	u, err := oauthwire.ParseURL(audience)
	if err != nil || u.Scheme != resource.Scheme || !strings.EqualFold(u.Host, resource.Host) || u.RawQuery != resource.RawQuery {
		return false
	}
	path, want := u.EscapedPath(), resource.EscapedPath()
	return path == want || path == "" && want == "/" || path == "/" && want == ""
}

// earliest returns the earliest of some times; zero ones do not count.
func earliest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}
