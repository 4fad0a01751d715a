package oauthwire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/mcptest"
)

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestWellKnown(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ASM-ORDER-PATH", "AUTH-ASM-ORDER-NO-PATH", "AUTH-BASE-URL")
	const prm, as, oidc = oauthwire.PathResource, oauthwire.PathServer, oauthwire.PathOpenID
	for resource, want := range map[string][]string{
		"https://a.example":            {"https://a.example" + prm},
		"https://a.example/":           {"https://a.example" + prm},
		"https://A.example:8443/mcp":   {"https://a.example:8443" + prm + "/mcp", "https://a.example:8443" + prm},
		"https://a.example/p%2Fq/mcp/": {"https://a.example" + prm + "/p%2Fq/mcp/", "https://a.example" + prm},
		"https://a.example/mcp?t=1":    {"https://a.example" + prm + "/mcp?t=1", "https://a.example" + prm},
	} {
		if diff := cmp.Diff(want, oauthwire.ResourceMetadataURLs(mustParse(t, resource))); diff != "" {
			t.Errorf("resource metadata of %s (-want +got):\n%s", resource, diff)
		}
	}
	for issuer, want := range map[string][]string{
		"https://as.example":      {"https://as.example" + as, "https://as.example" + oidc},
		"https://as.example/":     {"https://as.example" + as, "https://as.example" + oidc},
		"https://as.example/t/1":  {"https://as.example" + as + "/t/1", "https://as.example" + oidc + "/t/1", "https://as.example/t/1" + oidc},
		"https://as.example/t/1/": {"https://as.example" + as + "/t/1", "https://as.example" + oidc + "/t/1", "https://as.example/t/1" + oidc},
	} {
		if diff := cmp.Diff(want, oauthwire.ServerMetadataURLs(mustParse(t, issuer))); diff != "" {
			t.Errorf("metadata of issuer %s (-want +got):\n%s", issuer, diff)
		}
	}
	issuer, defaults := oauthwire.OriginServer(mustParse(t, "https://a.example:1/v1/mcp?x=y"))
	if want := "https://a.example:1"; issuer != want || defaults.Issuer != want || defaults.AuthorizationEndpoint != want+"/authorize" ||
		defaults.TokenEndpoint != want+"/token" || defaults.RegistrationEndpoint != want+"/register" {
		t.Errorf("server at the origin = %q, %+v", issuer, defaults)
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-URL-SCHEME", "SEC-URL-SANITIZE", "SEC-SSRF-HTTPS")
	for text, want := range map[string]bool{
		"https://a.example":                              true,
		"https://a.example:8443/p?q=1&r":                 true,
		"HTTPS://A.example/":                             true,
		"http://localhost:8080/x":                        true,
		"http://127.0.0.1/":                              true,
		"http://127.9.9.9/":                              true,
		"http://[::1]:9/":                                true,
		"http://a.localhost/":                            true,
		"https://[2001:db8::1]/":                         true,
		"":                                               false,
		"a.example":                                      false,
		"/path":                                          false,
		"//a.example/":                                   false,
		"http://a.example/":                              false,
		"http://localhost.a.example/":                    false,
		"http://127.0.0.1.a.example/":                    false,
		"http://10.0.0.1/":                               false,
		"http://[::ffff:10.0.0.1]/":                      false,
		"javascript:alert(1)":                            false,
		"JavaScript://a.example/%0aalert":                false,
		"data:text/html,x":                               false,
		"file:///etc/passwd":                             false,
		"vbscript:x":                                     false,
		"ftp://a.example/":                               false,
		"https://u:p@a.example/":                         false,
		"https://u@a.example/":                           false,
		"https://a.example/#f":                           false,
		"https://a.example/#":                            false,
		"https:///path":                                  false,
		"https://:443/":                                  false,
		"https://a.example:0/":                           false,
		"https://a.example:99999/":                       false,
		"https://a.example:/":                            false,
		"https://a.example/ x":                           false,
		"https://a.example/$(calc)`x`":                   false,
		"https://a.example/\\x":                          false,
		"https://a.example\\@b.example/":                 false,
		"https://a.example/\"&calc":                      false,
		"https://a.example/é":                            false,
		"https://a%41.example/":                          false,
		"https://[fe80::1%25eth0]/":                      false,
		"https://a.example/\x00":                         false,
		" https://a.example/":                            false,
		"https://a.example/" + strings.Repeat("x", 9000): false,
	} {
		u, err := oauthwire.ParseURL(text)
		if (err == nil) != want || (err == nil) != (u != nil) {
			t.Errorf("ParseURL(%.60q) = %v, %v, want ok %v", text, u, err, want)
		}
	}
	if u, err := oauthwire.ParseIssuer("https://a.example/?q"); err == nil {
		t.Errorf("issuer with a query = %v", u)
	}
	if _, err := oauthwire.ParseURL("http://a.example/?secret=hunter2"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v shows the query", err)
	}
}

func TestParseClientIDURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://a.example/client.json":  true,
		"https://a.example/":             false,
		"https://a.example":              false,
		"https://a.example/x/../y":       false,
		"https://a.example/./y":          false,
		"http://a.example/client.json":   false,
		"https://a.example/client.json#": false,
		"client-1":                       false,
	} {
		if u, err := oauthwire.ParseClientIDURL(text); (err == nil) != want {
			t.Errorf("ParseClientIDURL(%q) = %v, %v, want ok %v", text, u, err, want)
		}
	}
}

// TestReaders reads documents of each kind; what else is in them is not looked at.
func TestReaders(t *testing.T) {
	t.Parallel()
	readers := map[string]func(string) error{
		"resource": func(s string) error { _, err := oauthwire.ReadResourceMetadata([]byte(s)); return err },
		"server":   func(s string) error { _, err := oauthwire.ReadServerMetadata([]byte(s)); return err },
		"client":   func(s string) error { _, err := oauthwire.ReadClientMetadata([]byte(s)); return err },
		"document": func(s string) error {
			_, err := oauthwire.ReadClientDocument([]byte(s), "https://a.example/c")
			return err
		},
		"registration":  func(s string) error { _, err := oauthwire.ReadRegistration([]byte(s)); return err },
		"token":         func(s string) error { _, err := oauthwire.ReadTokenResponse([]byte(s)); return err },
		"introspection": func(s string) error { _, err := oauthwire.ReadIntrospection([]byte(s)); return err },
	}
	for _, c := range []struct {
		kind, text, want string // want: part of the error, or empty
	}{
		{"resource", `{"resource":"https://a.example/mcp","authorization_servers":["https://as.example"],"x":1}`, ""},
		{"resource", `{"resource":"http://intranet/mcp"}`, ""},
		{"resource", `{"authorization_servers":[]}`, "no resource"},
		{"resource", `{"resource":"mcp"}`, "absolute"},
		{"resource", `{"resource":"https://a.example/#x"}`, "fragment"},
		{"resource", `{"resource":"https://a.example","authorization_servers":["http://as.example"]}`, "https"},
		{"resource", `{"resource":"https://a.example","authorization_servers":["https://as.example?x"]}`, "query"},
		{"resource", `{"resource":"https://a.example","scopes_supported":"a b"}`, "scopes_supported"},
		{"resource", `{"resource":"https://a.example","resource":"https://b.example"}`, "duplicate"},
		{"resource", `{"Resource":"https://a.example"}`, "no resource"},
		{"resource", `[]`, "read"},
		{"resource", `{"resource":"https://a.example"} x`, "read"},
		{"resource", `<html>`, "read"},
		{"server", `{"issuer":"https://as.example","token_endpoint":"https://as.example/token"}`, ""},
		{"server", `{"token_endpoint":"https://as.example/token"}`, "no issuer"},
		{"server", `{"issuer":"https://as.example","authorization_endpoint":"javascript:alert(1)"}`, "authorization_endpoint"},
		{"server", `{"issuer":"https://as.example","token_endpoint":"http://10.0.0.1/token"}`, "token_endpoint"},
		{"server", `{"issuer":"https://as.example","registration_endpoint":"file:///x"}`, "registration_endpoint"},
		{"server", `{"issuer":"https://as.example","jwks_uri":"x"}`, "jwks_uri"},
		{"client", `{"redirect_uris":["http://localhost/cb"],"jwks":{"keys":[]}}`, ""},
		{"client", `{"redirect_uris":"x"}`, "redirect_uris"},
		{"document", `{"client_id":"https://a.example/c","client_name":"n","redirect_uris":["https://a.example/cb"]}`, ""},
		{"document", `{"client_id":"https://a.example/C","client_name":"n","redirect_uris":["https://a.example/cb"]}`, "its own URL"},
		{"document", `{"client_id":"https://a.example/c","client_name":"n","redirect_uris":["x"],"client_secret":"s"}`, "secret"},
		{"document", `{"client_id":"https://a.example/c","client_name":"n","redirect_uris":["x"],"token_endpoint_auth_method":"client_secret_post"}`, "secret"},
		{"document", `{"client_id":"https://a.example/c","redirect_uris":["x"]}`, "client_name"},
		{"document", `{"client_id":"https://a.example/c","client_name":"n"}`, "redirect_uris"},
		{"registration", `{"client_id":"c","client_secret":"s","client_secret_expires_at":0,"redirect_uris":["x"]}`, ""},
		{"registration", `{"client_id":"c","client_id_issued_at":"17"}`, ""},
		{"registration", `{"client_secret":"s"}`, "no client_id"},
		{"registration", `{"client_id":"c","client_secret_expires_at":[]}`, "client_secret_expires_at"},
		{"token", `{"access_token":"a|b.c~","token_type":"Bearer","expires_in":"3600"}`, ""},
		{"token", `{"access_token":"a","token_type":"bearer","expires_in":3600.5,"refresh_token":null}`, ""},
		{"token", `{"access_token":"a","token_type":"bearer","expires_in":null}`, ""},
		{"token", `{"access_token":"","token_type":"bearer"}`, "no access_token"},
		{"token", `{"access_token":"a"}`, "no token_type"},
		{"token", `{"access_token":"a\r\nX: y","token_type":"bearer"}`, "access_token"},
		{"token", `{"access_token":"a","token_type":"bearer","expires_in":-1}`, "expires_in"},
		{"token", `{"access_token":"a","token_type":"bearer","expires_in":1e99}`, "expires_in"},
		{"introspection", `{"active":true,"aud":"x","cnf":{"jkt":"y"}}`, ""},
		{"introspection", `{"active":true,"aud":["x","y"]}`, ""},
		{"introspection", `{"active":"true"}`, "active"},
		{"introspection", `{"active":true,"aud":7}`, "aud"},
	} {
		err := readers[c.kind](c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want %q", c.kind, c.text, err, c.want)
		}
	}
	if err := readers["token"](`{"access_token":"` + strings.Repeat("x", oauthwire.MaxDocument) + `"}`); err == nil {
		t.Error("a document that is too large was read")
	}
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte(`{"resource":"https://a.example/mcp","authorization_servers":["https://as.example"]}`))
	f.Add([]byte(`{"issuer":"https://as.example","token_endpoint":"https://as.example/token","expires_in":"3"}`))
	f.Add([]byte(`{"access_token":"a","token_type":"b","expires_in":1.5,"client_id":"x","aud":"y","active":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := oauthwire.ReadResourceMetadata(data); err == nil {
			for _, issuer := range m.AuthorizationServers {
				if _, err := oauthwire.ParseIssuer(issuer); err != nil {
					t.Error(err)
				}
			}
		}
		if m, err := oauthwire.ReadServerMetadata(data); err == nil && m.TokenEndpoint != "" {
			if _, err := oauthwire.ParseURL(m.TokenEndpoint); err != nil {
				t.Error(err)
			}
		}
		_, _ = oauthwire.ReadRegistration(data)
		_, _ = oauthwire.ReadIntrospection(data)
		_, _ = oauthwire.ReadTokenResponse(data)
		_, _ = oauthwire.ReadClientDocument(data, "x")
		_, _ = oauthwire.ReadError(data)
	})
}

func FuzzParseURL(f *testing.F) {
	for _, text := range []string{"https://a.example:1/p?q#f", "http://[::1]/", "http://user@localhost"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := oauthwire.ParseURL(text)
		if err != nil {
			return
		}
		if u.Scheme != "https" && !oauthwire.Loopback(u.Hostname()) || u.User != nil || u.Host == "" {
			t.Errorf("ParseURL(%q) = %#v", text, u)
		}
		if again, err := oauthwire.ParseURL(u.String()); err != nil || again.Host != u.Host {
			t.Errorf("ParseURL(%q) becomes %q: %v", text, u, err)
		}
	})
}

func TestScopes(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"a", "b:c", "d"}, oauthwire.Scopes("  a b:c  a \"x\" d\t")); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	union := oauthwire.UnionScopes([]string{"a", "b"}, nil, []string{"b", "c"})
	if got := oauthwire.JoinScopes(union); got != "a b c" {
		t.Errorf("union = %q", got)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	e, ok := oauthwire.ReadError([]byte(`{"error":"invalid_grant","error_description":"no\u001b[31m\nsuch\u202e code"}`))
	if !ok || e.Code != oauthwire.ErrorInvalidGrant || e.Error() != "invalid_grant: no [31m such code" {
		t.Errorf("error = %q, %v", e, ok)
	}
	for _, text := range []string{"", "{}", "<html>", `{"error":7}`} {
		if e, ok := oauthwire.ReadError([]byte(text)); ok {
			t.Errorf("ReadError(%q) = %v", text, e)
		}
	}
	if got := oauthwire.Printable(strings.Repeat("é", 10), 5); got != "éé…" {
		t.Errorf("shortened = %q", got)
	}
}

// TestSecretsAreHidden shows a token in every way there is to show one.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	token := oauthwire.TokenResponse{AccessToken: "hunter2", TokenType: "Bearer", RefreshToken: "hunter2", IDToken: "hunter2"}
	registration := oauthwire.Registration{ClientSecret: "hunter2"}
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T", "%z"} {
		fmt.Fprintf(&b, verb+"\n", token)
		fmt.Fprintf(&b, verb+"\n", &token)
		fmt.Fprintf(&b, verb+"\n", token.AccessToken)
		fmt.Fprintf(&b, verb+"\n", []any{token.AccessToken})
	}
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "token", token, "secret", token.AccessToken)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "secret", token.AccessToken, "token", token, "registration", registration)
	if text := b.String(); strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("shows a secret:\n%s", text)
	}
	data, err := json.Marshal(token)
	if want := `{"access_token":"hunter2","token_type":"Bearer","refresh_token":"hunter2","id_token":"hunter2"}`; err != nil || string(data) != want {
		t.Errorf("JSON = %s, %v, want %s", data, err, want)
	}
	audience, err := json.Marshal([]oauthwire.Strings{{"a"}, {"a", "b"}})
	if want := `["a",["a","b"]]`; err != nil || string(audience) != want {
		t.Errorf("audience = %s, %v, want %s", audience, err, want)
	}
}
