package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoginBrowser logs in with a real browser. Pictures of the pages are kept in the
// folder FERRY_PICTURES, if it is set.
func TestLoginBrowser(t *testing.T) {
	t.Parallel()
	if os.Getenv("FERRY_INTEROP") == "" {
		t.Skip("set FERRY_INTEROP=1, or run scripts/interop.sh")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium: on Debian, apt-get install chromium")
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "interop", "js", "login.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "..", "node_modules", "playwright-core")); err != nil {
		t.Skip("the packages of interop are not installed: run scripts/interop.sh")
	}
	pictures := os.Getenv("FERRY_PICTURES")
	if pictures == "" {
		pictures = t.TempDir()
	}
	c, h := newClub(t, 0), newHome(t)
	cmd := h.command(t, "login", c.endpoint)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(errs); s.Scan(); {
		page := strings.TrimSpace(s.Text())
		if !strings.HasPrefix(page, "http://") {
			continue
		}
		said, err := exec.CommandContext(t.Context(), "node", script, browser, page, passphrase, pictures).CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != "Logged in" {
			_ = cmd.Process.Kill()
			t.Errorf("the browser: %v\n%s", err, said)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("ferry login: %v", err)
	}
	if got := h.ferry(t, "", "call", c.endpoint, "steps"); got.code != 0 {
		t.Errorf("a call with the login: got %+v", got)
	}
}
