package authserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

func (b *browser) register(body string) reply {
	b.t.Helper()
	return b.do(http.MethodPost, b.issuer+"/register", body, "Content-Type", "application/json")
}

// TestRegister registers clients as MCP clients do, and lets them sign in.
func TestRegister(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-DCR-SHOULD", "AUTH-DCR-MAY")
	b := start(t, nil)
	got := b.register(`{"client_name":"An app","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none",
		"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"application_type":"native","x":1}`)
	id := got.member(t, "client_id")
	if got.status != http.StatusCreated || id == "" || got.member(t, "client_secret") != "" || got.member(t, "token_endpoint_auth_method") != "none" {
		t.Fatalf("got status %d %s, want a public client", got.status, got.body)
	}
	_, refresh := b.tokens(b.login(id))
	b.tokens(b.token("refresh_token", "client_id", id, "refresh_token", refresh))

	got = b.register(`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`)
	id, secret := got.member(t, "client_id"), got.member(t, "client_secret")
	if len(secret) < 32 || got.json(t)["client_id_issued_at"] == nil {
		t.Fatalf("got %s, want a secret", got.body)
	}
	verifier, challenge := newPair()
	params := []string{"client_id", id, "code", b.allow(request(id, callback, challenge)).Get("code"), "code_verifier", verifier}
	b.wantError(b.token("authorization_code", params...), 401, "invalid_client")
	b.wantError(b.token("authorization_code", append(params, "client_secret", secret+"x")...), 401, "invalid_client")
	if _, refresh := b.tokens(b.token("authorization_code", append(params, "client_secret", secret)...)); refresh != "" {
		t.Error("got a refresh token, but registered for codes only")
	}

	// What registered is known to this server only.
	other := start(t, nil)
	if got := other.get(other.issuer + "/authorize?" + request(id, callback, challenge).Encode()); got.status != http.StatusUnauthorized {
		t.Errorf("at another server: got status %d, want 401", got.status)
	}
}

func TestRegisterRefused(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REDIRECT-VALIDATE-2025-03")
	b := start(t, func(o *authserver.Options) { o.Schemes = []string{"cursor"} })
	const redirect, metadata = "invalid_redirect_uri", "invalid_client_metadata"
	uri := func(uri string) string {
		data, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}, "token_endpoint_auth_method": "none"})
		return string(data)
	}
	tests := []struct{ name, body, want string }{
		{"https", uri("https://app.example/cb"), ""},
		{"loopback", uri("http://localhost:8080/cb"), ""},
		{"IPv6 loopback", uri("http://[::1]/cb"), ""},
		{"private-use scheme", uri("com.example.app:/cb"), ""},
		{"known scheme", uri("cursor://anysphere/cb"), ""},

		{"http", uri("http://app.example/cb"), redirect},
		{"http to the network", uri("http://192.168.1.1/cb"), redirect},
		{"script", uri("javascript:alert(1)"), redirect},
		{"script with slashes", uri("javascript://x/%0aalert(1)"), redirect},
		{"data", uri("data:text/html,x"), redirect},
		{"file", uri("file:///etc/passwd"), redirect},
		{"unknown scheme", uri("vscode://x/cb"), redirect},
		{"fragment", uri("https://app.example/cb#x"), redirect},
		{"user", uri("https://u:p@app.example/cb"), redirect},
		{"relative", uri("/cb"), redirect},
		{"none", `{"token_endpoint_auth_method":"none"}`, redirect},
		{"many", `{"redirect_uris":[` + strings.Repeat(`"https://app.example/cb",`, 8) + `"https://app.example/cb"]}`, redirect},
		{"long", uri("https://app.example/" + strings.Repeat("x", 1100)), redirect},
		{"web on loopback", `{"redirect_uris":["http://localhost/cb"],"application_type":"web"}`, redirect},
		{"own secret method", `{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"tls_client_auth"}`, metadata},
		{"client credentials alone", `{"redirect_uris":["https://a.example/"],"grant_types":["client_credentials"]}`, metadata},
		{"implicit", `{"redirect_uris":["https://a.example/"],"response_types":["token"]}`, metadata},
		{"no JSON", `redirect_uris=x`, metadata},
		{"wrong type", `{"redirect_uris":"https://a.example/"}`, metadata},
		{"too long", `{"client_name":"` + strings.Repeat("x", 10_000) + `"}`, metadata},
	}
	for _, tt := range tests {
		got := b.register(tt.body)
		if tt.want == "" && got.status != http.StatusCreated || tt.want != "" && (got.status != http.StatusBadRequest || got.member(t, "error") != tt.want) {
			t.Errorf("%s: got status %d %s, want %q", tt.name, got.status, got.body, tt.want)
		}
	}
	// A client does not give itself what no user grants.
	got := b.register(`{"redirect_uris":["https://a.example/"],"grant_types":["authorization_code","client_credentials"],"token_endpoint_auth_method":"client_secret_post"}`)
	b.wantError(b.token("client_credentials", "client_id", got.member(t, "client_id"), "client_secret", got.member(t, "client_secret")), 400, "unauthorized_client")
	status := 0
	for range 60 {
		status = b.register(uri("https://app.example/cb")).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("after many registrations: got status %d, want 429", status)
	}
	off := start(t, func(o *authserver.Options) { o.NoRegistration = true })
	if got := off.register(uri("https://app.example/cb")); got.status != http.StatusNotFound {
		t.Errorf("turned off: got status %d, want 404", got.status)
	}
}

// TestOpenRedirect registers a client at will and sends users to the server with a
// request that fails: they are told, and not sent on by themselves.
func TestOpenRedirect(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REDIRECT-UNTRUSTED")
	b := start(t, nil)
	id := b.register(`{"redirect_uris":["https://evil.example/cb"],"token_endpoint_auth_method":"none"}`).member(t, "client_id")
	got := b.get(b.issuer + "/authorize?" + request(id, "https://evil.example/cb", "").Encode())
	if got.status != http.StatusBadRequest || got.header.Get("Location") != "" {
		t.Errorf("got status %d, Location %q, want a page", got.status, got.header.Get("Location"))
	}
	if !strings.Contains(got.body, "<strong>evil.example</strong>") || !strings.Contains(got.body, "invalid_request") {
		t.Errorf("got %s, want a page that says where the application is", got.body)
	}
	// Where the user has said no, the application may know.
	_, challenge := newPair()
	if answer := b.answer(request(id, "https://evil.example/cb", challenge), "deny").location(t); answer.Get("error") != "access_denied" {
		t.Errorf("denied: got %v, want access_denied", answer)
	}
	// On this device, the user is warned.
	id = b.register(`{"client_name":"Local app","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`).member(t, "client_id")
	if page := b.get(b.issuer + "/authorize?" + request(id, callback, challenge).Encode()); !strings.Contains(page.body, "program on this device") || !strings.Contains(page.body, "nobody has checked it") {
		t.Errorf("got %s, want a warning about programs on this device", page.body)
	}
}
