package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/apps/servers/internal/dropin"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// childEnv makes this program serve a folder on its standard input and output.
const childEnv = "FERRY_FILES_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	mcptest.Main(m)
}

// TestSpeed walks 100,000 files, beside the original, in processes of their own.
func TestSpeed(t *testing.T) {
	if os.Getenv("FERRY_INTEROP") != "1" {
		t.Skip("needs node and npm packages: run scripts/interop.sh")
	}
	dir := manyFiles(t)
	theirs := dropin.Original(t, "server-filesystem", nil, dir)
	ours := dropin.Connect(t, &transport.Command{Path: os.Args[0], Env: []string{childEnv + "=" + dir}}, &client.Options{Revision: "2025-11-25"})
	for tool, arguments := range map[string]string{
		"search_files":   fmt.Sprintf(`{"path":%q,"pattern":"**/*7.txt"}`, dir),
		"directory_tree": fmt.Sprintf(`{"path":%q}`, dir),
	} {
		theirText, theirTime := best(t, theirs, tool, arguments, 1)
		ourText, ourTime := best(t, ours, tool, arguments, 3)
		if theirText != ourText {
			t.Errorf("%s: results differ: %d bytes and %d bytes", tool, len(theirText), len(ourText))
		}
		ratio := float64(theirTime) / float64(ourTime)
		t.Logf("%s over 100,000 files: original %v, ours %v: %.1f times", tool, theirTime.Round(time.Millisecond), ourTime.Round(time.Millisecond), ratio)
		// The time of a tree is that of reading folders, which the system does, so it
		// depends on what else the machine does.
		if tool == "search_files" && ratio < 5 {
			t.Errorf("%s is only %.1f times as fast", tool, ratio)
		}
	}
}

// manyFiles makes 1,000 folders with 100 files each.
func manyFiles(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		sub := filepath.Join(dir, fmt.Sprintf("group%d", i/100), fmt.Sprintf("folder%03d", i))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%03d.txt", j)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// best calls a tool some times and returns its text and the shortest time.
func best(t *testing.T, sess *client.Session, tool, arguments string, times int) (text string, shortest time.Duration) {
	t.Helper()
	for i := range times {
		start := time.Now()
		result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}, &client.CallOptions{Timeout: 5 * time.Minute})
		if err != nil || result.IsError {
			t.Fatalf("%s: %+v, %v", tool, result, err)
		}
		if took := time.Since(start); i == 0 || took < shortest {
			shortest = took
		}
		text = result.Content[0].Text
	}
	return text, shortest
}

func serve(dir string) error {
	srv, err := files.New(&files.Options{Folders: []string{dir}})
	if err != nil {
		return err
	}
	defer func() { _ = srv.Close() }()
	return srv.ServeStdio(context.Background())
}
