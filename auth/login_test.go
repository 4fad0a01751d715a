package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/httpserver/legacysse"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// serveAll serves a server behind a resource for each carrier, and the authorization
// server of both, and returns the origin.
func serveAll(t *testing.T, opts auth.Options) string {
	t.Helper()
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	as, err := authserver.New(authserver.Options{
		Issuer: web.URL, Resources: []string{web.URL + "/mcp", web.URL + "/sse"},
		Scopes: []authserver.Scope{{Name: "mcp"}, {Name: "files"}, {Name: "write"}},
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "alice"}, true
		},
		Clients: []authserver.Client{{ID: "app", RedirectURIs: []string{"http://127.0.0.1/callback"}, Trusted: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/", as)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	tokens, err := auth.NewJWT(web.URL, &auth.JWTOptions{Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(t, nil)
	streamable, sse := httpserver.New(srv, nil), legacysse.New(srv, nil)
	t.Cleanup(func() {
		_ = streamable.Close()
		_ = sse.Close()
	})
	for path, h := range map[string]http.Handler{"/mcp": streamable, "/sse": sse} {
		r, err := auth.New(web.URL+path, []auth.Verifier{tokens}, &opts)
		if err != nil {
			t.Fatal(err)
		}
		mux.Handle(path, r.Handler(h))
		mux.Handle(r.MetadataPath(), r.Metadata())
	}
	return web.URL
}

// TestLogin lets the client of this module in, in every revision over both carriers
// of HTTP, and lets it ask for more when it needs more.
func TestLogin(t *testing.T) {
	t.Parallel()
	for _, dpop := range []bool{false, true} {
		options := scoped()
		if dpop {
			options.DPoP = &auth.DPoP{Required: true, Nonces: true}
		}
		origin := serveAll(t, *options)
		for _, revision := range client.Revisions() {
			for _, path := range []string{"/mcp", "/sse"} {
				if path == "/sse" && revision == modernVersion {
					continue
				}
				t.Run(fmt.Sprintf("%s%s/%t", revision, path, dpop), func(t *testing.T) {
					t.Parallel()
					testLogin(t, origin, origin+path, revision)
				})
			}
		}
	}
}

func testLogin(t *testing.T, origin, url, revision string) {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	browser := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var visits atomic.Int32
	login, err := oauth.New(&oauth.Options{
		Base: transport, HTTP: &http.Client{Transport: transport},
		Registrations: []oauth.Registration{{Issuer: origin, ID: "app"}},
		Authorize: func(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
			visits.Add(1)
			visit, err := http.NewRequestWithContext(ctx, http.MethodGet, rq.URL, nil)
			if err != nil {
				return "", err
			}
			answer, err := browser.Do(visit)
			if err != nil {
				return "", err
			}
			defer answer.Body.Close()
			return answer.Header.Get("Location"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = login.Close() })
	via := httpclient.New(url, &httpclient.Options{Client: login.HTTPClient(url)})
	sess := mcptest.Connect(t, via, &client.Options{Revision: revision})
	for tool, want := range map[string]string{"whoami": "alice with mcp", "write": secretBody} {
		result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool}, nil)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if got := result.Content[0].Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
	if got := visits.Load(); got != 2 {
		t.Errorf("the user was asked %d times, want twice: to log in, and for a scope", got)
	}
}

// TestExtensionDeclared tells that programs without a user can log in.
func TestExtensionDeclared(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTHX-CC-SERVER-ADVERTISE")
	e := newEndpoint(t, nil, nil)
	e.srv.Extend(oauth.ExtensionClientCredentials, nil)
	if w := e.modern(e.is.token(nil), mcp.MethodServerDiscover, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"`+oauth.ExtensionClientCredentials+`":{}`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
