package auth_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

// A desk is an issuer that is asked about tokens.
type desk struct {
	*issuer
	inquiries atomic.Int32
	redirect  string
	answers   sync.Map // token → map[string]any
}

func newDesk(t testing.TB, url string) *desk {
	t.Helper()
	d := &desk{issuer: newIssuer(t, url)}
	d.mux = http.NewServeMux()
	d.mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		d.answer(w, map[string]any{"issuer": d.URL, "introspection_endpoint": d.URL + "/introspect"})
	})
	d.mux.HandleFunc("POST /introspect", d.introspect)
	d.mux.HandleFunc("POST /elsewhere", func(w http.ResponseWriter, rq *http.Request) {
		if answer, ok := d.answers.Load(rq.FormValue("token")); ok {
			d.issuer.answer(w, answer)
		}
	})
	return d
}

func (d *desk) introspect(w http.ResponseWriter, rq *http.Request) {
	d.inquiries.Add(1)
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-rq.Context().Done():
		}
	}
	id, secret, _ := rq.BasicAuth()
	switch {
	case d.redirect != "":
		http.Redirect(w, rq, d.redirect, http.StatusTemporaryRedirect)
	case d.down.Load():
		http.Error(w, "down", http.StatusBadGateway)
	case id != "plans" || secret != "s%2Fcret":
		http.Error(w, "who are you", http.StatusUnauthorized)
	default:
		answer, ok := d.answers.Load(rq.FormValue("token"))
		if !ok {
			answer = map[string]any{"active": false}
		}
		d.issuer.answer(w, answer)
	}
}

// issue makes a token active, with the claims of a right one, changed by change.
func (d *desk) issue(token string, change map[string]any) string {
	claims := d.claims(change)
	if _, said := change["active"]; !said {
		claims["active"] = true
	}
	d.answers.Store(token, claims)
	return token
}

func (d *desk) verifier(opts *auth.IntrospectionOptions) *auth.Introspection {
	d.t.Helper()
	if opts == nil {
		opts = &auth.IntrospectionOptions{}
	}
	opts.ClientID, opts.ClientSecret, opts.Client = "plans", "s/cret", d.Client()
	v, err := auth.NewIntrospection(d.URL, opts)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

func TestIntrospection(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-TOKEN-VALIDATE", "AUTH-TOKEN-AUDIENCE", "AUTH-TOKEN-OWN-RESOURCES")
	d := newDesk(t, login)
	r := newResource(t, nil, d.verifier(nil))
	now := time.Now().Unix()
	for name, test := range map[string]struct {
		change map[string]any
		want   int
	}{
		"right":                  {nil, 200},
		"right, no issuer":       {map[string]any{"iss": nil}, 200},
		"right, no expiry":       {map[string]any{"exp": nil, "iat": nil, "nbf": nil}, 200},
		"right, time as text":    {map[string]any{"exp": "4000000000"}, 200},
		"not active":             {map[string]any{"active": false}, 401},
		"another issuer":         {map[string]any{"iss": "https://login.example.org"}, 401},
		"expired":                {map[string]any{"exp": now - 31}, 401},
		"not yet valid":          {map[string]any{"nbf": now + 60}, 401},
		"another audience":       {map[string]any{"aud": "https://api.example.com"}, 401},
		"no audience":            {map[string]any{"aud": nil}, 401},
		"nobody":                 {map[string]any{"sub": nil, "client_id": nil}, 401},
		"bound to a certificate": {map[string]any{"cnf": map[string]any{"x5t#S256": "x"}}, 401},
		"bound to a key":         {map[string]any{"cnf": map[string]any{"jkt": "x"}}, 401},
		"not to be understood":   {map[string]any{"sub": 5}, 503},
	} {
		token := d.issue(strings.NewReplacer(" ", "-", ",", "").Replace(name), test.change)
		if test.want == 503 { // it would stop the others
			wantStatus(t, newResource(t, nil, d.verifier(nil)), token, test.want, name)
			continue
		}
		wantStatus(t, r, token, test.want, name)
	}
	wantStatus(t, r, "unknown", 401, "a token that nobody has issued")
	assumed := newResource(t, nil, d.verifier(&auth.IntrospectionOptions{Audience: resourceURL}))
	wantStatus(t, assumed, d.issue("a1", map[string]any{"aud": nil}), 200, "no audience, and none is needed")
	wantStatus(t, assumed, d.issue("a2", map[string]any{"aud": "https://api.example.com"}), 401, "another audience nevertheless")
}

// TestIntrospectionForeign shows an issuer no token of another one.
func TestIntrospectionForeign(t *testing.T) {
	t.Parallel()
	d, other := newDesk(t, login), newIssuer(t, "https://login.example.org")
	r := newResource(t, nil, d.verifier(nil), other.verifier(nil))
	wantStatus(t, r, other.token(nil), 200, "a JWT of the other issuer")
	wantStatus(t, r, other.token(map[string]any{"exp": 1}), 401, "an expired one")
	wantStatus(t, r, sign(t, jose.HS256, []byte(hmacSecret), nil, other.claims(nil)), 401, "one with a secret")
	if got := d.inquiries.Load(); got != 0 {
		t.Errorf("the issuer was asked %d times about tokens of another one", got)
	}
	jwt := sign(t, jose.HS256, []byte(hmacSecret), nil, d.claims(nil))
	wantStatus(t, r, d.issue(jwt, nil), 200, "a JWT of its own")
	wantStatus(t, r, d.issue("a.b.c", nil), 200, "what looks like a JWT")
}

func TestIntrospectionCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, login)
		r := newResource(t, nil, d.verifier(nil))
		asked := func(want int32, why string) {
			t.Helper()
			if got := d.inquiries.Swap(0); got != want {
				t.Errorf("%s: the issuer was asked %d times, want %d", why, got, want)
			}
		}
		token := d.issue("t1", nil)
		for range 29 {
			wantStatus(t, r, token, 200, "active")
			wait(time.Second)
		}
		asked(1, "within half a minute")
		d.answers.Delete(token)
		wait(2 * time.Second)
		wantStatus(t, r, token, 401, "revoked")
		asked(1, "after it")
		for range 9 {
			wantStatus(t, r, token, 401, "still revoked")
			wait(time.Second)
		}
		asked(0, "within ten seconds of that")
		wait(2 * time.Second)
		d.issue("t1", map[string]any{"exp": time.Now().Unix() + 5})
		wantStatus(t, r, token, 200, "active again")
		wait(6 * time.Second)
		wantStatus(t, r, d.issue("t1", map[string]any{"exp": time.Now().Unix() - 40}), 401, "expired")
		asked(2, "never beyond the expiry")

		d.hold = make(chan struct{})
		d.issue("t2", nil)
		var running sync.WaitGroup
		for range 50 {
			running.Go(func() { wantStatus(t, r, "t2", 200, "one of many") })
		}
		synctest.Wait()
		close(d.hold)
		running.Wait()
		asked(1, "many at once")
	})
}

// TestIntrospectionDown never blames the token for what the issuer does.
func TestIntrospectionDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, login)
		r := newResource(t, nil, d.verifier(nil))
		token := d.issue("t1", nil)
		d.down.Store(true)
		wantStatus(t, r, token, 503, "down")
		d.down.Store(false)
		wantStatus(t, r, token, 503, "asked again at once")
		wait(time.Second)
		wantStatus(t, r, token, 200, "up again")

		wait(time.Minute)
		d.redirect = "https://login.example.com/elsewhere"
		wantStatus(t, r, token, 503, "sent elsewhere")
		d.redirect = ""
		wait(time.Second)

		d.hold = make(chan struct{})
		defer close(d.hold)
		began := time.Now()
		wantStatus(t, r, token, 503, "hangs")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("an issuer that hangs was waited for %v", took)
		}
		wait(time.Second)
		var running sync.WaitGroup // of more inquiries than there may be at once
		for i := range 200 {
			running.Go(func() { wantStatus(t, r, strings.Repeat("t", i+2), 503, "hangs for many") })
		}
		running.Wait()
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("an issuer that hangs was waited for %v by many", took)
		}
	})
}

func TestIntrospectionWrongSecret(t *testing.T) {
	t.Parallel()
	d := newDesk(t, login)
	v, err := auth.NewIntrospection(d.URL, &auth.IntrospectionOptions{
		Endpoint: d.URL + "/introspect", ClientID: "plans", ClientSecret: "wrong", Client: d.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, newResource(t, nil, v), d.issue("t1", nil), 503, "a secret that is wrong")
	v, err = auth.NewIntrospection(d.URL, &auth.IntrospectionOptions{
		Client:    d.Client(),
		Authorize: func(rq *http.Request) error { rq.SetBasicAuth("plans", "s%2Fcret"); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, newResource(t, nil, v), "t1", 200, "another way to authenticate")
	for _, bad := range []string{"http://login.example.com/introspect", "introspect"} {
		if _, err := auth.NewIntrospection(d.URL, &auth.IntrospectionOptions{Endpoint: bad}); err == nil {
			t.Errorf("the endpoint %s was accepted", bad)
		}
	}
	if _, err := auth.NewIntrospection("login", nil); err == nil {
		t.Error("an issuer that is no URL was accepted")
	}
}

// TestClaims reads what an issuer says besides.
func TestClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t, login)
	id, err := d.verifier(nil).Verify(t.Context(), d.issue("t1", map[string]any{
		"username": "Alice", "scope": []string{"a b", "c"}, "scp": "c d", "client_id": nil, "azp": "app2", "n": 1,
	}))
	if err != nil {
		t.Fatal(err)
	}
	var name string
	if found, err := id.Claim("username", &name); !found || err != nil || name != "Alice" {
		t.Errorf("username: %q, %v, %v", name, found, err)
	}
	if found, err := id.Claim("nothing", &name); found || err != nil {
		t.Errorf("a claim that is not there: %v, %v", found, err)
	}
	if found, err := id.Claim("n", &name); !found || err == nil {
		t.Errorf("a claim of another type: %v, %v", found, err)
	}
	if got := strings.Join(id.Scopes, " "); got != "a b c d" || !id.Has("a", "d") || id.Has("a", "e") || id.ClientID != "app2" {
		t.Errorf("scopes %q, client %q", got, id.ClientID)
	}
	if !json.Valid(id.Claims) {
		t.Errorf("claims are no JSON: %s", id.Claims)
	}
}
