package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A pointer is what is kept for an endpoint: where its tokens are.
type pointer struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
	// Prebound names the client of Options.Registrations without an issuer that was
	// used here first, and so belongs to Issuer.
	Prebound string `json:"prebound,omitempty"`
}

// A credential is what is kept for a resource of an issuer. It is never changed.
type credential struct {
	Issuer   string    `json:"issuer"`
	Resource string    `json:"resource"`
	Client   identity  `json:"client"`
	Server   endpoints `json:"server"`

	Access  oauthwire.Secret `json:"access_token"`
	Scheme  string           `json:"scheme"`
	Expires time.Time        `json:"expires,omitzero"` // zero: not known
	Renew   time.Time        `json:"renew,omitzero"`
	Refresh oauthwire.Secret `json:"refresh_token,omitempty"`
	// Scopes were asked for; Granted is what the server said it gave instead, if it did.
	Scopes  []string `json:"scopes,omitempty"`
	Granted []string `json:"granted,omitempty"`
	// KeyBytes are those of the DPoP key; key is the same.
	KeyBytes []byte `json:"key,omitempty"`
	key      *dpop.Key
	prebound string // see identity
}

// bind makes the credential one of tokens that are bound to a key, unless that is nil.
func (c *credential) bind(key *dpop.Key) error {
	if key == nil {
		return nil
	}
	der, err := key.Bytes()
	if err != nil {
		return fail("authorize", c.Issuer, err)
	}
	c.key, c.KeyBytes = key, der
	return nil
}

// endpoints are what later requests need of the authorization server.
type endpoints struct {
	Token      string   `json:"token"`
	Revocation string   `json:"revocation,omitempty"`
	Methods    []string `json:"methods,omitempty"`
	Algorithms []string `json:"algorithms,omitempty"`
}

// The keys of a store. What is in a key is authenticated by encrypted stores.
func pointerKey(endpoint string) string { return "endpoint " + endpoint }

func credentialKey(issuer, resource string) string { return "token " + issuer + " " + resource }

func clientKey(issuer string) string { return "client " + issuer }

// wants reports whether the credential has all of the scopes.
func (c *credential) wants(scopes []string) bool {
	for _, scope := range scopes {
		if !slices.Contains(c.Scopes, scope) && !slices.Contains(c.Granted, scope) {
			return false
		}
	}
	return true
}

// fresh reports whether the token will be good for a while yet.
func (c *credential) fresh() bool { return c.Renew.IsZero() || time.Now().Before(c.Renew) }

// expired reports whether the token has come to its end.
func (c *credential) expired() bool { return !c.Expires.IsZero() && !time.Now().Before(c.Expires) }

// load reads what is kept under a key into v, and reports whether there is anything.
func load(ctx context.Context, store Store, key string, v any) (bool, error) {
	data, err := store.Load(ctx, key)
	if err == nil && len(data) == 0 {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fail("store", keyServer(key), err)
	}
	return true, nil
}

// save keeps v under a key.
func save(ctx context.Context, store Store, key string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = store.Save(ctx, key, data)
	}
	if err != nil {
		return fail("store", keyServer(key), err)
	}
	return nil
}

func forget(ctx context.Context, store Store, key string) error {
	if err := store.Save(ctx, key, nil); err != nil {
		return fail("store", keyServer(key), err)
	}
	return nil
}

func lock(ctx context.Context, store Store, key string) (func(), error) {
	unlock, err := store.Lock(ctx, key)
	if err != nil {
		e := fail("store", keyServer(key), err)
		e.Temporary = ctx.Err() != nil
		return nil, e
	}
	return unlock, nil
}

// keyServer returns the server that a key is about.
func keyServer(key string) string {
	_, rest, _ := strings.Cut(key, " ")
	server, _, _ := strings.Cut(rest, " ")
	return server
}

// loadCredential returns what is kept for a resource of an issuer; nil if nothing is.
func loadCredential(ctx context.Context, store Store, issuer, resource string) (*credential, error) {
	c := new(credential)
	if found, err := load(ctx, store, credentialKey(issuer, resource), c); !found {
		return nil, err
	}
	// Whatever a store mixes up does not become a token for another server.
	if c.Issuer != issuer || c.Resource != resource {
		return nil, nil
	}
	if len(c.KeyBytes) > 0 {
		key, err := dpop.ParseKey(c.KeyBytes)
		if err != nil {
			return nil, fail("store", issuer, err)
		}
		c.key = key
	}
	return c, nil
}

// endpointOf returns the name of an MCP endpoint: its URL without what changes.
func endpointOf(u *url.URL) string {
	e := url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: u.Path, RawPath: u.RawPath}
	if e.Path == "/" {
		e.Path = "" // the form without a trailing slash is the canonical one
	}
	return e.String()
}
