package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

func newKey(t testing.TB) *dpop.Key {
	t.Helper()
	key, err := dpop.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// bound returns a token that is bound to a key.
func (is *issuer) bound(key *dpop.Key) string {
	return is.token(map[string]any{"cnf": map[string]any{"jkt": key.Thumbprint()}})
}

// proof returns the headers of a request with a proof, which change may spoil.
func proof(t testing.TB, key *dpop.Key, token string, change func(*dpop.Request)) []string {
	t.Helper()
	rq := dpop.Request{Method: http.MethodGet, URL: resourceURL, Token: token}
	if change != nil {
		change(&rq)
	}
	text, err := key.Proof(rq)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"Authorization: DPoP " + token, "DPoP: " + text}
}

// TestBoundTokens has requests that are right but for one thing each.
func TestBoundTokens(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	r := newResource(t, nil, is.verifier(nil))
	key, thief := newKey(t), newKey(t)
	token := is.bound(key)
	first := proof(t, key, token, nil)
	if w := get(r, first...); w.Code != 200 {
		t.Fatalf("with a proof: status %d: %s", w.Code, w.Body)
	}
	if w := get(newResource(t, &auth.Options{Scopes: []string{"more"}}, is.verifier(nil)), proof(t, key, token, nil)...); w.Code != 403 ||
		!strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "DPoP error=\"insufficient_scope\"") {
		t.Errorf("bound, and lacks a scope: status %d: %v", w.Code, w.Header())
	}
	const invalidToken, invalidProof = "invalid_token", "invalid_dpop_proof"
	for name, test := range map[string]struct {
		headers []string
		code    string // none: it is let in
	}{
		"another proof":           {proof(t, key, token, nil), ""},
		"with a query":            {proof(t, key, token, func(rq *dpop.Request) { rq.URL += "?a=b" }), ""},
		"replayed":                {first, invalidProof},
		"stolen, as bearer":       {[]string{bearer(token)}, invalidToken},
		"stolen, with its proof":  {[]string{bearer(token), first[1]}, invalidToken},
		"stolen, with other key":  {proof(t, thief, token, nil), invalidProof},
		"no proof":                {[]string{"Authorization: DPoP " + token}, invalidProof},
		"two proofs":              {append(proof(t, key, token, nil), proof(t, key, token, nil)[1]), invalidProof},
		"proof for another token": {proof(t, key, token, func(rq *dpop.Request) { rq.Token += "x" }), invalidProof},
		"proof for no token":      {proof(t, key, token, func(rq *dpop.Request) { rq.Token = "" }), invalidProof},
		"proof for a POST":        {proof(t, key, token, func(rq *dpop.Request) { rq.Method = http.MethodPost }), invalidProof},
		"proof for another path":  {proof(t, key, token, func(rq *dpop.Request) { rq.URL += "/x" }), invalidProof},
		"proof for another host":  {proof(t, key, token, func(rq *dpop.Request) { rq.URL = "https://evil.example/mcp" }), invalidProof},
		"token that is not bound": {proof(t, key, is.token(nil), nil), invalidToken},
		"token is no token":       {proof(t, key, "x", nil), invalidToken},
		"proof as bearer":         {[]string{"Authorization: " + strings.Replace(first[1], "DPoP: ", "Bearer ", 1)}, invalidToken},
	} {
		w := get(r, test.headers...)
		if test.code == "" {
			if w.Code != 200 {
				t.Errorf("%s: status %d: %s %v", name, w.Code, w.Body, w.Header())
			}
			continue
		}
		challenges := oauthwire.ParseChallenges(w.Header().Values("WWW-Authenticate"))
		if w.Code != 401 || len(challenges) == 0 || challenges[0].Param("error") != test.code || challenges[0].Param("resource_metadata") == "" {
			t.Fatalf("%s: status %d, challenges %+v; want error %s", name, w.Code, challenges, test.code)
		}
		// The answer is in the scheme of the question.
		if test.code == invalidToken && !strings.HasPrefix(test.headers[0], "Authorization: "+challenges[0].Scheme) {
			t.Errorf("%s: the first challenge is for %s", name, challenges[0].Scheme)
		}
	}
}

// TestProofTimes lets a proof in for a minute before and after.
func TestProofTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, nil, is.verifier(nil))
		key := newKey(t)
		token := is.bound(key)
		late, later := proof(t, key, token, nil), proof(t, key, token, nil)
		wait(59 * time.Second)
		if w := get(r, late...); w.Code != 200 {
			t.Errorf("after 59 s: status %d", w.Code)
		}
		wait(2 * time.Second)
		for name, headers := range map[string][]string{"after 61 s": later, "again": late} {
			if w := get(r, headers...); w.Code != 401 {
				t.Errorf("%s: status %d", name, w.Code)
			}
		}
	})
}

func TestProofNonces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := newIssuer(t, login)
		r := newResource(t, &auth.Options{DPoP: &auth.DPoP{Nonces: true, NonceKey: make([]byte, 32)}}, is.verifier(nil))
		key := newKey(t)
		token := is.bound(key)
		w := get(r, proof(t, key, token, nil)...)
		nonce := w.Header().Get("DPoP-Nonce")
		if w.Code != 401 || nonce == "" || !strings.Contains(w.Header().Get("WWW-Authenticate"), `DPoP error="use_dpop_nonce"`) {
			t.Fatalf("without a nonce: status %d, nonce %q, %v", w.Code, nonce, w.Header())
		}
		with := func(nonce string) []string {
			return proof(t, key, token, func(rq *dpop.Request) { rq.Nonce = nonce })
		}
		if w := get(r, with("made up")...); w.Code != 401 {
			t.Errorf("with a nonce of somebody else: status %d", w.Code)
		}
		if w := get(r, with(nonce)...); w.Code != 200 || w.Header().Get("DPoP-Nonce") == "" {
			t.Errorf("with the nonce: status %d, %v", w.Code, w.Header())
		}
		again := newResource(t, &auth.Options{DPoP: &auth.DPoP{Nonces: true, NonceKey: make([]byte, 32)}}, is.verifier(nil))
		if w := get(again, with(nonce)...); w.Code != 200 {
			t.Errorf("with the nonce of another instance: status %d", w.Code)
		}
		wait(11 * time.Minute)
		token = is.bound(key)
		if w := get(r, with(nonce)...); w.Code != 401 {
			t.Errorf("with an old nonce: status %d", w.Code)
		}
	})
}

func TestProofRequired(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	key := newKey(t)
	r := newResource(t, &auth.Options{DPoP: &auth.DPoP{
		Required: true, URL: func(*http.Request) string { return "https://front.example.com/plans" },
	}}, is.verifier(nil))
	w := get(r, bearer(is.token(nil)))
	challenges := oauthwire.ParseChallenges(w.Header().Values("WWW-Authenticate"))
	if w.Code != 401 || len(challenges) != 1 || challenges[0].Scheme != "DPoP" || !strings.Contains(challenges[0].Param("algs"), "ES256") {
		t.Errorf("a bearer token: status %d, challenges %+v", w.Code, challenges)
	}
	token := is.bound(key)
	if w := get(r, proof(t, key, token, func(rq *dpop.Request) { rq.URL = "https://front.example.com/plans" })...); w.Code != 200 {
		t.Errorf("a bound token: status %d: %s", w.Code, w.Body)
	}
	if w := serve(r.Metadata(), http.MethodGet, "/"); !strings.Contains(w.Body.String(), `"dpop_bound_access_tokens_required":true`) {
		t.Errorf("metadata: %s", w.Body)
	}

	// Told that it can be used, a client has the choice.
	offered := newResource(t, &auth.Options{DPoP: &auth.DPoP{}}, is.verifier(nil))
	w = get(offered)
	challenges = oauthwire.ParseChallenges(w.Header().Values("WWW-Authenticate"))
	if len(challenges) != 2 || challenges[0].Scheme != "Bearer" || challenges[1].Scheme != "DPoP" || challenges[0].Param("algs") != "" {
		t.Errorf("challenges %+v, want one for each scheme", challenges)
	}
	if w := get(offered, bearer(is.token(nil))); w.Code != 200 {
		t.Errorf("a bearer token where both are offered: status %d", w.Code)
	}
}

// TestBehindPrefix serves a resource behind something that cuts its path.
func TestBehindPrefix(t *testing.T) {
	t.Parallel()
	is := newIssuer(t, login)
	key := newKey(t)
	r := newResource(t, nil, is.verifier(nil))
	h := http.StripPrefix("/mcp", r.Handler(inside))
	if w := serve(h, http.MethodGet, "/mcp", proof(t, key, is.bound(key), nil)...); w.Code != 200 {
		t.Errorf("status %d: %s %v", w.Code, w.Body, w.Header())
	}
}
