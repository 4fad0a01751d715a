package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// passphrase is that of ferry up in these tests.
const passphrase = "correct-horse-battery"

// needBrowser skips a test unless there is a browser, and returns its path.
func needBrowser(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the system opens a browser of its own here")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium: apt-get install chromium")
	return ""
}

// A surfer is somebody who uses ferry, with a browser that does what was decided.
type surfer struct {
	env  []string
	seen string // file with what the browser showed
}

func newSurfer(t *testing.T, browser, passphrases, decision string) *surfer {
	t.Helper()
	dir := t.TempDir()
	s := &surfer{seen: filepath.Join(dir, "seen")}
	opener := "#!/bin/sh\nnode \"$FERRY_SCRIPT\" \"$1\" >\"$FERRY_SEEN.part\" 2>&1\nmv \"$FERRY_SEEN.part\" \"$FERRY_SEEN\"\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(opener), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(
		os.Environ(),
		"HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "FERRY_KEYRING=off",
		"DISPLAY=:0", "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"FERRY_SCRIPT="+script(t, "browser.mjs"), "FERRY_SEEN="+s.seen,
		"FERRY_BROWSER="+browser, "FERRY_PASSPHRASES="+passphrases, "FERRY_DECISION="+decision,
	)
	return s
}

// ferry runs a command and returns what it prints, and its exit code.
func (s *surfer) ferry(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*slow)
	defer cancel()
	cmd := exec.CommandContext(ctx, program("ferry"), args...)
	cmd.Env, cmd.WaitDelay = s.env, time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("ferry %s\n%s", strings.Join(args, " "), out)
	return string(out), cmd.ProcessState.ExitCode()
}

// expect runs a command that should end with an exit code and print all of a list.
func (s *surfer) expect(t *testing.T, code int, want []string, args ...string) {
	t.Helper()
	got, ended := s.ferry(t, args...)
	if ended != code {
		t.Errorf("ferry %s: exit code %d, want %d", args, ended, code)
	}
	for _, text := range want {
		if !strings.Contains(got, text) {
			t.Errorf("ferry %s printed\n%s\nwant %q in it", args, got, text)
		}
	}
}

// pages returns what the browser showed, by the names of the pages, once it is
// closed.
func (s *surfer) pages(t *testing.T) map[string]string {
	t.Helper()
	var data []byte
	for range 600 {
		var err error
		if data, err = os.ReadFile(s.seen); err == nil {
			break
		}
		<-time.After(100 * time.Millisecond)
	}
	seen := map[string]string{}
	for line := range bytes.Lines(data) {
		var shown struct{ Page, Title, Text string }
		if err := json.Unmarshal(line, &shown); err != nil {
			t.Fatalf("the browser said\n%s", data)
		}
		t.Logf("%s: %q\n%s", shown.Page, shown.Title, shown.Text)
		seen[shown.Page] += shown.Title + "\n" + shown.Text
	}
	return seen
}

// TestLogin logs in at ferry up in a browser, and agrees after a mistake, or does not
// agree. The environment may name a folder for pictures of the pages, FERRY_PICTURES.
func TestLogin(t *testing.T) {
	need(t)
	browser := needBrowser(t)
	for _, test := range []struct {
		name, passphrases, decision string
		code                        int
		printed                     []string
		pages                       map[string][]string
	}{
		{
			"allow", "wrong-horse-battery " + passphrase, "Allow", 0,
			[]string{"Logged in at"},
			map[string][]string{
				"sign in":          {`textbox "Passphrase"`},
				"wrong passphrase": {"alert", "That is not the passphrase. Try again.", `textbox "Passphrase"`},
				"consent":          {"Allow access?", "Ferry", "/mcp", "127.0.0.1", `button "Deny"`, `button "Allow"`},
				"end":              {"Logged in", "You can close this page."},
			},
		},
		{
			"deny", passphrase, "Deny", 5,
			[]string{"was denied"},
			map[string][]string{"consent": {"Allow access?"}, "end": {"Not logged in", "Access was denied", "You can close this page."}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSurfer(t, browser, test.passphrases, test.decision)
			url := protected(t)
			s.expect(t, 5, []string{"ferry login " + url}, "ls", url)
			s.expect(t, test.code, test.printed, "login", url, "--timeout", slow.String())
			pages := s.pages(t)
			if problems := pages["problem"]; problems != "" {
				t.Error(problems)
			}
			for name, want := range test.pages {
				for _, text := range want {
					if !strings.Contains(pages[name], text) {
						t.Errorf("page %q shows\n%s\nwant %q in it", name, pages[name], text)
					}
				}
			}
			if test.code != 0 {
				s.expect(t, 5, []string{"not logged in"}, "auth", "status", url)
				return
			}
			s.expect(t, 0, []string{"time_get_current_time"}, "ls", url)
			s.expect(t, 0, []string{url, "refreshed by itself"}, "auth", "status")
			s.expect(t, 0, []string{"Logged out at " + url}, "logout", url)
			s.expect(t, 0, []string{"not logged in anywhere"}, "auth", "status")
			s.expect(t, 5, []string{"ferry login " + url}, "ls", url)
		})
	}
}

// protected runs a ferry up that has its users sign in, and returns its URL.
func protected(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	env := []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "FERRY_PASSPHRASE=" + passphrase}
	found := background(t, env, program("ferry"), "up", "--wait", slowest, "--address", "127.0.0.1:0", "--dir", dir, "--auth", "local")
	select {
	case url := <-found:
		return url
	case <-time.After(slow):
		t.Fatal("ferry up printed no URL")
		return ""
	}
}
