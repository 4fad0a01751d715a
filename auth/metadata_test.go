package auth_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PRM-IMPLEMENT", "AUTH-PRM-AS-LIST", "AUTH-PRM-PUBLISH", "AUTH-PRM-HEADER-2025-06",
		"AUTH-SCOPE-CHALLENGE", "AUTH-RESOURCE-SLASH")
	a, b := newIssuer(t, login), newIssuer(t, "https://login.example.org/tenant")
	for resource, path := range map[string]string{
		resourceURL:                     "/.well-known/oauth-protected-resource/mcp",
		"https://mcp.example.com":       "/.well-known/oauth-protected-resource",
		"https://mcp.example.com/":      "/.well-known/oauth-protected-resource",
		"https://mcp.example.com/a/b":   "/.well-known/oauth-protected-resource/a/b",
		"http://localhost:8080/mcp":     "/.well-known/oauth-protected-resource/mcp",
		"https://mcp.example.com/a%20b": "/.well-known/oauth-protected-resource/a%20b",
	} {
		r, err := auth.New(resource, []auth.Verifier{a.verifier(nil), b.verifier(nil), a.verifier(nil)}, &auth.Options{
			Scopes: []string{"mcp"}, Name: "Plans", DPoP: &auth.DPoP{},
		})
		if err != nil {
			t.Fatal(err)
		}
		// The URL in the challenge is where the document is.
		challenge := serve(r.Handler(inside), http.MethodGet, "/mcp").Header().Get("WWW-Authenticate")
		if want := `resource_metadata="` + r.MetadataURL() + `"`; !strings.HasPrefix(challenge, "Bearer scope=\"mcp\"") || !strings.Contains(challenge, want) {
			t.Errorf("%s: challenge %s, want scope and %s", resource, challenge, want)
		}
		if !strings.HasSuffix(r.MetadataURL(), path) {
			t.Errorf("%s: metadata at %s, want the path %s", resource, r.MetadataURL(), path)
		}
		for name, h := range map[string]http.Handler{"Handler": r.Handler(inside), "Metadata": r.Metadata()} {
			w := serve(h, http.MethodGet, path)
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%s of %s: status %d, %v: %s", name, resource, w.Code, err, w.Body)
			}
			delete(got, "dpop_signing_alg_values_supported")
			want := map[string]any{
				"resource": resource, "authorization_servers": []any{a.URL, b.URL}, "resource_name": "Plans",
				"scopes_supported": []any{"mcp"}, "bearer_methods_supported": []any{"header"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", name, resource, diff)
			}
		}
	}
}

func TestMetadataMethods(t *testing.T) {
	t.Parallel()
	h := newResource(t, nil, newIssuer(t, login).verifier(nil)).Metadata()
	for method, want := range map[string]int{
		http.MethodGet: 200, http.MethodHead: 200, http.MethodOptions: 204, http.MethodPost: 405, http.MethodDelete: 405,
	} {
		w := serve(h, method, "/.well-known/oauth-protected-resource/mcp")
		if w.Code != want || (w.Body.Len() > 0) != (method == http.MethodGet) {
			t.Errorf("%s: status %d with %d bytes, want %d", method, w.Code, w.Body.Len(), want)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: web pages cannot read it", method)
		}
	}
}

func TestOptionsChecked(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REFRESH-SERVER-SCOPE")
	v := newIssuer(t, login).verifier(nil)
	for name, test := range map[string]struct {
		resource  string
		verifiers []auth.Verifier
		opts      auth.Options
		want      string
	}{
		"plain HTTP":      {"http://mcp.example.com/mcp", []auth.Verifier{v}, auth.Options{}, "https"},
		"no scheme":       {"mcp.example.com", []auth.Verifier{v}, auth.Options{}, "absolute"},
		"fragment":        {"https://mcp.example.com#x", []auth.Verifier{v}, auth.Options{}, "fragment"},
		"no verifier":     {resourceURL, nil, auth.Options{}, "nothing to verify"},
		"nil verifier":    {resourceURL, []auth.Verifier{nil}, auth.Options{}, "nothing to verify"},
		"no scope":        {resourceURL, []auth.Verifier{v}, auth.Options{Scopes: []string{"a b"}}, "not a scope"},
		"offline_access":  {resourceURL, []auth.Verifier{v}, auth.Options{Advertise: []string{"offline_access"}}, "not a scope of a resource"},
		"short nonce key": {resourceURL, []auth.Verifier{v}, auth.Options{DPoP: &auth.DPoP{Nonces: true, NonceKey: []byte("x")}}, "at least 32"},
		"offline tool": {
			resourceURL,
			[]auth.Verifier{v},
			auth.Options{Tools: map[string][]string{"x": {"offline_access"}}},
			"not a scope of a resource",
		},
	} {
		if _, err := auth.New(test.resource, test.verifiers, &test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}
