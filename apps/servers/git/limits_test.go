//go:build unix

package git_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/git"
	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/mcp"
)

// hanging is a git that does not end, nor what it starts. The returned function waits
// until nothing of it is left.
func hanging(t *testing.T) (program string, started, ended func()) {
	t.Helper()
	dir := tempDir(t)
	fifo, program := filepath.Join(dir, "fifo"), filepath.Join(dir, "git")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase \"$*\" in *version*) echo git version 2.40.0; exit;; esac\nexec 9>" + fifo + "\nsleep 600 &\nsleep 600\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// The pipe is open as long as one of the processes is there to hold it.
	opened, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		f, err := os.Open(fifo)
		close(opened)
		if err == nil {
			_, _ = io.Copy(io.Discard, f)
			_ = f.Close()
		}
	}()
	wait := func(done chan struct{}, what string) func() {
		return func() {
			t.Helper()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatalf("the processes have not %s", what)
			}
		}
	}
	return program, wait(opened, "started"), wait(closed, "ended")
}

func TestHangingGit(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	t.Run("takes too long", func(t *testing.T) {
		t.Parallel()
		program, _, ended := hanging(t)
		sess := open(t, &git.Options{Repositories: []string{dir}, Program: program, Limits: repo.Limits{Time: 300 * time.Millisecond}}, nil)
		refuse(t, sess, "git_status", args{"repo_path": dir}, "took longer than")
		ended()
	})
	t.Run("is given up", func(t *testing.T) {
		t.Parallel()
		program, started, ended := hanging(t)
		sess := open(t, &git.Options{Repositories: []string{dir}, Program: program}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			started()
			cancel()
		}()
		raw, _ := json.Marshal(args{"repo_path": dir})
		if _, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "git_status", Arguments: raw}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		ended()
	})
}

// TestHugeOutput asks for more than is returned, of a repository that has it.
func TestHugeOutput(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	write(t, filepath.Join(dir, "a.txt"), strings.Repeat("all work and no play\n", 100_000))
	for i := range 500 {
		write(t, filepath.Join(dir, "many", fmt.Sprintf("a file with a long name %06d", i)), "")
	}
	message := filepath.Join(filepath.Dir(dir), "message")
	write(t, message, "big "+strings.Repeat("x", 100_000))
	run(t, dir, "commit", "-q", "-a", "-F", message)
	write(t, filepath.Join(dir, "a.txt"), "")
	sess := open(t, &git.Options{Repositories: []string{dir}, Limits: repo.Limits{Text: 10_000, File: 1 << 20}}, nil)
	for _, c := range []struct {
		tool string
		args args
	}{
		{"git_diff_unstaged", args{}}, {"git_diff", args{"target": "HEAD"}}, {"git_show", args{"revision": "topic/x"}}, {"git_status", args{}},
	} {
		c.args["repo_path"] = dir
		if text := succeed(t, sess, c.tool, c.args); len(text) > 11_000 {
			t.Errorf("%s returns %d bytes", c.tool, len(text))
		}
	}
	refuse(t, sess, "git_log", args{"repo_path": dir}, "leave it out with skip")
	succeed(t, sess, "git_log", args{"repo_path": dir, "skip": 1})
	if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "git://project/HEAD/a.txt"}, nil); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("read of a large file: %v", err)
	}
}
