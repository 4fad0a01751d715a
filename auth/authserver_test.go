package auth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/mcptest"
)

// A handlerTransport reaches a handler without a network.
type handlerTransport struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h handlerTransport) RoundTrip(rq *http.Request) (*http.Response, error) {
	sent := rq.Clone(rq.Context())
	if sent.Body == nil {
		sent.Body = http.NoBody
	}
	sent.Host = rq.URL.Host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, sent)
	return w.Result(), nil
}

// TestAuthServer uses tokens of the authorization server of this module, as JWTs and
// by introspection, bound to a key and not.
func TestAuthServer(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-HTTP-CONFORM", "AUTHX-CC-CONFORM", "AUTHX-CC-SERVER-VALIDATE")
	as, err := authserver.New(authserver.Options{
		Issuer: login, Resources: []string{resourceURL, "https://mcp.example.com/other"},
		Scopes: []authserver.Scope{{Name: "mcp"}, {Name: "write"}}, Passphrase: "correct horse battery",
		Clients: []authserver.Client{
			{ID: "robot", Secret: "the secret of a robot"},
			{ID: "plans", Secret: "the secret of plans", Resource: resourceURL},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: handlerTransport{as}}
	key := newKey(t)
	token := func(resource, scope string, bound bool) string {
		t.Helper()
		form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}, "scope": {scope}}
		rq, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, login+"/token", strings.NewReader(form.Encode()))
		rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rq.SetBasicAuth("robot", url.QueryEscape("the secret of a robot"))
		if bound {
			proof, err := key.Proof(dpop.Request{Method: http.MethodPost, URL: login + "/token"})
			if err != nil {
				t.Fatal(err)
			}
			rq.Header.Set("DPoP", proof)
		}
		w, err := hc.Do(rq)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		var answer struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.NewDecoder(w.Body).Decode(&answer); err != nil || answer.AccessToken == "" {
			t.Fatalf("no token: status %d, %v", w.StatusCode, err)
		}
		return answer.AccessToken
	}
	jwts, err := auth.NewJWT(login, &auth.JWTOptions{Client: hc})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := auth.NewIntrospection(login, &auth.IntrospectionOptions{ClientID: "plans", ClientSecret: "the secret of plans", Client: hc})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]auth.Verifier{"JWT": jwts, "introspection": asked} {
		r := newResource(t, &auth.Options{Scopes: []string{"mcp"}}, v)
		w := get(r, bearer(token(resourceURL, "mcp", false)))
		if want := secretBody + " for " + login + " "; w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: status %d, body %q, want %q", name, w.Code, w.Body, want)
		}
		wantStatus(t, r, token(resourceURL, "write", false), 403, name+": another scope")
		wantStatus(t, r, token("https://mcp.example.com/other", "mcp", false), 401, name+": another resource")
		bound := token(resourceURL, "mcp", true)
		wantStatus(t, r, bound, 401, name+": bound to a key, as bearer")
		if w := get(r, proof(t, key, bound, nil)...); w.Code != 200 {
			t.Errorf("%s: bound to a key: status %d: %s", name, w.Code, w.Body)
		}
		if w := get(r, proof(t, newKey(t), bound, nil)...); w.Code != 401 {
			t.Errorf("%s: bound to another key: status %d: %s", name, w.Code, w.Body)
		}
	}
}
