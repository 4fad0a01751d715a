package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

const resourceURL = "https://mcp.example.com/mcp"

// An issuer is an authorization server, as far as a resource server sees one. It is
// reached without a network, so that time can be made up.
type issuer struct {
	URL string
	t   testing.TB
	mux *http.ServeMux

	asked atomic.Int32 // how often keys were fetched
	down  atomic.Bool  // answers nothing but errors
	hold  chan struct{}

	mu   sync.Mutex
	keys []jose.JSONWebKey // the private ones; the first one signs
}

func newIssuer(t testing.TB, url string) *issuer {
	t.Helper()
	is := &issuer{URL: url, t: t, mux: http.NewServeMux()}
	is.mux.HandleFunc("GET /.well-known/oauth-authorization-server", is.serveMetadata)
	is.mux.HandleFunc("GET /keys", is.serveKeys)
	is.rotate("k1")
	return is
}

// Client returns what reaches the issuer and nobody else.
func (is *issuer) Client() *http.Client { return &http.Client{Transport: is, Timeout: 5 * time.Second} }

// RoundTrip implements http.RoundTripper.
func (is *issuer) RoundTrip(rq *http.Request) (*http.Response, error) {
	if origin := rq.URL.Scheme + "://" + rq.URL.Host; origin != is.URL {
		return nil, errors.New("asked " + origin + " instead of " + is.URL)
	}
	if rq.Body == nil {
		rq.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	is.mux.ServeHTTP(w, rq)
	if err := rq.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (is *issuer) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	if is.down.Load() {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	is.answer(w, map[string]any{"issuer": is.URL, "jwks_uri": is.URL + "/keys"})
}

func (is *issuer) serveKeys(w http.ResponseWriter, rq *http.Request) {
	is.asked.Add(1)
	if is.hold != nil {
		select {
		case <-is.hold:
		case <-rq.Context().Done():
		}
	}
	if is.down.Load() {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	is.answer(w, is.set())
}

func (is *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// set returns the public keys, and some of no use.
func (is *issuer) set() map[string]any {
	is.mu.Lock()
	defer is.mu.Unlock()
	keys := []any{
		map[string]any{"kty": "oct", "kid": "secret", "k": base64.RawURLEncoding.EncodeToString([]byte(hmacSecret))},
		map[string]any{"kty": "of the future", "kid": "f"},
	}
	for _, key := range is.keys {
		keys = append(keys, key.Public())
	}
	return map[string]any{"keys": keys}
}

const hmacSecret = "0123456789abcdef0123456789abcdef"

// rotate makes a new key, which signs from now on; the one before stays valid.
func (is *issuer) rotate(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	key := jose.JSONWebKey{Key: ecKey(is.t), KeyID: id, Algorithm: "ES256", Use: "sig"}
	is.keys = append([]jose.JSONWebKey{key}, is.keys[:min(len(is.keys), 1)]...)
}

func (is *issuer) key() jose.JSONWebKey {
	is.mu.Lock()
	defer is.mu.Unlock()
	return is.keys[0]
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// verifier returns one for the tokens of the issuer.
func (is *issuer) verifier(opts *auth.JWTOptions) *auth.JWT {
	is.t.Helper()
	if opts == nil {
		opts = &auth.JWTOptions{}
	}
	if opts.Client == nil {
		opts.Client = is.Client()
	}
	v, err := auth.NewJWT(is.URL, opts)
	if err != nil {
		is.t.Fatal(err)
	}
	return v
}

// claims returns those of a token that is right, changed by change.
func (is *issuer) claims(change map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": is.URL, "sub": "alice", "aud": resourceURL, "client_id": "app", "scope": "mcp read",
		"iat": now, "nbf": now, "exp": now + 600, "jti": rand.Text(),
	}
	for name, value := range change {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	return claims
}

// token returns a token with the claims of a right one, changed by change.
func (is *issuer) token(change map[string]any) string {
	is.t.Helper()
	key := is.key()
	return sign(is.t, jose.ES256, key.Key, map[jose.HeaderKey]any{"kid": key.KeyID, "typ": "at+jwt"}, is.claims(change))
}

func sign(t testing.TB, alg jose.SignatureAlgorithm, key any, header map[jose.HeaderKey]any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, &jose.SignerOptions{ExtraHeaders: maps.Clone(header)})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unsigned returns a token with any header, and no signature.
func unsigned(header string, claims map[string]any) string {
	payload, _ := json.Marshal(claims)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode(payload) + "."
}

// newResource returns the resource that tokens of the issuer are for.
func newResource(t testing.TB, opts *auth.Options, verifiers ...auth.Verifier) *auth.Resource {
	t.Helper()
	r, err := auth.New(resourceURL, verifiers, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// secretBody is what only those may see who are let in.
const secretBody = "the plans"

// inside answers with who called.
var inside = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	id := auth.Of(r.Context())
	if id == nil {
		http.Error(w, "nobody", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte(secretBody + " for " + id.Principal()))
})

// get sends a GET with these headers to what is behind a resource.
func get(r *auth.Resource, headers ...string) *httptest.ResponseRecorder {
	return serve(r.Handler(inside), http.MethodGet, "/mcp", headers...)
}

func serve(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	rq := httptest.NewRequest(method, target, nil)
	if method == http.MethodGet { // which may open a stream that nobody ends
		ctx, cancel := context.WithTimeout(rq.Context(), 30*time.Second)
		defer cancel()
		rq = rq.WithContext(ctx)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		rq.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, rq)
	return w
}

func bearer(token string) string { return "Authorization: Bearer " + token }
