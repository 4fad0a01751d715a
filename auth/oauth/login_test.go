package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
)

const (
	mcpURL = "https://mcp.example/v1/mcp"
	asURL  = "https://as.example"
)

// TestLogin is the whole flow with nothing set: from the first 401 to an answer.
func TestLogin(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PRM-CLIENT", "AUTH-BEARER-HEADER", "AUTH-TOKEN-NO-QUERY", "AUTH-PKCE", "AUTH-PKCE-S256",
		"AUTH-RESOURCE-PARAM", "AUTH-RESOURCE-CANONICAL", "AUTH-RESOURCE-SPECIFIC", "AUTH-STATE", "AUTH-REG-OBTAIN",
		"AUTH-DCR-APPLICATION-TYPE", "AUTH-DCR-APPLICATION-TYPE-VALUE", "AUTH-REFRESH-GRANT", "AUTH-REDIRECT-REGISTERED",
		"AUTH-REDIRECT-URI", "AUTH-OAUTH21-2025-03", "AUTH-PUBLIC-CLIENT-2025-03", "AUTH-DCR-SHOULD", "AUTH-DCR-MAY", "AUTH-ISS-RECORD")
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	c := w.client(nil)
	mustSend(t, c, mcpURL, "one")
	mustSend(t, c, mcpURL, "two")

	if n := len(is.asked); n != 1 {
		t.Fatalf("%d authorization requests, want 1", n)
	}
	q, form := is.asked[0], is.last()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "client-1", "redirect_uri": "http://127.0.0.1/callback",
		"code_challenge_method": "S256", "resource": mcpURL,
	} {
		if got := q.Get(name); got != want {
			t.Errorf("authorization request has %s=%q, want %q", name, got, want)
		}
	}
	if len(q.Get("state")) < 20 || len(q.Get("code_challenge")) != 43 || q.Has("scope") {
		t.Errorf("authorization request = %v", q)
	}
	if form.Get("resource") != mcpURL || len(form.Get("code_verifier")) < 43 || form.Get("client_id") != "client-1" || form.Has("client_secret") {
		t.Errorf("token request = %v", form)
	}
	registered := is.clients[0]
	for name, want := range map[string]any{
		"client_name": "MCP client", "application_type": "native", "token_endpoint_auth_method": "none",
		"redirect_uris": []any{"http://127.0.0.1/callback"}, "grant_types": []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"},
	} {
		if diff := cmp.Diff(want, registered[name]); diff != "" {
			t.Errorf("%s of the registration (-want +got):\n%s", name, diff)
		}
	}
	for _, line := range w.requests("mcp.example/v1") {
		if strings.Contains(strings.SplitN(line, " ", 3)[1], "SECRET") {
			t.Errorf("a token is in the URL: %s", line)
		}
	}
	if sent := w.requests("POST " + mcpURL); len(sent) != 3 || strings.Contains(sent[0], "Bearer") || !strings.Contains(sent[2], "Bearer SECRET-access") {
		t.Errorf("requests to the server: %q", sent)
	}
	status, err := c.Status(t.Context(), mcpURL)
	if err != nil || status == nil || status.Issuer != asURL || status.Resource != mcpURL || !status.Refreshable || status.ClientID != "client-1" {
		t.Errorf("status = %+v, %v", status, err)
	}
}

// TestResource says in which form servers are named that do not name themselves.
func TestResource(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-RESOURCE-CASE", "AUTH-RESOURCE-SLASH", "AUTH-RESOURCE-CANONICAL")
	for endpoint, want := range map[string]string{
		"HTTPS://MCP.example/v1/mcp": "https://mcp.example/v1/mcp",
		"https://mcp.example":        "https://mcp.example",
		"https://mcp.example/":       "https://mcp.example",
		"https://mcp.example/mcp/":   "https://mcp.example/mcp/",
		"https://mcp.example/mcp?a#": "https://mcp.example/mcp",
	} {
		w := newWorld(t)
		is := w.issuer(asURL)
		rs := w.resource(want, is)
		rs.header, rs.meta = false, nil
		w.serve("MCP.example", rs)
		mustSend(t, w.client(&oauth.Options{Issuer: asURL}), endpoint, "x")
		if got := is.asked[0].Get("resource"); got != want {
			t.Errorf("resource of %s = %q, want %q", endpoint, got, want)
		}
	}
}

// TestScopes chooses the scopes of the first login.
func TestScopes(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-SCOPE-SELECT", "AUTH-SCOPE-AUTHORITATIVE", "AUTH-SCOPE-NO-RELATION", "AUTH-SCOPE-LEAST",
		"AUTH-REFRESH-OFFLINE-ACCESS", "AUTH-REFRESH-NO-ASSUME")
	for name, test := range map[string]struct {
		challenge string
		resource  []string
		server    []string
		opts      oauth.Options
		want      string
	}{
		"of the challenge":        {`scope="a b"`, []string{"c"}, nil, oauth.Options{}, "a b"},
		"of the resource":         {"", []string{"c", "d"}, nil, oauth.Options{}, "c d"},
		"none":                    {"", nil, []string{"x", "offline_access"}, oauth.Options{}, ""},
		"with offline":            {`scope="a"`, nil, []string{"offline_access"}, oauth.Options{}, "a offline_access"},
		"offline is not there":    {`scope="a"`, nil, []string{"a"}, oauth.Options{}, "a"},
		"in addition":             {`scope="a"`, nil, nil, oauth.Options{Scopes: []string{"z", "a"}}, "a z"},
		"one that is not a scope": {`scope="a \"b"`, nil, nil, oauth.Options{}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			if test.server != nil {
				is.meta["scopes_supported"] = test.server
			}
			rs := w.resource(mcpURL, is)
			rs.challenge = test.challenge
			if test.resource != nil {
				rs.meta["scopes_supported"] = test.resource
			}
			mustSend(t, w.client(&test.opts), mcpURL, "x")
			if got := is.asked[0].Get("scope"); got != test.want {
				t.Errorf("asked for %q, want %q", got, test.want)
			}
			if got, want := is.asked[0].Get("prompt") == "consent", strings.Contains(test.want, "offline"); got != want {
				t.Errorf("asked for consent: %v, want %v", got, want)
			}
		})
	}
}

// TestStepUp needs a second scope for a second operation, and both for a third.
func TestStepUp(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-STEP-UP", "AUTH-STEP-UP-UNION", "SEC-SCOPE-UNION")
	w := newWorld(t)
	is := w.issuer(asURL)
	rs := w.resource(mcpURL, is)
	rs.challenge = `scope="read"`
	rs.needs = func(_ *http.Request, body string) []string { return strings.Fields(body) }
	c := w.client(nil)
	for _, text := range []string{"read", "write", "read", "read write"} {
		mustSend(t, c, mcpURL, text)
	}
	var asked []string
	for _, q := range is.asked {
		asked = append(asked, q.Get("scope"))
	}
	if diff := cmp.Diff([]string{"read", "read write"}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}

// TestStepUpLimit has a server that is not content with any scope.
func TestStepUpLimit(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-STEP-UP-LIMIT")
	for name, next := range map[string]func(i int) string{
		"the same again": func(int) string { return "admin" },
		"always more":    func(i int) string { return strings.Repeat("x", i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			is.noGrant = []string{"admin"}
			rs := w.resource(mcpURL, is)
			i := 0
			rs.needs = func(*http.Request, string) []string { i++; return []string{next(i)} }
			c := w.client(nil)
			for range 3 {
				if status, err := send(t, c, mcpURL, "x"); status != http.StatusForbidden || err != nil {
					t.Errorf("status %d, error %v, want 403", status, err)
				}
				if name == "always more" {
					break
				}
			}
			if n := len(is.asked); n > 3 {
				t.Errorf("the user was asked %d times", n)
			}
		})
	}
}

// TestDenied remembers for a while that the user has said no.
func TestDenied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		is.denies = "access_denied"
		w.resource(mcpURL, is)
		c := w.client(nil)
		for range 3 {
			_, err := send(t, c, mcpURL, "x")
			var e *oauth.Error
			if !errors.As(err, &e) || e.Code != "access_denied" || e.Temporary || e.HTTPStatus() != 401 || !strings.Contains(e.Error(), "the user has said no") {
				t.Fatalf("error %v, want access_denied", err)
			}
		}
		if n := len(is.asked); n != 1 {
			t.Errorf("the user was asked %d times, want once", n)
		}
		is.set(func() { is.denies = "" })
		time.Sleep(time.Minute)
		mustSend(t, c, mcpURL, "x")
	})
}

// TestNeverContent has a server that refuses what its own issuer gives: the user is
// not asked with every request.
func TestNeverContent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		rs := w.resource(mcpURL, is)
		rs.issuers = nil
		c := w.client(nil)
		if status, err := send(t, c, mcpURL, "x"); status != http.StatusUnauthorized || err != nil {
			t.Errorf("status %d, error %v, want 401", status, err)
		}
		for range 3 {
			var e *oauth.Error
			if _, err := send(t, c, mcpURL, "x"); !errors.As(err, &e) || e.Temporary {
				t.Errorf("error %v, want a lasting one", err)
			}
		}
		if len(is.asked) != 1 || len(is.forms) != 1 {
			t.Errorf("%d logins, %d token requests, want one of each", len(is.asked), len(is.forms))
		}
		rs.issuers = []*issuer{is}
		time.Sleep(6 * time.Minute)
		mustSend(t, c, mcpURL, "x")
	})
}

// TestUnattended asks nobody, and finds out when somebody else has logged in.
func TestUnattended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	store := oauth.NewMemoryStore()
	daemon := w.client(&oauth.Options{Store: store, Unattended: true})
	if _, err := send(t, daemon, mcpURL, "x"); !errors.Is(err, oauth.ErrLoginRequired) {
		t.Fatalf("error %v, want %v", err, oauth.ErrLoginRequired)
	}
	terminal := w.client(&oauth.Options{Store: store})
	if err := terminal.Login(t.Context(), mcpURL); err != nil {
		t.Fatal(err)
	}
	mustSend(t, daemon, mcpURL, "x")
	if n := len(is.asked); n != 1 {
		t.Errorf("the user was asked %d times, want once", n)
	}
	if err := terminal.Logout(t.Context(), mcpURL); err != nil {
		t.Fatal(err)
	}
	if status, err := terminal.Status(t.Context(), mcpURL); status != nil || err != nil {
		t.Errorf("status after the logout = %v, %v", status, err)
	}
	if len(is.refresh) > 0 || len(w.requests("/revoke")) != 1 {
		t.Errorf("the server was not told of the logout: %q", w.requests("/revoke"))
	}
}

// TestOneLogin has many requests, in several processes, and one user.
func TestOneLogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		w.resource(mcpURL, is)
		store := oauth.NewMemoryStore()
		slow := func(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
			time.Sleep(time.Second)
			return w.visit(ctx, rq)
		}
		done := make(chan error)
		const processes, requests = 3, 5
		for range processes {
			c := w.client(&oauth.Options{Store: store, Authorize: slow})
			for range requests {
				go func() {
					_, err := send(t, c, mcpURL, "x")
					done <- err
				}()
			}
		}
		for range processes * requests {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if len(is.asked) != 1 || len(is.clients) != 1 {
			t.Errorf("%d logins, %d registrations, want one of each", len(is.asked), len(is.clients))
		}
	})
}

// TestLoginOutlivesRequest lets the first request give up; the user is not in vain.
func TestLoginOutlivesRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	asked, agree := make(chan struct{}), make(chan struct{})
	c := w.client(&oauth.Options{Authorize: func(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
		close(asked)
		<-agree
		return w.visit(ctx, rq)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, mcpURL, http.NoBody)
		_, err := c.RoundTrip(r)
		failed <- err
	}()
	<-asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	close(agree)
	mustSend(t, c, mcpURL, "x")
}

// TestClose ends a login that nobody answers.
func TestClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.resource(mcpURL, w.issuer(asURL))
	asked := make(chan struct{})
	c := w.client(&oauth.Options{Authorize: func(ctx context.Context, _ *oauth.AuthorizationRequest) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}})
	failed := make(chan error)
	go func() {
		_, err := send(t, c, mcpURL, "x")
		failed <- err
	}()
	<-asked
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the request went well")
	}
	if _, err := send(t, c, mcpURL, "x"); !errors.Is(err, oauth.ErrClosed) {
		t.Errorf("error %v after Close, want %v", err, oauth.ErrClosed)
	}
}

// TestLeavesAlone does not touch what is none of its business.
func TestLeavesAlone(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-OPTIONAL", "AUTH-CUSTOM")
	w := newWorld(t)
	w.resource(mcpURL, w.issuer(asURL))
	w.serve("basic.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		rw.WriteHeader(http.StatusUnauthorized)
	}))
	w.serve("forbidden.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) }))
	c := w.client(nil)
	for endpoint, want := range map[string]int{"https://basic.example/mcp": 401, "https://forbidden.example/mcp": 403} {
		if status, err := send(t, c, endpoint, "x"); status != want || err != nil {
			t.Errorf("%s: status %d, error %v, want %d", endpoint, status, err, want)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, mcpURL, http.NoBody)
	r.Header.Set("Authorization", "Bearer of-the-caller")
	res, err := c.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("request with a token of the caller: %v, %v", res, err)
	}
	if all := w.requests("as.example"); len(all) > 0 {
		t.Errorf("the authorization server was asked: %q", all)
	}
	if got := w.requests("of-the-caller"); len(got) != 1 || slices.Contains(got, "") {
		t.Errorf("the caller's token was sent %d times", len(got))
	}
}
