package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/mcptest"
)

// stateOf returns what ferry auth status says of an endpoint.
func (h *home) stateOf(t *testing.T, endpoint string) string {
	t.Helper()
	got := h.ferry(t, "", "auth", "status", endpoint, "--json")
	var status struct{ Logins []struct{ State string } }
	if err := json.Unmarshal([]byte(got.out), &status); err != nil || len(status.Logins) != 1 {
		t.Fatalf("status: got %+v, %v", got, err)
	}
	return status.Logins[0].State
}

// TestRefresh uses a login whose token has come to its end, also while the
// authorization server is down.
func TestRefresh(t *testing.T) {
	t.Parallel()
	c, h := newClub(t, time.Second), newHome(t)
	if got := h.login(t, c.endpoint); got.code != 0 {
		t.Fatalf("login: got %+v", got)
	}
	for late := time.Now().Add(patience); h.stateOf(t, c.endpoint) != "stale"; {
		if time.Now().After(late) {
			t.Fatal("the token does not come to its end")
		}
	}
	c.down.Store(true)
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 3 {
		t.Errorf("a call while the authorization server is down: got %+v, want code 3", got)
	}
	if c.refused.Load() == 0 {
		t.Error("the authorization server was not asked")
	}
	if got := h.stateOf(t, c.endpoint); got != "stale" {
		t.Errorf("the login after that is %s, want stale", got)
	}
	c.down.Store(false)
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 0 {
		t.Errorf("a call after that: got %+v", got)
	}
	if got := c.issued.Load(); got < 2 {
		t.Errorf("%d tokens were issued, want 2 or more", got)
	}
}

// TestLoginWithoutBrowser copies the address by hand, and has a client that is
// registered.
func TestLoginWithoutBrowser(t *testing.T) {
	t.Parallel()
	c, h := newClub(t, time.Second), newHome(t)
	if got := h.ferry(t, "", "login", c.endpoint, "--client-secret-stdin"); got.code != 2 {
		t.Errorf("a secret without a client: got %+v, want code 2", got)
	}
	h.env = append(h.env, "FERRY_CLIENT_SECRET=a secret of the client")
	cmd := h.command(t, "login", c.endpoint, "--no-browser", "--client-id", "registered")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for s := bufio.NewScanner(errs); s.Scan(); {
		said.WriteString(s.Text() + "\n")
		if page := strings.TrimSpace(s.Text()); strings.HasPrefix(page, "http://") {
			if _, err := io.WriteString(stdin, signIn(t, page, false)+"\n"); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("login: %v\n%s", err, &said)
	}
	// The client is known to commands that are not told of it, which have to refresh.
	h.env = append(h.env, "FERRY_CLIENT_SECRET=")
	for late := time.Now().Add(patience); h.stateOf(t, c.endpoint) != "stale" && time.Now().Before(late); {
	}
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 0 {
		t.Errorf("a call: got %+v", got)
	}
}

// TestLoginKeyring tells the user that nothing is encrypted.
func TestLoginKeyring(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is always a keyring")
	}
	c, h := newClub(t, 0), newHome(t)
	h.env = append(h.env, "FERRY_KEYRING=")
	got := h.login(t, c.endpoint)
	if got.code != 0 || strings.Count(got.err, "warning: credentials are kept unencrypted in ") != 1 {
		t.Errorf("login without a keyring: got %+v, want one warning", got)
	}
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 0 || strings.Contains(got.err, "warning") {
		t.Errorf("a call: got %+v, want no warning", got)
	}
}

// TestUpLogin serves what it can until somebody logs in.
func TestUpLogin(t *testing.T) {
	t.Parallel()
	c, h := newClub(t, 0), newHome(t)
	writeFile(t, filepath.Join(h.dir, "mcp.json"), fmt.Sprintf(`{"mcpServers": {
		"club": {"url": %q},
		"open": {"url": %q},
		"badge": {"url": %q, "headers": {"Authorization": "Bearer wrong"}}}}`, c.endpoint, mcptest.Serve(t, newDemo(), nil), c.endpoint))

	got := h.ferry(t, "", "login")
	for _, want := range []string{`club: needs a login: run "ferry login club"`, "open: needs no login"} {
		if !strings.Contains(got.out, want+"\n") {
			t.Errorf("login without a name: got %+v, want %s", got, want)
		}
	}
	if got := h.ferry(t, "", "login", "badge"); got.code != 2 || !strings.Contains(got.err, "header") {
		t.Errorf("login in spite of a header: got %+v, want code 2", got)
	}
	if got := h.ferry(t, "", "login", "clubb"); got.code != 2 || !strings.Contains(got.err, "club?") {
		t.Errorf("login at a name that is not there: got %+v, want code 2", got)
	}

	cmd := h.command(t, "up", "--address", "127.0.0.1:0", "--no-builtin")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(errs)
	await := func(pattern string) {
		t.Helper()
		for re := regexp.MustCompile(pattern); lines.Scan(); {
			if re.MatchString(lines.Text()) {
				return
			}
		}
		t.Fatalf("no line matches %s", pattern)
	}
	await(`^  club +needs a login: run "ferry login club"$`)
	await(`^  open +ready, `)
	await(`^  badge +left out for now: .*401`)
	if got := h.login(t, "club"); got.code != 0 {
		t.Fatalf("login: got %+v", got)
	}
	await(`^club: ready, `)
	if got := h.ferry(t, "", "auth", "status"); got.code != 0 || !strings.Contains(got.out, "club  "+c.endpoint) {
		t.Errorf("status: got %+v", got)
	}
}
