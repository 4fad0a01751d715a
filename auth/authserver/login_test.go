package authserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// A site is an MCP endpoint and the authorization server for it.
type site struct {
	*authserver.Server

	origin string
	mu     sync.Mutex
	tokens []string // that came to the endpoint, each once
}

func startSite(t *testing.T, opts authserver.Options) *site {
	t.Helper()
	mux := http.NewServeMux()
	ts := httptest.NewServer(mux)
	t.Cleanup(ts.Close)
	s := &site{origin: ts.URL}
	opts.Issuer, opts.Resources = ts.URL, []string{ts.URL + "/mcp"}
	var err error
	if s.Server, err = authserver.New(opts); err != nil {
		t.Fatal(err)
	}
	// Nothing is remembered, so that a revocation is noticed at once.
	resource, err := auth.New(ts.URL+"/mcp", []auth.Verifier{s.Server}, &auth.Options{CacheFor: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	srv := server.New(mcp.Implementation{Name: "site", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "whoami"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		return auth.Of(ctx).Subject, nil
	})
	handler := httpserver.New(srv, nil)
	t.Cleanup(func() { _ = handler.Close() })
	protected := resource.Handler(handler)
	mux.Handle("/", s.Server)
	mux.Handle(resource.MetadataPath(), resource.Metadata())
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			s.mu.Lock()
			if len(s.tokens) == 0 || s.tokens[len(s.tokens)-1] != token {
				s.tokens = append(s.tokens, token)
			}
			s.mu.Unlock()
		}
		protected.ServeHTTP(w, r)
	})
	return s
}

func (s *site) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.tokens...)
}

// connect opens a session with a login.
func (s *site) connect(t *testing.T, opts *oauth.Options) func() (string, error) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	opts.Base, opts.HTTP = transport, &http.Client{Transport: transport}
	login, err := oauth.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = login.Close() })
	endpoint := s.origin + "/mcp"
	sess := mcptest.Connect(t, httpclient.New(endpoint, &httpclient.Options{Client: login.HTTPClient(endpoint)}), nil)
	return func() (string, error) {
		result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"}, nil)
		if err != nil {
			return "", err
		}
		return result.Content[0].Text, nil
	}
}

// TestLogin lets the client of this module register, a user sign in with the
// passphrase and agree, and tokens be revoked on the way.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := startSite(t, authserver.Options{Passphrase: "open sesame"})
	var visits atomic.Int32
	whoami := s.connect(t, &oauth.Options{Authorize: func(_ context.Context, rq *oauth.AuthorizationRequest) (string, error) {
		visits.Add(1)
		b := newBrowser(t, s.origin)
		if got := b.post(rq.URL, url.Values{"passphrase": {"open sesame"}}); got.status != http.StatusSeeOther {
			return "", fmt.Errorf("sign in: status %d", got.status)
		}
		answer := b.post(rq.URL, url.Values{"consent": {ticketOf(t, b.get(rq.URL))}, "decision": {"allow"}})
		return answer.header.Get("Location"), nil
	}})
	call := func(step string, wantVisits int32) {
		t.Helper()
		if got, err := whoami(); err != nil || got != "owner" || visits.Load() != wantVisits {
			t.Errorf("%s: got %q, %v after %d visits, want owner after %d", step, got, err, visits.Load(), wantVisits)
		}
	}
	call("first", 1)

	// An access token that is revoked is renewed, and nobody is asked.
	id := s.identity(t)
	s.revoke(t, s.seen()[0], id.ClientID)
	call("access token revoked", 1)
	if got := len(s.seen()); got != 2 {
		t.Errorf("got %d tokens, want a second one", got)
	}

	// When the grant has ended, the user signs in again.
	var session string
	if _, err := s.identity(t).Claim("sid", &session); err != nil || session == "" {
		t.Fatalf("got session %q, %v", session, err)
	}
	if err := s.EndGrant(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(t.Context(), s.seen()[1]); !errors.Is(err, auth.ErrToken) {
		t.Errorf("grant ended: got %v, want ErrToken", err)
	}
	call("grant ended", 2)
}

// identity verifies the last token that was seen.
func (s *site) identity(t *testing.T) *auth.Identity {
	t.Helper()
	tokens := s.seen()
	id, err := s.Verify(t.Context(), tokens[len(tokens)-1])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (s *site) revoke(t *testing.T, token, client string) {
	t.Helper()
	b := newBrowser(t, s.origin)
	if got := b.post(s.origin+"/revoke", url.Values{"token": {token}, "client_id": {client}}); got.status != http.StatusOK {
		t.Fatalf("revoke: status %d %s", got.status, got.body)
	}
}

// TestPrograms lets programs in that have no user in front of them.
func TestPrograms(t *testing.T) {
	t.Parallel()
	const platform = "https://platform.example"
	key, cloud := newSigner(t, "k"), newSigner(t, "c")
	s := startSite(t, authserver.Options{
		Passphrase: "open sesame", NoRegistration: true,
		Clients: []authserver.Client{
			{ID: "service", Secret: confided},
			{ID: "robot", JWKS: key.jwks()},
			{ID: "ci", Grants: []string{jwtBearer}},
		},
		Trusts: []authserver.Trust{{Issuer: platform, Keys: cloud.jwks(), Workloads: map[string]string{"job": "ci"}}},
	})
	for want, opts := range map[string]*oauth.Options{
		"service": {Grant: oauth.ClientCredentials{}, Registrations: []oauth.Registration{{Issuer: s.origin, ID: "service", Secret: confided}}},
		"robot":   {Grant: oauth.ClientCredentials{}, Registrations: []oauth.Registration{{Issuer: s.origin, ID: "robot", Key: key.key, KeyID: "k"}}},
		"ci": {
			Registrations: []oauth.Registration{{Issuer: s.origin, ID: "ci"}},
			Grant: &oauth.Workload{Assertion: func(_ context.Context, audience string) (string, error) {
				now := time.Now().Unix()
				return cloud.sign("JWT", map[string]any{"iss": platform, "sub": "job", "aud": audience, "iat": now, "exp": now + 60}), nil
			}},
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got, err := s.connect(t, opts)(); err != nil || got != want {
				t.Errorf("got %q, %v, want %s", got, err, want)
			}
		})
	}
}
