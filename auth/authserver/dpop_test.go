package authserver_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/internal/dpop"
)

func (b *browser) proof(key *dpop.Key, nonce string) string {
	b.t.Helper()
	proof, err := key.Proof(dpop.Request{Method: http.MethodPost, URL: b.issuer + "/token", Nonce: nonce})
	if err != nil {
		b.t.Fatal(err)
	}
	return proof
}

func newProofKey(t *testing.T) *dpop.Key {
	t.Helper()
	key, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestDPoP binds tokens to a key.
func TestDPoP(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	key, thief := newProofKey(t), newProofKey(t)
	redeem := func(proofs ...string) reply {
		verifier, challenge := newPair()
		code := b.allow(request("app", callback, challenge, "dpop_jkt", key.Thumbprint())).Get("code")
		form := url.Values{"grant_type": {"authorization_code"}, "client_id": {"app"}, "code": {code}, "code_verifier": {verifier}}
		var header []string
		for _, proof := range proofs {
			header = append(header, "DPoP", proof)
		}
		return b.post(b.issuer+"/token", form, header...)
	}
	proof := b.proof(key, "")
	got := redeem(proof)
	access, refresh := b.tokens(got)
	if got.member(t, "token_type") != "DPoP" {
		t.Errorf("got %s, want a DPoP token", got.body)
	}
	if claims := b.verify(access, "at+jwt"); claims["cnf"].(map[string]any)["jkt"] != key.Thumbprint() {
		t.Errorf("got cnf %v, want the thumbprint of the key", claims["cnf"])
	}
	b.wantError(redeem(proof), 400, "invalid_dpop_proof")                              // used before
	b.wantError(redeem(b.proof(key, ""), b.proof(key, "")), 400, "invalid_dpop_proof") // two of them
	b.wantError(redeem("x"), 400, "invalid_dpop_proof")
	b.wantError(redeem(b.proof(thief, "")), 400, "invalid_grant") // the code is bound
	b.wantError(redeem(), 400, "invalid_grant")
	elsewhere, err := key.Proof(dpop.Request{Method: http.MethodPost, URL: "https://as.example/token"})
	if err != nil {
		t.Fatal(err)
	}
	b.wantError(redeem(elsewhere), 400, "invalid_dpop_proof")

	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"app"}, "refresh_token": {refresh}}
	b.wantError(b.post(b.issuer+"/token", form), 400, "invalid_grant")
	b.wantError(b.post(b.issuer+"/token", form, "DPoP", b.proof(thief, "")), 400, "invalid_grant")
	b.tokens(b.post(b.issuer+"/token", form, "DPoP", b.proof(key, "")))
}

// TestNonce wants a nonce in proofs.
func TestNonce(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *authserver.Options) { o.RequireNonce = true })
	key := newProofKey(t)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"service"}, "client_secret": {confided}}
	got := b.post(b.issuer+"/token", form, "DPoP", b.proof(key, ""))
	b.wantError(got, 400, "use_dpop_nonce")
	nonce := got.header.Get("DPoP-Nonce")
	if nonce == "" {
		t.Fatal("got no nonce")
	}
	b.wantError(b.post(b.issuer+"/token", form, "DPoP", b.proof(key, "made-up")), 400, "use_dpop_nonce")
	got = b.post(b.issuer+"/token", form, "DPoP", b.proof(key, nonce))
	if b.tokens(got); got.header.Get("DPoP-Nonce") == "" {
		t.Error("got no next nonce with the token")
	}
	b.tokens(b.post(b.issuer+"/token", form)) // bearer tokens need none
}

// TestAlwaysBound registers a client that wants bound tokens only.
func TestAlwaysBound(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	id := b.register(`{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none","dpop_bound_access_tokens":true}`).member(t, "client_id")
	b.wantError(b.login(id), 400, "invalid_dpop_proof")
}
