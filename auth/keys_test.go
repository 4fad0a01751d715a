package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth"
)

const login = "https://login.example.com"

// wait lets time pass in a synctest bubble.
func wait(d time.Duration) { <-time.After(d) }

// wantStatus sends a token and checks the answer.
func wantStatus(t *testing.T, r *auth.Resource, token string, want int, why string) {
	t.Helper()
	w := get(r, bearer(token))
	if w.Code != want {
		t.Errorf("%s: status = %d, want %d (%s)", why, w.Code, want, w.Body)
	}
	if retry := w.Header().Get("Retry-After"); (retry != "") != (want == http.StatusServiceUnavailable) {
		t.Errorf("%s: Retry-After = %q with status %d", why, retry, w.Code)
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		before := is.token(nil)
		wantStatus(t, r, before, 200, "the first key")
		wait(10 * time.Second)
		is.rotate("k2")
		wantStatus(t, r, is.token(nil), 200, "a key that is new")
		wantStatus(t, r, before, 200, "the key before it")
		if got := is.asked.Load(); got != 2 {
			t.Errorf("the keys were fetched %d times, want twice", got)
		}
		wait(10 * time.Second)
		is.rotate("k3") // k1 is withdrawn
		wantStatus(t, r, before, 200, "remembered though its key was withdrawn")
		wait(5 * time.Minute)
		wantStatus(t, r, is.token(nil), 200, "the third key")
		wantStatus(t, r, before, 401, "the key that was withdrawn")
	})
}

func TestKeysOfNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		const seconds = 20
		for i := range 10 * seconds {
			token := sign(t, jose.ES256, is.key().Key, map[jose.HeaderKey]any{"kid": fmt.Sprint("made up ", i)}, is.claims(nil))
			wantStatus(t, r, token, 401, "a key that nobody has")
			wait(time.Second / 10)
		}
		if got := is.asked.Load(); got > seconds/5+1 {
			t.Errorf("the keys were fetched %d times within %d s", got, seconds)
		}
	})
}

func TestKeysAreFetchedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		is.hold = make(chan struct{})
		r := newResource(t, nil, is.verifier(nil))
		var running sync.WaitGroup
		for range 50 {
			running.Go(func() { wantStatus(t, r, is.token(nil), 200, "one of many") })
		}
		synctest.Wait()
		close(is.hold)
		running.Wait()
		if got := is.asked.Load(); got != 1 {
			t.Errorf("the keys were fetched %d times, want once", got)
		}
	})
}

// TestKeysOfOthers fetches no keys for tokens that are from somebody else anyway.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	is, other := newIssuer(t, login), newIssuer(t, "https://login.example.org")
	wantStatus(t, newResource(t, nil, is.verifier(nil)), other.token(nil), 401, "a token of another issuer")
	if got := is.asked.Load(); got != 0 {
		t.Errorf("the keys were fetched %d times, want never", got)
	}
}

// TestIssuerDown has an issuer that is down for days: callers are let in with the
// keys that are there, for a while, and are never told that their token is bad.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		is.down.Store(true)
		wantStatus(t, r, is.token(nil), 503, "down from the beginning")
		is.down.Store(false)
		wantStatus(t, r, is.token(nil), 503, "asked again too soon")
		wait(5 * time.Second)
		wantStatus(t, r, is.token(nil), 200, "up again")
		is.down.Store(true)
		for hour := range 23 {
			wait(time.Hour)
			wantStatus(t, r, is.token(nil), 200, fmt.Sprintf("down for %d hours", hour+1))
		}
		wait(2 * time.Hour)
		wantStatus(t, r, is.token(nil), 503, "down for more than a day")
		is.down.Store(false)
		wait(5 * time.Second)
		wantStatus(t, r, is.token(nil), 200, "up after a day")
	})
}

// TestIssuerHangs has an issuer that takes requests and does not answer.
func TestIssuerHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		wantStatus(t, r, is.token(nil), 200, "the first")
		wait(20 * time.Minute)
		is.hold = make(chan struct{})
		defer close(is.hold)
		var running sync.WaitGroup
		began := time.Now()
		running.Go(func() { wantStatus(t, r, is.token(nil), 200, "the one who asks for newer keys") })
		synctest.Wait()
		wantStatus(t, r, is.token(nil), 200, "another one")
		if took := time.Since(began); took != 0 {
			t.Errorf("a request waited %v for keys that it does not need", took)
		}
		running.Wait()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a request waited %v", took)
		}
	})
}

func TestIssuerSpoofed(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, "https://login.example.org")
	for name, metadata := range map[string]string{
		"another issuer":       `{"issuer":"https://login.example.org/","jwks_uri":"https://login.example.org/keys"}`,
		"no keys":              `{"issuer":"https://login.example.org"}`,
		"keys of another kind": `{"issuer":"https://login.example.org","jwks_uri":"file:///etc/keys"}`,
		"keys in the network":  `{"issuer":"https://login.example.org","jwks_uri":"http://10.0.0.1/keys"}`,
		"no JSON":              `<html>`,
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("/keys", is.serveKeys)
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(metadata)) })
		spoofed := &issuer{URL: is.URL, t: t, mux: mux, keys: is.keys}
		wantStatus(t, newResource(t, nil, spoofed.verifier(nil)), is.token(nil), 503, name)
	}
}

// TestKeysThatAreFixed uses keys without an issuer that could be asked.
func TestKeysThatAreFixed(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	keys, err := json.Marshal(is.set())
	if err != nil {
		t.Fatal(err)
	}
	r := newResource(t, nil, is.verifier(&auth.JWTOptions{Keys: keys}))
	wantStatus(t, r, is.token(nil), 200, "a key of the set")
	is.rotate("k2")
	wantStatus(t, r, is.token(nil), 401, "another key")
	if got := is.asked.Load(); got != 0 {
		t.Errorf("the keys were fetched %d times, want never", got)
	}
}

func TestJWTOptionsChecked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		issuer string
		opts   auth.JWTOptions
		want   string
	}{
		"plain HTTP":      {"http://login.example.com", auth.JWTOptions{}, "https"},
		"no URL":          {"login", auth.JWTOptions{}, "absolute"},
		"query":           {"https://login.example.com?x", auth.JWTOptions{}, "query"},
		"secret key alg":  {login, auth.JWTOptions{Algorithms: []string{"HS256"}}, "public keys"},
		"none":            {login, auth.JWTOptions{Algorithms: []string{"none"}}, "public keys"},
		"no keys":         {login, auth.JWTOptions{Keys: []byte(`{"keys":[]}`)}, "there is none"},
		"only a secret":   {login, auth.JWTOptions{Keys: []byte(`{"keys":[{"kty":"oct","k":"AAAA"}]}`)}, "there is none"},
		"too many keys":   {login, auth.JWTOptions{Keys: []byte(`{"keys":[` + strings.Repeat("{},", 100) + `{}]}`)}, "more than"},
		"keys in a file":  {login, auth.JWTOptions{JWKS: "file:///keys"}, "absolute"},
		"keys over plain": {login, auth.JWTOptions{JWKS: "http://login.example.com/keys"}, "https"},
	} {
		if _, err := auth.NewJWT(test.issuer, &test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}

// TestAlgorithms accepts only what was asked for.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	r := newResource(t, nil, is.verifier(&auth.JWTOptions{Algorithms: []string{"EdDSA"}}))
	wantStatus(t, r, is.token(nil), 401, "ES256")
	r = newResource(t, nil, is.verifier(&auth.JWTOptions{Types: []string{"application/AT+JWT"}}))
	wantStatus(t, r, is.token(nil), 200, "at+jwt")
	wantStatus(t, r, sign(t, jose.ES256, is.key().Key, nil, is.claims(nil)), 401, "no type")
}
