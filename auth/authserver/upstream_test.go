package authserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// A wire carries what a server says to its provider, and may change the answers.
type wire struct {
	mu     sync.Mutex
	broken bool // nothing gets through
	tamper func(path string, status int, body []byte) (int, []byte)
}

func (w *wire) set(tamper func(string, int, []byte) (int, []byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tamper = tamper
}

func (w *wire) cut(broken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = broken
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	tamper, broken := w.tamper, w.broken
	w.mu.Unlock()
	if broken {
		return nil, errors.New("the wire is cut, hunter2")
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || tamper == nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.StatusCode, body = tamper(r.URL.Path, resp.StatusCode, body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, err
}

// A pair is a server, and its provider, at which a user signs in.
type pair struct {
	*browser

	server   *authserver.Server
	provider *browser
	wire     *wire
}

func startPair(t *testing.T, change func(down, up *authserver.Options)) *pair {
	t.Helper()
	p := &pair{wire: &wire{}}
	p.browser, p.server = startServer(t, func(down *authserver.Options) {
		p.provider = start(t, func(up *authserver.Options) {
			up.Clients = append(up.Clients, authserver.Client{
				ID: "down", Secret: confided, RedirectURIs: []string{down.Issuer + "/callback"}, Trusted: true,
			})
			up.Login = func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
				return authserver.User{Subject: "upstream-user"}, true
			}
			down.Login = nil
			down.Upstream = &authserver.Upstream{ClientID: "down", ClientSecret: confided, Client: &http.Client{Transport: p.wire}}
			if change != nil {
				change(down, up)
			}
			down.Upstream.Issuer = up.Issuer
		})
	})
	return p
}

// leave agrees at the server, and returns where it sends the user to sign in.
func (p *pair) leave(q url.Values) string {
	p.t.Helper()
	got := p.answer(q, "allow")
	if got.status != http.StatusSeeOther {
		p.t.Fatalf("got status %d, want the user sent to the provider\n%s", got.status, got.body)
	}
	return got.header.Get("Location")
}

// back signs in at the provider, and returns where it sends the user back to.
func (p *pair) back(target string) string {
	p.t.Helper()
	got := p.get(target)
	if got.status != http.StatusSeeOther {
		p.t.Fatalf("got status %d from the provider\n%s", got.status, got.body)
	}
	return got.header.Get("Location")
}

// enter does all of it for the public client, and returns its tokens, and what the
// provider has sent the user back with.
func (p *pair) enter() (access, refresh string, answer url.Values) {
	p.t.Helper()
	verifier, challenge := newPair()
	location := p.back(p.leave(request("app", callback, challenge, "scope", "read")))
	code := p.get(location).location(p.t).Get("code")
	access, refresh = p.tokens(p.token("authorization_code", "client_id", "app", "code", code, "code_verifier", verifier))
	return access, refresh, mustURL(p.t, location).Query()
}

// TestUpstream signs a user in at a provider, after consent.
func TestUpstream(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PROXY-CONSENT", "SEC-PROXY-PER-CLIENT-CONSENT", "SEC-PROXY-STATE", "SEC-PROXY-STATE-NOT-BEFORE-CONSENT", "SEC-TOKEN-PASSTHROUGH",
		"AUTH-THIRD-PARTY-BINDING", "AUTH-THIRD-PARTY-SECURITY", "AUTH-TOKEN-NO-TRANSIT")
	p := startPair(t, nil)
	verifier, challenge := newPair()
	q := request("app", callback, challenge, "scope", "read")
	page := p.get(p.issuer + "/authorize?" + q.Encode())
	if !strings.Contains(page.body, "You sign in at") || !strings.Contains(page.body, mustURL(t, p.provider.issuer).Host) {
		t.Errorf("got %s, want a page that says where the user signs in", page.body)
	}
	for _, cookie := range p.http.Jar.Cookies(mustURL(t, p.issuer)) {
		if strings.Contains(cookie.Name, "state") {
			t.Errorf("cookie %s was set before consent", cookie.Name)
		}
	}
	// Who says no does not go to the provider.
	if answer := p.answer(q, "deny").location(t); answer.Get("error") != "access_denied" {
		t.Errorf("denied: got %v", answer)
	}
	target := p.leave(q)
	sent := mustURL(t, target).Query()
	if !strings.HasPrefix(target, p.provider.issuer+"/authorize?") || sent.Get("client_id") != "down" || sent.Get("code_challenge_method") != "S256" ||
		sent.Get("code_challenge") == challenge || len(sent.Get("state")) < 26 || sent.Get("nonce") == "" || sent.Get("scope") != "openid offline_access" {
		t.Errorf("got %s, want a request of the server's own", target)
	}
	location := p.back(target)
	answer := p.get(location)
	got := answer.location(t)
	if got.Get("iss") != p.issuer || got.Get("state") != "xyz" || !strings.HasPrefix(answer.header.Get("Location"), callback) {
		t.Errorf("got %s, want the application's answer", answer.header.Get("Location"))
	}
	access, _ := p.tokens(p.token("authorization_code", "client_id", "app", "code", got.Get("code"), "code_verifier", verifier))
	claims := p.verify(access, "at+jwt")
	if claims["iss"] != p.issuer || claims["sub"] != "upstream-user" || claims["client_id"] != "app" || claims["scope"] != "read" {
		t.Errorf("got %v, want a token of the server itself for the user", claims)
	}
	// The provider's token is another one, and for the server's process alone.
	id, err := p.server.Verify(t.Context(), access)
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.server.UpstreamToken(t.Context(), id)
	if err != nil || p.provider.verify(token, "at+jwt")["client_id"] != "down" {
		t.Errorf("got %v, want a token of the provider", err)
	}
	if p.active(token) {
		t.Error("a token of the provider is taken for one of the server")
	}
	// The way back works once.
	if got := p.get(location); got.status != http.StatusForbidden {
		t.Errorf("coming back twice: got status %d, want 403", got.status)
	}
}

// TestUpstreamForged comes back to the server in all ways that it has not sent anybody.
func TestUpstreamForged(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-PROXY-STATE")
	p := startPair(t, nil)
	_, challenge := newPair()
	q := request("app", callback, challenge)
	location := p.back(p.leave(q))
	other := newBrowser(t, p.issuer)
	for name, got := range map[string]reply{
		"without a cookie":   other.get(location),
		"another cookie":     other.do(http.MethodGet, location, "", "Cookie", "ferry-state=guess"),
		"no state":           p.get(p.issuer + "/callback?code=x"),
		"another state":      p.get(strings.Replace(location, "state=", "state=x", 1)),
		"two states":         p.get(location + "&state=x"),
		"of another process": start(t, nil).get(p.issuer + "/callback?state=x&code=x"),
	} {
		if got.status != http.StatusForbidden || got.header.Get("Location") != "" {
			t.Errorf("%s: got status %d, Location %q, want 403", name, got.status, got.header.Get("Location"))
		}
	}
	if got := p.get(location).location(t); got.Get("code") == "" {
		t.Errorf("the real one: got %v, want a code", got)
	}

	// What comes back with the right state, but is wrong, is told to the application.
	replace := func(name, value string) func(string) string {
		return func(location string) string {
			u := mustURL(t, location)
			query := u.Query()
			if query.Del(name); value != "" {
				query.Set(name, value)
			}
			u.RawQuery = query.Encode()
			return u.String()
		}
	}
	_, _, stolen := p.enter()
	for name, change := range map[string]func(string) string{
		"issuer of another (mix-up)":     replace("iss", "https://evil.example"),
		"no issuer, which it announces":  replace("iss", ""),
		"code of another login":          replace("code", stolen.Get("code")),
		"made up code":                   replace("code", "x"),
		"error of the provider":          replace("error", "access_denied"),
		"error that is meant for a page": replace("error", "<script>alert(1)</script>"),
	} {
		got := p.get(change(p.back(p.leave(q)))).location(t)
		if got.Get("error") != "access_denied" || got.Has("code") || strings.Contains(got.Get("error_description"), "script") {
			t.Errorf("%s: got %v, want access_denied", name, got)
		}
	}
}

// TestUpstreamIDToken lets the provider answer with ID tokens that are not for this
// login.
func TestUpstreamIDToken(t *testing.T) {
	t.Parallel()
	p := startPair(t, nil)
	_, challenge := newPair()
	q := request("app", callback, challenge)
	provider := newBrowser(t, p.provider.issuer)
	forApp := provider.login("own", "scope", "openid").member(t, "id_token")
	var earlier string
	p.wire.set(func(path string, status int, body []byte) (int, []byte) {
		if path == "/token" {
			earlier = reply{body: string(body)}.member(t, "id_token")
		}
		return status, body
	})
	p.enter()
	for name, token := range map[string]func(real string) string{
		"of another client": func(string) string { return forApp },
		"of another login":  func(string) string { return earlier },
		"changed":           func(real string) string { return real[:len(real)-6] + "AAAAAA" },
		"none":              func(string) string { return "" },
	} {
		p.wire.set(func(path string, status int, body []byte) (int, []byte) {
			if path != "/token" {
				return status, body
			}
			tokens := reply{body: string(body)}.json(t)
			real, _ := tokens["id_token"].(string)
			tokens["id_token"] = token(real)
			body, _ = json.Marshal(tokens)
			return status, body
		})
		if got := p.get(p.back(p.leave(q))).location(t); got.Get("error") != "access_denied" || got.Has("code") {
			t.Errorf("%s: got %v, want access_denied", name, got)
		}
	}
}

// TestUpstreamEnds ends the login at the provider: what was issued for it ends too.
func TestUpstreamEnds(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-THIRD-PARTY-BINDING", "AUTH-THIRD-PARTY-SECURITY")
	// Tokens of the provider live so short that it is asked each time.
	p := startPair(t, func(_, up *authserver.Options) { up.TokenLife = 10 * time.Second })
	access, refresh, answer := p.enter()
	if claims := p.verify(access, "at+jwt"); claims["exp"].(float64)-claims["iat"].(float64) > 10 {
		t.Errorf("got %v, want the token to end with that of the provider", claims)
	}
	if !p.active(access) {
		t.Error("the token is not active")
	}
	access, refresh = p.tokens(p.token("refresh_token", "client_id", "app", "refresh_token", refresh))

	// That the provider is down for a while ends nothing.
	p.wire.cut(true)
	got := p.token("refresh_token", "client_id", "app", "refresh_token", refresh)
	p.wantError(got, http.StatusServiceUnavailable, "temporarily_unavailable")
	if strings.Contains(got.body, "hunter2") || p.post(p.issuer+"/introspect", url.Values{
		"token": {access}, "client_id": {"api"}, "client_secret": {confided},
	}).status != http.StatusServiceUnavailable {
		t.Errorf("got %s, want nothing of the cause, and nobody told that the token is good or not", got.body)
	}
	p.wire.cut(false)
	access, refresh = p.tokens(p.token("refresh_token", "client_id", "app", "refresh_token", refresh))
	id, err := p.server.Verify(t.Context(), access)
	if err != nil {
		t.Fatal(err)
	}

	// The provider sees the code a second time, and ends the login.
	p.provider.post(p.provider.issuer+"/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"down"}, "client_secret": {confided}, "code": {answer.Get("code")},
	})
	if p.active(access) {
		t.Error("the login has ended, but the token is active")
	}
	if _, err := p.server.Verify(t.Context(), access); !errors.Is(err, auth.ErrToken) {
		t.Errorf("got %v, want ErrToken", err)
	}
	if _, err := p.server.UpstreamToken(t.Context(), id); !errors.Is(err, auth.ErrToken) {
		t.Errorf("token of the provider: got %v, want ErrToken", err)
	}
	p.wantError(p.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
}

// TestUpstreamUsers lets some users of the provider in only, and has a provider that
// issues no refresh tokens.
func TestUpstreamUsers(t *testing.T) {
	t.Parallel()
	allowed := true
	p := startPair(t, func(down, up *authserver.Options) {
		up.TokenLife = 10 * time.Second
		for i := range up.Clients {
			if up.Clients[i].ID == "down" {
				up.Clients[i].Grants = []string{"authorization_code"}
			}
		}
		down.Upstream.Scopes = []string{"openid"}
		down.Upstream.User = func(_ context.Context, id *auth.Identity) (authserver.User, error) {
			if !allowed {
				return authserver.User{}, errors.New("not one of us")
			}
			return authserver.User{Subject: "local-" + id.Subject}, nil
		}
	})
	access, refresh, _ := p.enter()
	if got := p.verify(access, "at+jwt")["sub"]; got != "local-upstream-user" {
		t.Errorf("got subject %v, want the one that was made of it", got)
	}
	// Its token has (nearly) expired, and there is no other.
	p.wantError(p.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
	if p.active(access) {
		t.Error("the login has expired, but the token is active")
	}
	allowed = false
	_, challenge := newPair()
	if got := p.get(p.back(p.leave(request("app", callback, challenge)))).location(t); got.Get("error") != "access_denied" {
		t.Errorf("got %v, want access_denied", got)
	}
}

// TestManyDelegations has somebody without a login begin one after the other: each has
// to be remembered, and there must be room left for others.
func TestManyDelegations(t *testing.T) {
	t.Parallel()
	store := authserver.NewMemory(2000)
	p := startPair(t, func(down, _ *authserver.Options) { down.Store = store })
	_, challenge := newPair()
	q := request("own", callback, challenge, "scope", "read")
	for range 2000 {
		got := newBrowser(t, p.issuer).get(p.issuer + "/authorize?" + q.Encode())
		if got.status != http.StatusSeeOther {
			t.Fatalf("status %d", got.status)
		}
		if mustURL(t, got.header.Get("Location")).Query().Get("error") != "" {
			break
		}
	}
	err := store.Update(t.Context(), "another", func([]byte) ([]byte, time.Time, error) { return []byte("x"), time.Time{}, nil })
	if err != nil {
		t.Errorf("nothing else can be kept: %v", err)
	}
}
