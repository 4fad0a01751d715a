package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/mcptest"
)

// local returns a client in a world whose user has a browser on this machine.
func (w *world) local(open func(ctx context.Context, page string) error, opts oauth.Options) *oauth.Client {
	w.t.Helper()
	opts.Base, opts.HTTP, opts.Open = w, &http.Client{Transport: w}, open
	c, err := oauth.New(&opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

type page struct {
	status int
	text   string
	header http.Header
}

func get(t *testing.T, method, to, host string) page {
	r, err := http.NewRequestWithContext(t.Context(), method, to, http.NoBody)
	if err != nil {
		t.Error(err)
		return page{}
	}
	r.Host = host
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return page{}
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return page{res.StatusCode, string(body), res.Header}
}

// TestReceiver comes back from a login with a browser, after others have tried to.
func TestReceiver(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-REDIRECT-URI", "AUTH-REDIRECT-REGISTERED", "SEC-WEB-CSP", "AUTH-STATE")
	for name, denied := range map[string]string{"agreed": "", "denied": "access_denied"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			is := w.issuer(asURL)
			is.denies = denied
			w.resource(mcpURL, is)
			shown := make(chan page, 1)
			c := w.local(func(ctx context.Context, at string) error {
				to, err := w.visit(ctx, &oauth.AuthorizationRequest{URL: at})
				if err != nil {
					return err
				}
				u, _ := url.Parse(to)
				go func() { // the browser
					foreign := *u
					foreign.RawQuery = "code=stolen&state=guessed"
					for _, attack := range []struct {
						method, url, host string
						want              int
					}{
						{http.MethodGet, foreign.String(), u.Host, http.StatusBadRequest},
						{http.MethodGet, to, "evil.example", http.StatusNotFound},
						{http.MethodPost, to, u.Host, http.StatusMethodNotAllowed},
						{http.MethodGet, "http://" + u.Host + "/", u.Host, http.StatusNotFound},
					} {
						if got := get(t, attack.method, attack.url, attack.host); got.status != attack.want || strings.Contains(got.text, "stolen") {
							t.Errorf("%s %s for %s: %d, want %d", attack.method, attack.url, attack.host, got.status, attack.want)
						}
					}
					shown <- get(t, http.MethodGet, to, u.Host)
				}()
				return nil
			}, oauth.Options{Name: `<script>alert("x")</script>`})
			_, err := send(t, c, mcpURL, "x")
			got := <-shown
			title := "<h1>Logged in</h1>"
			if denied != "" {
				title = "<h1>Not logged in</h1>"
			}
			if (err == nil) != (denied == "") || got.status != http.StatusOK || !strings.Contains(got.text, title) || strings.Contains(got.text, "<script>") {
				t.Errorf("error %v, page %d:\n%s", err, got.status, got.text)
			}
			for header, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			} {
				if !strings.Contains(got.header.Get(header), want) {
					t.Errorf("%s of the page = %q, want %q", header, got.header.Get(header), want)
				}
			}
			redirect, err := url.Parse(is.asked[0].Get("redirect_uri"))
			if err != nil || redirect.Hostname() != "127.0.0.1" || redirect.Port() == "" || redirect.Path != "/callback" {
				t.Errorf("redirect URI %v, %v", redirect, err)
			}
			if registered := is.clients[0]["redirect_uris"].([]any)[0]; registered != redirect.String() {
				t.Errorf("registered %v, asked for %v", registered, redirect)
			}
		})
	}
}

// TestPortIsKept logs in again at the port that the client is registered with.
func TestPortIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	store := oauth.NewMemoryStore()
	shown := make(chan page, 1)
	open := func(ctx context.Context, at string) error {
		to, err := w.visit(ctx, &oauth.AuthorizationRequest{URL: at})
		u, _ := url.Parse(to)
		go func() { shown <- get(t, http.MethodGet, to, u.Host) }()
		return err
	}
	for range 2 {
		c := w.local(open, oauth.Options{Store: store, RedirectURL: "http://localhost/back"})
		if err := c.Login(t.Context(), mcpURL); err != nil {
			t.Fatal(err)
		}
		<-shown
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if a, b := is.asked[0].Get("redirect_uri"), is.asked[1].Get("redirect_uri"); a != b || len(is.clients) != 1 {
		t.Logf("the port was taken by somebody else: %s, then %s", a, b)
	}
}

// TestPaste logs in without a browser on this machine.
func TestPaste(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	is := w.issuer(asURL)
	w.resource(mcpURL, is)
	in, keyboard := io.Pipe()
	var out bytes.Buffer
	c := w.client(&oauth.Options{Authorize: func(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
		to, err := w.visit(ctx, rq)
		if err != nil {
			return "", err
		}
		go func() { _, _ = io.WriteString(keyboard, "  "+to+" \n") }()
		return oauth.Paste(in, &out)(ctx, rq)
	}})
	mustSend(t, c, mcpURL, "x")
	if text := out.String(); !strings.Contains(text, "https://as.example/authorize?") || !strings.Contains(text, "http://127.0.0.1/callback") {
		t.Errorf("said %q", text)
	}
	if _, err := oauth.Paste(strings.NewReader(""), io.Discard)(t.Context(), &oauth.AuthorizationRequest{}); err == nil {
		t.Error("nothing was pasted, and that is no error")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	hanging, _ := io.Pipe()
	defer hanging.Close()
	if _, err := oauth.Paste(hanging, io.Discard)(ended, &oauth.AuthorizationRequest{}); err == nil {
		t.Error("waits for ever")
	}
}

// TestOpenBrowser refuses what must not be opened.
func TestOpenBrowser(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "SEC-URL-NO-SHELL", "SEC-URL-SCHEME", "SEC-URL-SANITIZE")
	for _, page := range []string{
		"", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "http://a.example/",
		"https://a.example/`calc`", "https://a.example/\" & calc", "-version", "calc.exe", "https://a.example/$(calc) x",
	} {
		if err := oauth.OpenBrowser(t.Context(), page); err == nil || !strings.Contains(err.Error(), "URL") {
			t.Errorf("OpenBrowser(%q) = %v, want a refusal", page, err)
		}
	}
}

// TestOptions finds mistakes before anything happens.
func TestOptions(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-CIMD-HOST", "AUTH-REDIRECT-URI")
	for name, opts := range map[string]*oauth.Options{
		"redirect to a page":  {RedirectURL: "https://program.example/back"},
		"redirect in clear":   {RedirectURL: "http://program.example/back", Authorize: oauth.Paste(nil, nil)},
		"redirect to nowhere": {RedirectURL: "callback"},
		"document in clear":   {MetadataURL: "http://localhost/client.json"},
		"document at root":    {MetadataURL: "https://program.example/"},
		"no client id":        {Registrations: []oauth.Registration{{Issuer: asURL}}},
		"bad issuer":          {Registrations: []oauth.Registration{{Issuer: "as", ID: "x"}}},
		"bad default issuer":  {Issuer: "http://as.example"},
	} {
		if _, err := oauth.New(opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := oauth.New(nil); err != nil {
		t.Errorf("no options: %v", err)
	}
}

// TestReceiverIsReadyFirst has a browser that is back before Open has returned, as
// where the user is signed in and nobody has to agree.
func TestReceiverIsReadyFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.resource(mcpURL, w.issuer(asURL))
	shown := make(chan page, 1)
	c := w.local(func(ctx context.Context, at string) error {
		to, err := w.visit(ctx, &oauth.AuthorizationRequest{URL: at})
		if err != nil {
			return err
		}
		u, _ := url.Parse(to)
		go func() { shown <- get(t, http.MethodGet, to, u.Host) }()
		select {
		case early := <-shown:
			t.Errorf("page %d before the login is over:\n%s", early.status, early.text)
			return errors.New("refused")
		case <-time.After(100 * time.Millisecond):
			return nil
		}
	}, oauth.Options{})
	if _, err := send(t, c, mcpURL, "x"); err != nil {
		t.Fatal(err)
	}
	if got := <-shown; got.status != http.StatusOK || !strings.Contains(got.text, "<h1>Logged in</h1>") {
		t.Errorf("page %d:\n%s", got.status, got.text)
	}
}
