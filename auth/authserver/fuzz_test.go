package authserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
)

func fuzzServer(f *testing.F) *authserver.Server {
	f.Helper()
	s, err := authserver.New(authserver.Options{
		Issuer: "https://as.example", Resources: []string{resource},
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "u"}, true
		},
		Clients: []authserver.Client{
			{ID: "own", Trusted: true, RedirectURIs: []string{callback, "https://app.example/cb"}}, {ID: "service", Secret: confided},
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// FuzzAuthorize sends any request to the authorization endpoint: whatever it is, it
// leads nowhere but to what the client has registered.
func FuzzAuthorize(f *testing.F) {
	s := fuzzServer(f)
	_, challenge := newPair()
	f.Add(request("own", callback, challenge).Encode())
	f.Add(request("own", "http://127.0.0.1:80/callback", challenge, "scope", "a b").Encode())
	f.Add(request("own", "https://app.example/cb", "").Encode())
	f.Add("client_id=own&redirect_uri=http://127.0.0.1:1@evil.example/callback")
	f.Fuzz(func(t *testing.T, query string) {
		w := httptest.NewRecorder()
		rq := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://as.example/authorize", nil)
		rq.URL.RawQuery = query
		s.ServeHTTP(w, rq)
		location := w.Header().Get("Location")
		if location == "" {
			return
		}
		u, err := url.Parse(location)
		if err != nil || !(u.Host == "app.example" && u.Scheme == "https" && u.Path == "/cb" || u.Hostname() == "127.0.0.1" && u.Scheme == "http" && u.Path == "/callback") {
			t.Errorf("%q leads to %s", query, location)
		}
	})
}

// FuzzToken sends any form to the token endpoint: nobody gets a token.
func FuzzToken(f *testing.F) {
	s := fuzzServer(f)
	f.Add("grant_type=client_credentials&client_id=service&client_secret=x", "")
	f.Add("grant_type=authorization_code&client_id=own&code=x&code_verifier="+strings.Repeat("x", 43), "Basic c2VydmljZTp4")
	f.Add("grant_type=refresh_token&client_id=own&refresh_token=AAAA", "Bearer x")
	f.Add("grant_type=client_credentials&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion=eyJhbGciOiJub25lIn0.e30.", "")
	f.Fuzz(func(t *testing.T, form, authorization string) {
		w := httptest.NewRecorder()
		rq := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://as.example/token", strings.NewReader(form))
		rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if authorization != "" {
			rq.Header.Set("Authorization", authorization)
		}
		s.ServeHTTP(w, rq)
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%q: got status %d %s", form, w.Code, w.Body)
		}
	})
}

// FuzzRegister registers any client: one that is accepted has redirect URIs that no
// browser runs.
func FuzzRegister(f *testing.F) {
	s := fuzzServer(f)
	f.Add(`{"redirect_uris":["https://app.example/cb"],"token_endpoint_auth_method":"none"}`)
	f.Add(`{"redirect_uris":["javascript:alert(1)"]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://as.example/register", strings.NewReader(body)))
		if w.Code != http.StatusCreated {
			return
		}
		for _, uri := range (reply{body: w.Body.String()}).json(t)["redirect_uris"].([]any) {
			uri := strings.ToLower(uri.(string))
			for _, bad := range []string{"javascript:", "data:", "vbscript:", "file:", "blob:"} {
				if strings.HasPrefix(strings.TrimSpace(uri), bad) {
					t.Errorf("%s registered %s", body, uri)
				}
			}
		}
	})
}
