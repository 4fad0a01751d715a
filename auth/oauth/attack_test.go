package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/netguard"
)

// loginWith sends a request whose user ends up where redirect says, given where they
// should have ended up.
func loginWith(t *testing.T, w *world, redirect func(*url.URL, url.Values)) error {
	t.Helper()
	c := w.client(&oauth.Options{Authorize: func(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
		to, err := w.visit(ctx, rq)
		if err != nil {
			return "", err
		}
		u, err := url.Parse(to)
		if err != nil {
			return "", err
		}
		q := u.Query()
		redirect(u, q)
		u.RawQuery = q.Encode()
		return u.String(), nil
	}})
	_, err := send(t, c, mcpURL, "x")
	return err
}

// TestAnswers is about what browsers bring back: answers of other issuers (mix-up),
// codes of other people (injection), and what is only made to look like an answer.
// None of them may reach a token endpoint.
func TestAnswers(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ISS-COMPARE", "AUTH-ISS-ABSENT", "AUTH-ISS-NO-NORMALIZE", "AUTH-ISS-ERROR-RESPONSE", "AUTH-STATE",
		"AUTH-ISS-RECORD", "AUTH-OAUTH21-SECURITY")
	for name, test := range map[string]struct {
		announced bool // that answers name their issuer
		redirect  func(u *url.URL, q url.Values)
		want      string // part of the error; empty: the login is good
	}{
		"right":                  {true, func(*url.URL, url.Values) {}, ""},
		"not announced, right":   {false, func(*url.URL, url.Values) {}, ""},
		"not announced, none":    {false, func(_ *url.URL, q url.Values) { q.Del("iss") }, ""},
		"none":                   {true, func(_ *url.URL, q url.Values) { q.Del("iss") }, "does not name its issuer"},
		"empty":                  {false, func(_ *url.URL, q url.Values) { q.Set("iss", "") }, "another issuer"},
		"another":                {true, func(_ *url.URL, q url.Values) { q.Set("iss", "https://evil.example") }, "another issuer"},
		"not announced, another": {false, func(_ *url.URL, q url.Values) { q.Set("iss", "https://evil.example") }, "another issuer"},
		"with a slash":           {true, func(_ *url.URL, q url.Values) { q.Set("iss", asURL+"/") }, "another issuer"},
		"with a port":            {true, func(_ *url.URL, q url.Values) { q.Set("iss", asURL+":443") }, "another issuer"},
		"in upper case":          {true, func(_ *url.URL, q url.Values) { q.Set("iss", "https://AS.example") }, "another issuer"},
		"escaped":                {true, func(_ *url.URL, q url.Values) { q.Set("iss", "https://%61s.example") }, "another issuer"},
		"two issuers":            {true, func(_ *url.URL, q url.Values) { q.Add("iss", "https://evil.example") }, "two parameters"},
		"two codes":              {true, func(_ *url.URL, q url.Values) { q.Add("code", "stolen") }, "two parameters"},
		"no code":                {true, func(_ *url.URL, q url.Values) { q.Del("code") }, "no code"},
		"no state":               {true, func(_ *url.URL, q url.Values) { q.Del("state") }, "does not belong"},
		"state of another login": {true, func(_ *url.URL, q url.Values) { q.Set("state", "AAAAAAAAAAAAAAAAAAAAAAAAAA") }, "does not belong"},
		"two states":             {true, func(_ *url.URL, q url.Values) { q.Add("state", "x") }, "does not belong"},
		"another place":          {true, func(u *url.URL, _ url.Values) { u.Host = "evil.example" }, "does not begin with"},
		"another path":           {true, func(u *url.URL, _ url.Values) { u.Path = "/other" }, "does not begin with"},
		"error of another issuer": {true, func(_ *url.URL, q url.Values) {
			q.Set("iss", "https://evil.example")
			q.Set("error", "call_us")
			q.Set("error_description", "dial 0900-EVIL")
		}, "another issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			is.meta["authorization_response_iss_parameter_supported"] = test.announced
			w.resource(mcpURL, is)
			err := loginWith(t, w, test.redirect)
			if test.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "EVIL") || strings.Contains(err.Error(), "call_us")) {
				t.Errorf("the error repeats what another issuer says: %v", err)
			}
			if len(is.asked) != 1 || len(is.forms) != 0 {
				t.Errorf("%d authorization requests and %d token requests, want 1 and 0", len(is.asked), len(is.forms))
			}
		})
	}
}

// TestCodeInjection brings back a code that somebody else's login has got: the answer
// is right in all respects, but the code does not go with our verifier.
func TestCodeInjection(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-PKCE")
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	stolen := ""
	if err := loginWith(t, w, func(_ *url.URL, q url.Values) { stolen = q.Get("code"); q.Set("error", "access_denied") }); err == nil {
		t.Fatal("the victim is logged in")
	}
	err := loginWith(t, w, func(_ *url.URL, q url.Values) { q.Set("code", stolen) })
	var e *oauth.Error
	if !errors.As(err, &e) || e.Code != "invalid_grant" || len(is.tokens) > 0 {
		t.Errorf("error %v, %d tokens, want invalid_grant and none", err, len(is.tokens))
	}
}

// TestMixUpAtOrigin has a server that names nobody and whose metadata pretends to be
// that of a good issuer, but for the token endpoint: the answer is from the good one.
func TestMixUpAtOrigin(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ISS-COMPARE", "AUTH-ISS-RECORD")
	for name, page := range map[string]string{"its page": asURL + "/authorize", "a page that leads there": "https://mcp.example/authorize"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			good, evil := w.issuer(asURL), w.issuer("https://mcp.example")
			evil.meta["issuer"], evil.meta["authorization_endpoint"] = asURL, page
			rs := w.resource(mcpURL, evil)
			rs.header, rs.meta = false, nil
			o := &origin{is: evil, rs: rs}
			w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/authorize" {
					good.ServeHTTP(rw, r)
					return
				}
				o.ServeHTTP(rw, r)
			}))
			_, _ = send(t, w.client(nil), mcpURL, "x")
			if len(evil.forms) > 0 {
				t.Errorf("the evil server has got %v", evil.forms)
			}
		})
	}
}

// TestMixUp has two issuers behind two servers. The evil one sends its user on to the
// good one; the good one's answer must not be taken for its own.
func TestMixUp(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ISS-COMPARE", "AUTH-ISS-RECORD")
	w := newWorld(t)
	good, evil := w.issuer(asURL), w.issuer("https://evil.example")
	evil.meta["authorization_endpoint"] = asURL + "/authorize"
	delete(evil.meta, "authorization_response_iss_parameter_supported")
	w.resource("https://evil-mcp.example/mcp", evil)
	_, err := send(t, w.client(nil), "https://evil-mcp.example/mcp", "x")
	if err == nil || !strings.Contains(err.Error(), "another issuer") {
		t.Errorf("error %v, want one about another issuer", err)
	}
	if len(good.asked) != 1 || len(evil.forms) > 0 {
		t.Errorf("the evil issuer has got %v", evil.forms)
	}
}

// TestSpoofedMetadata lets a server claim the tokens of another one.
func TestSpoofedMetadata(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-ASM-ISSUER-VALIDATE", "AUTH-AS-SEPARATE-STATE", "AUTH-TOKEN-OWN-AS")
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource("https://bank.example/mcp", is)
	c := w.client(nil)
	mustSend(t, c, "https://bank.example/mcp", "x")
	for name, meta := range map[string]map[string]any{
		"the bank's resource": {"resource": "https://bank.example/mcp", "authorization_servers": []string{asURL}},
		"the bank's issuer":   {"resource": "https://evil.example/mcp", "authorization_servers": []string{asURL}},
	} {
		rs := w.resource("https://evil.example/mcp", is)
		rs.meta = meta
		status, err := send(t, c, "https://evil.example/mcp", "x")
		t.Logf("%s: status %d, error %v", name, status, err)
		for _, line := range w.requests("https://evil.example/mcp ") {
			if strings.Contains(line, "SECRET-access-2") {
				t.Errorf("%s: the bank's token went to another server: %s", name, line)
			}
		}
	}
	// At the origin nobody can check who a server is, so it is nobody but itself.
	front := w.issuer("https://front.example")
	front.meta["issuer"] = asURL
	front.meta["token_endpoint"] = "https://front.example/token"
	front.iss = asURL
	rs := w.resource("https://front.example/mcp", front)
	rs.header, rs.meta = false, nil
	w.serve("front.example", &origin{is: front, rs: rs})
	_, _ = send(t, c, "https://front.example/mcp", "x")
	for _, form := range front.forms {
		if form.Get("client_id") == "client-1" && len(front.clients) == 0 {
			t.Errorf("our registration at %s went to another server: %v", asURL, form)
		}
	}
}

// TestRedirects sends requests on to another host: no token goes with them, and nobody
// is asked to log in there. What is posted to an authorization server goes nowhere.
func TestRedirects(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SSRF-REDIRECTS", "AUTH-TOKEN-OWN-AS")
	w := newWorld(t)
	is := w.issuer(asURL)
	rs := w.resource(mcpURL, is)
	away := "https://evil.example/steal"
	redirecting := false
	w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if redirecting {
			http.Redirect(rw, r, away, http.StatusTemporaryRedirect)
			return
		}
		rs.ServeHTTP(rw, r)
	}))
	evil := w.issuer("https://evil-as.example")
	w.resource(away, evil)
	c := w.client(nil)
	mustSend(t, c, mcpURL, "x")
	redirecting = true
	for _, hc := range []*http.Client{c.HTTPClient(mcpURL), {Transport: c}} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, mcpURL, strings.NewReader("x"))
		res, err := hc.Do(r)
		if err != nil || res.StatusCode != http.StatusUnauthorized {
			t.Errorf("answer %v, error %v, want 401", res, err)
		}
	}
	if res, err := c.HTTPClient(mcpURL).Get(away); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("answer %v, error %v, want 401", res, err)
	}
	for _, line := range w.requests("evil") {
		if strings.Contains(line, "SECRET") || strings.Contains(line, "evil-as") {
			t.Errorf("sent %s", line)
		}
	}

	w = newWorld(t)
	is = w.issuer(asURL)
	w.resource(mcpURL, is)
	is.meta["token_endpoint"] = "https://moved.example/token"
	w.serve("moved.example", http.RedirectHandler("https://evil.example/token", http.StatusPermanentRedirect))
	w.serve("evil.example", is)
	if _, err := send(t, w.client(nil), mcpURL, "x"); err == nil {
		t.Error("the login went well")
	}
	if got := w.requests("evil.example"); len(got) > 0 {
		t.Errorf("the code went where the token endpoint has sent it: %q", got)
	}
}

// TestOpenRedirect has metadata that moves to where nothing may be fetched from.
func TestOpenRedirect(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SSRF-REDIRECTS", "SEC-SSRF-HTTPS")
	for to, want := range map[string]bool{
		"https://cdn.example/prm":       true,
		"http://cdn.example/prm":        false,
		"http://169.254.169.254/latest": false,
		"file:///etc/passwd":            false,
	} {
		w := newWorld(t)
		is := w.issuer(asURL)
		rs := w.resource(mcpURL, is)
		w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == rs.at {
				http.Redirect(rw, r, to, http.StatusFound)
				return
			}
			rs.ServeHTTP(rw, r)
		}))
		moved := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { answer(rw, http.StatusOK, rs.meta) })
		w.serve("cdn.example", moved)
		w.serve("169.254.169.254", moved)
		_, err := send(t, w.client(nil), mcpURL, "x")
		if (err == nil) != want {
			t.Errorf("metadata at %s: error %v, want ok %v", to, err, want)
		}
		if got := w.requests("169.254"); len(got) > 0 {
			t.Errorf("asked %q", got)
		}
	}
}

// TestSSRF has a server on the Internet, as its name says, that names others on this
// machine. The requests of these tests are real ones.
func TestSSRF(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-SSRF-CONSIDER", "SEC-SSRF-PRIVATE-IP")
	hits := make(chan string, 10)
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hits <- r.URL.Path }))
	defer inside.Close()
	w := newWorld(t)
	w.serve("203.0.113.7", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+inside.URL+`/admin"`)
		rw.WriteHeader(http.StatusUnauthorized)
	}))
	w.serve("127.0.0.1", w.hosts["203.0.113.7"])
	c, err := oauth.New(&oauth.Options{Base: w})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// An address that is public for the guard, and reached by nothing but the test.
	w.serve("192.88.98.1", w.hosts["203.0.113.7"])
	_, err = send(t, c, "https://192.88.98.1/mcp", "x")
	var refused *netguard.Error
	var e *oauth.Error
	if !errors.As(err, &refused) || !errors.As(err, &e) || e.Temporary {
		t.Errorf("error %v, want a *netguard.Error", err)
	}
	select {
	case path := <-hits:
		t.Errorf("%s was fetched", path)
	default:
	}
	// From this machine it is no news.
	_, err = send(t, c, "http://127.0.0.1/mcp", "x")
	if errors.As(err, &refused) {
		t.Errorf("error %v, want another one", err)
	}
	if path := <-hits; path != "/admin" {
		t.Errorf("%s was fetched, want /admin", path)
	}
}

// TestSecretsAreHidden looks for secrets in what a week of trouble has logged and in
// the errors of it.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REFRESH-CONFIDENTIAL", "AUTH-TOKEN-STORAGE")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		is := w.issuer(asURL)
		is.secret = "SECRET-client"
		w.resource(mcpURL, is)
		c := w.client(nil)
		mustSend(t, c, mcpURL, "x")
		var texts []string
		for _, change := range []func(){
			func() { clear(is.tokens) },
			func() { clear(is.tokens); clear(is.refresh) },
			func() { clear(is.tokens); is.trouble = func() int { return 400 } },
			func() { clear(is.tokens); clear(is.refresh); is.trouble, is.denies = nil, "access_denied" },
		} {
			time.Sleep(time.Minute)
			is.set(change)
			_, err := send(t, c, mcpURL, "x")
			if err != nil {
				texts = append(texts, err.Error())
			}
		}
		if all := strings.Join(texts, "\n") + w.logs.String(); strings.Contains(all, "SECRET") || !strings.Contains(all, "access_denied") {
			t.Errorf("shows secrets, or nothing at all:\n%s", all)
		}
	})
}

// TestManyScopes has a server that asks for more scopes than anybody can compare with
// each other.
func TestManyScopes(t *testing.T) {
	t.Parallel()
	var scopes strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&scopes, "%x ", i)
	}
	w := newWorld(t)
	w.serve("mcp.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scopes.String()+`"`)
		rw.WriteHeader(http.StatusForbidden)
	}))
	_, err := send(t, w.client(&oauth.Options{Unattended: true}), mcpURL, "x")
	var e *oauth.Error
	if !errors.As(err, &e) || !errors.Is(err, oauth.ErrLoginRequired) || len(e.Scopes) > 1000 {
		t.Errorf("error %.200v, want that a login is required, with at most 1000 scopes", err)
	}
}
