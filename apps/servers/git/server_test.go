package git_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/git"
	"github.com/ferrymcp/ferry/apps/servers/git/repo"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// run runs git in a folder without any of what protects the server, and returns its
// output.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := try(dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_DATE=2026-01-15T14:30:25+01:00", "GIT_COMMITTER_DATE=2026-01-15T14:30:25+01:00")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tempDir is a folder whose path has no links in it.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// fixture returns a repository of its own with three commits: the first two on main,
// one more on topic/x.
func fixture(t testing.TB) string {
	t.Helper()
	made.Do(func() { makeFixture(t, made.dir) })
	dir := filepath.Join(tempDir(t), "project")
	if err := os.CopyFS(dir, os.DirFS(made.dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// made is the repository that others are copies of.
var made struct {
	sync.Once
	dir string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ferry-git")
	if err != nil {
		panic(err)
	}
	made.dir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func makeFixture(t testing.TB, dir string) {
	t.Helper()
	run(t, dir, "init", "-q", "-b", "main")
	run(t, dir, "config", "user.name", "Ada")
	run(t, dir, "config", "user.email", "ada@example.org")
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\n")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "first")
	write(t, filepath.Join(dir, "a.txt"), "one\nTWO\n")
	write(t, filepath.Join(dir, "sub", "b b.txt"), "b\n")
	write(t, filepath.Join(dir, "bin"), "\x00\x01")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "second: it's \"quoted\"\n\nwhy \\ so\n")
	run(t, dir, "checkout", "-q", "-b", "topic/x")
	run(t, dir, "mv", "a.txt", "moved.txt")
	write(t, filepath.Join(dir, "empty"), "")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "third")
	run(t, dir, "checkout", "-q", "main")
}

// open serves repositories in memory.
func open(t testing.TB, opts *git.Options, clientOptions *client.Options) *client.Session {
	t.Helper()
	srv, err := git.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	return mcptest.Pair(t, srv, clientOptions)
}

// only serves one repository.
func only(t testing.TB, dir string) *client.Session {
	t.Helper()
	return open(t, &git.Options{Repositories: []string{dir}}, nil)
}

// args are the arguments of a tool.
type args map[string]any

// call calls a tool and returns its first text, with what else there is.
func call(t testing.TB, sess *client.Session, tool string, a args) (text string, result *mcp.CallToolResult) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	result, err = sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: raw}, nil)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, raw, err)
	}
	if len(result.Content) == 0 {
		t.Fatalf("%s %s: there is no content", tool, raw)
	}
	return result.Content[0].Text, result
}

// succeed is call for what must not fail.
func succeed(t testing.TB, sess *client.Session, tool string, a args) string {
	t.Helper()
	text, result := call(t, sess, tool, a)
	if result.IsError {
		t.Fatalf("%s %v failed: %s", tool, a, text)
	}
	return text
}

// refuse is call for what must fail with a text.
func refuse(t testing.TB, sess *client.Session, tool string, a args, want string) {
	t.Helper()
	text, result := call(t, sess, tool, a)
	if !result.IsError || !strings.Contains(text, want) {
		t.Errorf("%s %v: got %q (error %t), want an error with %q", tool, a, text, result.IsError, want)
	}
}

var readers = []string{"git_branch", "git_diff", "git_diff_staged", "git_diff_unstaged", "git_log", "git_show", "git_status"}

func TestTools(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	writers := []string{"git_add", "git_checkout", "git_commit", "git_create_branch", "git_reset"}
	for _, readOnly := range []bool{false, true} {
		want := slices.Clone(readers)
		if !readOnly {
			want = append(want, writers...)
		}
		slices.Sort(want)
		sess := open(t, &git.Options{Repositories: []string{dir}, ReadOnly: readOnly}, nil)
		var got []string
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tool.Name)
			if tool.Title == "" || tool.Description == "" || tool.OutputSchema == nil || len(tool.Icons) == 0 {
				t.Errorf("%s lacks something: %+v", tool.Name, tool)
			}
			a := tool.Annotations
			if a.ReadOnlyHint != slices.Contains(readers, tool.Name) || a.IdempotentHint == slices.Contains([]string{"git_checkout", "git_commit", "git_create_branch"}, tool.Name) ||
				*a.DestructiveHint != (tool.Name == "git_reset") || *a.OpenWorldHint {
				t.Errorf("annotations of %s are %+v", tool.Name, a)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tools, read only %t (-want +got):\n%s", readOnly, diff)
		}
	}
}

// shown is how a commit of the fixture is written.
func shown(hash, message string) string {
	return fmt.Sprintf("Commit: '%s'\nAuthor: <git.Actor \"Ada <ada@example.org>\">\nDate: 2026-01-15 14:30:25+01:00\nMessage: %s\n", hash, message)
}

func TestReading(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	first, second, third := run(t, dir, "rev-parse", "HEAD~1"), run(t, dir, "rev-parse", "HEAD"), run(t, dir, "rev-parse", "topic/x")
	write(t, filepath.Join(dir, "a.txt"), "one\nTWO\nthree\n")
	write(t, filepath.Join(dir, "staged.txt"), "s\n")
	run(t, dir, "add", "staged.txt")
	sess := only(t, dir)
	const message = `'second: it\'s "quoted"\n\nwhy \\ so\n'`
	const change = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
	for _, tt := range []struct {
		tool string
		args args
		want string
	}{
		{"git_status", args{}, "Repository status:\n" + run(t, dir, "status")},
		{"git_diff_unstaged", args{}, "Unstaged changes:\n" + run(t, dir, "diff")},
		{"git_diff_unstaged", args{"context_lines": 0}, "Unstaged changes:\n" + run(t, dir, "diff", "-U0")},
		{"git_diff_staged", args{}, "Staged changes:\n" + run(t, dir, "diff", "--cached")},
		{"git_diff_staged", args{"path": "a.txt"}, "Staged changes:\n"},
		{"git_diff", args{"target": "topic/x"}, "Diff with topic/x:\n" + run(t, dir, "diff", "topic/x")},
		{"git_diff", args{"target": "main..topic/x"}, "Diff with main..topic/x:\n" + run(t, dir, "diff", "main..topic/x")},
		{"git_diff", args{"target": "HEAD~1...HEAD", "path": "sub"}, "Diff with HEAD~1...HEAD:\n" + run(t, dir, "diff", "HEAD~1...HEAD", "sub")},
		{"git_log", args{}, "Commit history:\n" + shown(second, message) + "\n" + shown(first, `'first\n'`)},
		{"git_log", args{"max_count": 1, "skip": 1, "start_timestamp": nil}, "Commit history:\n" + shown(first, `'first\n'`)},
		{"git_log", args{"path": "sub"}, "Commit history:\n" + shown(second, message)},
		{"git_log", args{"start_timestamp": "2026-01-14", "max_count": 1}, "Commit history:\nCommit: " + second + "\nAuthor: Ada\nDate: Thu Jan 15 14:30:25 2026 +0100\nMessage: second: it's \"quoted\"\n"},
		{"git_log", args{"start_timestamp": "2026-01-16"}, "Commit history:\n"},
		{"git_show", args{"revision": "HEAD"}, shown(second, message) + "\n--- a.txt\n+++ a.txt\n" + change +
			"\n--- bin\n+++ bin\nBinary files /dev/null and b/bin differ\n\n--- sub/b b.txt\n+++ sub/b b.txt\n@@ -0,0 +1 @@\n+b\n"},
		{"git_show", args{"revision": "main~1"}, shown(first, `'first\n'`) + "\n--- a.txt\n+++ a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"},
		{"git_show", args{"revision": third[:10]}, shown(third, `'third\n'`) + "\n--- empty\n+++ empty\n\n--- a.txt\n+++ moved.txt\n"},
		{"git_branch", args{"branch_type": "local"}, "* main\n  topic/x"},
		{"git_branch", args{"branch_type": "all", "contains": third}, "  topic/x"},
		{"git_branch", args{"branch_type": "local", "not_contains": third}, "* main"},
		{"git_branch", args{"branch_type": "remote"}, ""},
	} {
		tt.args["repo_path"] = dir
		if diff := cmp.Diff(tt.want, succeed(t, sess, tt.tool, tt.args)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}

	_, result := call(t, sess, "git_log", args{"repo_path": dir, "max_count": 1})
	want := fmt.Sprintf(`{"commits":[{"hash":"%s","author":"Ada","email":"ada@example.org","date":"2026-01-15T14:30:25+01:00","message":"second: it's \"quoted\"\n\nwhy \\ so\n"}],"next_skip":1}`, second)
	if got := string(result.StructuredContent); got != want {
		t.Errorf("structured history is %s, want %s", got, want)
	}
	if _, result = call(t, sess, "git_branch", args{"repo_path": dir, "branch_type": "all"}); string(result.StructuredContent) != `{"branches":["main","topic/x"],"current":"main"}` {
		t.Errorf("structured branches are %s", result.StructuredContent)
	}
}

func TestErrorsHelp(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	empty := filepath.Join(tempDir(t), "empty")
	write(t, filepath.Join(empty, "x"), "")
	run(t, empty, "init", "-q")
	sess := open(t, &git.Options{Repositories: []string{dir, empty}}, nil)
	for _, tt := range []struct {
		tool string
		args args
		want string
	}{
		{"git_status", args{"repo_path": filepath.Dir(dir)}, "outside of the allowed folders"},
		{"git_status", args{"repo_path": filepath.Join(dir, "nowhere")}, "there is no such folder"},
		{"git_status", args{"repo_path": ""}, "give the folder that holds .git"},
		{"git_diff", args{"repo_path": dir, "target": "nothing"}, `"nothing" is no commit, branch or tag`},
		{"git_diff", args{"repo_path": dir, "target": "main..nothing"}, `"nothing" is no commit`},
		{"git_diff_staged", args{"repo_path": dir, "context_lines": -1}, "from 0 to"},
		{"git_log", args{"repo_path": dir, "max_count": 0}, "from 1 to"},
		{"git_log", args{"repo_path": empty}, "no commits yet"},
		{"git_branch", args{"repo_path": dir, "branch_type": "x"}, "Invalid branch type: x"},
		{"git_add", args{"repo_path": dir, "files": []string{}}, "there are no files"},
		{"git_add", args{"repo_path": dir, "files": []string{"missing"}}, "missing"},
		{"git_commit", args{"repo_path": dir, "message": " "}, "the message is empty"},
		{"git_commit", args{"repo_path": dir, "message": "x"}, "stage files with git_add first"},
		{"git_create_branch", args{"repo_path": dir, "branch_name": "topic/x"}, "already exists"},
		{"git_create_branch", args{"repo_path": dir, "branch_name": "a..b"}, "cannot be the name of a branch"},
		{"git_checkout", args{"repo_path": dir, "branch_name": "none"}, "is no commit, branch or tag"},
	} {
		refuse(t, sess, tt.tool, tt.args, tt.want)
	}
	if _, err := git.New(&git.Options{Repositories: []string{filepath.Dir(dir)}}); err == nil || !strings.Contains(err.Error(), "it has no .git") {
		t.Errorf("New with a folder that is no repository: %v", err)
	}
	if _, err := git.New(&git.Options{Program: "no-such-git"}); err == nil || !strings.Contains(err.Error(), "no-such-git") {
		t.Errorf("New without git: %v", err)
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	sess := only(t, dir)
	write(t, filepath.Join(dir, "-n.txt"), "new\n")
	write(t, filepath.Join(dir, "a.txt"), "changed\n")
	if err := os.Remove(filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	in := func(a args) args { a["repo_path"] = dir; return a }
	if got := succeed(t, sess, "git_add", in(args{"files": []string{"."}})); got != "Files staged successfully" {
		t.Errorf("git_add says %q", got)
	}
	if got, want := run(t, dir, "status", "--short"), "A  -n.txt\nM  a.txt\nD  bin"; got != want {
		t.Errorf("after git_add of all, the status is %q, want %q", got, want)
	}
	if got := succeed(t, sess, "git_reset", in(args{})); got != "All staged changes reset" {
		t.Errorf("git_reset says %q", got)
	}
	succeed(t, sess, "git_add", in(args{"files": []string{"-n.txt", "*.txt", filepath.Join(dir, "bin")}}))
	before := run(t, dir, "rev-parse", "HEAD")
	got := succeed(t, sess, "git_commit", in(args{"message": "# not a comment\n\n  kept  "}))
	head := run(t, dir, "rev-parse", "HEAD")
	if want := "Changes committed successfully with hash " + head; got != want || head == before {
		t.Errorf("git_commit says %q, want %q", got, want)
	}
	if got := run(t, dir, "log", "-1", "--format=%B"); got != "# not a comment\n\n  kept  " {
		t.Errorf("the message is %q", got)
	}
	if got := succeed(t, sess, "git_create_branch", in(args{"branch_name": "feature/y", "base_branch": "topic/x"})); got != "Created branch 'feature/y' from 'topic/x'" {
		t.Errorf("git_create_branch says %q", got)
	}
	if got := succeed(t, sess, "git_create_branch", in(args{"branch_name": "z"})); got != "Created branch 'z' from 'main'" {
		t.Errorf("git_create_branch says %q", got)
	}
	if got := succeed(t, sess, "git_checkout", in(args{"branch_name": "feature/y"})); got != "Switched to branch 'feature/y'" {
		t.Errorf("git_checkout says %q", got)
	}
	if got := run(t, dir, "symbolic-ref", "HEAD"); got != "refs/heads/feature/y" {
		t.Errorf("HEAD is %s", got)
	}
	// A name that is a file as well: the file must not be reset.
	write(t, filepath.Join(dir, "moved.txt"), "mine\n")
	refuse(t, sess, "git_checkout", in(args{"branch_name": "moved.txt"}), "is no commit, branch or tag")
	refuse(t, sess, "git_checkout", in(args{"branch_name": "main"}), "Commit these changes first")
	if b, _ := os.ReadFile(filepath.Join(dir, "moved.txt")); string(b) != "mine\n" {
		t.Errorf("the file holds %q", b)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	write(t, filepath.Join(dir, "a.txt"), strings.Join(lines, "\n")+"\n")
	sess := open(t, &git.Options{Repositories: []string{dir}, Limits: repo.Limits{Text: 4096}}, nil)
	want := run(t, dir, "diff") + "\n"
	var got strings.Builder
	for offset := 0; ; {
		text, result := call(t, sess, "git_diff_unstaged", args{"repo_path": dir, "offset": offset})
		text = strings.TrimPrefix(text, "Unstaged changes:\n")
		if len(text) > 4096 {
			t.Fatalf("a page has %d bytes", len(text))
		}
		got.WriteString(text + "\n")
		var structured struct {
			Next int `json:"next_offset"`
		}
		if err := json.Unmarshal(result.StructuredContent, &structured); err != nil {
			t.Fatal(err)
		}
		if structured.Next == 0 {
			break
		}
		if note := result.Content[1].Text; !strings.Contains(note, fmt.Sprintf("offset=%d", structured.Next)) {
			t.Fatalf("the note is %q", note)
		}
		offset = structured.Next
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("all pages (-want +got):\n%s", diff)
	}
	if text := succeed(t, sess, "git_diff_unstaged", args{"repo_path": dir, "offset": 1, "limit": 1}); !strings.HasPrefix(text, "Unstaged changes:\nindex ") || strings.Count(text, "\n") != 1 {
		t.Errorf("one line is %q", text)
	}

	write(t, filepath.Join(dir, "a.txt"), strings.Repeat("x", 100_000))
	text, result := call(t, sess, "git_diff_unstaged", args{"repo_path": dir, "offset": 7})
	if len(text) > 4200 || len(result.Content) != 2 {
		t.Errorf("a long line gives %d bytes and %d blocks", len(text), len(result.Content))
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	dir, other := fixture(t), fixture(t)
	for _, revision := range client.Revisions() {
		roots := func(uris ...string) *client.Options {
			list := []mcp.Root{}
			for _, uri := range uris {
				list = append(list, mcp.Root{URI: uri})
			}
			return &client.Options{Revision: revision, Roots: list}
		}
		sess := open(t, nil, roots("file://"+filepath.ToSlash(dir)))
		succeed(t, sess, "git_status", args{"repo_path": dir})
		succeed(t, sess, "git_status", args{"repo_path": "."})
		succeed(t, sess, "git_status", args{"repo_path": filepath.Join(dir, "sub")})
		refuse(t, sess, "git_status", args{"repo_path": other}, "outside of the allowed folders")
		if _, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "git://project/HEAD/a.txt"}, nil); err != nil {
			t.Errorf("%s: read with roots: %v", revision, err)
		}
		// A root that is in a repository does not open the rest of it.
		refuse(t, open(t, nil, roots("file://"+filepath.ToSlash(dir)+"/sub")), "git_status", args{"repo_path": filepath.Join(dir, "sub")}, "is in no git repository")
		refuse(t, open(t, nil, roots("file://example.org/x")), "git_status", args{"repo_path": dir}, "not a folder on this machine")
		// What the operator says counts, not what the client does.
		refuse(t, open(t, &git.Options{Repositories: []string{dir}}, roots("file://"+filepath.ToSlash(other))), "git_status", args{"repo_path": other}, "outside")
	}
	succeed(t, open(t, nil, nil), "git_status", args{"repo_path": other})
}

func TestResources(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	sess := only(t, dir)
	read := func(uri string) (mcp.ResourceContents, error) {
		r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
		if err != nil {
			return mcp.ResourceContents{}, err
		}
		return r.Contents[0], nil
	}
	for uri, want := range map[string]string{
		"git://project/HEAD~1/a.txt":                                   "one\ntwo\n",
		"git://project/topic%2Fx/moved.txt":                            "one\nTWO\n",
		"git://project/main/sub/b%20b.txt":                             "b\n",
		"git://" + strings.ReplaceAll(dir, "/", "%2F") + "/main/a.txt": "one\nTWO\n",
	} {
		if got, err := read(uri); err != nil || got.Text != want || got.MIMEType != "text/plain" {
			t.Errorf("read %s: got %+v, %v, want %q", uri, got, err, want)
		}
	}
	if got, err := read("git://project/main/bin"); err != nil || string(got.Blob) != "\x00\x01" {
		t.Errorf("read bytes: %+v, %v", got, err)
	}
	for uri, want := range map[string]string{
		"git://project/main/none":             "not found",
		"git://project/nothing/a.txt":         "is no commit",
		"git://project/main/../../etc/passwd": "outside of the repository",
		"git://project/main/sub":              "is not a file but a tree",
		"git://project/--output/a.txt":        "begins with -",
		"git://other/main/a.txt":              "no repository of that name",
		"git://%2Fetc/main/passwd":            "outside of the allowed folders",
	} {
		if _, err := read(uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read %s: got error %v, want one with %q", uri, err, want)
		}
	}
	complete := func(variable, value string, known map[string]string) []string {
		r, err := sess.Complete(t.Context(), &mcp.CompleteParams{
			Ref:      mcp.ResourceRef("git://{repository}/{revision}/{+path}"),
			Argument: mcp.CompleteArgument{Name: variable, Value: value},
			Context:  &mcp.CompleteContext{Arguments: known},
		})
		if err != nil {
			t.Fatalf("complete %s: %v", variable, err)
		}
		return r.Completion.Values
	}
	for _, tt := range []struct {
		variable, value string
		known           map[string]string
		want            []string
	}{
		{"repository", "pro", nil, []string{"project"}},
		{"revision", "t", nil, []string{"topic/x"}},
		{"path", "", map[string]string{"repository": "project", "revision": "topic/x"}, []string{"bin", "empty", "moved.txt", "sub/b b.txt"}},
		{"path", "sub/", nil, []string{"sub/b b.txt"}},
		{"path", "", map[string]string{"repository": "nothing"}, nil},
	} {
		if got := complete(tt.variable, tt.value, tt.known); !slices.Equal(got, tt.want) {
			t.Errorf("complete %s %q with %v: got %q, want %q", tt.variable, tt.value, tt.known, got, tt.want)
		}
	}
}

func ExampleNew() {
	srv, err := git.New(&git.Options{ReadOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: git
}
