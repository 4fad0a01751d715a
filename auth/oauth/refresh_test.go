package oauth_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
)

// TestRefresh replaces tokens before their end and after they were refused.
func TestRefresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		w.resource(mcpURL, is)
		c := w.client(nil)
		mustSend(t, c, mcpURL, "x")
		time.Sleep(30 * time.Minute)
		mustSend(t, c, mcpURL, "x")
		if n := is.count("refresh_token"); n != 0 {
			t.Errorf("%d refreshes of a fresh token", n)
		}
		time.Sleep(30*time.Minute - 10*time.Second)
		mustSend(t, c, mcpURL, "x")
		if form := is.last(); form.Get("grant_type") != "refresh_token" || form.Get("resource") != mcpURL || form.Get("client_id") != "client-1" {
			t.Errorf("refresh request = %v", form)
		}
		if n := len(w.requests("POST " + mcpURL)); n != 4 {
			t.Errorf("%d requests to the server, want 4: the token was sent when it was too old", n)
		}
		is.revokeAll()
		mustSend(t, c, mcpURL, "x")
		is.set(func() { is.noRotate = true })
		time.Sleep(2 * time.Hour)
		mustSend(t, c, mcpURL, "x")
		time.Sleep(2 * time.Hour)
		mustSend(t, c, mcpURL, "x")
		if n := is.count("refresh_token"); n != 4 || len(is.asked) != 1 {
			t.Errorf("%d refreshes, %d logins, want 4 and 1", n, len(is.asked))
		}
	})
}

// TestNoExpiry has an issuer that does not say how long its tokens are good for.
func TestNoExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		is.life = 0
		rs := w.resource(mcpURL, is)
		rs.skewTo(-1000 * time.Hour)
		c := w.client(nil)
		mustSend(t, c, mcpURL, "x")
		time.Sleep(999 * time.Hour)
		mustSend(t, c, mcpURL, "x")
		time.Sleep(2 * time.Hour)
		mustSend(t, c, mcpURL, "x")
		if n := is.count("refresh_token"); n != 1 || len(is.asked) != 1 {
			t.Errorf("%d refreshes, %d logins, want one of each", n, len(is.asked))
		}
	})
}

// TestTrouble says for each failure of a refresh whether the credential is lost.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		login   bool // a user is asked again
	}{
		"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"503": {unavailable, false},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		}, false},
		"403 of a firewall": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusForbidden) }, false},
		"page of a hotel":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, false},
		"404":               {http.NotFound, false},
		"server_error": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 400, map[string]string{"error": "server_error"})
		}, false},
		"temporarily_unavailable": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 503, map[string]string{"error": "temporarily_unavailable"})
		}, false},
		"500 with invalid_grant": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 500, map[string]string{"error": "invalid_grant"})
		}, false},
		"no connection": {nil, false},
		"invalid_grant": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 400, map[string]string{"error": "invalid_grant"})
		}, true},
		"invalid_client": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 401, map[string]string{"error": "invalid_client"})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				is := w.issuer(asURL)
				is.meta["token_endpoint"] = "https://token.example/token"
				w.serve("token.example", is)
				w.resource(mcpURL, is)
				c := w.client(nil)
				mustSend(t, c, mcpURL, "x")
				time.Sleep(2 * time.Hour)
				refused := 0
				w.serve("token.example", nil)
				if test.handler != nil {
					w.serve("token.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
						if _ = r.ParseForm(); r.PostForm.Get("grant_type") == "authorization_code" {
							is.ServeHTTP(rw, r)
							return
						}
						refused++
						test.handler(rw, r)
					}))
				}
				_, err := send(t, c, mcpURL, "x")
				if test.login {
					if err != nil || len(is.asked) != 2 || refused != 1 {
						t.Errorf("error %v, %d logins, %d refreshes, want 2 and 1", err, len(is.asked), refused)
					}
					if registrations := len(is.clients); (registrations == 2) != (name == "invalid_client") {
						t.Errorf("%d registrations", registrations)
					}
					return
				}
				var e *oauth.Error
				if !errors.As(err, &e) || !e.Temporary || e.HTTPStatus() != 503 || len(is.asked) != 1 {
					t.Errorf("error %v, %d logins, want a temporary error and 1", err, len(is.asked))
				}
				if name == "429" && (refused != 1 || e.RetryAfter != time.Minute) {
					t.Errorf("asked %d times, to wait %v", refused, e.RetryAfter)
				}
				w.serve("token.example", is)
				time.Sleep(2 * time.Minute)
				mustSend(t, c, mcpURL, "x")
				if len(is.asked) != 1 {
					t.Errorf("%d logins, want 1", len(is.asked))
				}
			})
		})
	}
}

// TestStillGood uses a token to its end when it cannot be refreshed before.
func TestStillGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		w.resource(mcpURL, is)
		c := w.client(nil)
		mustSend(t, c, mcpURL, "x")
		is.set(func() { is.trouble = func() int { return 500 } })
		time.Sleep(time.Hour - 20*time.Second)
		mustSend(t, c, mcpURL, "x")
	})
}

// TestMovedEndpoint refreshes at a server whose token endpoint is elsewhere by now.
func TestMovedEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		is.meta["token_endpoint"] = "https://old.example/token"
		w.serve("old.example", is)
		w.resource(mcpURL, is)
		c := w.client(nil)
		mustSend(t, c, mcpURL, "x")
		w.serve("old.example", http.NotFoundHandler())
		is.set(func() { is.meta["token_endpoint"] = asURL + "/token" })
		for range 2 {
			time.Sleep(2 * time.Hour)
			mustSend(t, c, mcpURL, "x")
		}
		if n := len(w.requests("old.example")); len(is.asked) != 1 || n > 5 {
			t.Errorf("%d logins, %d requests to the old endpoint", len(is.asked), n)
		}
	})
}

// TestSharedFiles lets ten stores on one folder refresh at once, with real locks: the
// issuer accepts each refresh token once.
func TestSharedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	dir, key := t.TempDir(), newKey()
	var clients []*oauth.Client
	for range 10 {
		clients = append(clients, w.client(&oauth.Options{Store: fileStore(t, dir, key)}))
	}
	const rounds = 5
	for range rounds {
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() {
				if status, err := send(t, c, mcpURL, "x"); status != http.StatusOK || err != nil {
					t.Errorf("status %d, error %v", status, err)
				}
			})
		}
		wg.Wait()
		is.revokeAll()
	}
	if n := is.count("refresh_token"); len(is.asked) != 1 || n != rounds-1 {
		t.Errorf("%d logins, %d refreshes, want 1 and %d", len(is.asked), n, rounds-1)
	}
}

// TestSoak is a week in which nearly everything goes wrong that can: ten processes
// share a store, tokens live for an hour, clocks differ, keys change, and the issuer is
// often in trouble. Nobody has to log in again, and no refresh token is lost or used
// twice.
func TestSoak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		is.meta["token_endpoint"] = "https://token.example/token"
		w.serve("token.example", is)
		rs := w.resource(mcpURL, is)
		store := oauth.NewMemoryStore()
		mustSend(t, w.client(&oauth.Options{Store: store}), mcpURL, "x")

		const processes, days = 10, 7
		end := time.Now().Add(days * 24 * time.Hour)
		dice := rand.New(rand.NewPCG(1, 2))
		is.set(func() {
			is.trouble = func() int {
				if time.Now().Hour() == 3 { // an outage every night
					return http.StatusServiceUnavailable
				}
				return []int{0, 0, 0, http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusBadGateway}[dice.IntN(6)]
			}
		})
		var all sync.WaitGroup
		all.Go(func() { // the world
			for i := 0; time.Now().Before(end); i++ {
				time.Sleep(47 * time.Minute)
				switch i % 5 {
				case 0:
					is.revokeAll() // keys have changed
				case 1:
					rs.skewTo(time.Duration(i%7-3) * time.Minute)
				case 2:
					w.serve("token.example", nil) // no connection
				case 3:
					w.serve("token.example", is)
				}
			}
			w.serve("token.example", is)
			is.set(func() { is.trouble = nil })
		})
		var mu sync.Mutex
		good, bad := 0, 0
		for p := range processes {
			c := w.client(&oauth.Options{Store: store})
			wait := rand.New(rand.NewPCG(uint64(p), 7))
			all.Go(func() {
				for time.Now().Before(end) {
					time.Sleep(time.Duration(wait.IntN(900)) * time.Second)
					_, err := send(t, c, mcpURL, "x")
					var e *oauth.Error
					if err != nil && (!errors.As(err, &e) || !e.Temporary) {
						t.Errorf("error %v is not temporary", err)
					}
					mu.Lock()
					if err == nil {
						good++
					} else {
						bad++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		time.Sleep(10 * time.Minute)
		mustSend(t, w.client(&oauth.Options{Store: store, Unattended: true}), mcpURL, "x")
		if len(is.asked) != 1 || len(is.refresh) != 1 {
			t.Errorf("%d logins and %d refresh tokens that count, want one of each", len(is.asked), len(is.refresh))
		}
		t.Logf("%d requests went well and %d did not; %d refresh requests, %d tokens", good, bad, is.count("refresh_token"), len(is.spent))
		if good < 5*bad || len(is.spent) < days*20 {
			t.Errorf("%d requests went well, %d did not, %d refreshes: this tests nothing", good, bad, len(is.spent))
		}
	})
}

// TestSeveralEndpoints has two endpoints of one resource, which share a token.
func TestSeveralEndpoints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		first := w.resource("https://mcp.example/a", is)
		second := w.resource("https://mcp.example/b", is)
		second.meta = map[string]any{"resource": "https://mcp.example", "authorization_servers": []string{asURL}}
		first.meta = second.meta
		w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/b") {
				second.ServeHTTP(rw, r)
				return
			}
			first.ServeHTTP(rw, r)
		}))
		c := w.client(nil)
		mustSend(t, c, first.url, "x")
		for range 3 {
			time.Sleep(2 * time.Hour)
			mustSend(t, c, second.url, "x") // for the first time with a token that is too old
			mustSend(t, c, first.url, "x")
		}
		if n := is.count("refresh_token"); len(is.asked) != 1 || n != 3 {
			t.Errorf("%d logins, %d refreshes, want 1 and 3", len(is.asked), n)
		}
	})
}

// TestLegacyEndpoint sends what goes to other URLs of the origin with the token of
// the endpoint, as the HTTP+SSE transport needs.
func TestLegacyEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	rs := w.resource("https://mcp.example/sse", is)
	var messages []string
	w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/messages" {
			messages = append(messages, r.Header.Get("Authorization"))
			return
		}
		rs.ServeHTTP(rw, r)
	}))
	hc := w.client(nil).HTTPClient("https://mcp.example/sse")
	for _, target := range []string{"https://mcp.example/sse", "https://mcp.example/messages?id=1"} {
		res, err := hc.PostForm(target, url.Values{"a": {"b"}})
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", target, res, err)
		}
	}
	if len(messages) != 1 || !strings.HasPrefix(messages[0], "Bearer SECRET-access") {
		t.Errorf("messages were sent with %q", messages)
	}
}
