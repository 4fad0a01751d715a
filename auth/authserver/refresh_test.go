package authserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestRefresh uses refresh tokens one after the other, and then an old one again.
func TestRefresh(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REFRESH-ROTATE", "AUTH-TOKEN-ROTATION-2025-03")
	b := start(t, nil)
	_, refresh := b.tokens(b.login("app", "scope", "read write"))
	first := refresh
	for range 3 {
		before := refresh
		_, refresh = b.tokens(b.token("refresh_token", "client_id", "app", "refresh_token", refresh))
		if refresh == before {
			t.Error("the refresh token is the same as before")
		}
	}
	b.wantError(b.token("refresh_token", "client_id", "own", "refresh_token", refresh), 400, "invalid_grant")
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh+"A"), 400, "invalid_grant")
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh, "scope", "read admin"), 400, "invalid_scope")
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh, "resource", "https://mcp.example/other"), 400, "invalid_target")
	got := b.token("refresh_token", "client_id", "app", "refresh_token", refresh, "scope", "read")
	access, refresh := b.tokens(got)
	if got.member(t, "scope") != "read" {
		t.Errorf("got %s, want the scope that was asked for", got.body)
	}
	if got := b.token("refresh_token", "client_id", "app", "refresh_token", refresh); got.member(t, "scope") != "read write" {
		t.Errorf("got %s, want all granted scopes again", got.body)
	} else {
		access, refresh = b.tokens(got)
	}
	if !b.active(access) {
		t.Error("the access token is not active")
	}
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", first), 400, "invalid_grant")
	b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
	if b.active(access) {
		t.Error("a refresh token was used twice, but the access token is active")
	}
}

// TestRefreshRace uses one refresh token from many sides at once: at most one of them
// gets tokens, and those do not last.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	_, refresh := b.tokens(b.login("app"))
	var wg sync.WaitGroup
	won := make(chan string, 8)
	for range cap(won) {
		wg.Go(func() {
			got := b.token("refresh_token", "client_id", "app", "refresh_token", refresh)
			if got.status == http.StatusOK {
				won <- got.member(t, "refresh_token")
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) > 1 {
		t.Fatalf("%d requests with one refresh token got tokens, want at most one", len(won))
	}
	for refresh := range won {
		b.wantError(b.token("refresh_token", "client_id", "app", "refresh_token", refresh), 400, "invalid_grant")
	}
}

// TestOffline looks at who gets refresh tokens.
func TestOffline(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *authserver.Options) {
		o.Clients = append(o.Clients, authserver.Client{
			ID: "online", RedirectURIs: []string{callback}, Grants: []string{"authorization_code"},
		})
	})
	if _, refresh := b.tokens(b.login("online")); refresh != "" {
		t.Error("a client without the grant type got a refresh token")
	}
	_, refresh := b.tokens(b.login("online", "scope", "read offline_access"))
	if refresh == "" {
		t.Error("got no refresh token for offline_access")
	}
	b.tokens(b.token("refresh_token", "client_id", "online", "refresh_token", refresh))
}

// An inbox talks to a server without a network, so that time can be made up.
type inbox struct {
	t *testing.T
	s *authserver.Server
}

func (in inbox) post(path string, params ...string) reply {
	in.t.Helper()
	rq := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost"+path, strings.NewReader(changed(url.Values{}, params...).Encode()))
	rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return in.do(rq)
}

func (in inbox) do(rq *http.Request) reply {
	w := httptest.NewRecorder()
	in.s.ServeHTTP(w, rq)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// login gets tokens for the trusted client.
func (in inbox) login() (access, refresh string) {
	in.t.Helper()
	verifier, challenge := newPair()
	answer := in.do(httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://localhost/authorize?"+request("own", callback, challenge).Encode(), nil))
	return in.tokens(in.post("/token", "grant_type", "authorization_code", "client_id", "own", "code", answer.location(in.t).Get("code"), "code_verifier", verifier))
}

func (in inbox) tokens(r reply) (access, refresh string) {
	in.t.Helper()
	if r.status != http.StatusOK {
		in.t.Fatalf("got status %d %s, want tokens", r.status, r.body)
	}
	return r.member(in.t, "access_token"), r.member(in.t, "refresh_token")
}

func (in inbox) refresh(token string) reply {
	in.t.Helper()
	return in.post("/token", "grant_type", "refresh_token", "client_id", "own", "refresh_token", token)
}

func (in inbox) active(token string) bool {
	in.t.Helper()
	return in.post("/introspect", "token", token, "client_id", "api", "client_secret", confided).json(in.t)["active"] == true
}

func newInbox(t *testing.T, change func(*authserver.Options)) inbox {
	t.Helper()
	opts := authserver.Options{
		Issuer: "http://localhost", Resources: []string{resource},
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "user-1"}, true
		},
		Clients: []authserver.Client{
			{ID: "own", RedirectURIs: []string{callback}, Trusted: true},
			{ID: "api", Secret: confided, Resource: resource},
		},
	}
	if change != nil {
		change(&opts)
	}
	s, err := authserver.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return inbox{t, s}
}

// TestGrace repeats a refresh whose answer was lost.
func TestGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, func(o *authserver.Options) { o.RefreshGrace = 10 * time.Second })
		_, first := in.login()
		in.tokens(in.refresh(first))
		time.Sleep(9 * time.Second)
		_, again := in.tokens(in.refresh(first))
		_, third := in.tokens(in.refresh(again))
		if got := in.refresh(first); got.status != http.StatusBadRequest {
			t.Errorf("its successor was used: got status %d, want 400", got.status)
		}
		if got := in.refresh(third); got.status != http.StatusBadRequest {
			t.Errorf("after a second use: got status %d, want the grant to have ended", got.status)
		}
		_, first = in.login()
		_, second := in.tokens(in.refresh(first))
		time.Sleep(10 * time.Second)
		if got := in.refresh(first); got.status != http.StatusBadRequest {
			t.Errorf("too late: got status %d, want 400", got.status)
		}
		if got := in.refresh(second); got.status != http.StatusBadRequest {
			t.Errorf("after a late second use: got status %d, want the grant to have ended", got.status)
		}
	})
}

// TestExpiry lets codes, tokens and grants grow old.
func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, nil)
		verifier, challenge := newPair()
		answer := in.do(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/authorize?"+request("own", callback, challenge).Encode(), nil))
		time.Sleep(time.Minute)
		got := in.post("/token", "grant_type", "authorization_code", "client_id", "own", "code", answer.location(t).Get("code"), "code_verifier", verifier)
		if got.member(t, "error") != "invalid_grant" {
			t.Errorf("old code: got %s, want invalid_grant", got.body)
		}

		access, refresh := in.login()
		time.Sleep(10*time.Minute - time.Second)
		if !in.active(access) {
			t.Error("a token of 9:59 minutes is not active")
		}
		time.Sleep(time.Second)
		if in.active(access) {
			t.Error("a token of 10 minutes is active")
		}
		// A grant that is used lives for 30 days, and no longer.
		uses := 0
		for ; ; uses++ {
			time.Sleep(24 * time.Hour)
			got := in.refresh(refresh)
			if got.status != http.StatusOK {
				break
			}
			_, refresh = in.tokens(got)
		}
		if uses != 29 {
			t.Errorf("a grant was refreshed on %d days, want 29", uses)
		}
		// One that is not used goes earlier.
		_, refresh = in.login()
		time.Sleep(8 * 24 * time.Hour)
		if got := in.refresh(refresh); got.member(t, "error") != "invalid_grant" {
			t.Errorf("after 8 days without use: got %s, want invalid_grant", got.body)
		}
	})
}

// TestKeyLife turns the signing keys by time: each is published before it is used,
// and until its last token has expired.
func TestKeyLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(t, func(o *authserver.Options) { o.KeyLife = time.Hour })
		ids := func() map[string]bool {
			out := map[string]bool{}
			for _, key := range in.do(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/jwks", nil)).json(t)["keys"].([]any) {
				key := key.(map[string]any)
				if key["d"] != nil {
					t.Error("a private key is published")
				}
				out[key["kid"].(string)] = true
			}
			return out
		}
		before := ids()
		access, _ := in.login()
		if id := keyOf(t, access); !before[id] {
			t.Errorf("key %s is used, but was not published before", id)
		}
		time.Sleep(55 * time.Minute)
		late, _ := in.login()
		time.Sleep(5 * time.Minute)
		fresh, _ := in.login()
		if id := keyOf(t, fresh); id == keyOf(t, late) || !before[id] {
			t.Errorf("got key %s after an hour, want the next one, which was published", id)
		}
		if !ids()[keyOf(t, late)] || !in.active(late) {
			t.Error("the last key is gone before its last token")
		}
		time.Sleep(11 * time.Minute)
		if got := ids(); got[keyOf(t, late)] || len(got) != 2 {
			t.Errorf("got %d keys, want the old one gone", len(got))
		}
		before = ids()
		if err := in.s.RotateKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if access, _ := in.login(); !before[keyOf(t, access)] || len(ids()) != 3 {
			t.Error("by hand: want the next key in use and the last one published")
		}
	})
}
