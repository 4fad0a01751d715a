//go:build unix

package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/git"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// A trap is a program that leaves a mark when it runs. With the argument quit it ends
// at once, otherwise it passes on what it reads.
type trap struct{ program, mark string }

func newTrap(t *testing.T) trap {
	t.Helper()
	dir := tempDir(t)
	tr := trap{program: filepath.Join(dir, "trap"), mark: filepath.Join(dir, "mark")}
	script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> %s\n[ \"$1\" = quit ] && exit 1\ncat 2>/dev/null\nexit 0\n", tr.mark)
	if err := os.WriteFile(tr.program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return tr
}

// sprung reports whether the program has run.
func (tr trap) sprung() bool {
	_, err := os.Stat(tr.mark)
	return err == nil
}

func (tr trap) reset() { _ = os.Remove(tr.mark) }

// everything calls every tool once in a repository, whatever comes of it.
func everything(t *testing.T, sess *client.Session, dir string) {
	t.Helper()
	for _, c := range []struct {
		tool string
		args args
	}{
		{"git_status", args{}},
		{"git_diff_unstaged", args{}},
		{"git_add", args{"files": []string{"."}}},
		{"git_diff_staged", args{}},
		{"git_diff", args{"target": "HEAD"}},
		{"git_commit", args{"message": "all"}},
		{"git_log", args{}},
		{"git_show", args{"revision": "HEAD"}},
		{"git_branch", args{"branch_type": "all"}},
		{"git_create_branch", args{"branch_name": "made"}},
		{"git_checkout", args{"branch_name": "topic/x"}},
		{"git_checkout", args{"branch_name": "main"}},
		{"git_reset", args{}},
	} {
		c.args["repo_path"] = dir
		call(t, sess, c.tool, c.args)
	}
	_, _ = sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "git://project/HEAD/a.txt"}, nil)
}

// TestHostileConfiguration sets everything in a repository that names a program. Each
// of the settings runs it with git alone, so the test can fail, and none does here.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	hooks := filepath.Dir(tr.program) + "/hooks"
	for _, name := range []string{
		"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-index-change",
		"reference-transaction", "pre-auto-gc", "post-rewrite", "fsmonitor-watchman",
	} {
		write(t, filepath.Join(hooks, name), "#!/bin/sh\nexec "+tr.program+" "+name+"\n")
		if err := os.Chmod(filepath.Join(hooks, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := func(values ...string) func(dir string) {
		return func(dir string) {
			for i := 0; i < len(values); i += 2 {
				run(t, dir, "config", values[i], values[i+1])
			}
		}
	}
	traps := []struct {
		name  string
		group int // those of one can be set together
		set   func(dir string)
		prove [][]string // commands with which git alone runs the program; none does where nobody sits at a terminal
	}{
		{"fsmonitor", 0, config("core.fsmonitor", tr.program), [][]string{{"status"}}},
		{"hooks path", 0, config("core.hooksPath", hooks), [][]string{{"commit", "-m", "x", "-a"}}},
		{"hooks", 1, func(dir string) { copyHooks(t, hooks, filepath.Join(dir, ".git", "hooks")) }, [][]string{{"commit", "-m", "x", "-a"}}},
		{"clean filter", 0, func(dir string) { filter(t, dir, "clean", tr.program) }, [][]string{{"add", "."}}},
		{"smudge filter", 0, func(dir string) { filter(t, dir, "smudge", tr.program) }, [][]string{{"checkout", "-f", "topic/x"}}},
		{"filter process", 1, func(dir string) { filter(t, dir, "process", tr.program) }, [][]string{{"add", "."}}},
		{"included", 1, func(dir string) {
			write(t, filepath.Join(dir, ".git", "more"), "[core]\n\tfsmonitor = "+tr.program+"\n")
			run(t, dir, "config", "include.path", "more")
		}, [][]string{{"status"}}},
		{"external diff", 0, config("diff.external", tr.program), [][]string{{"diff"}}},
		{"diff driver", 2, func(dir string) {
			write(t, filepath.Join(dir, ".git", "info", "attributes"), "* diff=evil filter=e=v.i\n")
			config("diff.evil.command", tr.program, "diff.evil.textconv", tr.program)(dir)
		}, [][]string{{"diff"}}},
		{"signing", 0, config("commit.gpgSign", "true", "gpg.program", tr.program), [][]string{{"commit", "-m", "x", "-a"}}},
		{"per working tree", 2, func(dir string) {
			run(t, dir, "config", "extensions.worktreeConfig", "true")
			write(t, filepath.Join(dir, ".git", "config.worktree"), "[core]\n\tfsmonitor = "+tr.program+"\n")
		}, [][]string{{"status"}}},
		{"alias", 0, config("alias.status", "!"+tr.program), nil},
		{"pager", 0, config("core.pager", tr.program, "pager.log", tr.program), nil},
		{"filter of a strange name", 2, func(dir string) {
			write(t, filepath.Join(dir, ".git", "info", "attributes"), "* diff=evil filter=e=v.i\n")
			config("filter.e=v.i.clean", tr.program, "filter.e=v.i.smudge", tr.program)(dir)
		}, [][]string{{"add", "."}}},
	}
	var groups [3][]string
	dirs := [3]string{fixture(t), fixture(t), fixture(t)}
	for _, x := range traps {
		groups[x.group] = append(groups[x.group], x.name)
		x.set(dirs[x.group])
		if x.prove == nil {
			continue
		}
		dir := fixture(t)
		x.set(dir)
		write(t, filepath.Join(dir, "a.txt"), "changed\n")
		tr.reset()
		for _, command := range x.prove {
			_, _ = try(dir, command...)
		}
		if !tr.sprung() {
			t.Errorf("%s: git alone does not run it either: the test proves nothing", x.name)
		}
	}
	for i, dir := range dirs {
		write(t, filepath.Join(dir, "a.txt"), "changed\n")
		write(t, filepath.Join(dir, "new.txt"), "new\n")
		tr.reset()
		sess := only(t, dir)
		everything(t, sess, dir)
		// Again without what keeps files from being staged and commits from being made.
		write(t, filepath.Join(dir, ".git", "info", "attributes"), "")
		write(t, filepath.Join(dir, "a.txt"), "changed again\n")
		everything(t, sess, dir)
		if tr.sprung() {
			b, _ := os.ReadFile(tr.mark)
			t.Errorf("one of %q ran: %s", groups[i], b)
		}
	}
}

func copyHooks(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, e.Name()), string(b))
		if err := os.Chmod(filepath.Join(to, e.Name()), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func filter(t *testing.T, dir, kind, program string) {
	t.Helper()
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=evil\n")
	run(t, dir, "config", "filter.evil."+kind, program)
	run(t, dir, "config", "filter.evil.required", strconv.FormatBool(kind == "clean"))
}

// TestFilteredFiles refuses to store without its filter what has one, and
// says so when such files are checked out.
func TestFilteredFiles(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	dir := fixture(t)
	write(t, filepath.Join(dir, ".gitattributes"), "*.big filter=store\n")
	run(t, dir, "config", "filter.store.clean", tr.program)
	write(t, filepath.Join(dir, "x.big"), "x")
	write(t, filepath.Join(dir, "x.txt"), "x")
	sess := only(t, dir)
	refuse(t, sess, "git_add", args{"repo_path": dir, "files": []string{"."}}, `stored through the filter "store"`)
	succeed(t, sess, "git_add", args{"repo_path": dir, "files": []string{"x.txt"}})
	_, result := call(t, sess, "git_checkout", args{"repo_path": dir, "branch_name": "topic/x"})
	if len(result.Content) != 2 || !strings.Contains(result.Content[1].Text, "filters are programs") {
		t.Errorf("the checkout says %+v", result.Content)
	}
}

// TestSubmodule has a program in the configuration of a submodule, which git runs
// itself in.
func TestSubmodule(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	dir, other := fixture(t), fixture(t)
	run(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "mod")
	run(t, dir, "commit", "-q", "-m", "module")
	write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"mod\"]\n\tpath = mod\n\turl = "+other+"\n\tignore = none\n")
	mod := filepath.Join(dir, "mod")
	run(t, mod, "config", "core.fsmonitor", tr.program)
	filter(t, dir, "unused", "x")
	write(t, filepath.Join(dir, ".git", "modules", "mod", "info", "attributes"), "* filter=evil\n")
	run(t, mod, "config", "filter.evil.clean", tr.program)
	run(t, dir, "config", "submodule.recurse", "true")
	write(t, filepath.Join(mod, "a.txt"), "changed\n")
	_, _ = try(dir, "status")
	if !tr.sprung() {
		t.Error("git alone does not run it either: the test proves nothing")
	}
	tr.reset()
	sess := only(t, dir)
	everything(t, sess, dir)
	refuse(t, sess, "git_add", args{"repo_path": dir, "files": []string{"mod"}}, "is a submodule")
	if tr.sprung() {
		b, _ := os.ReadFile(tr.mark)
		t.Errorf("the submodule ran a program: %s", b)
	}
}

// TestMissingObjects has a repository that fetches what it lacks from a program.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	dir := fixture(t)
	blob := run(t, dir, "rev-parse", "HEAD:a.txt")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"core.repositoryformatversion": "1", "extensions.partialClone": "origin",
		"remote.origin.promisor": "true", "remote.origin.url": "ext::" + tr.program + " quit",
		"remote.origin.partialclonefilter": "blob:none", "protocol.ext.allow": "always",
	} {
		run(t, dir, "config", key, value)
	}
	_, _ = try(dir, "diff", "HEAD~1", "HEAD")
	if !tr.sprung() {
		t.Error("git alone does not run it either: the test proves nothing")
	}
	tr.reset()
	sess := only(t, dir)
	refuse(t, sess, "git_diff", args{"repo_path": dir, "target": "HEAD~1..HEAD"}, blob)
	for _, url := range []string{"ssh://example.invalid/x", "file://" + dir} {
		run(t, dir, "config", "remote.origin.url", url)
		run(t, dir, "config", "core.sshCommand", tr.program)
		run(t, dir, "config", "remote.origin.uploadpack", tr.program)
		refuse(t, sess, "git_diff", args{"repo_path": dir, "target": "HEAD~1..HEAD"}, blob)
		everything(t, sess, dir)
		_ = os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:]))
	}
	if tr.sprung() {
		t.Error("the repository ran a program to fetch from")
	}
}

// TestArguments tries to pass options, and names that git writes to or reads from, in
// every argument.
func TestArguments(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	head := run(t, dir, "rev-parse", "HEAD")
	// References of such names can be there: another program may have written them.
	for _, name := range []string{"--output=" + strings.ReplaceAll(outside, "/", "_"), "-f", "--upload-pack=touch"} {
		write(t, filepath.Join(dir, ".git", "refs", "heads", name), head+"\n")
		write(t, filepath.Join(dir, ".git", name), head+"\n")
	}
	before := run(t, filepath.Dir(dir), "-C", dir, "for-each-ref") + tree(t, filepath.Dir(dir))
	sess := only(t, dir)
	for _, evil := range []string{
		"--output=" + outside, "-o" + outside, "--no-index", "-f", "--upload-pack=touch " + outside, "--exec=touch " + outside,
		"--help", "-h", "--", "-", "--output=" + strings.ReplaceAll(outside, "/", "_"),
		"HEAD\n--output=" + outside, "HEAD\x00", "@{-1}\x1b[2J", strings.Repeat("a", 10_000),
		"$(touch " + outside + ")", "`touch " + outside + "`", "; touch " + outside, "| touch " + outside,
		":(exclude)..", "HEAD:a.txt", "refs/heads", "../../etc/passwd", "ext::touch " + outside,
	} {
		for _, c := range []struct {
			tool string
			args args
		}{
			{"git_diff", args{"target": evil}},
			{"git_diff", args{"target": "HEAD.." + evil}},
			{"git_diff", args{"target": evil + "...HEAD"}},
			{"git_show", args{"revision": evil}},
			{"git_checkout", args{"branch_name": evil}},
			{"git_create_branch", args{"branch_name": "made-" + head, "base_branch": evil}},
			{"git_branch", args{"branch_type": "all", "contains": evil}},
			{"git_branch", args{"branch_type": "all", "not_contains": evil}},
			{"git_branch", args{"branch_type": evil}},
			{"git_status", args{"repo_path": evil}},
			{"git_status", args{"repo_path": dir + "/" + evil}},
		} {
			if c.args["repo_path"] == nil {
				c.args["repo_path"] = dir
			}
			refuse(t, sess, c.tool, c.args, "")
		}
		// These may be harmless names; nothing must come of them outside.
		for _, c := range []struct {
			tool string
			args args
		}{
			{"git_add", args{"files": []string{evil}}},
			{"git_diff_staged", args{"path": evil}},
			{"git_log", args{"start_timestamp": evil}},
			{"git_log", args{"end_timestamp": evil}},
			{"git_log", args{"path": evil}},
		} {
			c.args["repo_path"] = dir
			call(t, sess, c.tool, c.args)
		}
	}
	for _, name := range []string{"--output=x", "-d", "-D", "HEAD", "a b", "a..b", "a.lock", "/a", "a/", "a\x00b", "@{u}", "../x", "a//b", "refs/../../x", ""} {
		refuse(t, sess, "git_create_branch", args{"repo_path": dir, "branch_name": name}, "")
	}
	if after := run(t, filepath.Dir(dir), "-C", dir, "for-each-ref") + tree(t, filepath.Dir(dir)); after != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", after, before)
	}
}

// tree lists all files outside of .git with their sizes.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			fmt.Fprintln(&b, path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPathsStayInside stages files by paths that lead out.
func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	secret := filepath.Join(filepath.Dir(dir), "secret.txt")
	write(t, secret, "secret\n")
	for link, target := range map[string]string{"out": filepath.Dir(dir), "link.txt": secret} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	sess := only(t, dir)
	for _, path := range []string{
		"../secret.txt", secret, "sub/../../secret.txt", "/etc/passwd", "out/secret.txt", ".git/config", "sub/../.git/config",
		":(top)../secret.txt", ":/../secret.txt", ":!x", "a.txt\x00../secret.txt", "",
	} {
		refuse(t, sess, "git_add", args{"repo_path": dir, "files": []string{"a.txt", path}}, "")
	}
	// A link is stored as a link.
	succeed(t, sess, "git_add", args{"repo_path": dir, "files": []string{"."}})
	if got := run(t, dir, "show", ":link.txt"); got != secret {
		t.Errorf("the link is stored as %q", got)
	}
	if got := run(t, dir, "ls-files", "out"); got != "out" {
		t.Errorf("stored below the link: %q", got)
	}
}

// TestRepositoriesThatLeadOut opens repositories whose parts lie outside of what is
// allowed.
func TestRepositoriesThatLeadOut(t *testing.T) {
	t.Parallel()
	link := func(t *testing.T, target, path string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		set  func(t *testing.T, dir, other string)
		want string
	}{
		{"folder of git is a link", func(t *testing.T, dir, other string) {
			link(t, filepath.Join(other, ".git"), filepath.Join(dir, ".git"))
		}, "outside of the allowed folders"},
		{"folder of git is elsewhere", func(t *testing.T, dir, other string) {
			if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ".git"), "gitdir: "+filepath.Join(other, ".git")+"\n")
		}, "outside of the allowed folders"},
		{"common folder is elsewhere", func(t *testing.T, dir, other string) {
			write(t, filepath.Join(dir, ".git", "commondir"), filepath.Join(other, ".git")+"\n")
		}, "outside of the allowed folders"},
		{"objects are a link", func(t *testing.T, dir, other string) {
			link(t, filepath.Join(other, ".git", "objects"), filepath.Join(dir, ".git", "objects"))
		}, "leads out"},
		{"objects are borrowed", func(t *testing.T, dir, other string) {
			write(t, filepath.Join(dir, ".git", "objects", "info", "alternates"), filepath.Join(other, ".git", "objects")+"\n")
		}, "borrows objects"},
		{"index is a link", func(t *testing.T, dir, other string) {
			link(t, filepath.Join(other, "a.txt"), filepath.Join(dir, ".git", "index"))
		}, "leads out"},
		{"branches are a link", func(t *testing.T, dir, other string) { link(t, other, filepath.Join(dir, ".git", "refs", "heads")) }, "leads out"},
		{"configuration is a link", func(t *testing.T, dir, other string) {
			link(t, filepath.Join(other, ".git", "config"), filepath.Join(dir, ".git", "config"))
		}, "leads out"},
		{"folder of git is a file", func(t *testing.T, dir, _ string) {
			link(t, "/etc/hostname", filepath.Join(dir, ".git"))
		}, "neither a folder nor points to one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, other := fixture(t), fixture(t)
			tt.set(t, dir, other)
			before := tree(t, filepath.Dir(other)) + run(t, other, "for-each-ref")
			sess := only(t, dir)
			refuse(t, sess, "git_status", args{"repo_path": dir}, tt.want)
			everything(t, sess, dir)
			if after := tree(t, filepath.Dir(other)) + run(t, other, "for-each-ref"); after != before {
				t.Errorf("something was changed outside:\n%s\nwas\n%s", after, before)
			}
		})
	}

	t.Run("path is a link", func(t *testing.T) {
		t.Parallel()
		dir, other := fixture(t), fixture(t)
		link(t, other, filepath.Join(dir, "inside"))
		refuse(t, only(t, dir), "git_status", args{"repo_path": filepath.Join(dir, "inside")}, "outside of the allowed folders")
	})
	t.Run("name of a prefix", func(t *testing.T) {
		t.Parallel()
		dir := fixture(t)
		if err := os.Rename(fixture(t), dir+"-2"); err != nil {
			t.Fatal(err)
		}
		refuse(t, only(t, dir), "git_status", args{"repo_path": dir + "-2"}, "outside of the allowed folders")
	})
	t.Run("working tree is elsewhere", func(t *testing.T) {
		t.Parallel()
		dir, other := fixture(t), fixture(t)
		write(t, filepath.Join(other, "unknown.txt"), "")
		run(t, dir, "config", "core.worktree", other)
		if got := succeed(t, only(t, dir), "git_status", args{"repo_path": dir}); strings.Contains(got, "unknown.txt") {
			t.Errorf("the status is that of another folder: %s", got)
		}
	})
	t.Run("branch in a folder that is a link", func(t *testing.T) {
		t.Parallel()
		dir := fixture(t)
		outside := tempDir(t)
		link(t, outside, filepath.Join(dir, ".git", "refs", "heads", "topic"))
		refuse(t, only(t, dir), "git_create_branch", args{"repo_path": dir, "branch_name": "topic/new"}, "is a link")
		if got := tree(t, outside); got != "" {
			t.Errorf("written outside: %s", got)
		}
	})
	t.Run("linked working tree", func(t *testing.T) {
		t.Parallel()
		dir := fixture(t)
		linked := filepath.Join(filepath.Dir(dir), "linked")
		run(t, dir, "worktree", "add", "-q", linked, "topic/x")
		refuse(t, only(t, linked), "git_status", args{"repo_path": linked}, "allow that folder too")
		sess := open(t, &git.Options{Repositories: []string{linked, dir}}, nil)
		if got := succeed(t, sess, "git_status", args{"repo_path": linked}); !strings.Contains(got, "On branch topic/x") {
			t.Errorf("the status is %q", got)
		}
	})
}
