package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// uriOf is the address of a path.
func uriOf(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String()
}

// put makes a folder with files of the content of their names.
func put(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// told calls a tool and returns its text and whether it is an error.
func told(t *testing.T, sess *client.Session, tool string, arguments object) (string, bool) {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	texts, result := call(t, sess, tool, string(data))
	return texts[0], result.IsError
}

// TestSeveralFolders uses two folders, one beside the other with a name that begins
// alike, and links between them.
func TestSeveralFolders(t *testing.T) {
	t.Parallel()
	base := put(t, "a/one.txt", "ab/two.txt", "abc/secret.txt", "a/sub/x.txt")
	at := func(name string) string { return filepath.Join(base, name) }
	for link, target := range map[string]string{
		"a/to-ab": at("ab"), "a/abs": at("a/sub"), "a/secret": at("abc"), "ab/up": "../a/one.txt", "a/far": "../abc/secret.txt", "a/loop": at("a/loop"),
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skip("needs symbolic links")
		}
	}
	sess := connectTo(t, &files.Options{Folders: []string{at("a"), at("ab"), at("none")}}, "")
	for name, want := range map[string]string{
		"one.txt": "a/one.txt", at("ab/two.txt"): "ab/two.txt", "../ab/two.txt": "ab/two.txt", "to-ab/two.txt": "ab/two.txt", "abs/x.txt": "a/sub/x.txt", at("ab/up"): "a/one.txt",
	} {
		if got, bad := told(t, sess, "read_text_file", object{"path": name}); got != want || bad {
			t.Errorf("read %s: error %t, %q, want %q", name, bad, got, want)
		}
	}
	for _, name := range []string{"secret/secret.txt", "far", at("abc/secret.txt"), at("abc"), base, "loop", "../a/../abc/secret.txt", "/", "~", "one.txt\x00", strings.Repeat("../", 50) + "etc/passwd"} {
		for tool, in := range map[string]object{
			"read_text_file": {"path": name}, "write_file": {"path": name, "content": "x"}, "list_directory": {"path": name}, "directory_tree": {"path": name},
			"search_files": {"path": name, "pattern": "**"}, "search_text": {"path": name, "pattern": "."}, "get_file_info": {"path": name}, "create_directory": {"path": name},
			"move_file": {"source": "one.txt", "destination": name}, "edit_file": {"path": name, "edits": list{object{"oldText": "s", "newText": "t"}}}, "list_directory_with_sizes": {"path": name}, "read_media_file": {"path": name},
		} {
			if got, bad := told(t, sess, tool, in); !bad {
				t.Errorf("%s of %s: %.200s", tool, name, got)
			}
		}
	}
	if got, _ := told(t, sess, "search_files", object{"path": at("a"), "pattern": "*"}); strings.Contains(got, "secret") || strings.Contains(got, "loop") || !strings.Contains(got, "to-ab") {
		t.Errorf("search_files shows what cannot be used, or not what can:\n%s", got)
	}
	if got, bad := told(t, sess, "move_file", object{"source": "one.txt", "destination": at("ab/two.txt")}); !bad || !strings.Contains(got, "exists") {
		t.Errorf("moving over a file of another folder: error %t, %s", bad, got)
	}
	if got, bad := told(t, sess, "move_file", object{"source": "one.txt", "destination": at("ab/moved.txt")}); bad {
		t.Errorf("moving to another folder: %s", got)
	}
	if data, err := os.ReadFile(at("ab/moved.txt")); string(data) != "a/one.txt" || err != nil {
		t.Errorf("what was moved is %q, %v", data, err)
	}
	if _, err := os.Stat(at("a/one.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was moved is still there: %v", err)
	}
	if got, _ := told(t, sess, "list_allowed_directories", object{}); got != "Allowed directories:\n"+at("a")+"\n"+at("ab") {
		t.Errorf("list_allowed_directories: %s", got)
	}
	if data, err := os.ReadFile(at("abc/secret.txt")); string(data) != "abc/secret.txt" || err != nil {
		t.Errorf("the secret is %q, %v", data, err)
	}
}

// TestRoots lets clients of sessions and stateless ones name their roots.
func TestRoots(t *testing.T) {
	t.Parallel()
	base := put(t, "own/a.txt", "own/in/b.txt", "other/c.txt")
	at := func(name string) string { return filepath.Join(base, name) }
	for _, revision := range []string{"2025-06-18", "2026-07-28"} {
		for _, tt := range []struct {
			policy    files.RootsPolicy
			roots     []string
			can, cant []string
		}{
			{files.RootsReplace, []string{at("other")}, []string{"other/c.txt"}, []string{"own/a.txt"}},
			{files.RootsReplace, []string{at("none")}, []string{"own/a.txt"}, []string{"other/c.txt"}},
			{files.RootsReplace, nil, []string{"own/a.txt"}, []string{"other/c.txt"}},
			{files.RootsNarrow, []string{at("own/in"), at("other")}, []string{"own/in/b.txt"}, []string{"own/a.txt", "other/c.txt"}},
			{"", []string{base}, []string{"own/a.txt", "own/in/b.txt"}, []string{"other/c.txt"}},
			{"", []string{"/"}, []string{"own/a.txt"}, []string{"other/c.txt", "../../../../../../etc/hostname"}},
			{files.RootsNarrow, []string{at("other")}, nil, []string{"own/a.txt", "other/c.txt"}},
			{files.RootsIgnore, []string{at("other")}, []string{"own/a.txt"}, []string{"other/c.txt"}},
		} {
			t.Run(fmt.Sprint(revision, tt.policy, len(tt.roots), tt.can), func(t *testing.T) {
				t.Parallel()
				var roots []mcp.Root
				for _, dir := range tt.roots {
					roots = append(roots, mcp.Root{URI: uriOf(dir)})
				}
				sess := connectAs(t, &files.Options{Folders: []string{at("own")}, Roots: tt.policy}, &client.Options{
					Revision: revision, OnRoots: func(context.Context) ([]mcp.Root, error) { return roots, nil },
				})
				for _, name := range tt.can {
					if got, bad := told(t, sess, "read_text_file", object{"path": at(name)}); bad || got != name {
						t.Errorf("read %s: error %t, %s", name, bad, got)
					}
				}
				for _, name := range tt.cant {
					if got, bad := told(t, sess, "read_text_file", object{"path": at(name)}); !bad {
						t.Errorf("read %s: %s", name, got)
					}
				}
			})
		}
	}
	if _, err := files.New(&files.Options{}); err == nil {
		t.Error("New without a folder: no error")
	}
	sess := connectTo(t, &files.Options{Roots: files.RootsReplace}, "")
	if got, bad := told(t, sess, "read_text_file", object{"path": "x"}); !bad || !strings.Contains(got, "there are no allowed folders") {
		t.Errorf("without folder and roots: error %t, %s", bad, got)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := put(t, "alpha.txt", "alps/x.txt", "beta")
	sess := connectTo(t, &files.Options{Folders: []string{dir}}, "")
	base := strings.TrimPrefix(filepath.ToSlash(dir), "/")
	for typed, want := range map[string]string{
		base + "/al": base + "/alpha.txt " + base + "/alps/", base + "/alps/": base + "/alps/x.txt", "etc/pass": "", base[:3]: base + "/",
	} {
		got, err := sess.Complete(t.Context(), &mcp.CompleteParams{
			Ref: mcp.ResourceRef("file:///{+path}"), Argument: mcp.CompleteArgument{Name: "path", Value: typed},
		})
		if err != nil {
			t.Fatal(err)
		}
		if values := strings.Join(got.Completion.Values, " "); values != want {
			t.Errorf("complete %s: got %q, want %q", typed, values, want)
		}
	}
}

// TestSubscription hears when a file is written, replaced, removed and made.
func TestSubscription(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			dir := put(t, "a.txt", "other.txt")
			sess := connectTo(t, &files.Options{Folders: []string{dir}}, revision)
			uri := uriOf(filepath.Join(dir, "a.txt"))
			sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri, "file:///etc/passwd"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = sub.Close() }()
			for what, change := range map[string]func() error{
				"write":   func() error { return os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1"), 0o600) },
				"replace": func() error { told(t, sess, "write_file", object{"path": "a.txt", "content": "2"}); return nil },
			} {
				if err := errors.Join(os.WriteFile(filepath.Join(dir, "other.txt"), []byte("x"), 0o600), change()); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				if _, err := sub.Next(ctx); err != nil {
					t.Fatalf("nothing is heard after %s: %v", what, err)
				}
				cancel()
			}
		})
	}
}

// TestWalks reads a large folder with progress, without what git ignores, and gives
// up when it is told to.
func TestWalks(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		for j := range 150 {
			names = append(names, fmt.Sprintf("d%02d/f%03d.txt", i, j))
		}
	}
	dir := put(t, append(names, "build/out.txt", "d01/keep.log", "d01/x.log", ".git/config", "deep/build/y.txt")...)
	for name, text := range map[string]string{".gitignore": "*.log\n/build/\n# note\n\n", "d01/.gitignore": "!keep.log\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sess := connectTo(t, &files.Options{Folders: []string{dir}}, "")
	var steps atomic.Int64
	arguments, err := json.Marshal(object{"path": dir, "pattern": "**", "respectGitignore": true})
	if err != nil {
		t.Fatal(err)
	}
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_files", Arguments: arguments}, &client.CallOptions{
		Progress: func(mcp.ProgressParams) { steps.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	got := result.Content[0].Text
	if n := strings.Count(got, "\n") + 1; n != 30*150+30+1+2+2+1 || steps.Load() == 0 {
		t.Errorf("%d lines, %d steps of progress", n, steps.Load())
	}
	for name, shown := range map[string]bool{"/build/out.txt": false, "/x.log": false, "/keep.log": true, "/.git/config": false, "/deep/build/y.txt": true} {
		if strings.Contains(got, name) != shown {
			t.Errorf("%s is shown: %t, want %t", name, !shown, shown)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "directory_tree", Arguments: json.RawMessage(`{"path":"."}`)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
}

// TestSwappedDuringWalk puts links in the place of folders while they are walked: the
// secret is never shown.
func TestSwappedDuringWalk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links")
	}
	base := put(t, "in/sub/plain.txt", "out/secret.txt", "in/a/b/c.txt")
	sub, aside, link := filepath.Join(base, "in/sub"), filepath.Join(base, "in/aside"), filepath.Join(base, "in/link")
	if err := os.Symlink(filepath.Join(base, "out"), link); err != nil {
		t.Fatal(err)
	}
	sess := connectTo(t, &files.Options{Folders: []string{filepath.Join(base, "in")}}, "")
	ctx, cancel := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	t.Cleanup(swapping.Wait)
	t.Cleanup(cancel)
	swapping.Go(func() {
		for ctx.Err() == nil {
			_ = os.Rename(sub, aside)
			_ = os.Rename(link, sub)
			_ = os.Rename(sub, link)
			_ = os.Rename(aside, sub)
		}
	})
	for range 60 {
		for tool, in := range map[string]object{
			"search_files": {"path": ".", "pattern": "**"}, "directory_tree": {"path": "."}, "search_text": {"path": ".", "pattern": "secret"},
			"read_text_file": {"path": "sub/secret.txt"}, "list_directory": {"path": "sub"}, "list_directory_with_sizes": {"path": "sub"},
		} {
			if got, bad := told(t, sess, tool, in); !bad && strings.Contains(got, "secret") {
				t.Errorf("%s shows the secret: %s", tool, got)
			}
		}
		told(t, sess, "write_file", object{"path": "sub/new.txt", "content": "x"})
	}
	if left, err := os.ReadDir(filepath.Join(base, "out")); len(left) != 1 || err != nil {
		t.Errorf("something was written outside: %v, %v", left, err)
	}
}
