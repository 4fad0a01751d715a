package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// The extensions that a client declares in its capabilities when it obtains tokens in
// these ways: for ClientCredentials, and for Enterprise.
const (
	ExtensionClientCredentials = "io.modelcontextprotocol/oauth-client-credentials"
	ExtensionEnterprise        = "io.modelcontextprotocol/enterprise-managed-authorization"
)

// Options says how a Client obtains tokens. The zero value, and nil, mean that a user
// logs in with a browser on this machine and that nothing outlives the process.
type Options struct {
	// Name is what authorization servers show to users; "MCP client" by default.
	Name string
	// URI is the home page of the program, also for users; none by default.
	URI string
	// Store keeps tokens and registrations; NewMemoryStore by default.
	Store Store
	// Registrations are the clients that are registered already. They go before any
	// other way to get a client id, but only at the issuer they belong to.
	Registrations []Registration
	// MetadataURL is the client id of a program that publishes a Client ID Metadata
	// Document at that https URL; servers that do not take those are registered with.
	MetadataURL string
	// MetadataKey signs assertions where the document says "private_key_jwt", and
	// MetadataKeyID is its kid. They are as in Registration.
	MetadataKey   any
	MetadataKeyID string
	// AskClient is called as the last resort to ask for a client id (and secret) that
	// somebody got from an issuer. Nil means that there is nobody to ask.
	AskClient func(ctx context.Context, issuer string) (*Registration, error)
	// Grant is how tokens are obtained. Nil means that a user authorizes.
	Grant Grant
	// Scopes are asked for in addition to those that a server wants.
	Scopes []string
	// Issuer is the authorization server of endpoints that do not name one; none by
	// default, which means that such an endpoint is its own, as in the oldest revision.
	Issuer string

	// RedirectURL is where the browser comes back to with an authorization. By default
	// that is "http://127.0.0.1/callback", at any free port, which is what no port in
	// the URL of a loopback address means. Other URLs need Authorize.
	RedirectURL string
	// Open shows a user the page at url. By default it is opened in the browser, or
	// printed to standard error where there is none. The URL is https or loopback.
	Open func(ctx context.Context, url string) error
	// Authorize replaces Open and the listener for the browser: it lets the user visit
	// rq.URL and returns the whole URL that the browser is sent to in the end, which
	// begins with RedirectURL. Paste is one that needs no browser on this machine.
	Authorize func(ctx context.Context, rq *AuthorizationRequest) (redirected string, err error)
	// LoginTimeout is how long a user may take; 5 minutes by default. A login goes on
	// while its request has given up waiting.
	LoginTimeout time.Duration
	// Unattended means that there is no user: what needs one fails with ErrLoginRequired.
	Unattended bool
	// DPoP binds all tokens to a key of this client, and refuses those that are not.
	// By default that is done where an MCP server asks for it.
	DPoP bool

	// Base sends the requests to MCP servers. The default is made for many requests at
	// once to one server.
	Base http.RoundTripper
	// HTTP sends the requests to authorization servers and for metadata. By default
	// they may only go to public addresses, unless the MCP server is on this machine
	// or network too, or HTTP_PROXY and the like name a proxy, which then decides. Redirects are followed
	// for metadata only, whatever its CheckRedirect says.
	HTTP *http.Client
	// Logger gets what happens, without secrets; nil discards it.
	Logger *slog.Logger
}

// A Registration is a client that is known to an authorization server.
type Registration struct {
	// Issuer is the authorization server. Empty means the first one that an endpoint
	// names, which the store then remembers.
	Issuer string
	// ID is the client id.
	ID string
	// Secret is the password of a confidential client; empty for none.
	Secret string
	// Key, instead of a Secret, signs assertions: a *ecdsa.PrivateKey, *rsa.PrivateKey
	// or ed25519.PrivateKey. KeyID is the kid that the server knows it by; may be empty.
	Key   any
	KeyID string
	// Method is how to authenticate, such as "client_secret_post". Empty means as the
	// metadata of the server says.
	Method string
	// Keep writes ID and Secret into the store when they have been used to log in, so
	// that clients who are not told of the registration can go on with the token.
	Keep bool
}

// LogValue implements slog.LogValuer; the secret stays out.
func (r Registration) LogValue() slog.Value {
	return slog.GroupValue(slog.String("issuer", r.Issuer), slog.String("client_id", r.ID))
}

// Format implements fmt.Formatter; the secret stays out.
func (r Registration) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "client %q at %q", r.ID, r.Issuer)
}

// An AuthorizationRequest is one that a user decides about.
type AuthorizationRequest struct {
	URL         string // the page to visit; https or loopback
	RedirectURI string // where the browser is sent with the decision
	Issuer      string
	Resource    string // the MCP server
	Scopes      []string
}

const (
	defaultName     = "MCP client"
	defaultRedirect = "http://127.0.0.1/callback"
	defaultLogin    = 5 * time.Minute
)

// complete returns the options with everything filled in.
func (o *Options) complete() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.Name == "" {
		filled.Name = defaultName
	}
	if filled.Store == nil {
		filled.Store = NewMemoryStore()
	}
	if filled.LoginTimeout <= 0 {
		filled.LoginTimeout = defaultLogin
	}
	if filled.RedirectURL == "" {
		filled.RedirectURL = defaultRedirect
	}
	if filled.Open == nil {
		filled.Open = openOrPrint
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	return filled, filled.check()
}

// check finds the mistakes that would else show in the middle of a login.
func (o *Options) check() error {
	redirect, err := oauthwire.ParseURL(o.RedirectURL)
	if err != nil {
		return fmt.Errorf("oauth options: RedirectURL: %w", err)
	}
	if o.Authorize == nil && !isLoopback(redirect) {
		return fmt.Errorf("oauth options: RedirectURL %q is not one to listen at, so Authorize is needed", o.RedirectURL)
	}
	if o.MetadataURL != "" {
		u, err := oauthwire.ParseClientIDURL(o.MetadataURL)
		if err == nil && u.Scheme != "https" {
			err = fmt.Errorf("%q is not https", o.MetadataURL)
		}
		if err == nil && o.MetadataKey != nil {
			_, err = keyAlgorithms(o.MetadataKey)
		}
		if err != nil {
			return fmt.Errorf("oauth options: MetadataURL: %w", err)
		}
	}
	if o.Issuer != "" {
		if _, err := oauthwire.ParseIssuer(o.Issuer); err != nil {
			return fmt.Errorf("oauth options: %w", err)
		}
	}
	for _, r := range o.Registrations {
		if err := r.check(); err != nil {
			return fmt.Errorf("oauth options: %w", err)
		}
	}
	return nil
}

func (r *Registration) check() error {
	if r.ID == "" {
		return fmt.Errorf("registration at %q has no client id", r.Issuer)
	}
	if r.Issuer != "" {
		if _, err := oauthwire.ParseIssuer(r.Issuer); err != nil {
			return fmt.Errorf("registration of %q: %w", r.ID, err)
		}
	}
	if r.Key != nil {
		if _, err := keyAlgorithms(r.Key); err != nil {
			return fmt.Errorf("registration of %q: %w", r.ID, err)
		}
	}
	return nil
}

func isLoopback(u *url.URL) bool { return u.Scheme == "http" && oauthwire.Loopback(u.Hostname()) }
