package authserver_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestIntrospect(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-TOKEN-AS-OWN-RESOURCES")
	const elsewhere = "https://mcp.example/other"
	b := start(t, func(o *authserver.Options) {
		o.Clients = append(o.Clients, authserver.Client{ID: "other-api", Secret: confided, Resource: elsewhere})
	})
	got := b.login("app", "scope", "read openid")
	access, refresh := b.tokens(got)
	ask := func(token, id string) reply {
		return b.post(b.issuer+"/introspect", url.Values{"token": {token}, "client_id": {id}, "client_secret": {confided}})
	}
	answer := ask(access, "api").json(t)
	for name, want := range map[string]any{
		"active": true, "token_type": "Bearer", "sub": "user-1", "username": "user-1", "client_id": "app",
		"scope": "read openid", "aud": resource, "iss": b.issuer,
	} {
		if answer[name] != want {
			t.Errorf("got %s %v, want %v", name, answer[name], want)
		}
	}
	other := start(t, nil)
	foreign, _ := other.tokens(other.login("app"))
	for name, got := range map[string]reply{
		"server of another resource": ask(access, "other-api"),
		"refresh token":              ask(refresh, "api"),
		"ID token":                   ask(got.member(t, "id_token"), "api"),
		"token of another server":    ask(foreign, "api"),
		"changed token":              ask(access+"A", "api"),
		"none":                       ask("", "api"),
	} {
		if got.status != http.StatusOK || got.body != `{"active":false}` {
			t.Errorf("%s: got status %d %s, want nothing but that it is not active", name, got.status, got.body)
		}
	}
	b.wantError(ask(access, "web"), 401, "invalid_client")
	b.wantError(b.post(b.issuer+"/introspect", url.Values{"token": {access}, "client_id": {"app"}}), 401, "invalid_client")
	b.wantError(b.post(b.issuer+"/introspect", url.Values{"token": {access}}), 401, "invalid_client")
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	revoke := func(token, id string) reply {
		return b.post(b.issuer+"/revoke", url.Values{"token": {token}, "client_id": {id}})
	}
	access, refresh := b.tokens(b.login("app"))
	// Another client cannot, and is not told.
	for _, token := range []string{access, refresh, "no token", "a.b.c"} {
		if got := revoke(token, "own"); got.status != http.StatusOK {
			t.Errorf("of another client: got status %d, want 200", got.status)
		}
	}
	if !b.active(access) {
		t.Error("another client has revoked the token")
	}
	if got := revoke(access, "app"); got.status != http.StatusOK || b.active(access) {
		t.Errorf("access token: got status %d, want it revoked", got.status)
	}
	access, refresh = b.tokens(b.token("refresh_token", "client_id", "app", "refresh_token", refresh))
	if got := revoke(refresh, "app"); got.status != http.StatusOK || b.active(access) {
		t.Errorf("refresh token: got status %d, want the access token revoked as well", got.status)
	}
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
	b.wantError(revoke("", "app"), 400, "invalid_request")
	b.wantError(revoke(access, "nobody"), 401, "invalid_client")
	b.wantError(revoke(access, "web"), 401, "invalid_client")
}
