package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"old.txt": "old", "run.sh": "x"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, folder.Limits{})
	for _, tt := range []struct {
		name, content string
		parents, want bool
	}{
		{"old.txt", "new", false, false},
		{"new.txt", "", false, true},
		{"a/b/ü.txt", "日本\r\n", true, true},
		{"a/b/ü.txt", "again", true, false},
		{"run.sh", "y", false, false},
		{filepath.Join(dir, "abs.txt"), "abs", false, true},
	} {
		created, err := f.Write(tt.name, tt.content, tt.parents)
		if err != nil || created != tt.want {
			t.Errorf("Write(%s) = %t, %v, want %t", tt.name, created, err, tt.want)
			continue
		}
		path := tt.name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if got := get(t, path); got != tt.content {
			t.Errorf("after Write(%s) the file is %q, want %q", tt.name, got, tt.content)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("permissions after Write are %v, %v, want those from before", info.Mode(), err)
	}
	if _, err := f.Write("p/q/r.txt", "", false); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "create_directory") {
		t.Errorf("Write into a missing folder: got error %v", err)
	}
	for _, name := range []string{"old.txt/x", "..", ".", strings.Repeat("n", 300)} {
		if _, err := f.Write(name, "", true); err == nil {
			t.Errorf("Write(%.20s): got no error", name)
		}
	}
	noLeftovers(t, dir)
}

// noLeftovers finds files that are there while another is written.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".ferry-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a": "a", "b": "b", "d/x": "x", "e/y": "y"})
	symlink(t, "nowhere", filepath.Join(dir, "dangling"))
	f := open(t, dir, folder.Limits{})
	for _, to := range []string{"b", "d", "dangling"} {
		if err := f.Move("a", to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Move onto %s: got error %v, want fs.ErrExist", to, err)
		}
	}
	if err := f.Move("d", "e"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Move of a folder onto a folder: got error %v, want fs.ErrExist", err)
	}
	for _, step := range [][2]string{{"a", "A2"}, {"A2", "d/a"}, {"d", "e/d"}, {"dangling", "e/link"}, {"e/d/x", "x"}} {
		if err := f.Move(step[0], step[1]); err != nil {
			t.Errorf("Move(%s, %s): %v", step[0], step[1], err)
		}
	}
	for name, want := range map[string]string{"b": "b", "e/d/a": "a", "e/y": "y", "x": "x"} {
		if got := get(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, "e", "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link that was moved: %v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
		t.Error("the source is still there")
	}
	if err := os.Link(filepath.Join(dir, "b"), filepath.Join(dir, "b2")); err == nil {
		if err := f.Move("b", "b2"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Move onto another name of the same file: got error %v, want fs.ErrExist", err)
		}
	}
}

// TestMoveRace lets many move to one name: one wins, the others keep theirs.
func TestMoveRace(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"0": "", "1": "", "2": "", "3": ""})
	other := open(t, dir, folder.Limits{})
	f := open(t, dir, folder.Limits{})
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i, from := range []string{"0", "1", "2", "3"} {
		wg.Go(func() {
			if i%2 == 0 {
				errs[i] = f.Move(from, "to")
			} else {
				errs[i] = other.Move(from, "to")
			}
		})
	}
	wg.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 4 {
		t.Errorf("files are %v, %v (%v), want 4: nothing is lost", left, err, errs)
	}
}

func TestMakeFolder(t *testing.T) {
	t.Parallel()
	f := open(t, fixture(t, nil), folder.Limits{})
	for _, want := range []bool{true, false} {
		if created, err := f.MakeFolder("a/b/c"); err != nil || created != want {
			t.Errorf("MakeFolder = %t, %v, want %t", created, err, want)
		}
	}
	if created, err := f.MakeFolder("."); err != nil || created {
		t.Errorf("MakeFolder(.) = %t, %v", created, err)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	type edits = []folder.Edit
	tests := []struct {
		name, before string
		edits        edits
		want, err    string
	}{
		{"one", "a\nb\nc\n", edits{{"b", "B"}}, "a\nB\nc\n", ""},
		{"in order", "a\n", edits{{"a", "b"}, {"b", "c"}}, "c\n", ""},
		{"several lines", "a\nb\nc\n", edits{{"a\nb\n", ""}}, "c\n", ""},
		{"all or none", "a\n", edits{{"a", "b"}, {"x", "y"}}, "", "edit 2: could not find exact match"},
		{"twice", "a\na\n", edits{{"a", "b"}}, "b\na\n", ""},
		{"empty", "a\n", edits{{"", "b"}}, "", "oldText is empty"},
		{"blank", "a\n", edits{{"\t\n", "b"}}, "", "could not find"},
		{"none", "a\n", nil, "a\n", ""},
		{"empty file", "", edits{{"a", "b"}}, "", "could not find"},
		{"windows", "a\r\nb\r\nc\r\n", edits{{"a\nb", "x\ny\nz"}}, "x\r\ny\r\nz\r\nc\r\n", ""},
		{"windows as it is", "a\r\nb\r\n", edits{{"a\r\nb\r\n", "x\r\n"}}, "x\r\n", ""},
		{"mixed", "a\r\nb\nc\r\n", edits{{"b\nc", "x"}}, "a\r\nx\r\n", ""},
		{"mixed, several lines", "a\r\nb\nc\n", edits{{"a\nb", "x"}}, "x\nc\n", ""},
		{"spaces at the end", "if x {  \n\ty()\n}\n", edits{{"if x {\n\ty()\n}", "z()"}}, "z()\n", ""},
		{"other indentation", "f {\n    if x {\n        y()\n    }\n}\n", edits{{"if x {\n  y()\n}", "if z {\n    w()\n}"}}, "f {\n    if z {\n      w()\n}\n}\n", ""},
		{"tabs for spaces", "f {\n\tx()\n}\n", edits{{"  x()\n", "  x()\n\n  y()\n"}}, "", "could not find"},
		{"taken away", "a\n  b\nc\n", edits{{"\tb", ""}}, "a\n  \nc\n", ""},
		{"twice but for spaces", "a\n x y\n  x y\n", edits{{"\tx y", "z"}}, "a\n z\n  x y\n", ""},
		{"last line without an end", "a\n b", edits{{"a\nb", "c\nd"}}, "c\nd", ""},
		{"the same", "a\n", edits{{"a", "a"}}, "a\n", ""},
		{"unicode", "grüß\n日本\n", edits{{"日", "月"}}, "grüß\n月本\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := fixture(t, map[string]string{"f": tt.before})
			f := open(t, dir, folder.Limits{})
			preview, previewErr := f.Edit("f", tt.edits, true)
			if got := get(t, filepath.Join(dir, "f")); got != tt.before {
				t.Fatalf("a dry run changed the file to %q", got)
			}
			diff, err := f.Edit("f", tt.edits, false)
			if !reflect.DeepEqual(diff, preview) || (err == nil) != (previewErr == nil) {
				t.Errorf("a dry run gave %+v, %v, the edit %+v, %v", preview, previewErr, diff, err)
			}
			got := get(t, filepath.Join(dir, "f"))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || got != tt.before {
					t.Errorf("Edit(%q, %q): got error %v, file %q, want error with %q", tt.before, tt.edits, err, got, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("Edit(%q, %q): got %q, %v, want %q", tt.before, tt.edits, got, err, tt.want)
			}
			if several := tt.name == "twice"; several != (len(diff.Ambiguous) > 0) {
				t.Errorf("Edit(%q, %q): ambiguous are %v", tt.before, tt.edits, diff.Ambiguous)
			}
			noLeftovers(t, dir)
		})
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"binary": "a\x00"})
	mkdir(t, filepath.Join(dir, "dir"))
	f := open(t, dir, folder.Limits{})
	for name, want := range map[string]string{"binary": "cannot be edited", "dir": "is a folder"} {
		if _, err := f.Edit(name, []folder.Edit{{OldText: "a"}}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Edit(%s): got error %v, want one with %q", name, err, want)
		}
	}
}

// TestEditsAtOnce makes many edits of one file at the same time: none is lost.
func TestEditsAtOnce(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"f": "<a>\n<b>\n<c>\n<d>\n<e>\n"})
	f := open(t, dir, folder.Limits{})
	var wg sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d", "e"} {
		wg.Go(func() {
			if _, err := f.Edit("f", []folder.Edit{{OldText: "<" + letter + ">", NewText: letter}}, false); err != nil {
				t.Errorf("edit %s: %v", letter, err)
			}
		})
	}
	wg.Wait()
	if got := get(t, filepath.Join(dir, "f")); got != "a\nb\nc\nd\ne\n" {
		t.Errorf("the file is %q", got)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	lines := func(list ...string) string { return strings.Join(list, "\n") + "\n" }
	tests := []struct{ name, old, changed, want string }{
		{"same", "a\n", "a\n", ""},
		{"one line", "a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n"},
		{"from nothing", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"end of the last line", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{
			"context", lines("1", "2", "3", "4", "5", "6", "7", "8"), lines("1", "2", "3", "4", "x", "6", "7", "8"),
			"@@ -1,8 +1,8 @@\n 1\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
		},
		{
			"two hunks", lines("a", "1", "2", "3", "4", "5", "6", "7", "8", "9", "b"), lines("A", "1", "2", "3", "4", "5", "6", "7", "8", "9", "B"),
			"@@ -1,5 +1,5 @@\n-a\n+A\n 1\n 2\n 3\n 4\n@@ -7,5 +7,5 @@\n 6\n 7\n 8\n 9\n-b\n+B\n",
		},
		{
			"one hunk", lines("a", "1", "2", "3", "4", "5", "6", "b"), lines("A", "1", "2", "3", "4", "5", "6", "B"),
			"@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n",
		},
		{"lines that stay between", lines("a", "b", "c"), lines("b", "x", "c", "d"), "@@ -1,3 +1,4 @@\n-a\n b\n+x\n c\n+d\n"},
	}
	for _, tt := range tests {
		want := "Index: f\n" + strings.Repeat("=", 67) + "\n--- f\toriginal\n+++ f\tmodified\n" + tt.want
		if got := folder.Diff("f", tt.old, tt.changed); got != want {
			t.Errorf("%s: Diff(%q, %q):\ngot\n%s\nwant\n%s", tt.name, tt.old, tt.changed, got, want)
		}
	}
	if got := folder.Diff("f", strings.Repeat("x\n", 6002), strings.Repeat("y\n", 6002)); !strings.Contains(got, "@@ -1,6002 +1,6002 @@") {
		t.Errorf("a diff of very different texts begins with %.100q", got)
	}
}

// FuzzDiff applies the diff by hand: what it keeps and adds is the new text,
// what it keeps and takes away is the old one.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, old, changed string) {
		// With as much context as there are lines the diff holds everything.
		if strings.Count(old, "\n") > 3 || strings.Count(changed, "\n") > 3 || old == changed {
			return
		}
		var before, after strings.Builder
		diff := folder.Diff("f", old, changed)
		lines := strings.SplitAfter(diff, "\n")
		for i, line := range lines[5 : len(lines)-1] {
			text := line[1:]
			if line[0] == '\\' {
				continue
			}
			if next := lines[5+i+1]; strings.HasPrefix(next, "\\ No newline") {
				text = strings.TrimSuffix(text, "\n")
			}
			if line[0] != '+' {
				before.WriteString(text)
			}
			if line[0] != '-' {
				after.WriteString(text)
			}
		}
		if before.String() != old || after.String() != changed {
			t.Errorf("Diff(%q, %q) = %q", old, changed, diff)
		}
	})
}

// FuzzPaths tries to reach a file outside.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{"../secret.txt", "link/../../secret.txt", "up/secret.txt", "//x", `..\secret.txt`, "a\x00b", "/proc/self/root"} {
		f.Add(name)
	}
	parent := f.TempDir()
	dir := filepath.Join(parent, "root")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "secret.txt"), []byte("the secret"), 0o644); err != nil {
		f.Fatal(err)
	}
	for name, target := range map[string]string{"up": "..", "link": "sub", "file": "../secret.txt"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Skip(err)
		}
	}
	root, err := folder.Open(dir, folder.Limits{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	f.Fuzz(func(t *testing.T, name string) {
		if got, err := root.ReadText(t.Context(), name, folder.Lines{}); err == nil && strings.Contains(got, "the secret") {
			t.Errorf("ReadText(%q) = %q", name, got)
		}
		if _, _, err := root.List(name); err != nil && strings.Contains(err.Error(), "secret.txt\n") {
			t.Errorf("List(%q): %v", name, err)
		}
	})
}
