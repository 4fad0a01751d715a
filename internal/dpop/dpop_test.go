package dpop_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/internal/dpop"
)

var target = dpop.Request{Method: "POST", URL: "https://mcp.example.com/mcp?x=1", Token: "secret-token"}

func newKey(t testing.TB) *dpop.Key {
	t.Helper()
	key, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func proofOf(t testing.TB, key *dpop.Key, rq dpop.Request) string {
	t.Helper()
	proof, err := key.Proof(rq)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func TestProofHolds(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for _, url := range []string{
		"https://mcp.example.com/mcp", "https://mcp.example.com/mcp?other=2#f", "HTTPS://MCP.example.com:443/mcp",
		"https://mcp.example.com/%6Dcp",
	} {
		rq := target
		rq.URL = url
		got, err := dpop.Check(proofOf(t, key, rq), target, &dpop.Rules{Thumbprint: key.Thumbprint()})
		if err != nil {
			t.Errorf("proof for %s: %v", url, err)
			continue
		}
		if got.Thumbprint != key.Thumbprint() || got.ID == "" || time.Since(got.IssuedAt) > time.Minute {
			t.Errorf("proof for %s = %+v, want thumbprint %s", url, got, key.Thumbprint())
		}
	}
}

func TestKeySurvivesStore(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	der, err := key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := dpop.ParseKey(der)
	if err != nil {
		t.Fatal(err)
	}
	if again.Thumbprint() != key.Thumbprint() {
		t.Errorf("thumbprint of the stored key = %s, want %s", again.Thumbprint(), key.Thumbprint())
	}
	for _, bad := range [][]byte{nil, []byte("x")} {
		if _, err := dpop.ParseKey(bad); err == nil {
			t.Errorf("ParseKey(%q) gave no error", bad)
		}
	}
	if proof, err := key.Proof(dpop.Request{Method: "GET", URL: "/mcp"}); err == nil {
		t.Errorf("proof for a URL without a host = %q, want an error", proof)
	}
}

// forge signs any claims, with any header.
func forge(t testing.TB, alg jose.SignatureAlgorithm, private any, header map[jose.HeaderKey]any, embed bool, claims map[string]any) string {
	t.Helper()
	o := &jose.SignerOptions{EmbedJWK: embed, ExtraHeaders: header}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: private}, o)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := json.Marshal(claims)
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

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rightClaims() map[string]any {
	return map[string]any{
		"jti": rand.Text(), "htm": target.Method, "htu": "https://mcp.example.com/mcp", "iat": time.Now().Unix(),
		// The SHA-256 of "secret-token".
		"ath": "kwu9xRtq7VwqVnj9bije56BeiktkPPwLRCfD77hsDZQ",
	}
}

// TestCheckRefuses has proofs that are right but for one thing.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	type part struct {
		alg    jose.SignatureAlgorithm
		key    any
		header map[jose.HeaderKey]any
		embed  bool
		claims map[string]any
		rules  dpop.Rules
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	tests := map[string]struct {
		spoil func(*part)
		want  error // nil: it holds
	}{
		"right":                {func(*part) {}, nil},
		"right, EdDSA":         {func(p *part) { p.alg, p.key = jose.EdDSA, ed }, nil},
		"right, fraction":      {func(p *part) { p.claims["iat"] = float64(time.Now().Unix()) + 0.5 }, nil},
		"typ of another token": {func(p *part) { p.header[jose.HeaderType] = "JWT" }, dpop.ErrProof},
		"no typ":               {func(p *part) { p.header = nil }, dpop.ErrProof},
		"no key":               {func(p *part) { p.embed = false }, dpop.ErrProof},
		"key of a secret":      {func(p *part) { p.alg, p.key = jose.HS256, []byte(strings.Repeat("k", 32)) }, dpop.ErrProof},
		"small key":            {func(p *part) { p.alg, p.key = jose.RS256, small }, dpop.ErrProof},
		"another method":       {func(p *part) { p.claims["htm"] = "GET" }, dpop.ErrProof},
		"method in lower case": {func(p *part) { p.claims["htm"] = "post" }, dpop.ErrProof},
		"another host":         {func(p *part) { p.claims["htu"] = "https://evil.example.com/mcp" }, dpop.ErrProof},
		"another path":         {func(p *part) { p.claims["htu"] = "https://mcp.example.com/mcp/" }, dpop.ErrProof},
		"another port":         {func(p *part) { p.claims["htu"] = "https://mcp.example.com:8443/mcp" }, dpop.ErrProof},
		"another scheme":       {func(p *part) { p.claims["htu"] = "http://mcp.example.com/mcp" }, dpop.ErrProof},
		"no URL":               {func(p *part) { delete(p.claims, "htu") }, dpop.ErrProof},
		"user in the URL":      {func(p *part) { p.claims["htu"] = "https://u@mcp.example.com/mcp" }, dpop.ErrProof},
		"escaped slash":        {func(p *part) { p.claims["htu"] = "https://mcp.example.com%2fmcp" }, dpop.ErrProof},
		"too old":              {func(p *part) { p.claims["iat"] = time.Now().Unix() - 65 }, dpop.ErrProof},
		"of the future":        {func(p *part) { p.claims["iat"] = time.Now().Unix() + 65 }, dpop.ErrProof},
		"no time":              {func(p *part) { delete(p.claims, "iat") }, dpop.ErrProof},
		"no id":                {func(p *part) { delete(p.claims, "jti") }, dpop.ErrProof},
		"long id":              {func(p *part) { p.claims["jti"] = strings.Repeat("x", 513) }, dpop.ErrProof},
		"no token hash":        {func(p *part) { delete(p.claims, "ath") }, dpop.ErrProof},
		"another token":        {func(p *part) { p.claims["ath"] = "AAAA" }, dpop.ErrProof},
		"id is a number":       {func(p *part) { p.claims["jti"] = 5 }, dpop.ErrProof},
		"too long":             {func(p *part) { p.claims["x"] = strings.Repeat("x", 8<<10) }, dpop.ErrProof},
		"another key":          {func(p *part) { p.rules.Thumbprint = "another" }, dpop.ErrProof},
		"no nonce":             {func(p *part) { p.rules.Nonce = func(n string) bool { return n == "n1" } }, dpop.ErrNonce},
		"nonce": {func(p *part) {
			p.claims["nonce"] = "n1"
			p.rules.Nonce = func(n string) bool { return n == "n1" }
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part{
				alg: jose.ES256, key: ecKey(t), embed: true, claims: rightClaims(),
				header: map[jose.HeaderKey]any{jose.HeaderType: "dpop+jwt"},
			}
			test.spoil(&p)
			proof := forge(t, p.alg, p.key, maps.Clone(p.header), p.embed, p.claims)
			_, err := dpop.Check(proof, target, &p.rules)
			if !errors.Is(err, test.want) {
				t.Errorf("Check = %v, want %v", err, test.want)
			}
		})
	}
}

// TestCheckSignature changes a proof after it was signed.
func TestCheckSignature(t *testing.T) {
	t.Parallel()
	proof := proofOf(t, newKey(t), target)
	parts := strings.Split(proof, ".")
	other := strings.Split(proofOf(t, newKey(t), target), ".")
	for name, bad := range map[string]string{
		"empty":            "",
		"claims of one":    parts[0] + "." + other[1] + "." + parts[2],
		"key of another":   other[0] + "." + parts[1] + "." + parts[2],
		"no signature":     parts[0] + "." + parts[1] + ".",
		"two proofs":       proof + ", " + proof,
		"general form":     `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"none":             "eyJhbGciOiJub25lIiwidHlwIjoiZHBvcCtqd3QifQ." + parts[1] + ".",
		"private key":      privateKeyProof(t),
		"no such key type": "eyJhbGciOiJFUzI1NiIsInR5cCI6ImRwb3Arand0IiwiandrIjp7Imt0eSI6IngifX0." + parts[1] + "." + parts[2],
	} {
		if _, err := dpop.Check(bad, target, nil); !errors.Is(err, dpop.ErrProof) {
			t.Errorf("%s: Check = %v, want %v", name, err, dpop.ErrProof)
		}
	}
}

// privateKeyProof returns a proof whose header gives its private key away.
func privateKeyProof(t *testing.T) string {
	key := ecKey(t)
	jwk, err := jose.JSONWebKey{Key: key}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	header := map[jose.HeaderKey]any{jose.HeaderType: "dpop+jwt", "jwk": json.RawMessage(jwk)}
	return forge(t, jose.ES256, key, header, false, rightClaims())
}

func TestReplays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		rules := &dpop.Rules{Replays: &dpop.Replays{}, Window: time.Minute}
		proof := proofOf(t, key, target)
		if _, err := dpop.Check(proof, target, rules); err != nil {
			t.Fatalf("first use: %v", err)
		}
		for range 70 { // until its time is over, whatever is remembered in between
			if _, err := dpop.Check(proof, target, rules); !errors.Is(err, dpop.ErrProof) {
				t.Fatalf("second use: %v, want %v", err, dpop.ErrProof)
			}
			if _, err := dpop.Check(proofOf(t, key, target), target, rules); err != nil {
				t.Fatalf("another proof: %v", err)
			}
			wait(time.Second)
		}
	})
}

// TestReplaysAhead replays a proof of a client whose clock is ahead, as late as can be.
func TestReplaysAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rules := &dpop.Rules{Replays: &dpop.Replays{}, Window: time.Minute}
		claims := rightClaims()
		claims["iat"] = time.Now().Add(time.Minute).Unix()
		proof := forge(t, jose.ES256, ecKey(t), map[jose.HeaderKey]any{jose.HeaderType: "dpop+jwt"}, true, claims)
		if _, err := dpop.Check(proof, target, rules); err != nil {
			t.Fatalf("first use: %v", err)
		}
		wait(2 * time.Minute)
		if _, err := dpop.Check(proof, target, rules); !errors.Is(err, dpop.ErrProof) || !strings.Contains(fmt.Sprint(err), "before") {
			t.Errorf("second use: %v, want that it was used before", err)
		}
	})
}

func TestReplaysBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		rules := &dpop.Rules{Replays: &dpop.Replays{Limit: 3}, Window: time.Minute}
		for i := range 3 {
			if _, err := dpop.Check(proofOf(t, key, target), target, rules); err != nil {
				t.Fatalf("proof %d: %v", i, err)
			}
		}
		if _, err := dpop.Check(proofOf(t, key, target), target, rules); !errors.Is(err, dpop.ErrReplays) || errors.Is(err, dpop.ErrProof) {
			t.Errorf("one too many: %v, want %v", err, dpop.ErrReplays)
		}
		wait(5 * time.Minute)
		if _, err := dpop.Check(proofOf(t, key, target), target, rules); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

func TestNonces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nonces := dpop.NewNonces(nil, time.Minute)
		first := nonces.Current()
		if !nonces.Valid(first) || nonces.Valid("") || dpop.NewNonces(nil, time.Minute).Valid(first) {
			t.Errorf("nonce %q: must hold here and nowhere else", first)
		}
		wait(time.Minute)
		if second := nonces.Current(); second == first || !nonces.Valid(first) {
			t.Errorf("nonces %q and %q must differ and both hold", first, second)
		}
		wait(time.Minute)
		if nonces.Valid(first) {
			t.Errorf("nonce %q still holds after two minutes", first)
		}
	})
}

// wait lets time pass in a synctest bubble.
func wait(d time.Duration) { <-time.After(d) }

func TestThumbprint(t *testing.T) {
	t.Parallel()
	// The example of RFC 7638, section 3.1.
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON([]byte(`{"kty":"RSA","e":"AQAB","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}`)); err != nil {
		t.Fatal(err)
	}
	const want = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
	if got, err := dpop.Thumbprint(&key); got != want || err != nil {
		t.Errorf("Thumbprint = %q, %v; want %q", got, err, want)
	}
	if got, err := dpop.Thumbprint(&jose.JSONWebKey{Key: crypto.PublicKey(5)}); err == nil {
		t.Errorf("Thumbprint of no key = %q, want an error", got)
	}
}

func FuzzCheck(f *testing.F) {
	key := newKey(f)
	f.Add(proofOf(f, key, target), target.URL)
	f.Add("a.b.c", "https://x/%zz")
	f.Add("", "http://[::1]:80")
	f.Add("", "http://:")
	f.Fuzz(func(t *testing.T, proof, url string) {
		rq := dpop.Request{Method: "POST", URL: url}
		if made, err := key.Proof(rq); err == nil {
			if _, err := dpop.Check(made, rq, nil); err != nil {
				t.Errorf("own proof for %q: %v", url, err)
			}
		}
		if _, err := dpop.Check(proof, target, &dpop.Rules{Thumbprint: "none"}); err == nil {
			t.Errorf("Check(%q) holds for a key that does not exist", proof)
		}
	})
}
