package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFound follows the way of a client that has only the URL of the endpoint.
func TestFound(t *testing.T) {
	t.Parallel()
	const origin = "http://127.0.0.1:8080"
	handler, err := newHandler(origin, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	get := func(target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, origin+target, nil))
		return w
	}
	refused := get("/mcp")
	_, found, _ := strings.Cut(refused.Header().Get("WWW-Authenticate"), `resource_metadata="`+origin)
	path, _, _ := strings.Cut(found, `"`)
	var resource struct {
		Servers []string `json:"authorization_servers"`
	}
	if err := json.Unmarshal(get(path).Body.Bytes(), &resource); err != nil || len(resource.Servers) != 1 || resource.Servers[0] != origin {
		t.Fatalf("status %d, metadata at %q: %v, servers %q", refused.Code, path, err, resource.Servers)
	}
	var issuer struct {
		Endpoint string `json:"authorization_endpoint"`
	}
	if err := json.Unmarshal(get("/.well-known/oauth-authorization-server").Body.Bytes(), &issuer); err != nil || issuer.Endpoint != origin+"/authorize" {
		t.Errorf("%v: authorization endpoint %q", err, issuer.Endpoint)
	}
}
