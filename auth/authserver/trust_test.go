package authserver_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

const (
	jwtBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeOf        = "urn:ietf:params:oauth:token-type:"
)

// TestIdentityAssertion has the identity provider of an enterprise vouch for a user.
func TestIdentityAssertion(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-EMA-AS-VALIDATE", "AUTHX-EMA-AS-RESPONSE", "AUTHX-EMA-SUB-KEY", "AUTHX-EMA-SERVER-DECLARE")
	const idp = "https://idp.example"
	key, thief := newSigner(t, "k"), newSigner(t, "k")
	b := start(t, func(o *authserver.Options) {
		o.Trusts = []authserver.Trust{
			{Issuer: idp, Keys: key.jwks(), Users: true},
			{Issuer: "https://picky.example", Keys: key.jwks(), Users: true, User: func(_ context.Context, id *auth.Identity) (authserver.User, error) {
				if id.Subject != "u-1" {
					return authserver.User{}, errors.New("unknown")
				}
				return authserver.User{Subject: "known"}, nil
			}},
			{Issuer: "https://platform.example", Keys: key.jwks(), Workloads: map[string]string{"job": "ci"}},
		}
		o.Clients = append(o.Clients,
			authserver.Client{ID: "agent", Secret: confided, Grants: []string{jwtBearer}},
			authserver.Client{ID: "agent-2", Secret: confided, Grants: []string{jwtBearer}},
			authserver.Client{ID: "ci", Grants: []string{jwtBearer}},
		)
	})
	if profiles := b.get(b.issuer + "/.well-known/oauth-authorization-server").json(t)["authorization_grant_profiles_supported"]; profiles == nil {
		t.Error("the metadata does not say that identity assertions are accepted")
	}
	now := time.Now().Unix()
	claims := func(changes ...any) map[string]any {
		return with(map[string]any{
			"iss": idp, "sub": "u-1", "aud": b.issuer, "client_id": "agent", "resource": resource, "scope": "read write",
			"jti": rand.Text(), "iat": now, "exp": now + 60,
		}, changes...)
	}
	ask := func(assertion string, changes ...string) reply {
		return b.token(jwtBearer, append([]string{"assertion", assertion, "client_id", "agent", "client_secret", confided}, changes...)...)
	}
	const jag = "oauth-id-jag+jwt"
	used := key.sign(jag, claims())
	got := ask(used)
	access, refresh := b.tokens(got)
	if granted := b.verify(access, "at+jwt"); granted["sub"] != idp+" u-1" || granted["client_id"] != "agent" || granted["aud"] != resource ||
		granted["scope"] != "read write" || refresh != "" || got.member(t, "token_type") != "Bearer" {
		t.Errorf("got %v and refresh token %q, want the user, by issuer and subject", granted, refresh)
	}
	if got := ask(key.sign(jag, claims()), "scope", "read"); got.member(t, "scope") != "read" {
		t.Errorf("got %s, want one scope", got.body)
	}
	if got := ask(key.sign(jag, claims("iss", "https://picky.example"))); b.verify(got.member(t, "access_token"), "at+jwt")["sub"] != "known" {
		t.Errorf("got %s, want the user that was made of it", got.body)
	}
	for name, tt := range map[string]struct {
		got    reply
		status int
		want   string
	}{
		"used before":         {ask(used), 400, "invalid_grant"},
		"another type":        {ask(key.sign("JWT", claims())), 400, "invalid_grant"},
		"key of another":      {ask(thief.sign(jag, claims())), 400, "invalid_grant"},
		"unknown issuer":      {ask(key.sign(jag, claims("iss", "https://evil.example"))), 400, "invalid_grant"},
		"issuer of workloads": {ask(key.sign(jag, claims("iss", "https://platform.example"))), 400, "invalid_grant"},
		"another audience":    {ask(key.sign(jag, claims("aud", "https://as.example"))), 400, "invalid_grant"},
		"two audiences":       {ask(key.sign(jag, claims("aud", []string{b.issuer, "https://as.example"}))), 400, "invalid_grant"},
		"the token endpoint":  {ask(key.sign(jag, claims("aud", b.issuer+"/token"))), 400, "invalid_grant"},
		"no audience":         {ask(key.sign(jag, claims("aud", nil))), 400, "invalid_grant"},
		"of another client":   {ask(key.sign(jag, claims("client_id", "agent-2"))), 400, "invalid_grant"},
		"of no client":        {ask(key.sign(jag, claims("client_id", nil))), 400, "invalid_grant"},
		"nobody":              {ask(key.sign(jag, claims("sub", nil))), 400, "invalid_grant"},
		"no id":               {ask(key.sign(jag, claims("jti", nil))), 400, "invalid_grant"},
		"expired":             {ask(key.sign(jag, claims("exp", now-60))), 400, "invalid_grant"},
		"no expiry":           {ask(key.sign(jag, claims("exp", nil))), 400, "invalid_grant"},
		"not yet good":        {ask(key.sign(jag, claims("nbf", now+120))), 400, "invalid_grant"},
		"no resource":         {ask(key.sign(jag, claims("resource", nil))), 400, "invalid_target"},
		"another resource":    {ask(key.sign(jag, claims("resource", "https://x.example"))), 400, "invalid_target"},
		"asked for another":   {ask(key.sign(jag, claims()), "resource", "https://mcp.example/other"), 400, "invalid_target"},
		"more scopes":         {ask(key.sign(jag, claims("scope", "read")), "scope", "write"), 400, "invalid_scope"},
		"user not let in":     {ask(key.sign(jag, claims("iss", "https://picky.example", "sub", "u-2"))), 400, "invalid_grant"},
		"wrong secret":        {ask(key.sign(jag, claims()), "client_secret", "guess"), 401, "invalid_client"},
		"no secret":           {ask(key.sign(jag, claims()), "client_secret", ""), 401, "invalid_client"},
		"other grant types":   {ask(key.sign(jag, claims()), "client_id", "service"), 400, "unauthorized_client"},
		"no assertion":        {ask(""), 400, "invalid_grant"},
		"no JWT":              {ask("x.y.z"), 400, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.got.status != tt.status || tt.got.member(t, "error") != tt.want {
				t.Errorf("got status %d %s, want %d %s", tt.got.status, tt.got.body, tt.status, tt.want)
			}
		})
	}
}

// TestWorkload has a platform vouch for a program.
func TestWorkload(t *testing.T) {
	t.Parallel()
	const platform = "https://platform.example"
	key, thief := newSigner(t, "k"), newSigner(t, "k")
	b := start(t, func(o *authserver.Options) {
		o.Trusts = []authserver.Trust{{Issuer: platform, Keys: key.jwks(), Workloads: map[string]string{"job-1": "ci", "job-2": "service"}}}
		o.Clients = append(o.Clients, authserver.Client{ID: "ci", Grants: []string{jwtBearer}, Scopes: []string{"read"}})
	})
	now := time.Now().Unix()
	claims := func(changes ...any) map[string]any {
		return with(map[string]any{"iss": platform, "sub": "job-1", "aud": b.issuer, "iat": now, "exp": now + 60}, changes...)
	}
	ask := func(assertion string, changes ...string) reply {
		return b.token(jwtBearer, append([]string{"assertion", assertion}, changes...)...)
	}
	for _, named := range []string{"", "ci"} {
		access, refresh := b.tokens(ask(key.sign("JWT", claims()), "client_id", named, "scope", "read write"))
		if granted := b.verify(access, "at+jwt"); granted["sub"] != "ci" || granted["scope"] != "read" || refresh != "" {
			t.Errorf("got %v, want a token of the client", granted)
		}
	}
	for name, tt := range map[string]struct {
		got  reply
		want string
	}{
		"another audience":  {ask(key.sign("JWT", claims("aud", "https://as.example"))), "invalid_grant"},
		"expired":           {ask(key.sign("JWT", claims("exp", now-60))), "invalid_grant"},
		"no expiry":         {ask(key.sign("JWT", claims("exp", nil))), "invalid_grant"},
		"unknown subject":   {ask(key.sign("JWT", claims("sub", "job-3"))), "invalid_grant"},
		"key of another":    {ask(thief.sign("JWT", claims())), "invalid_grant"},
		"another client":    {ask(key.sign("JWT", claims()), "client_id", "service"), "invalid_grant"},
		"other grant types": {ask(key.sign("JWT", claims("sub", "job-2"))), "unauthorized_client"},
		"another resource":  {ask(key.sign("JWT", claims()), "resource", "https://x.example"), "invalid_target"},
		"other scopes":      {ask(key.sign("JWT", claims()), "scope", "write"), "invalid_scope"},
	} {
		if tt.got.status != 400 || tt.got.member(t, "error") != tt.want {
			t.Errorf("%s: got status %d %s, want 400 %s", name, tt.got.status, tt.got.body, tt.want)
		}
	}
	b.wantError(b.token("client_credentials", "client_id", "ci"), 400, "unauthorized_client")
}

// TestExchange has the server of a resource call another one for its caller.
func TestExchange(t *testing.T) {
	t.Parallel()
	const other = "https://mcp.example/other"
	b := start(t, func(o *authserver.Options) {
		o.Clients = append(o.Clients, authserver.Client{ID: "other-api", Secret: confided, Resource: other})
	})
	login := b.login("app", "scope", "read write openid")
	access, refresh := b.tokens(login)
	ask := func(changes ...string) reply {
		return b.token(tokenExchange, append([]string{
			"client_id", "api", "client_secret", confided, "subject_token", access, "subject_token_type", typeOf + "access_token", "resource", other,
		}, changes...)...)
	}
	got := ask("scope", "read")
	exchanged, again := b.tokens(got)
	granted := b.verify(exchanged, "at+jwt")
	if granted["sub"] != "user-1" || granted["aud"] != other || granted["scope"] != "read" || granted["client_id"] != "api" || again != "" ||
		granted["act"].(map[string]any)["sub"] != "api" || got.member(t, "issued_token_type") != typeOf+"access_token" {
		t.Errorf("got %v, want the user, for the other resource, with the client as actor", granted)
	}
	if life := granted["exp"].(float64) - granted["iat"].(float64); life > 300 {
		t.Errorf("got a token for %v s, want at most 300", life)
	}
	for name, tt := range map[string]struct {
		got    reply
		status int
		want   string
	}{
		"server of another resource": {ask("client_id", "other-api"), 400, "invalid_grant"},
		"client of no resource":      {ask("client_id", "service"), 400, "unauthorized_client"},
		"public client":              {ask("client_id", "app", "client_secret", ""), 400, "unauthorized_client"},
		"wrong secret":               {ask("client_secret", "guess"), 401, "invalid_client"},
		"refresh token":              {ask("subject_token", refresh), 400, "invalid_grant"},
		"ID token":                   {ask("subject_token", login.member(t, "id_token")), 400, "invalid_grant"},
		"its own new token":          {ask("subject_token", exchanged), 400, "invalid_grant"},
		"type of an ID token":        {ask("subject_token_type", typeOf+"id_token"), 400, "invalid_request"},
		"asks for a refresh token":   {ask("requested_token_type", typeOf+"refresh_token"), 400, "invalid_request"},
		"actor":                      {ask("actor_token", access), 400, "invalid_request"},
		"unknown resource":           {ask("resource", "https://x.example"), 400, "invalid_target"},
		"more scopes":                {ask("scope", "admin"), 400, "invalid_scope"},
		"identity assertion":         {ask("requested_token_type", typeOf+"id-jag"), 400, "invalid_request"},
	} {
		if tt.got.status != tt.status || tt.got.member(t, "error") != tt.want {
			t.Errorf("%s: got status %d %s, want %d %s", name, tt.got.status, tt.got.body, tt.status, tt.want)
		}
	}
	// It ends with what it was made of.
	b.post(b.issuer+"/revoke", changed(url.Values{}, "token", refresh, "client_id", "app"))
	b.wantError(ask(), 400, "invalid_grant")
}

// TestExchangeScopes has a client that may have less than its caller.
func TestExchangeScopes(t *testing.T) {
	t.Parallel()
	const other = "https://mcp.example/other"
	b := start(t, func(o *authserver.Options) {
		for i := range o.Clients {
			if o.Clients[i].ID == "api" {
				o.Clients[i].Scopes = []string{"read"}
			}
		}
	})
	access, _ := b.tokens(b.login("app", "scope", "read write"))
	ask := func(scope ...string) reply {
		return b.token(tokenExchange, append([]string{
			"client_id", "api", "client_secret", confided, "subject_token", access, "subject_token_type", typeOf + "access_token", "resource", other,
		}, scope...)...)
	}
	b.wantError(ask("scope", "read write"), 400, "invalid_scope")
	exchanged, _ := b.tokens(ask())
	if granted := b.verify(exchanged, "at+jwt"); granted["scope"] != "read" {
		t.Errorf("without a scope: granted %v, want read, the most that the client may have", granted["scope"])
	}
}

// TestEnterprise goes the whole way of enterprise-managed authorization between two
// servers: one is the identity provider, the other one takes its word.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-EMA-IDP-VALIDATE", "AUTHX-EMA-JAG-CLAIMS", "AUTHX-EMA-AS-RESPONSE", "AUTHX-EMA-NO-REDIRECT")
	var idp *browser
	as := start(t, func(o *authserver.Options) {
		idp = start(t, func(up *authserver.Options) {
			up.Clients = append(up.Clients, authserver.Client{
				ID: "agent", Secret: confided, RedirectURIs: []string{callback}, Trusted: true, Elsewhere: map[string]string{o.Issuer: "agent-there"},
			}, authserver.Client{
				ID: "agent-2", Secret: confided, RedirectURIs: []string{callback}, Trusted: true, Elsewhere: map[string]string{o.Issuer: "agent-2-there"},
			})
		})
		o.Trusts = []authserver.Trust{{Issuer: idp.issuer, Users: true}}
		o.Clients = append(o.Clients, authserver.Client{ID: "agent-there", Secret: confided, Grants: []string{jwtBearer}})
	})
	verifier, challenge := newPair()
	code := idp.allow(request("agent", callback, challenge, "scope", "openid")).Get("code")
	login := idp.token("authorization_code", "client_id", "agent", "client_secret", confided, "code", code, "code_verifier", verifier)
	access, refresh := idp.tokens(login)
	ask := func(changes ...string) reply {
		return idp.token(tokenExchange, append([]string{
			"client_id", "agent", "client_secret", confided, "requested_token_type", typeOf + "id-jag", "audience", as.issuer, "resource", resource,
			"subject_token", login.member(t, "id_token"), "subject_token_type", typeOf + "id_token", "scope", "read",
		}, changes...)...)
	}
	got := ask()
	assertion, _ := idp.tokens(got)
	if got.member(t, "token_type") != "N_A" || got.member(t, "issued_token_type") != typeOf+"id-jag" {
		t.Errorf("got %s, want an assertion that is no access token", got.body)
	}
	claims := idp.verify(assertion, "oauth-id-jag+jwt")
	for name, want := range map[string]any{
		"iss": idp.issuer, "sub": "user-1", "aud": as.issuer, "resource": resource, "client_id": "agent-there", "scope": "read",
	} {
		if claims[name] != want {
			t.Errorf("assertion: got %s %v, want %v", name, claims[name], want)
		}
	}
	if claims["jti"] == nil || claims["iat"] == nil || claims["exp"] == nil {
		t.Errorf("assertion: got %v, want jti, iat and exp", claims)
	}
	granted, _ := as.tokens(as.token(jwtBearer, "client_id", "agent-there", "client_secret", confided, "assertion", assertion))
	if sub := as.verify(granted, "at+jwt")["sub"]; sub != idp.issuer+" user-1" {
		t.Errorf("got subject %v, want the user", sub)
	}
	for name, tt := range map[string]struct {
		got    reply
		status int
		want   string
	}{
		"ID token of another client": {ask("client_id", "agent-2"), 400, "invalid_grant"},
		"access token":               {ask("subject_token", access), 400, "invalid_grant"},
		"changed ID token":           {ask("subject_token", login.member(t, "id_token")+"A"), 400, "invalid_grant"},
		"another audience":           {ask("audience", "https://x.example"), 400, "invalid_target"},
		"no audience":                {ask("audience", ""), 400, "invalid_target"},
		"no resource":                {ask("resource", ""), 400, "invalid_target"},
		"no secret":                  {ask("client_secret", ""), 401, "invalid_client"},
		"another subject token":      {ask("subject_token_type", typeOf+"saml2"), 400, "invalid_request"},
	} {
		if tt.got.status != tt.status || tt.got.member(t, "error") != tt.want {
			t.Errorf("%s: got status %d %s, want %d %s", name, tt.got.status, tt.got.body, tt.status, tt.want)
		}
	}
	idp.post(idp.issuer+"/revoke", changed(url.Values{}, "token", refresh, "client_id", "agent", "client_secret", confided))
	if got := ask(); !strings.Contains(got.body, "ended") {
		t.Errorf("after the login has ended: got %s, want it refused", got.body)
	}
}
