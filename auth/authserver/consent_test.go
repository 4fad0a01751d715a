package authserver_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/mcptest"
)

// keyOf returns the id of the key that has signed a token.
func keyOf(t *testing.T, token string) string {
	t.Helper()
	head, _, _ := strings.Cut(token, ".")
	data, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	var header struct {
		Kid string `json:"kid"`
	}
	if err := json.Unmarshal(data, &header); err != nil {
		t.Fatal(err)
	}
	return header.Kid
}

// TestConsentPage looks at what the user sees, and what a browser is told to do with
// it.
func TestConsentPage(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-PROXY-CONSENT-PAGE", "AUTH-CIMD-AS-SHOW-HOST")
	b := start(t, nil)
	_, challenge := newPair()
	got := b.get(b.issuer + "/authorize?" + request("app", "https://app.example/cb?x=1", challenge, "scope", "read write").Encode())
	for _, want := range []string{
		"Notes &lt;b&gt;app&lt;/b&gt;", "Ada", "app.example", resource, "Read your notes", "Change your notes",
		`<html lang="en">`, "<h1>", `value="deny"`, `value="allow"`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page lacks %q\n%s", want, got.body)
		}
	}
	for _, not := range []string{"<script", "nobody has checked"} { // the operator has configured it
		if strings.Contains(got.body, not) {
			t.Errorf("the page has %q", not)
		}
	}
	for name, want := range map[string]string{
		"X-Frame-Options":         "DENY",
		"Content-Security-Policy": "frame-ancestors 'none'",
		"Cache-Control":           "no-store",
		"X-Content-Type-Options":  "nosniff",
	} {
		if value := got.header.Get(name); !strings.Contains(value, want) {
			t.Errorf("got %s %q, want %s", name, value, want)
		}
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("got policy %s, want nothing allowed", policy)
	}
	for _, cookie := range b.http.Jar.Cookies(mustURL(t, b.issuer)) {
		if len(cookie.Value) < 26 {
			t.Errorf("cookie %s can be guessed", cookie.Name)
		}
	}
	if set := got.header.Get("Set-Cookie"); !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Lax") {
		t.Errorf("got Set-Cookie %q, want HttpOnly and SameSite=Lax", set)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestConsentForged sends the consent form in all ways that a user has not meant.
func TestConsentForged(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-PROXY-CONSENT-PAGE", "AUTH-OAUTH21-SECURITY")
	subject := make(chan string, 1)
	subject <- "user-1"
	b := start(t, func(o *authserver.Options) {
		o.Login = func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			now := <-subject
			subject <- now
			return authserver.User{Subject: now}, true
		}
	})
	_, challenge := newPair()
	query := request("app", callback, challenge).Encode()
	target := b.issuer + "/authorize?" + query
	form := url.Values{"consent": {ticketOf(t, b.get(target))}, "decision": {"allow"}}
	attacker := newBrowser(t, b.issuer)
	theirs := url.Values{"consent": {ticketOf(t, attacker.get(target))}, "decision": {"allow"}}
	wider := b.issuer + "/authorize?" + request("app", callback, challenge, "scope", "write").Encode()
	tests := []struct {
		name string
		send func() reply
	}{
		{"without a ticket", func() reply { return b.post(target, url.Values{"consent": {""}, "decision": {"allow"}}) }},
		{"ticket of another browser", func() reply { return b.post(target, theirs) }},
		{"without cookies", func() reply { return newBrowser(t, b.issuer).post(target, form) }},
		{"of another request", func() reply { return b.post(wider, form) }},
		{"from another site", func() reply { return b.post(target, form, "Sec-Fetch-Site", "cross-site") }},
		{"from another origin", func() reply { return b.post(target, form, "Origin", "https://evil.example") }},
		{"for another user", func() reply {
			<-subject
			subject <- "user-2"
			defer func() { <-subject; subject <- "user-1" }()
			return b.post(target, form)
		}},
	}
	for _, tt := range tests {
		if got := tt.send(); got.status != http.StatusForbidden || got.header.Get("Location") != "" {
			t.Errorf("%s: got status %d, Location %q, want 403", tt.name, got.status, got.header.Get("Location"))
		}
	}
	// A decision without a ticket is none: the page comes again.
	if got := b.post(target, url.Values{"decision": {"allow"}}); got.status != http.StatusOK {
		t.Errorf("decision alone: got status %d, want the page", got.status)
	}
	if got := b.post(target, form, "Sec-Fetch-Site", "same-origin", "Origin", b.issuer); got.location(t).Get("code") == "" {
		t.Errorf("the real one: got %v, want a code", got.header)
	}
}

// TestPassphrase signs in with the passphrase.
func TestPassphrase(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *authserver.Options) { o.Login, o.Passphrase = nil, "open sesame" })
	verifier, challenge := newPair()
	q := request("own", callback, challenge)
	target := b.issuer + "/authorize?" + q.Encode()
	if got := b.get(target); got.status != http.StatusOK || !strings.Contains(got.body, `type="password"`) || got.header.Get("X-Frame-Options") != "DENY" {
		t.Fatalf("got status %d, want a page that asks for the passphrase\n%s", got.status, got.body)
	}
	right := url.Values{"passphrase": {"open sesame"}}
	if got := b.post(target, right, "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("from another site: got status %d, want 403", got.status)
	}
	if got := b.post(target, url.Values{"passphrase": {"Open sesame"}}); got.status != http.StatusForbidden || got.header.Get("Location") != "" {
		t.Errorf("wrong passphrase: got status %d, want 403", got.status)
	}
	got := b.post(target, right)
	if want := "/authorize?" + q.Encode(); got.status != http.StatusSeeOther || got.header.Get("Location") != want {
		t.Fatalf("got status %d, Location %q, want %s", got.status, got.header.Get("Location"), want)
	}
	code := b.allow(q).Get("code")
	access, _ := b.tokens(b.token("authorization_code", "client_id", "own", "code", code, "code_verifier", verifier))
	if claims := b.verify(access, "at+jwt"); claims["sub"] != "owner" {
		t.Errorf("got subject %v, want owner", claims["sub"])
	}
	// Guesses end, for everybody.
	status := 0
	for range 10 {
		status = newBrowser(t, b.issuer).post(target, url.Values{"passphrase": {"guess"}}).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("after many guesses: got status %d, want 429", status)
	}
	if got := newBrowser(t, b.issuer).post(target, right); got.status != http.StatusTooManyRequests {
		t.Errorf("right one after many guesses: got status %d, want 429", got.status)
	}
	if got := b.allow(q); got.Get("code") == "" {
		t.Error("who was signed in before is not any more")
	}
	// A cookie that was made up is no login.
	forged := newBrowser(t, b.issuer)
	if got := forged.do(http.MethodGet, target, "", "Cookie", "ferry-login=AAAA"); got.status != http.StatusOK || got.header.Get("Location") != "" {
		t.Errorf("forged cookie: got status %d, Location %q, want the page", got.status, got.header.Get("Location"))
	}
}

// TestLoginAnswers lets the hook answer: the server adds nothing.
func TestLoginAnswers(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *authserver.Options) {
		o.Login = func(w http.ResponseWriter, r *http.Request) (authserver.User, bool) {
			if r.Header.Get("Bug") != "" {
				return authserver.User{Name: "nobody"}, true
			}
			http.Redirect(w, r, "https://login.example/?back="+url.QueryEscape(r.URL.String()), http.StatusFound)
			return authserver.User{}, false
		}
	})
	_, challenge := newPair()
	target := b.issuer + "/authorize?" + request("own", callback, challenge).Encode()
	if got := b.get(target); got.status != http.StatusFound || !strings.HasPrefix(got.header.Get("Location"), "https://login.example/") {
		t.Errorf("got status %d, Location %q, want that of the hook", got.status, got.header.Get("Location"))
	}
	if got := b.do(http.MethodGet, target, "", "Bug", "1"); got.status != http.StatusInternalServerError {
		t.Errorf("user without a subject: got status %d, want 500", got.status)
	}
}

// TestCookies looks at the cookies of a server that is reached over https.
func TestCookies(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-PROXY-CONSENT-COOKIE")
	s, err := authserver.New(authserver.Options{
		Issuer: "https://as.example", Resources: []string{resource}, Passphrase: "open sesame",
		Clients: []authserver.Client{{ID: "app", RedirectURIs: []string{callback}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := inbox{t, s}
	_, challenge := newPair()
	target := "https://as.example/authorize?" + request("app", callback, challenge).Encode()
	rq := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader("passphrase=open+sesame"))
	rq.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signedIn := in.do(rq)
	rq = httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	login, _, _ := strings.Cut(signedIn.header.Get("Set-Cookie"), ";")
	rq.Header.Set("Cookie", login)
	page := in.do(rq)
	ticketOf(t, page)
	for _, got := range []reply{signedIn, page} {
		cookie := got.header.Get("Set-Cookie")
		for _, want := range []string{"__Host-", "; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("got cookie %q, want %s in it", cookie, want)
			}
		}
	}
}
