package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
)

// fixture makes a folder of files, by path, in a parent with a file that must
// not be reached.
func fixture(t *testing.T, files map[string]string) string {
	t.Helper()
	parent := t.TempDir()
	dir := filepath.Join(parent, "root")
	mkdir(t, dir)
	put(t, filepath.Join(parent, "secret.txt"), "the secret")
	for name, content := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	return dir
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no links here: %v", err)
	}
}

func open(t *testing.T, dir string, limits folder.Limits) *folder.Folder {
	t.Helper()
	f, err := folder.Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// use calls everything that takes a path, and returns the errors by name.
// all shows every link.
func all(string) bool { return true }

func use(t *testing.T, f *folder.Folder, name string) map[string]error {
	t.Helper()
	errs := map[string]error{}
	_, errs["ReadText"] = f.ReadText(t.Context(), name, folder.Lines{})
	_, errs["ReadBytes"] = f.ReadBytes(name)
	_, _, errs["List"] = f.List(name)
	_, _, _, errs["Tree"] = f.Tree(t.Context(), name, folder.Walk{})
	_, errs["Find"] = f.Find(t.Context(), name, "**", folder.Walk{}, all)
	_, errs["Search"] = f.Search(t.Context(), folder.Query{Path: name, Expression: "."})
	_, errs["Write"] = f.Write(name, "changed", true)
	_, errs["Edit"] = f.Edit(name, []folder.Edit{{OldText: "the", NewText: "a"}}, false)
	errs["Move to"] = f.Move("plain.txt", name)
	if errs["Move from"] = f.Move(name, "moved"); errs["Move from"] == nil {
		if err := f.Move("moved", name); err != nil {
			t.Errorf("moving %s back: %v", name, err)
		}
	}
	return errs
}

func TestOutside(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"plain.txt": "x", "sub/a.txt": "a"})
	mkdir(t, dir+"2") // a sibling whose path begins with the folder's
	put(t, dir+"2/secret.txt", "the secret")
	f := open(t, dir, folder.Limits{})
	for _, name := range []string{
		"..", "../secret.txt", "sub/../../secret.txt", "../root2/secret.txt", filepath.Join(dir, "..", "secret.txt"),
		dir + "2/secret.txt", filepath.Dir(dir), "/etc/passwd", "/", "./../secret.txt", "sub/../../root/../secret.txt",
	} {
		for op, err := range use(t, f, name) {
			if err == nil || !strings.Contains(err.Error(), "outside the allowed folder") {
				t.Errorf("%s(%q): got error %v, want one that says outside", op, name, err)
			}
		}
	}
	for name, want := range map[string]string{"": "the path is empty", "plain.txt\x00.png": "zero byte"} {
		for op, err := range use(t, f, name) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s(%q): got error %v, want one with %q", op, name, err, want)
			}
		}
	}
	if got := get(t, filepath.Join(filepath.Dir(dir), "secret.txt")); got != "the secret" {
		t.Errorf("the file outside is now %q", got)
	}
}

func TestLinksOutside(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"plain.txt": "x"})
	symlink(t, "../secret.txt", filepath.Join(dir, "file"))
	symlink(t, filepath.Join(filepath.Dir(dir), "secret.txt"), filepath.Join(dir, "absolute"))
	symlink(t, "..", filepath.Join(dir, "up"))
	symlink(t, "file", filepath.Join(dir, "chain"))
	symlink(t, "../new.txt", filepath.Join(dir, "dangling"))
	symlink(t, "loop", filepath.Join(dir, "loop"))
	f := open(t, dir, folder.Limits{})
	for _, name := range []string{"file", "absolute", "up/secret.txt", "chain", "dangling", "loop", "up/root/plain.txt"} {
		for op, err := range use(t, f, name) {
			// Moving a link moves the link itself, and nothing is moved onto one.
			if err == nil && (op != "Move from" || strings.Contains(name, "/")) {
				t.Errorf("%s(%q) was not refused", op, name)
			}
			if err != nil && strings.Contains(err.Error(), "the secret") {
				t.Errorf("%s(%q) shows the secret: %v", op, name, err)
			}
		}
	}
	if got := get(t, filepath.Join(filepath.Dir(dir), "secret.txt")); got != "the secret" {
		t.Errorf("the file outside is now %q", got)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "new.txt")); err == nil {
		t.Error("a file was made outside")
	}
	_, err := f.ReadText(t.Context(), "file", folder.Lines{})
	if err == nil || !strings.Contains(err.Error(), "leads outside the allowed folder") {
		t.Errorf("reading through a link that leads out: got error %v", err)
	}
	// Walks show links and do not follow them.
	found, err := f.Find(t.Context(), ".", "**", folder.Walk{}, all)
	if err != nil || strings.Contains(strings.Join(found.Paths, " "), "secret") {
		t.Errorf("Find: got %v, %v", found.Paths, err)
	}
	m, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "secret"})
	if err != nil || len(m.List) != 0 {
		t.Errorf("Search: got %v, %v", m.List, err)
	}
}

func TestLinksInside(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"sub/a.txt": "a", "other/b.txt": "b"})
	symlink(t, "sub/a.txt", filepath.Join(dir, "link"))
	symlink(t, "sub", filepath.Join(dir, "dir"))
	symlink(t, "../other/b.txt", filepath.Join(dir, "sub", "across"))
	symlink(t, "../other/new.txt", filepath.Join(dir, "sub", "new"))
	f := open(t, dir, folder.Limits{})
	for name, want := range map[string]string{"link": "a", "dir/a.txt": "a", "dir/across": "b"} {
		if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err != nil || got != want {
			t.Errorf("ReadText(%s) = %q, %v, want %q", name, got, err, want)
		}
	}
	// Writing goes through the links and leaves them. dir/across is ../other
	// seen from sub, not from the folder that dir is in.
	for name, file := range map[string]string{"link": "sub/a.txt", "dir/across": "other/b.txt", "sub/new": "other/new.txt"} {
		if _, err := f.Write(name, "via "+name, false); err != nil {
			t.Errorf("Write(%s): %v", name, err)
			continue
		}
		if got := get(t, filepath.Join(dir, file)); got != "via "+name {
			t.Errorf("after Write(%s) %s is %q", name, file, got)
		}
		if info, err := f.Info(name); err != nil || info.Kind != "file" || info.Link == "" {
			t.Errorf("Info(%s) = %+v, %v, want a file behind a link", name, info, err)
		}
	}
	if entries, _, err := f.List("dir"); err != nil || len(entries) != 3 {
		t.Errorf("List(dir) = %v, %v", entries, err)
	}
}

func TestPathsInside(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a.txt": "a", "sub/ü 日本.txt": "u", "..dots": "d", "sub/...": "e"})
	f := open(t, dir, folder.Limits{})
	for name, want := range map[string]string{
		"a.txt": "a", "./a.txt": "a", "sub/../a.txt": "a", filepath.Join(dir, "a.txt"): "a", "sub//ü 日本.txt": "u", "..dots": "d", "sub/...": "e",
	} {
		if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err != nil || got != want {
			t.Errorf("ReadText(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{".", dir, dir + "/", "sub/.."} {
		if entries, _, err := f.List(name); err != nil || len(entries) != 3 {
			t.Errorf("List(%q) = %v, %v, want 3 entries", name, entries, err)
		}
	}
}

// TestAbsoluteThroughLink opens a folder by a link to it: paths are accepted by
// the name of the link and by the real one.
func TestAbsoluteThroughLink(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a.txt": "a"})
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, dir, link)
	f := open(t, link, folder.Limits{})
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(link, "a.txt"), filepath.Join(real, "a.txt")} {
		if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err != nil || got != "a" {
			t.Errorf("ReadText(%q) = %q, %v", name, got, err)
		}
	}
}

// TestSwappedFolder replaces the folder's name by a link to another place.
func TestSwappedFolder(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a.txt": "inside"})
	f := open(t, dir, folder.Limits{})
	other := t.TempDir()
	put(t, filepath.Join(other, "a.txt"), "the secret")
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Skipf("an open folder cannot be renamed here: %v", err)
	}
	symlink(t, other, dir)
	for _, name := range []string{"a.txt", filepath.Join(dir, "a.txt")} {
		if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err != nil || got != "inside" {
			t.Errorf("ReadText(%q) = %q, %v, want the file of the folder that was opened", name, got, err)
		}
	}
	if _, err := f.Write("a.txt", "new", false); err != nil || get(t, filepath.Join(other, "a.txt")) != "the secret" {
		t.Errorf("Write reached the other folder, or failed: %v", err)
	}
}

// TestSwappedWhileUsed swaps a folder inside for a link that leads out, over
// and over, while it is read and written.
func TestSwappedWhileUsed(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"sub/secret.txt": "harmless"})
	outside := filepath.Dir(dir)
	symlink(t, outside, filepath.Join(dir, "link"))
	f := open(t, dir, folder.Limits{})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	sub, link, spare := filepath.Join(dir, "sub"), filepath.Join(dir, "link"), filepath.Join(dir, "spare")
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = os.Rename(sub, spare)
			_ = os.Rename(link, sub)
			_ = os.Rename(sub, link)
			_ = os.Rename(spare, sub)
		}
	})
	for range 300 {
		if got, err := f.ReadText(ctx, "sub/secret.txt", folder.Lines{}); err == nil && strings.Contains(got, "the secret") {
			t.Error("the file outside was read")
			break
		}
		_, _ = f.Write("sub/new.txt", "x", false)
		m, _ := f.Search(ctx, folder.Query{Path: ".", Expression: "the secret"})
		if len(m.List) > 0 {
			t.Error("the file outside was searched")
			break
		}
	}
	stop()
	wg.Wait()
	names, err := os.ReadDir(outside)
	if err != nil || len(names) != 2 {
		t.Errorf("the parent holds %v, %v, want the folder and the secret", names, err)
	}
}

func TestErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a.txt": "a", "sub/b.txt": "b"})
	f := open(t, dir, folder.Limits{})
	_, missing := f.ReadText(t.Context(), "none.txt", folder.Lines{})
	if !errors.Is(missing, fs.ErrNotExist) || !strings.Contains(missing.Error(), "list_directory") {
		t.Errorf("a missing file: got error %v", missing)
	}
	for what, err := range map[string]error{
		"is a folder":                       second(f.ReadText(t.Context(), "sub", folder.Lines{})),
		"is not a folder":                   third(f.List("a.txt")),
		"part of the path is a file":        second(f.ReadText(t.Context(), "a.txt/b", folder.Lines{})),
		"there is no folder new for x":      second(f.Write("new/x", "", false)),
		"sub is a folder":                   second(f.Write("sub", "", false)),
		"exists and is no folder":           second(f.MakeFolder("a.txt")),
		"a.txt/x: a part of the path":       second(f.MakeFolder("a.txt/x")),
		"there is no none: see":             second(f.Edit("none", []folder.Edit{{OldText: "a"}}, false)),
		"there is no nowhere: see":          second(f.Info("nowhere")),
		"link: too many links":              loop(t, f, dir),
		"source: there is no nothing":       f.Move("nothing", "x"),
		"destination: there is no folder q": f.Move("a.txt", "q/x"),
		"destination: a.txt exists already": f.Move("sub", "a.txt"),
		"destination: sub exists already":   f.Move("a.txt", "sub"),
		"cannot be moved to a.txt":          f.Move("a.txt", "./a.txt"),
		"cannot be moved to sub/deeper":     f.Move("sub", "sub/deeper"),
		"the allowed folder itself":         f.Move(".", "x"),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got error %v, want one with %q", err, what)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("the error tells the absolute path: %v", err)
		}
	}
	if _, err := folder.Open(filepath.Join(dir, "none"), folder.Limits{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: got error %v", err)
	}
	if _, err := folder.Open(filepath.Join(dir, "a.txt"), folder.Limits{}); err == nil {
		t.Error("Open of a file: got no error")
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := f.ReadText(t.Context(), "a.txt", folder.Lines{}); err == nil {
		t.Error("reading after Close: got no error")
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

func loop(t *testing.T, f *folder.Folder, dir string) error {
	t.Helper()
	symlink(t, "link", filepath.Join(dir, "link"))
	return second(f.ReadText(t.Context(), "link", folder.Lines{}))
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"closed.txt": "x", "closed/a.txt": "a", "readonly.txt": "x"})
	f := open(t, dir, folder.Limits{})
	if err := os.Chmod(filepath.Join(dir, "readonly.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	// Replacing would succeed: the folder may be written.
	if _, err := f.Write("readonly.txt", "y", false); !errors.Is(err, fs.ErrPermission) || get(t, filepath.Join(dir, "readonly.txt")) != "x" {
		t.Errorf("Write of a read-only file: got error %v", err)
	}
	if os.Geteuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	for _, name := range []string{"closed.txt", "closed"} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
	}
	for _, name := range []string{"closed.txt", "closed/a.txt"} {
		if _, err := f.ReadText(t.Context(), name, folder.Lines{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("ReadText(%s): got error %v, want fs.ErrPermission", name, err)
		}
	}
	if m, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "x"}); err != nil || m.Skipped != 1 {
		t.Errorf("Search = %+v, %v, want one file skipped", m, err)
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a b%ü?#.txt": "x"})
	f := open(t, dir, folder.Limits{})
	uri, err := f.URI("a b%ü?#.txt")
	if err != nil || !strings.HasPrefix(uri, "file:///") {
		t.Fatalf("URI = %q, %v", uri, err)
	}
	name, err := folder.PathOf(uri)
	if err != nil {
		t.Fatalf("FromURI(%s): %v", uri, err)
	}
	if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err != nil || got != "x" {
		t.Errorf("reading %s: %q, %v", name, got, err)
	}
	if _, err := f.URI("../x"); err == nil {
		t.Error("URI of a path outside: got no error")
	}
	for _, uri := range []string{"", "http://x/a", "file://host/a", "file:", "file:///%zz", "a.txt", "file:a"} {
		if name, err := folder.PathOf(uri); err == nil {
			t.Errorf("FromURI(%q) = %q, want an error", uri, name)
		}
	}
}

func TestInfoAndFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{".hidden": "", "a.md": "# a", "b": "text", "c": "\x00\x01", "sub/d.txt": ""}
	for i := range 10 {
		files[fmt.Sprintf("z%d.log", i)] = ""
	}
	f := open(t, fixture(t, files), folder.Limits{})
	for name, want := range map[string]string{"a.md": "text/markdown", "b": "text/plain", "c": "application/octet-stream", "sub": ""} {
		info, err := f.Info(name)
		if err != nil || info.MIMEType != want || info.Size != int64(len(files[name])) && name != "sub" || info.Modified.IsZero() {
			t.Errorf("Info(%s) = %+v, %v, want type %q", name, info, err, want)
		}
	}
	list, err := f.Files(5)
	if err != nil || len(list) != 5 || list[0].Path != "a.md" || list[0].MIMEType != "text/markdown" || list[0].Size != 3 {
		t.Errorf("Files = %+v, %v", list, err)
	}
}
