package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestRefused has requests that are right but for one thing each.
func TestRefused(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-401-REQUIRED", "AUTH-OAUTH21-SECURITY", "AUTH-STATUS-CODES", "AUTH-TOKEN-VALIDATE", "AUTH-TOKEN-AUDIENCE",
		"AUTH-TOKEN-OWN-RESOURCES", "AUTH-RESOURCE-CASE", "AUTH-TOKEN-NO-TRANSIT", "SEC-TOKEN-PASSTHROUGH", "AUTHX-CC-SERVER-VALIDATE")
	is, other := newIssuer(t, "https://login.example.com"), newIssuer(t, "https://login.example.org")
	r := newResource(t, &auth.Options{Scopes: []string{"mcp"}, MaxToken: 4 << 10}, is.verifier(nil))
	now := time.Now().Unix()
	key := is.key()
	header := map[jose.HeaderKey]any{"kid": key.KeyID, "typ": "at+jwt"}
	with := func(name string, value any) map[jose.HeaderKey]any {
		changed := map[jose.HeaderKey]any{"kid": key.KeyID, "typ": "at+jwt"}
		changed[jose.HeaderKey(name)] = value
		return changed
	}
	public := publicPEM(t, key)
	const (
		invalid   = `error="invalid_token"`
		malformed = `error="invalid_request"`
	)
	tests := map[string]struct {
		headers   []string
		target    string // what is asked for, if not the endpoint
		status    int
		challenge string
	}{
		"right":                        {[]string{bearer(is.token(nil))}, "", 200, ""},
		"right, lower case":            {[]string{"Authorization: bearer " + is.token(nil)}, "", 200, ""},
		"right, JWT":                   {[]string{bearer(sign(t, jose.ES256, key.Key, with("typ", "JWT"), is.claims(nil)))}, "", 200, ""},
		"right, no key id":             {[]string{bearer(sign(t, jose.ES256, key.Key, nil, is.claims(nil)))}, "", 200, ""},
		"right, among other audiences": {[]string{bearer(is.token(map[string]any{"aud": []string{"https://x", resourceURL}}))}, "", 200, ""},
		"right, audience in capitals":  {[]string{bearer(is.token(map[string]any{"aud": "HTTPS://MCP.example.com/mcp"}))}, "", 200, ""},

		"no token":               {nil, "", 401, "Bearer scope="},
		"another scheme":         {[]string{"Authorization: Basic YTpi"}, "", 401, "Bearer scope="},
		"scheme alone":           {[]string{"Authorization: Bearer"}, "", 400, malformed},
		"expired":                {[]string{bearer(is.token(map[string]any{"exp": now - 31}))}, "", 401, "has expired"},
		"never expires":          {[]string{bearer(is.token(map[string]any{"exp": nil}))}, "", 401, invalid},
		"not yet valid":          {[]string{bearer(is.token(map[string]any{"nbf": now + 60}))}, "", 401, invalid},
		"issued in the future":   {[]string{bearer(is.token(map[string]any{"iat": now + 60}))}, "", 401, invalid},
		"wrong audience":         {[]string{bearer(is.token(map[string]any{"aud": "https://api.example.com"}))}, "", 401, invalid},
		"audience with a slash":  {[]string{bearer(is.token(map[string]any{"aud": resourceURL + "/"}))}, "", 401, invalid},
		"audience is the origin": {[]string{bearer(is.token(map[string]any{"aud": "https://mcp.example.com"}))}, "", 401, invalid},
		"audience begins alike":  {[]string{bearer(is.token(map[string]any{"aud": "https://mcp.example.com.evil.example/mcp"}))}, "", 401, invalid},
		"no audience":            {[]string{bearer(is.token(map[string]any{"aud": nil}))}, "", 401, invalid},
		"wrong issuer":           {[]string{bearer(is.token(map[string]any{"iss": other.URL}))}, "", 401, invalid},
		"issuer with a slash":    {[]string{bearer(is.token(map[string]any{"iss": is.URL + "/"}))}, "", 401, invalid},
		"token of another":       {[]string{bearer(other.token(nil))}, "", 401, invalid},
		"nobody":                 {[]string{bearer(is.token(map[string]any{"sub": nil, "client_id": nil}))}, "", 401, invalid},
		"wrong key":              {[]string{bearer(sign(t, jose.ES256, ecKey(t), header, is.claims(nil)))}, "", 401, invalid},
		"unknown key":            {[]string{bearer(sign(t, jose.ES256, key.Key, with("kid", "other"), is.claims(nil)))}, "", 401, invalid},
		"key id is a path":       {[]string{bearer(sign(t, jose.HS256, make([]byte, 32), with("kid", "../../../../dev/null"), is.claims(nil)))}, "", 401, invalid},
		"key id is a URL":        {[]string{bearer(sign(t, jose.ES256, ecKey(t), with("kid", other.URL+"/keys"), is.claims(nil)))}, "", 401, invalid},
		"key in the header":      {[]string{bearer(embedded(t, is.claims(nil)))}, "", 401, invalid},
		"key set in the header":  {[]string{bearer(sign(t, jose.ES256, other.key().Key, map[jose.HeaderKey]any{"jku": other.URL + "/keys", "kid": "k1"}, is.claims(nil)))}, "", 401, invalid},
		"alg none":               {[]string{bearer(unsigned(`{"alg":"none","typ":"at+jwt"}`, is.claims(nil)))}, "", 401, invalid},
		"alg none, signature":    {[]string{bearer(unsigned(`{"alg":"None","typ":"at+jwt"}`, is.claims(nil)) + "AAAA")}, "", 401, invalid},
		"alg of a public key":    {[]string{bearer(sign(t, jose.HS256, public, header, is.claims(nil)))}, "", 401, invalid},
		"alg of a secret":        {[]string{bearer(sign(t, jose.HS256, []byte(hmacSecret), with("kid", "secret"), is.claims(nil)))}, "", 401, invalid},
		"alg of another curve":   {[]string{bearer(sign(t, jose.ES384, otherCurve(t), header, is.claims(nil)))}, "", 401, invalid},
		"alg of another kind":    {[]string{bearer(sign(t, jose.RS256, rsaKey(t), header, is.claims(nil)))}, "", 401, invalid},
		"critical header":        {[]string{bearer(sign(t, jose.ES256, key.Key, with("crit", []string{"x"}), is.claims(nil)))}, "", 401, invalid},
		"ID token":               {[]string{bearer(sign(t, jose.ES256, key.Key, with("typ", "id_token"), is.claims(nil)))}, "", 401, invalid},
		"proof as token":         {[]string{bearer(sign(t, jose.ES256, key.Key, with("typ", "dpop+jwt"), is.claims(nil)))}, "", 401, invalid},
		"bound to a key":         {[]string{bearer(is.token(map[string]any{"cnf": map[string]any{"jkt": "x"}}))}, "", 401, invalid},
		"bound to a certificate": {[]string{bearer(is.token(map[string]any{"cnf": map[string]any{"x5t#S256": "x"}}))}, "", 401, invalid},
		"opaque":                 {[]string{bearer("abc")}, "", 401, invalid},
		"signature cut off":      {[]string{bearer(strings.TrimRight(is.token(nil), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"))}, "", 401, invalid},
		"claims changed":         {[]string{bearer(spliced(is.token(nil), is.token(map[string]any{"sub": "root"})))}, "", 401, invalid},
		"claim twice":            {[]string{bearer(signTwice(t, key, is.claims(nil)))}, "", 401, invalid},
		"encrypted":              {[]string{bearer("eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA")}, "", 401, invalid},
		"oversized":              {[]string{bearer(is.token(map[string]any{"x": strings.Repeat("x", 4<<10)}))}, "", 400, malformed},
		"two headers":            {[]string{bearer(is.token(nil)), bearer(is.token(nil))}, "", 400, malformed},
		"two tokens":             {[]string{bearer(is.token(nil) + ", Bearer " + is.token(nil))}, "", 400, malformed},
		"in the query":           {nil, "/mcp?access_token=" + is.token(nil), 400, malformed},
		"in the query as well":   {[]string{bearer(is.token(nil))}, "/mcp?x=1&access_token=y", 400, malformed},
		"in the query, escaped":  {[]string{bearer(is.token(nil))}, "/mcp?access%5Ftoken=y", 400, malformed},
		"not of a header":        {[]string{bearer("a\x01b")}, "", 400, malformed},
		"lacks scope":            {[]string{bearer(is.token(map[string]any{"scope": "read"}))}, "", 403, `error="insufficient_scope"`},
		"no scope":               {[]string{bearer(is.token(map[string]any{"scope": nil}))}, "", 403, `scope="mcp"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := test.target
			if target == "" {
				target = "/mcp"
			}
			w := serve(r.Handler(inside), http.MethodGet, target, test.headers...)
			if w.Code != test.status {
				t.Fatalf("status = %d, want %d; body %s", w.Code, test.status, w.Body)
			}
			challenge := w.Header().Get("WWW-Authenticate")
			if test.status == 200 {
				if want := secretBody + " for " + is.URL + " alice"; w.Body.String() != want || challenge != "" {
					t.Errorf("body %q, challenge %q; want body %q", w.Body, challenge, want)
				}
				return
			}
			if !strings.Contains(challenge, test.challenge) {
				t.Errorf("challenge = %s, want %s in it", challenge, test.challenge)
			}
			if !strings.Contains(challenge, `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("challenge = %s, has no resource_metadata", challenge)
			}
			if all := w.Body.String() + challenge; strings.Contains(all, secretBody) || strings.Contains(all, "alice") || strings.Contains(all, is.URL) {
				t.Errorf("the refusal says too much: %s", all)
			}
		})
	}
}

// publicPEM returns a public key as its owner publishes it, which an attacker may
// use as the secret of a MAC.
func publicPEM(t *testing.T, key jose.JSONWebKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// embedded returns a token with its own key in the header.
func embedded(t *testing.T, claims map[string]any) string {
	t.Helper()
	key := ecKey(t)
	return sign(t, jose.ES256, key, map[jose.HeaderKey]any{"jwk": jose.JSONWebKey{Key: key.Public()}}, claims)
}

func otherCurve(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// spliced returns the claims of one token between header and signature of another.
func spliced(a, b string) string {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return x[0] + "." + y[1] + "." + x[2]
}

// signTwice signs claims with one more subject, which no encoder does.
func signTwice(t *testing.T, key jose.JSONWebKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key.Key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := json.Marshal(claims)
	signed, err := signer.Sign([]byte(`{"sub":"root",` + string(payload[1:])))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
