package authserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// A signer signs what others say.
type signer struct {
	t   *testing.T
	key *ecdsa.PrivateKey
	id  string
}

func newSigner(t *testing.T, id string) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{t, key, id}
}

// jwks returns its key set.
func (s signer) jwks() []byte {
	data, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: s.id, Use: "sig"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return data
}

func (s signer) sign(typ string, claims map[string]any) string {
	s.t.Helper()
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(typ))
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: s.id}}
	return s.signWith(key, options, claims)
}

func (s signer) signWith(key jose.SigningKey, options *jose.SignerOptions, claims map[string]any) string {
	s.t.Helper()
	maker, err := jose.NewSigner(key, options)
	if err != nil {
		s.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := maker.Sign(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// with returns claims with some changed; nil takes one out.
func with(claims map[string]any, changes ...any) map[string]any {
	out := maps.Clone(claims)
	for i := 0; i < len(changes); i += 2 {
		name, _ := changes[i].(string)
		if out[name] = changes[i+1]; changes[i+1] == nil {
			delete(out, name)
		}
	}
	return out
}

// TestPrivateKeyJWT authenticates with a signed assertion.
func TestPrivateKeyJWT(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-AS-METADATA", "AUTHX-CC-SECURITY")
	key, thief := newSigner(t, "k1"), newSigner(t, "k1")
	b := start(t, func(o *authserver.Options) {
		o.Clients = append(o.Clients, authserver.Client{ID: "robot", JWKS: key.jwks()})
	})
	now := time.Now().Unix()
	claims := func(changes ...any) map[string]any {
		return with(map[string]any{
			"iss": "robot", "sub": "robot", "aud": b.issuer, "exp": now + 60, "iat": now, "jti": rand.Text(),
		}, changes...)
	}
	ask := func(assertion string, changes ...string) reply {
		return b.token("client_credentials", append([]string{
			"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion", assertion,
		}, changes...)...)
	}
	b.tokens(ask(key.sign("JWT", claims())))
	b.tokens(ask(key.sign("JWT", claims("aud", b.issuer+"/token")), "client_id", "robot"))
	b.tokens(ask(key.sign("JWT", claims("aud", []string{b.issuer}))))
	used := key.sign("JWT", claims())
	b.tokens(ask(used))
	hmac := jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: key.jwks(), KeyID: "k1"}}
	for name, assertion := range map[string]string{
		"used before":         used,
		"key of another":      thief.sign("JWT", claims()),
		"another audience":    key.sign("JWT", claims("aud", "https://as.example")),
		"two audiences":       key.sign("JWT", claims("aud", []string{b.issuer, "https://as.example"})),
		"no audience":         key.sign("JWT", claims("aud", nil)),
		"expired":             key.sign("JWT", claims("exp", now-60)),
		"good for too long":   key.sign("JWT", claims("exp", now+7200)),
		"no expiry":           key.sign("JWT", claims("exp", nil)),
		"not yet good":        key.sign("JWT", claims("nbf", now+120)),
		"no id":               key.sign("JWT", claims("jti", nil)),
		"issuer of another":   key.sign("JWT", claims("iss", "service")),
		"subject of another":  key.sign("JWT", claims("iss", "service", "sub", "service")),
		"unknown client":      key.sign("JWT", claims("iss", "x", "sub", "x")),
		"public key as HMAC":  key.signWith(hmac, nil, claims()),
		"unsigned":            "eyJhbGciOiJub25lIn0.e30.",
		"signature cut off":   used[:len(used)-8],
		"no JWT":              "x",
		"more than one dot":   "a.b.c.d.e",
		"numbers for strings": key.sign("JWT", claims("sub", 7)),
	} {
		got := ask(assertion)
		if got.status != 401 || got.member(t, "error") != "invalid_client" {
			t.Errorf("%s: got status %d %s, want 401 invalid_client", name, got.status, got.body)
		}
	}
	b.wantError(ask(key.sign("JWT", claims()), "client_assertion_type", "x"), 401, "invalid_client")
	b.wantError(ask(key.sign("JWT", claims()), "client_id", "service"), 401, "invalid_client")
	b.wantError(b.token("client_credentials", "client_id", "robot"), 401, "invalid_client")
	b.wantError(b.token("client_credentials", "client_id", "robot", "client_secret", confided), 401, "invalid_client")
}
