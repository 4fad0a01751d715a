package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/mcptest"
)

// A verifierFunc is a verifier of somebody else.
type verifierFunc func(token string) (*auth.Identity, error)

func (verifierFunc) Issuer() string { return login }

func (f verifierFunc) Verify(_ context.Context, token string) (*auth.Identity, error) {
	return f(token)
}

// TestVerifiersOfOthers distrusts them a little.
func TestVerifiersOfOthers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CUSTOM")
	right := func() *auth.Identity {
		return &auth.Identity{Issuer: login, Subject: "alice", Audience: []string{resourceURL}, Expires: time.Now().Add(time.Hour)}
	}
	for name, test := range map[string]struct {
		change func(*auth.Identity)
		err    error
		want   int
	}{
		"right":             {nil, nil, 200},
		"refused":           {nil, auth.ErrToken, 401},
		"expired":           {nil, auth.ErrExpired, 401},
		"cannot say":        {nil, errors.New("the database is down"), 503},
		"nothing":           {nil, nil, 503},
		"another issuer":    {func(id *auth.Identity) { id.Issuer = "https://login.example.org" }, nil, 401},
		"blank in issuer":   {func(id *auth.Identity) { id.Issuer += " x" }, nil, 401},
		"nobody":            {func(id *auth.Identity) { id.Subject = "" }, nil, 401},
		"never ends":        {func(id *auth.Identity) { id.Expires = time.Time{} }, nil, 401},
		"never ends, asked": {func(id *auth.Identity) { id.Expires, id.VerifyAgain = time.Time{}, time.Now() }, nil, 200},
		"another audience":  {func(id *auth.Identity) { id.Audience = []string{"https://api.example.com"} }, nil, 401},
	} {
		r := newResource(t, nil, verifierFunc(func(string) (*auth.Identity, error) {
			if test.err != nil || name == "nothing" {
				return nil, test.err
			}
			id := right()
			if test.change != nil {
				test.change(id)
			}
			return id, nil
		}))
		w := get(r, bearer("x"))
		if w.Code != test.want {
			t.Errorf("%s: status %d, want %d: %s", name, w.Code, test.want, w.Body)
		}
		if all := w.Body.String() + w.Header().Get("WWW-Authenticate"); strings.Contains(all, "database") {
			t.Errorf("%s: the answer says too much: %s", name, all)
		}
	}
}

// TestSeveralVerifiers tells only that a token is bad when nobody could have known it.
func TestSeveralVerifiers(t *testing.T) {
	t.Parallel()
	yes := verifierFunc(func(string) (*auth.Identity, error) {
		return &auth.Identity{Issuer: login, Subject: "a", Audience: []string{resourceURL}, Expires: time.Now().Add(time.Hour)}, nil
	})
	no := verifierFunc(func(string) (*auth.Identity, error) { return nil, auth.ErrToken })
	expired := verifierFunc(func(string) (*auth.Identity, error) { return nil, auth.ErrExpired })
	down := verifierFunc(func(string) (*auth.Identity, error) { return nil, errors.New("down") })
	for _, test := range []struct {
		verifiers []auth.Verifier
		want      int
		says      string
	}{
		{[]auth.Verifier{no, yes}, 200, ""},
		{[]auth.Verifier{down, yes}, 200, ""},
		{[]auth.Verifier{no, down}, 503, ""},
		{[]auth.Verifier{down, no}, 503, ""},
		{[]auth.Verifier{no, no}, 401, "not valid"},
		{[]auth.Verifier{no, expired}, 401, "has expired"},
		{[]auth.Verifier{expired, no}, 401, "has expired"},
	} {
		w := get(newResource(t, nil, test.verifiers...), bearer("x"))
		if w.Code != test.want || !strings.Contains(w.Header().Get("WWW-Authenticate"), test.says) {
			t.Errorf("%d verifiers: status %d %v, want %d %q", len(test.verifiers), w.Code, w.Header(), test.want, test.says)
		}
	}
}

// TestCache has room for a few tokens, and remembers those that are used.
func TestCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		verified := map[string]int{}
		r := newResource(t, &auth.Options{CacheSize: 10, CacheFor: time.Minute}, verifierFunc(func(token string) (*auth.Identity, error) {
			verified[token]++
			return &auth.Identity{Issuer: login, Subject: token, Audience: []string{resourceURL}, Expires: time.Now().Add(time.Hour)}, nil
		}))
		h := r.Handler(inside)
		const many = 100
		for i := range many {
			serve(h, http.MethodGet, "/mcp", bearer("often"))
			serve(h, http.MethodGet, "/mcp", bearer("once"+strings.Repeat("x", i)))
		}
		if verified["often"] != 1 || len(verified) != many+1 {
			t.Errorf("the token that is used all the time was verified %d times", verified["often"])
		}
		serve(h, http.MethodGet, "/mcp", bearer("once"))
		if verified["once"] != 2 {
			t.Errorf("a token of long ago was verified %d times, want twice", verified["once"])
		}
		wait(time.Minute)
		serve(h, http.MethodGet, "/mcp", bearer("often"))
		if verified["often"] != 2 {
			t.Errorf("after a minute the token was verified %d times, want twice", verified["often"])
		}
	})
}
