// Package authserver is a small authorization server to embed: for development,
// for tests, and for a server that belongs to one person or one team. It signs
// users in with a hook, a passphrase, or at another provider (Upstream), asks for
// their consent, and issues short-lived tokens for the resources it knows.
//
// It speaks OAuth 2.1 as MCP uses it: authorization code with PKCE, refresh tokens
// that rotate, client credentials, JWT bearer and token exchange; clients that are
// configured, that register themselves (RFC 7591), or whose id is the URL of a
// document (Client ID Metadata Documents); metadata (RFC 8414 and OpenID Connect
// Discovery), resource indicators (RFC 8707), iss in answers (RFC 9207), revocation
// (RFC 7009), introspection (RFC 7662) and DPoP (RFC 9449).
//
// It is not an identity provider for an organization: it has no accounts, no
// second factors, no recovery, and no administration. Where there is one, let
// resource servers trust that, or sign users in there with Upstream.
package authserver

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/netguard"
)

// Options say what a [Server] issues, to whom and how.
type Options struct {
	// Issuer is the URL that names the server, with or without a path: https, or
	// http to the loopback interface. The endpoints are below it. Required.
	Issuer string
	// Resources are what tokens may be issued for: the URLs of MCP endpoints, as
	// their metadata has them (RFC 8707). Clients that name none get tokens for the
	// first. Required.
	Resources []string
	// Scopes are what may be granted, besides openid and offline_access.
	Scopes []Scope

	// Login finds out who the user is. Without it, Upstream or Passphrase do.
	Login Login
	// Upstream signs users in elsewhere, after they have agreed here.
	Upstream *Upstream
	// Passphrase lets whoever knows it in, as the user "owner". It is asked for on a
	// page of the server, and guesses are limited.
	Passphrase string

	// Trusts are issuers whose assertions are accepted in place of a login.
	Trusts []Trust

	// Clients are those that are known from the start.
	Clients []Client
	// NoRegistration turns dynamic registration off.
	NoRegistration bool
	// NoDocuments turns clients off whose id is the URL of a document.
	NoDocuments bool
	// Guard connects to what clients name: their documents and keys. Nil connects to
	// public addresses only.
	Guard *netguard.Dialer
	// RootCAs are who may vouch for the hosts that Guard connects to; nil means those
	// of the system.
	RootCAs *x509.CertPool
	// Schemes are the private-use URI schemes, besides those with a dot in them, that
	// clients may be redirected with, such as "cursor".
	Schemes []string

	// Store keeps codes, grants and signing keys; nil means in memory.
	Store Store
	// Key are 32 random bytes that what is issued and stored is encrypted with. With
	// nil they are made up, and nothing survives the process: neither tokens, nor
	// clients that registered, nor what is in Store. Instances behind one address need
	// the same Key and Store.
	Key []byte

	// TokenLife is how long an access token is good for; 0 means 10 minutes.
	TokenLife time.Duration
	// GrantLife is how long after signing in refresh tokens are good for; 0 means 30
	// days. One that is not used for a quarter of that time expires.
	GrantLife time.Duration
	// RefreshGrace is how long a refresh token may be used again, as clients do whose
	// connection broke before they had the answer, until its successor is used. With 0
	// a second use ends the grant, always.
	RefreshGrace time.Duration
	// KeyLife is how often the signing key changes; 0 means every 30 days.
	KeyLife time.Duration
	// RequireNonce makes clients put a nonce of the server into DPoP proofs.
	RequireNonce bool

	// Logger gets what the operator should know; nil means nothing is logged. No
	// token is logged.
	Logger *slog.Logger
}

// A Scope is what a user can allow a client to do.
type Scope struct {
	Name        string
	Description string // for the consent page; empty means the name alone
	Default     bool   // granted to clients that do not say what they want
}

// A User is who has signed in.
type User struct {
	Subject string // names the user, and stays the same; the sub of tokens
	Name    string // for the consent page; empty means Subject
}

// Login finds out who has sent a request to the authorization endpoint. If nobody
// is signed in it answers the request itself, for example with a redirect to a page
// that comes back to the request's URL, and returns false. It is called again when
// the user has answered the consent page, with that POST request, whose form it
// must not read.
type Login func(w http.ResponseWriter, r *http.Request) (User, bool)

// A Server is an authorization server: an http.Handler for the paths of its issuer
// and the well-known paths of its metadata; others are not found. It may be used
// concurrently.
type Server struct {
	opts      Options
	issuer    *url.URL
	base      string // the issuer without a slash at the end
	vault     *vault
	log       *slog.Logger
	routes    map[string]route
	scopes    map[string]Scope
	clients   map[string]*client
	trusted   map[string]*trust // by issuer
	documents *documents
	provider  *provider // nil: users sign in here
	nonces    *dpop.Nonces
	proofs    dpop.Replays
	guesses   throttle // of the passphrase
	newcomers throttle // of registration
	leaving   throttle // of users who go to the provider, each of whom is remembered
	cross     *http.CrossOriginProtection
}

// New returns a server. Its errors are mistakes in the options.
func New(opts Options) (*Server, error) {
	issuer, err := oauthwire.ParseIssuer(opts.Issuer)
	if err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	if opts.Login == nil && opts.Passphrase == "" && opts.Upstream == nil {
		return nil, errors.New("authorization server: nobody can sign in: set Login, Upstream or Passphrase")
	}
	opts.TokenLife = cmp.Or(opts.TokenLife, 10*time.Minute)
	opts.GrantLife = cmp.Or(opts.GrantLife, 30*24*time.Hour)
	opts.KeyLife = cmp.Or(opts.KeyLife, 30*24*time.Hour)
	if opts.Store == nil {
		opts.Store = NewMemory(0)
	}
	s := &Server{
		opts: opts, issuer: issuer, base: strings.TrimRight(opts.Issuer, "/"),
		log:    cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		scopes: map[string]Scope{}, clients: map[string]*client{}, trusted: map[string]*trust{},
		guesses: throttle{burst: 5, every: 10 * time.Second}, newcomers: throttle{burst: 30, every: 2 * time.Second},
		leaving: throttle{burst: 100, every: time.Second},
		cross:   http.NewCrossOriginProtection(),
	}
	if s.vault, err = newVault(opts.Key, opts.Store); err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	s.nonces = dpop.NewNonces([]byte(s.vault.mac("nonces", "")), 5*time.Minute)
	if err := s.configure(); err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	if opts.Upstream != nil && opts.Login == nil {
		if s.provider, err = newProvider(*opts.Upstream, s.base+"/callback"); err != nil {
			return nil, fmt.Errorf("authorization server: upstream: %w", err)
		}
	}
	s.documents = newDocuments(opts.Guard, opts.RootCAs, s.checkRedirect)
	s.routes = s.routeTable()
	return s, nil
}

// Close lets go of idle connections. Requests that are still served may open others.
func (s *Server) Close() error {
	s.documents.http.CloseIdleConnections()
	return nil
}

// configure checks the lists in the options.
func (s *Server) configure() error {
	if len(s.opts.Resources) == 0 {
		return errors.New("tokens are for nothing: set Resources")
	}
	for _, resource := range s.opts.Resources {
		if _, err := canonicalResource(resource); err != nil {
			return err
		}
	}
	for _, scope := range append(s.opts.Scopes, Scope{Name: scopeOpenID}, Scope{Name: oauthwire.ScopeOffline}) {
		if !oauthwire.ValidScope(scope.Name) {
			return fmt.Errorf("scope %q has characters that scopes do not have", scope.Name)
		}
		if _, twice := s.scopes[scope.Name]; twice {
			return fmt.Errorf("scope %q is there twice, or is one that the server has anyway", scope.Name)
		}
		s.scopes[scope.Name] = scope
	}
	for _, c := range s.opts.Clients {
		known, err := s.configured(c)
		if err != nil {
			return fmt.Errorf("client %q: %w", c.ID, err)
		}
		if s.clients[c.ID] != nil {
			return fmt.Errorf("client %q is there twice", c.ID)
		}
		s.clients[c.ID] = known
	}
	return s.checkTrusts()
}

// A route is what is done at a path.
type route struct {
	methods []string
	open    bool // to pages of other origins: it uses no cookies
	serve   http.HandlerFunc
}

func (s *Server) routeTable() map[string]route {
	get, post, page := []string{http.MethodGet}, []string{http.MethodPost}, []string{http.MethodGet, http.MethodPost}
	path := strings.TrimRight(s.issuer.EscapedPath(), "/")
	routes := map[string]route{
		path + "/authorize":  {page, false, s.serveAuthorize},
		path + "/token":      {post, true, s.serveToken},
		path + "/jwks":       {get, true, s.serveKeys},
		path + "/revoke":     {post, true, s.serveRevoke},
		path + "/introspect": {post, false, s.serveIntrospect},
	}
	if !s.opts.NoRegistration {
		routes[path+"/register"] = route{post, true, s.serveRegister}
	}
	if s.provider != nil {
		routes[path+"/callback"] = route{get, false, s.serveCallback}
	}
	for _, location := range oauthwire.ServerMetadataURLs(s.issuer) {
		if u, err := url.Parse(location); err == nil {
			routes[u.EscapedPath()] = route{get, true, s.serveMetadata}
		}
	}
	return routes
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, ok := s.routes[r.URL.EscapedPath()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	// A page elsewhere that gave its name our address must not talk to a server on
	// this machine (DNS rebinding).
	if oauthwire.Loopback(s.issuer.Hostname()) && !oauthwire.Loopback((&url.URL{Host: r.Host}).Hostname()) {
		http.Error(w, "this server is for "+s.issuer.Host+" only", http.StatusForbidden)
		return
	}
	if route.open {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Expose-Headers", "DPoP-Nonce, WWW-Authenticate")
		if r.Method == http.MethodOptions {
			header.Set("Access-Control-Allow-Methods", strings.Join(route.methods, ", "))
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP, MCP-Protocol-Version")
			header.Set("Access-Control-Max-Age", "3600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	if !slices.Contains(route.methods, r.Method) && !(r.Method == http.MethodHead && slices.Contains(route.methods, http.MethodGet)) {
		w.Header().Set("Allow", strings.Join(route.methods, ", "))
		http.Error(w, r.Method+" is not for this path", http.StatusMethodNotAllowed)
		return
	}
	route.serve(w, r)
}

// secure reports whether cookies are for https only.
func (s *Server) secure() bool { return s.issuer.Scheme == "https" }
