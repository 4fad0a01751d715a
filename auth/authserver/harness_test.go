package authserver_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/auth/authserver"
)

const (
	resource = "https://mcp.example/mcp"
	callback = "http://127.0.0.1/callback"
	confided = "a secret of the client"
)

// A browser is a user with the cookies of one browser, and an application that
// wants something.
type browser struct {
	t      *testing.T
	issuer string
	http   *http.Client
}

// start serves an authorization server with some clients: "app" is a public one,
// "web" has a secret, "own" is trusted, "service" is for client credentials, and
// "api" is the server of the resource. change may change the options.
func start(t *testing.T, change func(*authserver.Options)) *browser {
	t.Helper()
	b, _ := startServer(t, change)
	return b
}

func startServer(t *testing.T, change func(*authserver.Options)) (*browser, *authserver.Server) {
	t.Helper()
	ts := httptest.NewUnstartedServer(nil)
	issuer := "http://" + ts.Listener.Addr().String()
	opts := authserver.Options{
		Issuer:    issuer,
		Resources: []string{resource, "https://mcp.example/other"},
		Scopes: []authserver.Scope{
			{Name: "read", Description: "Read your notes", Default: true}, {Name: "write", Description: "Change your notes"},
		},
		Login: func(http.ResponseWriter, *http.Request) (authserver.User, bool) {
			return authserver.User{Subject: "user-1", Name: "Ada"}, true
		},
		Clients: []authserver.Client{
			{ID: "app", Name: "Notes <b>app</b>", RedirectURIs: []string{callback, "https://app.example/cb?x=1"}},
			{ID: "web", Secret: confided, RedirectURIs: []string{"https://web.example/cb"}},
			{ID: "own", RedirectURIs: []string{callback}, Trusted: true},
			{ID: "service", Secret: confided},
			{ID: "api", Secret: confided, Resource: resource},
		},
	}
	if change != nil {
		change(&opts)
	}
	srv, err := authserver.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ts.Config.Handler = srv
	ts.Start()
	t.Cleanup(ts.Close)
	return newBrowser(t, opts.Issuer), srv
}

// newBrowser returns another browser, which follows no redirects.
func newBrowser(t *testing.T, issuer string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, issuer, &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// A reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	body   string
}

func (b *browser) do(method, target, body string, header ...string) reply {
	b.t.Helper()
	rq, err := http.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			rq.Host = header[i+1]
		}
		rq.Header.Add(header[i], header[i+1])
	}
	resp, err := b.http.Do(rq)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(data)}
}

func (b *browser) get(target string) reply { b.t.Helper(); return b.do(http.MethodGet, target, "") }

func (b *browser) post(target string, form url.Values, header ...string) reply {
	b.t.Helper()
	return b.do(http.MethodPost, target, form.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
}

// json returns the members of a JSON answer.
func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		t.Fatalf("status %d, %s: %v", r.status, r.body, err)
	}
	return out
}

// member returns a member that is a string; empty if it is not there.
func (r reply) member(t *testing.T, name string) string {
	t.Helper()
	text, _ := r.json(t)[name].(string)
	return text
}

// location returns the query of the URL that an answer redirects to.
func (r reply) location(t *testing.T) url.Values {
	t.Helper()
	u, err := url.Parse(r.header.Get("Location"))
	if err != nil || r.status != http.StatusSeeOther {
		t.Fatalf("got status %d, Location %q, want a redirect\n%s", r.status, r.header.Get("Location"), r.body)
	}
	return u.Query()
}

// verifier and challenge are a pair of PKCE.
func newPair() (verifier, challenge string) {
	verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	return verifier, base64.RawURLEncoding.EncodeToString(sum[:])
}

// request returns the parameters of an authorization request, with changes: an empty
// value takes one out.
func request(clientID, redirect, challenge string, changes ...string) url.Values {
	q := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirect}, "state": {"xyz"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "resource": {resource},
	}
	return changed(q, changes...)
}

func changed(q url.Values, changes ...string) url.Values {
	for i := 0; i < len(changes); i += 2 {
		if q.Del(changes[i]); changes[i+1] != "" {
			q[changes[i]] = strings.Split(changes[i+1], "|")
		}
	}
	return q
}

var ticketField = regexp.MustCompile(`name="consent" value="([^"]+)"`)

// allow opens the authorization endpoint, agrees to what the page says, and returns
// the answer to the application.
func (b *browser) allow(q url.Values) url.Values {
	b.t.Helper()
	return b.answer(q, "allow").location(b.t)
}

func (b *browser) answer(q url.Values, decision string) reply {
	b.t.Helper()
	target := b.issuer + "/authorize?" + q.Encode()
	page := b.get(target)
	if page.status == http.StatusSeeOther {
		return page
	}
	return b.post(target, url.Values{"consent": {ticketOf(b.t, page)}, "decision": {decision}})
}

func ticketOf(t *testing.T, page reply) string {
	t.Helper()
	found := ticketField.FindStringSubmatch(page.body)
	if page.status != http.StatusOK || found == nil {
		t.Fatalf("got status %d, want a consent page\n%s", page.status, page.body)
	}
	return html.UnescapeString(found[1])
}

// login gets tokens for a client with a redirect URI.
func (b *browser) login(clientID string, changes ...string) reply {
	b.t.Helper()
	verifier, challenge := newPair()
	answer := b.allow(request(clientID, callback, challenge, changes...))
	return b.token("authorization_code", "client_id", clientID, "code", answer.Get("code"), "redirect_uri", callback, "code_verifier", verifier)
}

// token asks the token endpoint.
func (b *browser) token(grantType string, params ...string) reply {
	b.t.Helper()
	return b.post(b.issuer+"/token", changed(url.Values{"grant_type": {grantType}}, params...))
}

// tokens returns the tokens of an answer that has to be a good one.
func (b *browser) tokens(r reply) (access, refresh string) {
	b.t.Helper()
	if r.status != http.StatusOK {
		b.t.Fatalf("got status %d %s, want tokens", r.status, r.body)
	}
	return r.member(b.t, "access_token"), r.member(b.t, "refresh_token")
}

// active asks, as the server of the resource, whether a token is good.
func (b *browser) active(token string) bool {
	b.t.Helper()
	r := b.post(b.issuer+"/introspect", url.Values{"token": {token}, "client_id": {"api"}, "client_secret": {confided}})
	if r.status != http.StatusOK {
		b.t.Fatalf("introspection: got status %d %s", r.status, r.body)
	}
	return r.json(b.t)["active"] == true
}

// wantError checks that an answer is an error of OAuth with a code.
func (b *browser) wantError(r reply, status int, code string) {
	b.t.Helper()
	if r.status != status || r.member(b.t, "error") != code {
		b.t.Errorf("got status %d %s, want %d %s", r.status, r.body, status, code)
	}
}
