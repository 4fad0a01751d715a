package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestClientCredentials authenticates with a secret.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-AUTHN-METHODS", "AUTHX-CC-DISCOVERY", "AUTHX-CC-PREREGISTERED", "AUTHX-CC-SECRET-REQUEST",
		"AUTHX-CC-TOKEN-USE", "AUTHX-CC-CONFORM", "AUTHX-CC-SECURITY")
	for _, method := range []string{"client_secret_basic", "client_secret_post"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			is := w.issuer(asURL)
			is.meta["token_endpoint_auth_methods_supported"] = []string{method}
			rs := w.resource(mcpURL, is)
			rs.challenge = `scope="read"`
			c := w.client(&oauth.Options{
				Grant:         oauth.ClientCredentials{},
				Registrations: []oauth.Registration{{ID: "service", Secret: "s3cret"}},
			})
			mustSend(t, c, mcpURL, "x")
			form := is.last()
			if form.Get("grant_type") != "client_credentials" || form.Get("resource") != mcpURL || form.Get("scope") != "read" {
				t.Errorf("token request = %v", form)
			}
			post := form.Get("client_id") == "service" && form.Get("client_secret") == "s3cret"
			if basic := form.Get("basic") == "service:s3cret"; basic == post || post != (method == "client_secret_post") {
				t.Errorf("%s: token request = %v", method, form)
			}
			time.Sleep(time.Hour - time.Second) // before the end
			mustSend(t, c, mcpURL, "x")
			if n := is.count("client_credentials"); n != 2 || len(w.requests("POST "+mcpURL)) != 3 {
				t.Errorf("%d tokens, %d requests, want 2 and 3", n, len(w.requests("POST "+mcpURL)))
			}
			if len(is.asked)+len(is.clients) > 0 {
				t.Errorf("a user was asked, or a client registered: %v %v", is.asked, is.clients)
			}
		})
	}
}

// TestAssertions authenticates with keys.
func TestAssertions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-JWT-REQUEST", "AUTHX-CC-AUTHN-METHODS")
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ec384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	rs, _ := rsa.GenerateKey(rand.Reader, 2048)
	public, ed, _ := ed25519.GenerateKey(rand.Reader)
	for name, test := range map[string]struct {
		key, public any
		supported   []string
		want        jose.SignatureAlgorithm // empty: an error
	}{
		"ES256":         {ec, ec.Public(), []string{"ES256"}, jose.ES256},
		"ES384":         {ec384, ec384.Public(), nil, jose.ES384},
		"RS256":         {rs, rs.Public(), nil, jose.RS256},
		"PS256":         {rs, rs.Public(), []string{"PS256", "ES256"}, jose.PS256},
		"EdDSA":         {ed, public, []string{"EdDSA"}, jose.EdDSA},
		"not supported": {ec, ec.Public(), []string{"RS256"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			if test.supported != nil {
				is.meta["token_endpoint_auth_signing_alg_values_supported"] = test.supported
			}
			w.resource(mcpURL, is)
			c := w.client(&oauth.Options{
				Grant:         oauth.ClientCredentials{},
				Registrations: []oauth.Registration{{Issuer: asURL, ID: "service", Key: test.key, KeyID: "k1"}},
			})
			_, err := send(t, c, mcpURL, "x")
			if test.want == "" {
				if err == nil || len(is.forms) > 0 {
					t.Errorf("error %v, %d token requests, want an error and none", err, len(is.forms))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			form := is.last()
			if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || form.Has("client_id") {
				t.Errorf("token request = %v", form)
			}
			signed, err := jose.ParseSignedCompact(form.Get("client_assertion"), []jose.SignatureAlgorithm{test.want})
			if err != nil {
				t.Fatal(err)
			}
			payload, err := signed.Verify(test.public)
			if err != nil || signed.Signatures[0].Protected.KeyID != "k1" {
				t.Fatalf("assertion does not verify: %v, header %+v", err, signed.Signatures[0].Protected)
			}
			var claims struct {
				Iss, Sub, Aud, Jti string
				Iat, Exp           int64
			}
			if err := json.Unmarshal(payload, &claims); err != nil {
				t.Fatal(err)
			}
			if claims.Iss != "service" || claims.Sub != "service" || claims.Aud != asURL || len(claims.Jti) < 20 ||
				claims.Exp-claims.Iat > 300 || claims.Exp <= claims.Iat {
				t.Errorf("claims = %s", payload)
			}
		})
	}
	if _, err := oauth.New(&oauth.Options{Registrations: []oauth.Registration{{ID: "x", Key: "PEM"}}}); err == nil {
		t.Error("a key of an unknown type is accepted")
	}
}

// provider is an identity provider that exchanges what it has issued for assertions.
type provider struct {
	forms []map[string]string
	res   map[string]any
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/token" {
		answer(w, http.StatusOK, map[string]any{"issuer": "https://idp.example", "token_endpoint": "https://idp.example/token"})
		return
	}
	_ = r.ParseForm()
	form := map[string]string{}
	for name := range r.PostForm {
		form[name] = r.PostForm.Get(name)
	}
	if user, password, ok := r.BasicAuth(); ok {
		form["basic"] = user + ":" + password
	}
	p.forms = append(p.forms, form)
	answer(w, http.StatusOK, p.res)
}

// TestEnterprise obtains a token with a user's identity at a provider.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-EMA-EXCHANGE", "AUTHX-EMA-EXCHANGE-CLIENT-AUTH", "AUTHX-EMA-EXCHANGE-RESPONSE", "AUTHX-EMA-NO-REDIRECT",
		"AUTHX-EMA-ORG-CONFIG", "AUTHX-EMA-SSO", "AUTHX-EMA-TOKEN-REQUEST")
	const jag = "urn:ietf:params:oauth:token-type:id-jag"
	good := map[string]any{"issued_token_type": jag, "token_type": "N_A", "access_token": "the.id.jag", "expires_in": 300}
	for name, test := range map[string]struct {
		res  map[string]any
		want string // part of the error; empty: none
	}{
		"assertion":    {good, ""},
		"access token": {map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "access_token": "x"}, "instead of an assertion"},
		"not said":     {map[string]any{"token_type": "N_A", "access_token": "x"}, "instead of an assertion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is, idp := w.issuer(asURL), &provider{res: test.res}
			w.serve("idp.example", idp)
			rs := w.resource(mcpURL, is)
			rs.challenge = `scope="read"`
			c := w.client(&oauth.Options{
				Registrations: []oauth.Registration{{Issuer: asURL, ID: "there", Secret: "s1"}},
				Grant: &oauth.Enterprise{
					Provider: "https://idp.example", Client: oauth.Registration{ID: "here", Secret: "s2"},
					Identity: func(context.Context) (string, string, error) { return "the.id.token", oauth.IdentityIDToken, nil },
				},
			})
			_, err := send(t, c, mcpURL, "x")
			want := map[string]string{
				"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": jag,
				"audience": asURL, "resource": mcpURL, "scope": "read", "client_id": "here", "basic": "here:s2",
				"subject_token": "the.id.token", "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
			}
			if diff := cmp.Diff(want, idp.forms[0]); diff != "" {
				t.Errorf("exchange (-want +got):\n%s", diff)
			}
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || len(is.forms) > 0 {
					t.Errorf("error %v, %d token requests, want one about %q and none", err, len(is.forms), test.want)
				}
				return
			}
			form := is.last()
			if err != nil || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || form.Get("assertion") != "the.id.jag" ||
				form.Get("basic") != "there:s1" || len(is.asked) > 0 {
				t.Errorf("error %v, token request %v, %d users asked", err, form, len(is.asked))
			}
		})
	}
}

// TestWorkload obtains a token with a JWT of the platform, and does not insist.
func TestWorkload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	grant := &oauth.Workload{Assertion: func(_ context.Context, audience string) (string, error) { return "jwt for " + audience, nil }}
	mustSend(t, w.client(&oauth.Options{Grant: grant}), mcpURL, "x")
	form := is.last()
	if form.Get("assertion") != "jwt for https://as.example/token" || form.Has("client_id") || form.Get("resource") != mcpURL || len(is.clients) > 0 {
		t.Errorf("token request = %v", form)
	}
	is.set(func() { is.trouble = nil; is.forms = nil; is.meta["token_endpoint"] = "https://no.example/token" })
	refused := 0
	w.serve("no.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		refused++
		answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
	}))
	c := w.client(&oauth.Options{Grant: grant})
	for range 3 {
		var e *oauth.Error
		if _, err := send(t, c, mcpURL, "x"); !errors.As(err, &e) || e.Code != "invalid_grant" {
			t.Errorf("error %v, want invalid_grant", err)
		}
	}
	if refused != 1 {
		t.Errorf("asked %d times, want once", refused)
	}
}

// bound is an issuer and a server of tokens that are bound to keys, with nonces.
type boundServers struct {
	t          *testing.T
	thumbprint string
	seen       []string // proofs
	scheme     string   // of the tokens; DPoP by default
}

func (b *boundServers) check(w http.ResponseWriter, r *http.Request, at, token, nonce string) bool {
	proofs := r.Header.Values("DPoP")
	if len(proofs) != 1 || slices.Contains(b.seen, proofs[0]) {
		b.t.Errorf("%s got the proofs %q", at, proofs)
	}
	b.seen = append(b.seen, proofs...)
	proof, err := dpop.Check(proofs[0], dpop.Request{Method: r.Method, URL: at, Token: token}, &dpop.Rules{
		Thumbprint: b.thumbprint, Nonce: func(n string) bool { return n == nonce },
	})
	if errors.Is(err, dpop.ErrNonce) {
		w.Header().Set("DPoP-Nonce", nonce)
		return false
	}
	if err != nil {
		b.t.Errorf("%s: %v", at, err)
		return false
	}
	b.thumbprint = proof.Thumbprint
	return true
}

// TestDPoP binds tokens to a key where the server asks for it, with nonces of both.
func TestDPoP(t *testing.T) {
	t.Parallel()
	for name, scheme := range map[string]string{"bound": "DPoP", "not bound": "Bearer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := newWorld(t), &boundServers{t: t, scheme: scheme}
			is := w.issuer(asURL)
			is.meta["dpop_signing_alg_values_supported"] = []string{"ES256"}
			jkt := ""
			w.serve("as.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/authorize" {
					jkt = r.URL.Query().Get("dpop_jkt")
				}
				if r.URL.Path != "/token" {
					is.ServeHTTP(rw, r)
					return
				}
				if !b.check(rw, r, asURL+"/token", "", "as-nonce") {
					answer(rw, http.StatusBadRequest, map[string]string{"error": "use_dpop_nonce"})
					return
				}
				answer(rw, http.StatusOK, map[string]any{"access_token": "bound", "token_type": scheme, "expires_in": 3600})
			}))
			rs := w.resource(mcpURL, is)
			w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				switch auth := r.Header.Get("Authorization"); {
				case r.URL.Path == rs.at:
					rs.ServeHTTP(rw, r)
				case auth == "":
					rw.Header().Set("WWW-Authenticate", `DPoP algs="ES256"`)
					rw.WriteHeader(http.StatusUnauthorized)
				case auth != "DPoP bound":
					t.Errorf("authorized with %q", auth)
				case !b.check(rw, r, mcpURL, "bound", "rs-nonce"):
					rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
					rw.WriteHeader(http.StatusUnauthorized)
				default:
					_, _ = rw.Write([]byte("hello x"))
				}
			}))
			store := oauth.NewMemoryStore()
			_, err := send(t, w.client(&oauth.Options{Store: store}), mcpURL, "x")
			if scheme == "Bearer" {
				if err == nil || !strings.Contains(err.Error(), "did not bind") {
					t.Errorf("error %v, want one about a token that is not bound", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if jkt != b.thumbprint || len(b.seen) != 4 {
				t.Errorf("the code was bound to %q, the token to %q; %d proofs, want 4", jkt, b.thumbprint, len(b.seen))
			}
			mustSend(t, w.client(&oauth.Options{Store: store, Unattended: true}), mcpURL, "x") // with the key of the store
		})
	}
}
