package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestRegistrationOrder has an issuer that supports everything, and one by one less.
func TestRegistrationOrder(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REG-PRIORITY", "AUTH-CIMD-CHECK", "AUTH-CIMD-SUPPORT", "AUTH-PREREG", "AUTH-NO-DCR-STATIC")
	const document = "https://program.example/client.json"
	for name, test := range map[string]struct {
		opts       oauth.Options
		documents  bool // the issuer takes them
		noRegister bool
		want       string // client id; empty: the login fails
	}{
		"registered before all": {oauth.Options{MetadataURL: document, Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine"}}}, true, false, "mine"},
		"then the document":     {oauth.Options{MetadataURL: document, Registrations: []oauth.Registration{{Issuer: "https://other.example", ID: "mine"}}}, true, false, document},
		"not if not supported":  {oauth.Options{MetadataURL: document}, false, false, "client-1"},
		"nor without one":       {oauth.Options{}, true, false, "client-1"},
		"then the user": {
			oauth.Options{AskClient: func(context.Context, string) (*oauth.Registration, error) {
				return &oauth.Registration{ID: "typed"}, nil
			}},
			false, true, "typed",
		},
		"then nobody": {oauth.Options{}, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			is.meta["client_id_metadata_document_supported"] = test.documents
			if test.noRegister {
				delete(is.meta, "registration_endpoint")
			}
			w.resource(mcpURL, is)
			status, err := send(t, w.client(&test.opts), mcpURL, "x")
			if test.want == "" {
				var e *oauth.Error
				if !errors.As(err, &e) || e.Step != "register" {
					t.Errorf("status %d, error %v, want one of the step register", status, err)
				}
				return
			}
			if err != nil || is.asked[0].Get("client_id") != test.want {
				t.Errorf("error %v, authorized as %v, want %q", err, is.asked, test.want)
			}
		})
	}
}

// TestMetadataDocument publishes a document that authorization servers can read.
func TestMetadataDocument(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CIMD-CONTENT", "AUTH-CIMD-HOST", "AUTH-REFRESH-GRANT")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const at = "https://program.example/client.json"
	for _, opts := range []oauth.Options{
		{Name: "Program", MetadataURL: at},
		{Name: "Program", MetadataURL: at, MetadataKey: key, MetadataKeyID: "k1"},
	} {
		data, err := opts.MetadataDocument()
		if err != nil {
			t.Fatal(err)
		}
		m, err := oauthwire.ReadClientDocument(data, at)
		if err != nil || m.Name != "Program" || !slices.Contains(m.RedirectURIs, "http://127.0.0.1/callback") || !slices.Contains(m.GrantTypes, "refresh_token") {
			t.Errorf("document %s, %v", data, err)
		}
		if signs := m.TokenAuthMethod == "private_key_jwt"; signs != (opts.MetadataKey != nil) || signs != strings.Contains(string(m.JWKS), `"kid":"k1"`) {
			t.Errorf("document %s has the wrong way to authenticate", data)
		}
		if strings.Contains(string(data), `"d":`) {
			t.Errorf("document %s has the private key", data)
		}
	}
	if data, err := (*oauth.Options)(nil).MetadataDocument(); err == nil {
		t.Errorf("document without a URL = %s", data)
	}
}

// TestRejection has an issuer that does not want the client; the error says why.
func TestRejection(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-DCR-REJECTION")
	w := newWorld(t)
	is := w.issuer(asURL)
	is.meta["registration_endpoint"] = "https://register.example/"
	w.serve("register.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri", "error_description": "localhost only"})
	}))
	w.resource(mcpURL, is)
	_, err := send(t, w.client(nil), mcpURL, "x")
	var e *oauth.Error
	if !errors.As(err, &e) || e.Step != "register" || e.Code != "invalid_redirect_uri" || e.Temporary {
		t.Errorf("error %v, want one of the registration", err)
	}
	for _, want := range []string{"native", "http://127.0.0.1/callback", "localhost only"} {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// TestChoice takes the issuer that the client is registered at, of those that a server
// names.
func TestChoice(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PRM-AS-CHOICE")
	w := newWorld(t)
	first, second := w.issuer("https://first.example"), w.issuer(asURL)
	w.resource(mcpURL, first, second)
	mustSend(t, w.client(&oauth.Options{Registrations: []oauth.Registration{{Issuer: asURL, ID: "mine"}}}), mcpURL, "x")
	if len(first.asked) != 0 || len(second.asked) != 1 {
		t.Errorf("asked %d times at the first, %d at the second, want 0 and 1", len(first.asked), len(second.asked))
	}
}

// TestClientAuthentication logs in with each way to authenticate at the token endpoint.
func TestClientAuthentication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		supported []string
		method    string // that the registration says
		want      string
	}{
		"basic":             {[]string{"client_secret_basic"}, "", "basic"},
		"post":              {[]string{"client_secret_post"}, "", "post"},
		"none":              {[]string{"none"}, "", "none"},
		"not said":          {nil, "", "basic"},
		"said on admission": {[]string{"client_secret_basic", "client_secret_post"}, "client_secret_post", "post"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			is.secret, is.method = "SECRET&password", test.method
			if test.supported != nil {
				is.meta["token_endpoint_auth_methods_supported"] = test.supported
			}
			w.resource(mcpURL, is)
			mustSend(t, w.client(nil), mcpURL, "x")
			form, got := is.last(), "none"
			switch {
			case form.Get("basic") == "client-1:SECRET%26password" && !form.Has("client_secret"):
				got = "basic"
			case form.Get("client_secret") == "SECRET&password" && !form.Has("basic"):
				got = "post"
			case form.Has("basic") || form.Has("client_secret"):
				got = "both"
			}
			if got != test.want {
				t.Errorf("authenticated with %s, want %s: %v", got, test.want, form)
			}
		})
	}
}
