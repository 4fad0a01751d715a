package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		was, is count
		want    string // of the error; "" for none
	}{
		{"the same", count{Objects: 9, Bytes: 800}, count{Objects: 9, Bytes: 800}, ""},
		{"less", count{Objects: 9, Bytes: 800}, count{Objects: 8, Bytes: 700}, ""},
		{"a little more", count{Objects: 40, Bytes: 800}, count{Objects: 42, Bytes: 840}, ""},
		{"one more of nine", count{Objects: 9, Bytes: 800}, count{Objects: 10, Bytes: 800}, "p: 10.0 allocations, up from 9.0"},
		{"bytes", count{Objects: 9, Bytes: 800}, count{Objects: 9, Bytes: 841}, "p: 841 bytes, up from 800"},
		{"noise", count{Objects: 1, Bytes: 80}, count{Objects: 1.4, Bytes: 95}, ""},
		{"instructions", count{Instructions: 10_000}, count{Instructions: 10_600}, "p: 10600 instructions, up from 10000"},
		{"none before", count{}, count{Objects: 1, Bytes: 16}, "p: 1.0 allocations, up from -, 16.0 bytes, up from -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.was.Path, test.is.Path = "p", "p"
			_, err := (&comparison{}).line(&test.was, test.is)
			if got := text(err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if _, err := (&comparison{accepted: []string{"p"}}).line(&test.was, test.is); err != nil {
				t.Errorf("accepted: %v", err)
			}
			if _, err := (&comparison{}).line(nil, test.is); err != nil {
				t.Errorf("a new path: %v", err)
			}
		})
	}
}

// TestRun compares commits of a small repository: the second costs more, the
// third says that it does, the fourth changes nothing, the fifth has another API.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	lib := func(allocations string) string { return "package lib\n\nconst N = " + allocations + "\n" }
	commit := func(message string, files map[string]string) {
		t.Helper()
		for name, content := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{
			{"add", "-A"},
			{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", message},
		} {
			if _, err := git(t.Context(), dir, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	run := func() error {
		out.Reset()
		return (&comparison{base: "HEAD^", module: "m", program: "hotpath", out: &out}).run(context.WithoutCancel(t.Context()))
	}
	var skipped skipError
	if err := run(); !errors.As(err, &skipped) {
		t.Fatalf("without a repository: %v, want it skipped", err)
	}
	if _, err := git(t.Context(), dir, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	commit("first", map[string]string{
		"m/go.mod":     "module example.com/m\n\ngo 1.26\n",
		"m/lib/lib.go": lib("10"),
		"m/hotpath/main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/m/lib\"\n)\n\n" +
			"func main() { fmt.Printf(`{\"path\":\"echo\",\"allocs\":%d,\"bytes\":100}`, lib.N) }\n",
	})
	if err := run(); !errors.As(err, &skipped) {
		t.Fatalf("the first commit: %v, want it skipped", err)
	}
	commit("second", map[string]string{"m/lib/lib.go": lib("12")})
	if err := run(); text(err) != "echo: 12.0 allocations, up from 10.0" {
		t.Errorf("a commit that costs more: %v", err)
	}
	if !strings.Contains(out.String(), "10.0 → 12.0 !") || !strings.Contains(out.String(), "WORSE") {
		t.Errorf("the table does not show what is worse:\n%s", &out)
	}
	commit("third\n\nIt has to.\n\nCosts-More: echo\n", map[string]string{"m/lib/lib.go": lib("14")})
	if err := run(); err != nil || !strings.Contains(out.String(), "accepted") {
		t.Errorf("a commit that says it costs more: %v\n%s", err, &out)
	}
	commit("fourth", nil)
	if err := run(); err != nil {
		t.Errorf("a commit that changes nothing: %v", err)
	}
	commit("fifth", map[string]string{
		"m/lib/lib.go":      lib("14") + "\nconst M = N\n",
		"m/hotpath/main.go": "package main\n\nimport \"example.com/m/lib\"\n\nfunc main() { println(lib.M) }\n",
	})
	if err := run(); !errors.As(err, &skipped) {
		t.Errorf("a commit with another API: %v, want it skipped", err)
	}
	if trees, err := git(t.Context(), dir, "worktree", "list"); err != nil || strings.Count(trees, "\n") != 0 {
		t.Errorf("worktrees are left: %v\n%s", err, trees)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
