package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
)

// A world is a network of servers in memory, and keeps what was sent to them.
type world struct {
	t    testing.TB
	logs lockedBuffer

	mu    sync.Mutex
	hosts map[string]http.Handler
	sent  []string // "METHOD URL", with what was authorized with
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newWorld(t testing.TB) *world { return &world{t: t, hosts: map[string]http.Handler{}} }

func (w *world) serve(host string, h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[host] = h
}

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	line := r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	if auth := r.Header.Get("Authorization"); auth != "" {
		line += " " + auth
	}
	w.mu.Lock()
	h := w.hosts[r.URL.Host]
	w.sent = append(w.sent, line)
	w.mu.Unlock()
	if h == nil {
		return nil, fmt.Errorf("dial %s: no such host", r.URL.Host)
	}
	in := r.Clone(r.Context())
	in.Response, in.RequestURI, in.Host = nil, r.URL.RequestURI(), r.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, in)
	res := rec.Result()
	res.Request = r
	return res, nil
}

// requests returns what was sent to URLs with a text in them, the newest last.
func (w *world) requests(with string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, line := range w.sent {
		if strings.Contains(line, with) {
			out = append(out, line)
		}
	}
	return out
}

// visit is a browser whose user agrees to everything.
func (w *world) visit(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, rq.URL, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := w.RoundTrip(r)
	if err != nil {
		return "", err
	}
	if to := res.Header.Get("Location"); to != "" {
		return to, nil
	}
	body, _ := io.ReadAll(res.Body)
	return "", fmt.Errorf("the page says: %s", body)
}

// client returns a client in this world. options may be nil.
func (w *world) client(opts *oauth.Options) *oauth.Client {
	w.t.Helper()
	if opts == nil {
		opts = &oauth.Options{}
	}
	filled := *opts
	filled.Base, filled.HTTP = w, &http.Client{Transport: w}
	if filled.Authorize == nil {
		filled.Authorize = w.visit
	}
	filled.Logger = slog.New(slog.NewJSONHandler(&w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := oauth.New(&filled)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return c
}

// An issuer is an authorization server. Its fields are set before use, or with its
// mutex held.
type issuer struct {
	w    *world
	url  string
	meta map[string]any // the document; changes are seen at once
	at   string         // the path of the document

	mu       sync.Mutex
	life     time.Duration // of tokens
	noRotate bool
	noGrant  []string   // scopes that are left out of tokens
	iss      string     // what answers name; the issuer unless "-"
	trouble  func() int // the status to answer token requests with; 0: none
	denies   string     // the error to answer authorization requests with
	secret   string     // that clients are registered with
	method   string
	codes    map[string]url.Values
	tokens   map[string]token // by access token
	refresh  map[string]token // by refresh token
	spent    map[string]bool  // refresh tokens that were used
	forms    []url.Values     // of token requests, with "basic" for the header
	clients  []map[string]any // registration requests
	asked    []url.Values     // authorization requests
	n        int
}

type token struct {
	resource, scope, client string
	expires                 time.Time
}

// issuer adds an authorization server at a URL.
func (w *world) issuer(at string) *issuer {
	u, err := url.Parse(at)
	if err != nil {
		w.t.Fatal(err)
	}
	base := u.Scheme + "://" + u.Host
	is := &issuer{
		w: w, url: at, life: time.Hour, at: "/.well-known/oauth-authorization-server" + u.Path,
		codes: map[string]url.Values{}, tokens: map[string]token{}, refresh: map[string]token{}, spent: map[string]bool{},
		meta: map[string]any{
			"issuer": at, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
			"registration_endpoint": base + "/register", "revocation_endpoint": base + "/revoke",
			"code_challenge_methods_supported":               []string{"S256"},
			"response_types_supported":                       []string{"code"},
			"authorization_response_iss_parameter_supported": true,
		},
	}
	w.serve(u.Host, is)
	return is
}

func (is *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	is.mu.Lock()
	defer is.mu.Unlock()
	switch r.URL.Path {
	case is.at:
		answer(w, 200, is.meta)
	case "/authorize":
		is.authorize(w, r)
	case "/token":
		is.token(w, r)
	case "/register":
		var m map[string]any
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			is.w.t.Error(err)
		}
		is.clients = append(is.clients, m)
		is.n++
		m["client_id"] = fmt.Sprintf("client-%d", is.n)
		if is.secret != "" {
			m["client_secret"] = is.secret
		}
		if is.method != "" {
			m["token_endpoint_auth_method"] = is.method
		}
		answer(w, 201, m)
	case "/revoke":
		_ = r.ParseForm()
		delete(is.refresh, r.Form.Get("token"))
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (is *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	is.asked = append(is.asked, q)
	to, _ := url.Parse(q.Get("redirect_uri"))
	out := url.Values{"state": {q.Get("state")}}
	if is.iss != "-" {
		out.Set("iss", is.url)
		if is.iss != "" {
			out.Set("iss", is.iss)
		}
	}
	if is.denies != "" {
		out.Set("error", is.denies)
		out.Set("error_description", "the user has said no")
	} else {
		is.n++
		code := fmt.Sprintf("SECRET-code-%d", is.n)
		is.codes[code] = q
		out.Set("code", code)
	}
	to.RawQuery = out.Encode()
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusFound)
}

func (is *issuer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		is.w.t.Error(err)
	}
	form := r.PostForm
	if user, password, ok := r.BasicAuth(); ok {
		form.Set("basic", user+":"+password)
	}
	is.forms = append(is.forms, form)
	if is.trouble != nil {
		if status := is.trouble(); status != 0 {
			http.Error(w, "in trouble", status)
			return
		}
	}
	refused := func(code string) { answer(w, 400, map[string]string{"error": code, "error_description": "no"}) }
	var t token
	switch form.Get("grant_type") {
	case "authorization_code":
		q, ok := is.codes[form.Get("code")]
		delete(is.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || form.Get("redirect_uri") != q.Get("redirect_uri") {
			refused("invalid_grant")
			return
		}
		if form.Get("resource") != q.Get("resource") {
			refused("invalid_target")
			return
		}
		t = token{resource: q.Get("resource"), scope: q.Get("scope"), client: q.Get("client_id")}
	case "refresh_token":
		old := form.Get("refresh_token")
		var ok bool
		if t, ok = is.refresh[old]; !ok {
			if is.spent[old] {
				is.w.t.Errorf("a refresh token was used twice")
			}
			refused("invalid_grant")
			return
		}
		if !is.noRotate {
			delete(is.refresh, old)
			is.spent[old] = true
		}
	default:
		t = token{resource: form.Get("resource"), scope: form.Get("scope")}
	}
	is.issue(w, t, form.Get("grant_type"))
}

func (is *issuer) issue(w http.ResponseWriter, t token, grant string) {
	is.n++
	scopes := slices.DeleteFunc(strings.Fields(t.scope), func(s string) bool { return slices.Contains(is.noGrant, s) })
	t.scope, t.expires = strings.Join(scopes, " "), time.Now().Add(is.life)
	res := map[string]any{"access_token": fmt.Sprintf("SECRET-access-%d", is.n), "token_type": "Bearer", "scope": t.scope}
	if is.life > 0 {
		res["expires_in"] = int(is.life.Seconds())
	}
	if grant == "authorization_code" || grant == "refresh_token" && !is.noRotate {
		name := fmt.Sprintf("SECRET-refresh-%d", is.n)
		res["refresh_token"] = name
		is.refresh[name] = t
	}
	is.tokens[res["access_token"].(string)] = t
	answer(w, 200, res)
}

func (is *issuer) set(change func()) {
	is.mu.Lock()
	defer is.mu.Unlock()
	change()
}

// last returns the last token request.
func (is *issuer) last() url.Values {
	is.mu.Lock()
	defer is.mu.Unlock()
	if len(is.forms) == 0 {
		return nil
	}
	return is.forms[len(is.forms)-1]
}

// A resource is an MCP server that wants tokens.
type resource struct {
	url       string // the endpoint
	issuers   []*issuer
	meta      map[string]any // its metadata; nil: none
	at        string         // the path of the metadata
	challenge string         // parameters of the challenge, besides resource_metadata
	header    bool           // the challenge names the metadata
	needs     func(r *http.Request, body string) []string
	skew      atomic.Int64 // of its clock
}

// resource adds an MCP server, whose tokens come from an issuer.
func (w *world) resource(at string, issuers ...*issuer) *resource {
	u, err := url.Parse(at)
	if err != nil {
		w.t.Fatal(err)
	}
	rs := &resource{url: at, issuers: issuers, header: true, at: "/.well-known/oauth-protected-resource" + u.Path}
	rs.meta = map[string]any{"resource": at}
	var names []string
	for _, is := range issuers {
		names = append(names, is.url)
	}
	rs.meta["authorization_servers"] = names
	w.serve(u.Host, rs)
	return rs
}

func (rs *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u, _ := url.Parse(rs.url)
	if r.URL.Path == rs.at && rs.meta != nil {
		answer(w, 200, rs.meta)
		return
	}
	if r.URL.Path != u.Path && (u.Path != "" || r.URL.Path != "/") {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	challenge := "Bearer " + rs.challenge
	if rs.header {
		if rs.challenge != "" {
			challenge += ", "
		}
		challenge += fmt.Sprintf(`resource_metadata="%s://%s%s"`, u.Scheme, u.Host, rs.at)
	}
	scheme, access, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t, ok := rs.find(access)
	if scheme != "Bearer" || !ok || t.expires.Before(time.Now().Add(time.Duration(rs.skew.Load()))) {
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if rs.needs != nil {
		needs := rs.needs(r, string(body))
		for _, scope := range needs {
			if !slices.Contains(strings.Fields(t.scope), scope) {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, strings.Join(needs, " ")))
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
	}
	_, _ = fmt.Fprintf(w, "hello %s", body)
}

func (rs *resource) find(access string) (token, bool) {
	for _, is := range rs.issuers {
		is.mu.Lock()
		t, ok := is.tokens[access]
		is.mu.Unlock()
		if ok {
			return t, true
		}
	}
	return token{}, false
}

// send posts a text to an endpoint and returns the status and the error.
func send(t testing.TB, c *oauth.Client, endpoint, text string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.HTTPClient(endpoint).Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusOK && string(body) != "hello "+text {
		t.Errorf("the server has read %q of %q", body, text)
	}
	return res.StatusCode, nil
}

// mustSend sends what must succeed.
func mustSend(t testing.TB, c *oauth.Client, endpoint, text string) {
	t.Helper()
	if status, err := send(t, c, endpoint, text); status != 200 || err != nil {
		t.Fatalf("%s: status %d, error %v, want 200", endpoint, status, err)
	}
}

// revokeAll makes all access tokens invalid, as a server with a clock of its own does.
func (is *issuer) revokeAll() {
	is.mu.Lock()
	defer is.mu.Unlock()
	clear(is.tokens)
}

// count returns how many token requests there were with a grant.
func (is *issuer) count(grant string) int {
	is.mu.Lock()
	defer is.mu.Unlock()
	n := 0
	for _, form := range is.forms {
		if form.Get("grant_type") == grant {
			n++
		}
	}
	return n
}

// skewTo sets the clock of the server.
func (rs *resource) skewTo(skew time.Duration) { rs.skew.Store(int64(skew)) }
