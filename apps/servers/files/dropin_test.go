package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/apps/servers/internal/dropin"
)

type (
	object map[string]any
	list   []any
)

// differences from npm's server-filesystem; see docs/servers.md.
var differences = []dropin.Difference{
	{Where: "tools/*/description", Why: "our own words."},
	{Where: "tools/*/inputSchema/**/description", Why: "our own words."},
	{Where: "tools/search_text/**", Why: "a tool that the original does not have: it finds lines in files."},
	{Where: "tools/*/annotations/{destructiveHint,idempotentHint}", Why: "tools that only read say that they destroy nothing and may be repeated; the original leaves it to the defaults."},
	{Where: "tools/{read_file,read_text_file}/inputSchema/properties/{offset,limit}/**", Why: "more parameters: lines from the middle of a file."},
	{Where: "tools/{directory_tree,search_files}/inputSchema/properties/respectGitignore/**", Why: "one more parameter: leave out what .gitignore files say."},
	{Where: "tools/write_file/inputSchema/properties/createParents/**", Why: "one more parameter: make the folders on the way."},
	{Where: "calls/wrong*/**", Why: "errors say what to do next. What is refused is refused by both."},
	{Where: "calls/tail*/**", Why: "the last lines are the last lines: the original counts the nothing after the last line end as one, so that the last line alone is empty; line ends are left as they are."},
	{Where: "calls/several*/**", Why: "a file that cannot be read is reported in our words."},
	{Where: "calls/binary*/**", Why: "what is not text in UTF-8 is refused, with a word on read_media_file; the original puts signs of replacement into the text."},
	{Where: "calls/edit twice*/content/1", Why: "when the text of an edit occurs several times, a note says that the first one was replaced."},
	{Where: "calls/edit dry*/content/1", Why: "a note says that the file was not changed."},
	{Where: "calls/media other*/**", Why: "the types of more files are known."},
	{Where: "calls/info*/**", Why: "lines are added: the type of a file, and where a link leads. The name of the time zone is the system's."},
	{Where: "calls/empty*/content/1", Why: "a note says that the folder is empty."},
}

// twins makes two folders with the same files.
func twins(t *testing.T) (theirs, ours string) {
	t.Helper()
	made := time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)
	make := func() string {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{
			"a.txt": "one\ntwo\nthree\n", "open.txt": "one\ntwo", "crlf.txt": "a\r\nb\r\n", "empty.txt": "", ".hidden": "h",
			"pic.png": png, "snd.wav": "RIFF\x00", "data.bin": "\x00\x01\xff", "paper.pdf": "%PDF-1.7\x00", "B.md": "B", "_b.md": "```\nx\n```\n", "b2.md": "b", "b10.md": "b",
			"sub/b.go": "package b\n\nfunc main() {\n\tx := 1\n\tif x > 0 {\n\t\tx++\n\t}\n}\n", "sub/deep/<c> \"é\".md": "# c\n", "sub/deep/a.log": "l",
			"node_modules/m/index.js": "m", "node_modules/m/a.txt": "m", "many.txt": strings.Repeat("line\n", 40), "big.dat": strings.Repeat("x", 3000),
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, made, made); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"void", "links"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, target := range map[string]string{"in": "a.txt", "dirlink": "sub", "abs": filepath.Join(dir, "sub"), "links/out": "/etc/passwd", "gone": "nothing"} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	return make(), make()
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	dirA, dirB := twins(t)
	theirs := dropin.Original(t, "server-filesystem", nil, dirA)
	c := dropin.Compare(t, theirs, connectTo(t, &files.Options{Folders: []string{dirB}}, "2025-11-25"), "files", differences)
	c.Theirs, c.Ours = strings.NewReplacer(dirA, "DIR"), strings.NewReplacer(dirB, "DIR")
	c.Tools()
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	// call calls a tool with a path in each folder, and other arguments.
	call := func(name, tool, path string, more object) {
		t.Helper()
		a, b := object{}, object{}
		for key, value := range more {
			a[key], b[key] = value, value
		}
		if path != "" {
			a["path"], b["path"] = at(dirA, path), at(dirB, path)
		}
		c.Calls(name, tool, a, b)
	}
	compareReading(call)
	compareListing(call)
	compareWriting(call)
	for name, paths := range map[string][2]string{"move": {"a.txt", "sub/moved.txt"}, "move dir": {"void", "full"}, "wrong move": {"open.txt", "crlf.txt"}, "wrong move none": {"nope", "x"}, "wrong move out": {"open.txt", "../x"}} {
		c.Calls(name, "move_file", object{"source": at(dirA, paths[0]), "destination": at(dirA, paths[1])}, object{"source": at(dirB, paths[0]), "destination": at(dirB, paths[1])})
	}
	c.Calls("several", "read_multiple_files", object{"paths": list{at(dirA, "sub/moved.txt"), at(dirA, "none"), at(dirA, "open.txt")}}, object{"paths": list{at(dirB, "sub/moved.txt"), at(dirB, "none"), at(dirB, "open.txt")}})
	c.Call("relative", "read_text_file", object{"path": "open.txt", "unknown": 1})
	call("tree at last", "directory_tree", ".", nil)
	for _, name := range []string{"new.txt", "_b.md", "sub/b.go", "many.txt", "open.txt", "crlf.txt"} {
		a, errA := os.ReadFile(at(dirA, name))
		b, errB := os.ReadFile(at(dirB, name))
		if string(a) != string(b) && name != "crlf.txt" || errA != nil || errB != nil {
			t.Errorf("%s differs, %v, %v:\n theirs %q\n ours   %q", name, errA, errB, a, b)
		}
	}
}

type calling func(name, tool, path string, more object)

func compareReading(call calling) {
	for _, name := range []string{"a.txt", "open.txt", "crlf.txt", "empty.txt", ".hidden", "in", "dirlink/b.go", "abs/b.go", "sub/../a.txt"} {
		call("read "+name, "read_text_file", name, nil)
	}
	call("read old", "read_file", "a.txt", nil)
	for _, n := range []int{0, 1, 2, 3, 10} {
		for _, name := range []string{"a.txt", "open.txt", "crlf.txt", "empty.txt", "many.txt"} {
			call("head "+name, "read_text_file", name, object{"head": n})
			call("tail "+name, "read_text_file", name, object{"tail": n})
		}
	}
	call("binary", "read_text_file", "data.bin", nil)
	for _, name := range []string{"pic.png", "snd.wav", "data.bin"} {
		call("media", "read_media_file", name, nil)
	}
	call("media other", "read_media_file", "paper.pdf", nil)
	call("media other text", "read_media_file", "a.txt", nil)
	for _, path := range []string{"none", "sub", "../x", "links/out", "a.txt/b", "gone"} {
		call("wrong "+path, "read_text_file", path, nil)
	}
	call("wrong null", "read_text_file", "", object{"path": "a\x00b"})
	call("wrong both", "read_text_file", "a.txt", object{"head": 1, "tail": 1})
	call("wrong type", "read_text_file", "", object{"path": 1})
	call("wrong missing", "read_text_file", "", nil)
	call("wrong none", "read_multiple_files", "", object{"paths": list{}})
}

func compareListing(call calling) {
	for _, name := range []string{".", "sub", "dirlink", "sub/deep"} {
		call("list", "list_directory", name, nil)
		call("sizes", "list_directory_with_sizes", name, nil)
		call("sizes by size", "list_directory_with_sizes", name, object{"sortBy": "size"})
		call("tree", "directory_tree", name, nil)
	}
	call("empty", "list_directory", "void", nil)
	call("sizes of nothing", "list_directory_with_sizes", "void", nil)
	call("tree of nothing", "directory_tree", "void", nil)
	for _, exclude := range []list{{"node_modules"}, {"*.md"}, {"**/*.md"}, {"sub/deep"}, {"deep", "m"}, {"**/m/**"}, {"a.txt"}, {"sub/*"}} {
		call("tree without", "directory_tree", ".", object{"excludePatterns": exclude})
		call("search without", "search_files", ".", object{"pattern": "**", "excludePatterns": exclude})
	}
	for _, pattern := range []string{"*", "**", "*.md", "**/*.md", "**/*.{go,log}", "sub/**", "sub/*", "**/deep/**", "a.???", "[ab].txt", "nothing", "**/m", ".*", "**/a*", "!*.md", "#x", "**/[!a].*", "sub/**/b.go"} {
		call("search "+pattern, "search_files", ".", object{"pattern": pattern})
		call("search below "+pattern, "search_files", "sub", object{"pattern": pattern})
	}
	for _, name := range []string{"a.txt", "sub", "in", "big.dat"} {
		call("info "+name, "get_file_info", name, nil)
	}
	call("allowed", "list_allowed_directories", "", nil)
	for _, tool := range []string{"list_directory", "list_directory_with_sizes", "directory_tree", "get_file_info"} {
		call("wrong "+tool, tool, "none", nil)
		call("wrong outside "+tool, tool, "..", nil)
	}
}

func compareWriting(call calling) {
	call("write", "write_file", "new.txt", object{"content": "é\r\n"})
	call("write again", "write_file", "new.txt", object{"content": "new"})
	call("write through", "write_file", "dirlink/through.txt", object{"content": "t"})
	call("write empty", "write_file", "sub/empty", object{"content": ""})
	edits := func(texts ...string) object {
		var all list
		for i := 0; i < len(texts); i += 2 {
			all = append(all, object{"oldText": texts[i], "newText": texts[i+1]})
		}
		return object{"edits": all}
	}
	dry := edits("two", "2")
	dry["dryRun"] = true
	call("edit dry", "edit_file", "open.txt", dry)
	call("edit", "edit_file", "open.txt", edits("two", "2\n"))
	call("edit fence", "edit_file", "_b.md", edits("x", "y"))
	call("edit lines", "edit_file", "sub/b.go", edits("  x := 1  ", "  x := 2\n  y := 3", "if x > 0 {\n  x++\n}", "if x > 1 {\n    x--\n}"))
	call("edit nothing", "edit_file", "open.txt", edits("one", "one"))
	call("edit none", "edit_file", "open.txt", object{"edits": list{}})
	call("edit twice", "edit_file", "many.txt", edits("line\n", "first\n"))
	call("edit twice far", "edit_file", "many.txt", edits("first\nline\n", "1\n2\n3\n", "line\nline\nline\nline\nline\nline\n", ""))
	call("edit crlf", "edit_file", "crlf.txt", edits("a\nb", "a\nc"))
	call("wrong edit", "edit_file", "open.txt", edits("nothing like it", "x"))
	call("wrong edit half", "edit_file", "open.txt", edits("one", "1", "nothing like it", "x"))
	call("create", "create_directory", "p/q/r", nil)
	call("create again", "create_directory", "p/q", nil)
	call("wrong create", "create_directory", "a.txt", nil)
	call("wrong write dir", "write_file", "sub", object{"content": "x"})
	call("wrong write nowhere", "write_file", "no/where/x", object{"content": "x"})
	call("wrong write out", "write_file", "links/out", object{"content": "x"})
}
