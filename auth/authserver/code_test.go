package authserver_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestCode goes the whole way, and looks at what a resource server would.
func TestCode(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-OAUTH21-AS", "AUTH-ISS-AS-SEND", "AUTH-TOKEN-SHORT-LIVED", "AUTH-OAUTH21-2025-03")
	b := start(t, nil)
	verifier, challenge := newPair()
	answer := b.allow(request("app", "http://127.0.0.1:49152/callback", challenge, "scope", "read write openid unknown", "nonce", "n-1"))
	if answer.Get("iss") != b.issuer || answer.Get("state") != "xyz" || answer.Get("code") == "" {
		t.Errorf("got answer %v, want code, state and iss %s", answer, b.issuer)
	}
	got := b.token("authorization_code", "client_id", "app", "code", answer.Get("code"),
		"redirect_uri", "http://127.0.0.1:49152/callback", "code_verifier", verifier, "resource", resource)
	access, refresh := b.tokens(got)
	if refresh == "" || got.member(t, "token_type") != "Bearer" || got.member(t, "scope") != "read write openid" || got.json(t)["expires_in"] != 600.0 {
		t.Errorf("got %s, want bearer and refresh token for 600 seconds and three scopes", got.body)
	}
	if cache := got.header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("got Cache-Control %q, want no-store", cache)
	}
	claims := b.verify(access, "at+jwt")
	for name, want := range map[string]any{
		"iss": b.issuer, "aud": resource, "sub": "user-1", "client_id": "app", "scope": "read write openid",
	} {
		if claims[name] != want {
			t.Errorf("access token: got %s %v, want %v", name, claims[name], want)
		}
	}
	if life := claims["exp"].(float64) - float64(time.Now().Unix()); life < 590 || life > 600 {
		t.Errorf("access token: good for %v s, want 600", life)
	}
	id := b.verify(got.member(t, "id_token"), "JWT")
	if id["aud"] != "app" || id["nonce"] != "n-1" || id["sub"] != "user-1" {
		t.Errorf("ID token: got %v, want the client as audience and the nonce", id)
	}
	if !b.active(access) {
		t.Error("the access token is not active")
	}
}

// verify checks the signature of a JWT with the published keys.
func (b *browser) verify(token, typ string) map[string]any {
	b.t.Helper()
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(b.get(b.issuer+"/jwks").body), &keys); err != nil {
		b.t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		b.t.Fatalf("%s: %v", token, err)
	}
	header := signed.Signatures[0].Protected
	if header.ExtraHeaders[jose.HeaderType] != typ {
		b.t.Errorf("got typ %v, want %s", header.ExtraHeaders[jose.HeaderType], typ)
	}
	key := keys.Key(header.KeyID)
	if len(key) != 1 || !key[0].IsPublic() {
		b.t.Fatalf("got %d keys with the id %q, want one that is public", len(key), header.KeyID)
	}
	payload, err := signed.Verify(key[0])
	if err != nil {
		b.t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		b.t.Fatal(err)
	}
	return claims
}

// TestAuthorizeShown sends requests that must not lead anywhere: the user sees a
// page, and no redirect happens.
func TestAuthorizeShown(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REDIRECT-EXACT", "AUTH-REDIRECT-UNTRUSTED", "AUTH-REDIRECT-VALIDATE-2025-03", "SEC-PROXY-REDIRECT-EXACT")
	b := start(t, func(o *authserver.Options) {
		o.Clients = append(o.Clients, authserver.Client{ID: "own-web", Trusted: true, RedirectURIs: []string{
			"https://app.example/cb", "https://app.example/tenant?id=1", "http://localhost:3000/cb", "com.example.app:/cb",
		}})
	})
	_, challenge := newPair()
	for _, redirect := range []string{
		"https://app.example/cb", "https://app.example/tenant?id=1", "http://localhost:3000/cb", "http://localhost:9/cb",
		"http://localhost/cb", "com.example.app:/cb",
	} {
		if got := b.get(b.issuer + "/authorize?" + request("own-web", redirect, challenge).Encode()); !strings.HasPrefix(got.header.Get("Location"), redirect) {
			t.Errorf("redirect to %s: got status %d, Location %q", redirect, got.status, got.header.Get("Location"))
		}
	}
	for _, redirect := range []string{
		"https://evil.example/cb",
		"https://app.example/cb/",
		"https://app.example/cb?x",
		"https://app.example/CB",
		"https://app.example/cb/../evil",
		"https://app.example/%63b",
		"https://app.example:443/cb",
		"https://app.example:8443/cb",
		"http://app.example/cb",
		"https://APP.example/cb",
		"https://app.example@evil.example/cb",
		"https://app.example.evil.example/cb",
		"https://app.example/tenant?id=2",
		"https://app.example/tenant?id=1&id=2",
		"https://app.example/cb#f",
		"//evil.example/cb",
		"javascript:alert(1)",
		"http://localhost:3000/cb/x",
		"http://localhost:3000@evil.example/cb",
		"http://127.0.0.1:3000/cb",
		"http://localhost:3000:80/cb",
		"https://localhost:3000/cb",
		"http://localhost.evil.example:3000/cb",
		"com.example.app:/evil",
		"",
	} {
		if got := b.get(b.issuer + "/authorize?" + request("own-web", redirect, challenge).Encode()); got.status < 400 || got.header.Get("Location") != "" {
			t.Errorf("redirect to %q: got status %d, Location %q, want a page", redirect, got.status, got.header.Get("Location"))
		}
	}
	for name, q := range map[string]url.Values{
		"unknown client":    request("nobody", callback, challenge),
		"no client":         request("", callback, challenge),
		"two clients":       request("app|own", callback, challenge),
		"two redirect URIs": request("app", callback+"|"+callback, challenge),
		"URL as client":     request("https://127.0.0.1:1/client.json", callback, challenge),
		"forged newcomer":   request("dyn-AAAA", callback, challenge),
	} {
		q = changed(q, "client_id", q.Get("client_id"))
		if name == "two clients" {
			q["client_id"] = []string{"app", "own"}
		}
		if name == "two redirect URIs" {
			q["redirect_uri"] = []string{callback, callback}
		}
		if got := b.get(b.issuer + "/authorize?" + q.Encode()); got.status < 400 || got.header.Get("Location") != "" {
			t.Errorf("%s: got status %d, Location %q, want a page", name, got.status, got.header.Get("Location"))
		}
	}
}

// TestAuthorizeRefused sends requests whose errors the application is told.
func TestAuthorizeRefused(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ISS-AS-SEND")
	b := start(t, nil)
	_, challenge := newPair()
	tests := []struct {
		name    string
		changes []string
		want    string
	}{
		{"no PKCE", []string{"code_challenge", "", "code_challenge_method", ""}, "invalid_request"},
		{"no challenge", []string{"code_challenge", ""}, "invalid_request"},
		{"plain", []string{"code_challenge_method", "plain"}, "invalid_request"},
		{"no method, which would be plain", []string{"code_challenge_method", ""}, "invalid_request"},
		{"short challenge", []string{"code_challenge", "abc"}, "invalid_request"},
		{"two challenges", []string{"code_challenge", challenge + "|" + challenge}, "invalid_request"},
		{"two states", []string{"state", "a|b"}, "invalid_request"},
		{"token", []string{"response_type", "token"}, "unsupported_response_type"},
		{"hybrid", []string{"response_type", "code id_token"}, "unsupported_response_type"},
		{"none", []string{"response_type", ""}, "unsupported_response_type"},
		{"fragment", []string{"response_mode", "fragment"}, "invalid_request"},
		{"another resource", []string{"resource", "https://evil.example/mcp"}, "invalid_target"},
		{"part of the resource", []string{"resource", "https://mcp.example/"}, "invalid_target"},
		{"two resources", []string{"resource", resource + "|https://mcp.example/other"}, "invalid_target"},
		{"bad resource", []string{"resource", "mcp"}, "invalid_target"},
		{"unknown scope", []string{"scope", "admin"}, "invalid_scope"},
		{"request object", []string{"request", "e30.e30."}, "request_not_supported"},
		{"request by reference", []string{"request_uri", "https://evil.example/"}, "request_uri_not_supported"},
		{"without asking", []string{"prompt", "none"}, "interaction_required"},
		{"bad key", []string{"dpop_jkt", "x"}, "invalid_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := newBrowser(t, b.issuer).get(b.issuer + "/authorize?" + request("app", callback, challenge, tt.changes...).Encode())
			answer := got.location(t)
			if answer.Get("error") != tt.want || answer.Has("code") || answer.Get("iss") != b.issuer {
				t.Errorf("got %v, want error %s with iss", answer, tt.want)
			}
			if !strings.HasPrefix(got.header.Get("Location"), callback+"?") {
				t.Errorf("got Location %s, want the one of the application", got.header.Get("Location"))
			}
		})
	}
	if answer := b.answer(request("app", callback, challenge), "deny").location(t); answer.Get("error") != "access_denied" || answer.Get("iss") != b.issuer || answer.Get("state") != "xyz" {
		t.Errorf("denied: got %v, want access_denied", answer)
	}
}

// TestResourceForms asks with the ways in which one resource may be written.
func TestResourceForms(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-RESOURCE-CASE")
	b := start(t, func(o *authserver.Options) { o.Resources = []string{resource, "https://root.example"} })
	for asked, want := range map[string]string{
		"":                        resource,
		"HTTPS://MCP.example/mcp": resource,
		"https://root.example/":   "https://root.example",
		"https://Root.example":    "https://root.example",
	} {
		access, _ := b.tokens(b.login("app", "resource", asked))
		if got := b.verify(access, "at+jwt")["aud"]; got != want {
			t.Errorf("resource %q: got audience %v, want %s", asked, got, want)
		}
	}
}

// TestTokenRefused redeems a code in all ways that must fail, and then in the right
// one.
func TestTokenRefused(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	verifier, challenge := newPair()
	other, _ := newPair()
	code := b.allow(request("app", callback, challenge)).Get("code")
	right := []string{"client_id", "app", "code", code, "redirect_uri", callback, "code_verifier", verifier}
	tests := []struct {
		name    string
		changes []string
		status  int
		want    string
	}{
		// A code that somebody put into another flow (code injection).
		{"verifier of another flow", []string{"code_verifier", other}, 400, "invalid_grant"},
		{"no verifier", []string{"code_verifier", ""}, 400, "invalid_grant"},
		{"challenge as verifier", []string{"code_verifier", challenge}, 400, "invalid_grant"},
		{"another client", []string{"client_id", "own"}, 400, "invalid_grant"},
		{"another redirect URI", []string{"redirect_uri", "https://app.example/cb?x=1"}, 400, "invalid_grant"},
		{"another resource", []string{"resource", "https://mcp.example/other"}, 400, "invalid_target"},
		{"more scopes", []string{"scope", "read write"}, 400, "invalid_scope"},
		{"unknown code", []string{"code", "x"}, 400, "invalid_grant"},
		{"no code", []string{"code", ""}, 400, "invalid_grant"},
		{"two codes", []string{"code", code + "|" + code}, 400, "invalid_request"},
		{"unknown client", []string{"client_id", "nobody"}, 401, "invalid_client"},
		{"no client", []string{"client_id", ""}, 401, "invalid_client"},
		{"client with a secret, without it", []string{"client_id", "web"}, 401, "invalid_client"},
		{"wrong secret", []string{"client_id", "web", "client_secret", "guess"}, 401, "invalid_client"},
		{"secret for a client without one", []string{"client_secret", "guess"}, 401, "invalid_client"},
		{"password", []string{"grant_type", "password"}, 400, "unsupported_grant_type"},
		{"no grant type", []string{"grant_type", ""}, 400, "unsupported_grant_type"},
		{"grant that is not for it", []string{"grant_type", "client_credentials"}, 400, "unauthorized_client"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBrowser(t, b.issuer)
			b.wantError(b.token("authorization_code", append(slices.Clip(right), tt.changes...)...), tt.status, tt.want)
		})
	}
	t.Run("in the URL", func(t *testing.T) {
		b := newBrowser(t, b.issuer)
		b.wantError(b.post(b.issuer+"/token?code="+code, changed(url.Values{"grant_type": {"authorization_code"}}, right...)), 400, "invalid_request")
	})
	t.Run("two ways to authenticate", func(t *testing.T) {
		b := newBrowser(t, b.issuer)
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("web:"+url.QueryEscape(confided)))
		form := url.Values{"grant_type": {"authorization_code"}, "client_secret": {confided}, "client_id": {"web"}}
		b.wantError(b.post(b.issuer+"/token", form, "Authorization", basic), 400, "invalid_request")
	})
	b.tokens(b.token("authorization_code", right...))
}

// TestCodeTwice uses a code again: the tokens of the first use end.
func TestCodeTwice(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	verifier, challenge := newPair()
	params := []string{
		"client_id", "app", "code", b.allow(request("app", callback, challenge)).Get("code"),
		"redirect_uri", callback, "code_verifier", verifier,
	}
	access, refresh := b.tokens(b.token("authorization_code", params...))
	if !b.active(access) {
		t.Error("the token is not active")
	}
	b.wantError(b.token("authorization_code", params...), 400, "invalid_grant")
	if b.active(access) {
		t.Error("the code was used twice, but the access token is active")
	}
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
}

// TestSecret authenticates with a secret, in both ways.
func TestSecret(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-AS-METADATA", "AUTH-GRANT-TYPES")
	b := start(t, nil)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("service:"+url.QueryEscape(confided)))
	for name, got := range map[string]reply{
		"post":  b.token("client_credentials", "client_id", "service", "client_secret", confided, "scope", "write offline_access"),
		"basic": b.post(b.issuer+"/token", url.Values{"grant_type": {"client_credentials"}, "scope": {"write"}}, "Authorization", basic),
	} {
		access, refresh := b.tokens(got)
		if claims := b.verify(access, "at+jwt"); claims["sub"] != "service" || claims["scope"] != "write" || refresh != "" {
			t.Errorf("%s: got %v and refresh token %q, want the client as subject", name, claims, refresh)
		}
	}
	got := b.post(b.issuer+"/token", url.Values{"grant_type": {"client_credentials"}}, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("service:no")))
	b.wantError(got, http.StatusUnauthorized, "invalid_client")
	if got.header.Get("WWW-Authenticate") == "" {
		t.Error("got no WWW-Authenticate header for wrong Basic credentials")
	}
}
