package authserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ASM-AS", "AUTH-ASM-AS-2025-06", "AUTH-ASM-SERVER-2025-03", "AUTH-PKCE-OIDC-AS", "AUTH-ISS-AS-ADVERTISE",
		"AUTHX-CC-AS-METADATA", "AUTH-FALLBACK-SERVER")
	tests := []struct {
		path  string
		found []string
		not   []string
	}{
		{
			"",
			[]string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
			[]string{"/.well-known/oauth-authorization-server/x", "/", "/token/"},
		},
		{
			"/tenant",
			[]string{
				"/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant",
				"/tenant/.well-known/openid-configuration",
			},
			[]string{"/.well-known/oauth-authorization-server", "/token", "/tenant"},
		},
	}
	for _, tt := range tests {
		t.Run("issuer"+tt.path, func(t *testing.T) {
			t.Parallel()
			b := start(t, func(o *authserver.Options) { o.Issuer += tt.path })
			origin := strings.TrimSuffix(b.issuer, tt.path)
			for _, path := range tt.not {
				if got := b.get(origin + path); got.status != http.StatusNotFound {
					t.Errorf("%s: got status %d, want 404", path, got.status)
				}
			}
			for _, path := range tt.found {
				got := b.get(origin + path)
				if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" || got.header.Get("Access-Control-Allow-Origin") != "*" {
					t.Errorf("%s: got status %d, headers %v", path, got.status, got.header)
					continue
				}
				m := got.json(t)
				for name, want := range map[string]any{
					"issuer":                                         b.issuer,
					"authorization_endpoint":                         b.issuer + "/authorize",
					"token_endpoint":                                 b.issuer + "/token",
					"registration_endpoint":                          b.issuer + "/register",
					"jwks_uri":                                       b.issuer + "/jwks",
					"revocation_endpoint":                            b.issuer + "/revoke",
					"introspection_endpoint":                         b.issuer + "/introspect",
					"response_types_supported":                       []any{"code"},
					"code_challenge_methods_supported":               []any{"S256"},
					"scopes_supported":                               []any{"read", "write", "openid", "offline_access"},
					"token_endpoint_auth_methods_supported":          []any{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
					"authorization_response_iss_parameter_supported": true,
					"client_id_metadata_document_supported":          true,
				} {
					if diff := cmp.Diff(want, m[name]); diff != "" {
						t.Errorf("%s: %s (-want +got):\n%s", path, name, diff)
					}
				}
				if algorithms, _ := m["token_endpoint_auth_signing_alg_values_supported"].([]any); len(algorithms) == 0 {
					t.Errorf("%s: no algorithms for assertions", path)
				}
			}
			b.tokens(b.login("app"))
		})
	}
}

// TestRequests sends what is not for the server at all.
func TestRequests(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	if got := b.get(b.issuer + "/token"); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "POST" {
		t.Errorf("GET of the token endpoint: got status %d, Allow %q", got.status, got.header.Get("Allow"))
	}
	if got := b.do(http.MethodDelete, b.issuer+"/authorize", ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: got status %d, want 405", got.status)
	}
	got := b.do(http.MethodOptions, b.issuer+"/token", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if got.status != http.StatusNoContent || !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "DPoP") {
		t.Errorf("preflight: got status %d, %v", got.status, got.header)
	}
	for _, path := range []string{"/authorize", "/introspect"} {
		if got := b.do(http.MethodOptions, b.issuer+path, "", "Origin", "https://evil.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: pages of other origins may use it", path)
		}
	}
	// A name that somebody has pointed at this machine.
	if got := b.do(http.MethodGet, b.issuer+"/jwks", "", "Host", "evil.example"); got.status != http.StatusForbidden {
		t.Errorf("Host of another name: got status %d, want 403", got.status)
	}
	if got := b.get(b.issuer + "/authorize?client_id=app&state=" + strings.Repeat("x", 9000)); got.status != http.StatusRequestURITooLong {
		t.Errorf("long request: got status %d, want 414", got.status)
	}
	if got := b.do(http.MethodPost, b.issuer+"/token", "grant_type="+strings.Repeat("x", 70_000), "Content-Type", "application/x-www-form-urlencoded"); got.status != http.StatusBadRequest {
		t.Errorf("long form: got status %d, want 400", got.status)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-HTTPS")
	good := func() authserver.Options {
		return authserver.Options{Issuer: "https://as.example", Resources: []string{resource}, Passphrase: "x"}
	}
	for name, change := range map[string]func(*authserver.Options){
		"no issuer":           func(o *authserver.Options) { o.Issuer = "" },
		"http":                func(o *authserver.Options) { o.Issuer = "http://as.example" },
		"query":               func(o *authserver.Options) { o.Issuer = "https://as.example?x" },
		"nobody":              func(o *authserver.Options) { o.Passphrase = "" },
		"no resource":         func(o *authserver.Options) { o.Resources = nil },
		"http resource":       func(o *authserver.Options) { o.Resources = []string{"http://mcp.example"} },
		"bad scope":           func(o *authserver.Options) { o.Scopes = []authserver.Scope{{Name: "a b"}} },
		"scope of the server": func(o *authserver.Options) { o.Scopes = []authserver.Scope{{Name: "openid"}} },
		"short key":           func(o *authserver.Options) { o.Key = []byte("short") },
		"client without id":   func(o *authserver.Options) { o.Clients = []authserver.Client{{}} },
		"same client": func(o *authserver.Options) {
			o.Clients = []authserver.Client{{ID: "a", RedirectURIs: []string{callback}}, {ID: "a", RedirectURIs: []string{callback}}}
		},
		"short secret":         func(o *authserver.Options) { o.Clients = []authserver.Client{{ID: "a", Secret: "short"}} },
		"credentials it lacks": func(o *authserver.Options) { o.Clients = []authserver.Client{{ID: "a"}} },
		"keys that are none":   func(o *authserver.Options) { o.Clients = []authserver.Client{{ID: "a", JWKS: []byte(`{"keys":[]}`)}} },
		"bad redirect URI": func(o *authserver.Options) {
			o.Clients = []authserver.Client{{ID: "a", RedirectURIs: []string{"javascript:x"}}}
		},
		"resource not served": func(o *authserver.Options) {
			o.Clients = []authserver.Client{{ID: "a", Secret: confided, Resource: "https://x.example"}}
		},
		"both ways to identify": func(o *authserver.Options) {
			o.Clients = []authserver.Client{{ID: "a", Secret: confided, JWKS: []byte(`{}`)}}
		},
	} {
		opts := good()
		change(&opts)
		if _, err := authserver.New(opts); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	s, err := authserver.New(good())
	if err != nil {
		t.Fatal(err)
	}
	// Over https, cookies have the prefix that keeps other hosts from setting them.
	w := httptest.NewRecorder()
	rq := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://as.example/authorize?", nil)
	s.ServeHTTP(w, rq)
	if w.Code != http.StatusBadRequest {
		t.Errorf("empty request: got status %d, want 400", w.Code)
	}
}
