package files_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/files"
	"github.com/ferrymcp/ferry/apps/servers/files/folder"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

const png = "\x89PNG\r\n\x1a\n\x00"

// connect serves a folder of files over a pipe and returns a client's session.
func connect(t *testing.T, dir string, opts *files.Options, revision string) *client.Session {
	t.Helper()
	var o files.Options
	if opts != nil {
		o = *opts
	}
	o.Folders = []string{dir}
	return connectTo(t, &o, revision)
}

// connectTo serves folders of files over a pipe and returns a client's session.
func connectTo(t *testing.T, opts *files.Options, revision string) *client.Session {
	t.Helper()
	return connectAs(t, opts, &client.Options{Revision: revision})
}

func connectAs(t *testing.T, opts *files.Options, as *client.Options) *client.Session {
	t.Helper()
	srv, err := files.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(srv.Close(), srv.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return mcptest.Pair(t, srv.Server, as)
}

// fixture makes a folder with a few files.
func fixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "empty.txt": "", "pic.png": png, "snd.wav": "RIFF\x00", "data.bin": "\x00\x01",
		"sub/b.go": "package b\n", "sub/deep/<c>.md": "# c\n", ".hidden": "x", "fence.md": "```\nx\n```\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "void"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// call calls a tool and returns its text blocks.
func call(t *testing.T, sess *client.Session, tool, arguments string) (texts []string, result *mcp.CallToolResult) {
	t.Helper()
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	for _, c := range result.Content {
		texts = append(texts, c.Text)
	}
	return texts, result
}

func TestTools(t *testing.T) {
	t.Parallel()
	readers := []string{
		"directory_tree", "get_file_info", "list_allowed_directories", "list_directory",
		"list_directory_with_sizes", "read_text_file", "read_file", "read_media_file", "read_multiple_files", "search_files", "search_text",
	}
	for _, tt := range []struct {
		opts *files.Options
		want []string
	}{
		{nil, append([]string{"create_directory", "edit_file", "move_file", "write_file"}, readers...)},
		{&files.Options{ReadOnly: true}, readers},
	} {
		sess := connect(t, fixture(t), tt.opts, "")
		var got []string
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tool.Name)
			a := tool.Annotations
			if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint {
				t.Errorf("annotations of %s are %+v", tool.Name, a)
			} else if reader := slices.Contains(readers, tool.Name); a.ReadOnlyHint != reader || *a.DestructiveHint == (reader || tool.Name == "create_directory") {
				t.Errorf("annotations of %s are %+v", tool.Name, a)
			}
			if tool.Description == "" || tool.Title == "" {
				t.Errorf("%s has no title or description", tool.Name)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("tools with %+v (-want +got):\n%s", tt.opts, diff)
		}
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	sess := connect(t, dir, &files.Options{Limits: folder.Limits{Results: 6, Text: 40}}, "")
	abs, _ := json.Marshal(filepath.Join(dir, "a.txt"))
	tests := []struct {
		tool, arguments string
		want            []string
	}{
		{"read_file", `{"path":"a.txt"}`, []string{"one\ntwo\nthree\n"}},
		{"read_file", `{"path":` + string(abs) + `}`, []string{"one\ntwo\nthree\n"}},
		{"read_text_file", `{"path":"a.txt","head":1}`, []string{"one"}},
		{"read_file", `{"path":"a.txt","tail":1}`, []string{"three\n"}},
		{"read_file", `{"path":"a.txt","offset":2,"limit":1}`, []string{"two\n"}},
		{"read_file", `{"path":"empty.txt"}`, []string{""}},
		{"read_multiple_files", `{"paths":["a.txt","none","sub/b.go","a.txt","a.txt"]}`, []string{
			"a.txt:\none\ntwo\nthree\n\n\n---\nnone: Error - there is no none: see what there is with list_directory or search_files" +
				"\n---\nsub/b.go:\npackage b\n\n\n---\na.txt:\none\ntwo\nthree\n\n" +
				"\n---\na.txt: Error - too much for one call together with the files before it: read it in a call of its own",
		}},
		{"list_directory", `{"path":"sub"}`, []string{"[FILE] b.go\n[DIR] deep"}},
		{"list_directory", `{"path":"void"}`, []string{"", "The folder is empty."}},
		{"list_directory", `{"path":"."}`, []string{
			"[FILE] .hidden\n[FILE] a.txt\n[FILE] data.bin\n[FILE] empty.txt\n[FILE] fence.md\n[FILE] pic.png",
			"… 3 more: use search_files with a pattern to see them",
		}},
		{"directory_tree", `{"path":"sub"}`, []string{"[\n  {\n    \"name\": \"b.go\",\n    \"type\": \"file\"\n  },\n  {\n    \"name\": \"deep\",\n    \"type\": \"directory\",\n" +
			"    \"children\": [\n      {\n        \"name\": \"<c>.md\",\n        \"type\": \"file\"\n      }\n    ]\n  }\n]"}},
		{"search_files", `{"path":".","pattern":"**/*.md"}`, []string{dir + "/fence.md\n" + dir + "/sub/deep/<c>.md"}},
		{"search_files", `{"path":".","pattern":"**/*.md","excludePatterns":["sub"]}`, []string{dir + "/fence.md"}},
		{"search_files", `{"path":".","pattern":"*.zip"}`, []string{"No matches found"}},
		{"search_files", `{"path":".","pattern":"**"}`, []string{
			dir + strings.Join([]string{"/.hidden", "/a.txt", "/data.bin", "/empty.txt", "/fence.md", "/pic.png"}, "\n"+dir),
			"… 6 more: narrow the pattern or choose a folder further down",
		}},
		{"search_text", `{"path":".","pattern":"T\\w+e","ignoreCase":true,"include":"*.txt"}`, []string{"a.txt:3: three"}},
		{"search_text", `{"path":".","pattern":"nothing of this"}`, []string{"No matches found", "3 files were passed over: they are not text, too large or cannot be read."}},
		{"search_text", `{"path":"a.txt","pattern":".","maxResults":2}`, []string{
			"a.txt:1: one\na.txt:2: two",
			"… there are more: only the first 2 are shown. Narrow the expression or the folder.",
		}},
		{"list_allowed_directories", `{}`, []string{"Allowed directories:\n" + dir}},
	}
	for _, tt := range tests {
		got, result := call(t, sess, tt.tool, tt.arguments)
		if diff := cmp.Diff(tt.want, got); diff != "" || result.IsError {
			t.Errorf("%s %s: error %t (-want +got):\n%s", tt.tool, tt.arguments, result.IsError, diff)
		}
		var structured struct{ Content string }
		if err := json.Unmarshal(result.StructuredContent, &structured); err != nil || structured.Content != tt.want[0] {
			t.Errorf("%s %s: structured content is %s, %v", tt.tool, tt.arguments, result.StructuredContent, err)
		}
	}
	got, _ := call(t, sess, "get_file_info", `{"path":"pic.png"}`)
	for _, want := range []string{"size: 9\n", "isFile: true\n", "permissions: 644", "mimeType: image/png"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("get_file_info has no %q:\n%s", want, got[0])
		}
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	sess := connect(t, fixture(t), nil, "")
	for name, want := range map[string]mcp.Content{
		"pic.png": mcp.Image([]byte(png), "image/png"),
		"snd.wav": mcp.Audio([]byte("RIFF\x00"), "audio/wav"),
	} {
		_, result := call(t, sess, "read_media_file", fmt.Sprintf(`{"path":%q}`, name))
		if diff := cmp.Diff([]mcp.Content{want}, result.Content); diff != "" {
			t.Errorf("read_media_file %s (-want +got):\n%s", name, diff)
		}
	}
	_, result := call(t, sess, "read_media_file", `{"path":"data.bin"}`)
	if r := result.Content[0].Resource; r == nil || string(r.Blob) != "\x00\x01" || !strings.HasSuffix(r.URI, "/data.bin") {
		t.Errorf("read_media_file data.bin gave %+v", result.Content[0])
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	head := func(fence, name string) string {
		name = filepath.Join(dir, name)
		return fence + "diff\nIndex: " + name + "\n" + strings.Repeat("=", 67) + "\n--- " + name + "\toriginal\n+++ " + name + "\tmodified\n"
	}
	sess := connect(t, dir, nil, "")
	for _, tt := range []struct {
		tool, arguments string
		want            []string
	}{
		{"write_file", `{"path":"new.txt","content":"é"}`, []string{"Successfully wrote to new.txt"}},
		{"write_file", `{"path":"new.txt","content":""}`, []string{"Successfully wrote to new.txt"}},
		{"write_file", `{"path":"x/y/z.txt","content":"z","createParents":true}`, []string{"Successfully wrote to x/y/z.txt"}},
		{
			"edit_file", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}],"dryRun":true}`,
			[]string{head("```", "a.txt") + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n```\n\n", "The file was not changed: this is what would change."},
		},
		{
			"edit_file", `{"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]}`,
			[]string{head("```", "a.txt") + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n```\n\n"},
		},
		{
			"edit_file", `{"path":"fence.md","edits":[{"oldText":"x","newText":"y"}]}`,
			[]string{head("````", "fence.md") + "@@ -1,3 +1,3 @@\n ```\n-x\n+y\n ```\n````\n\n"},
		},
		{"edit_file", `{"path":"a.txt","edits":[{"oldText":"one","newText":"one"}]}`, []string{head("```", "a.txt") + "```\n\n"}},
		{"create_directory", `{"path":"p/q"}`, []string{"Successfully created directory p/q"}},
		{"create_directory", `{"path":"p/q"}`, []string{"Successfully created directory p/q"}},
		{"move_file", `{"source":"new.txt","destination":"p/q/moved.txt"}`, []string{"Successfully moved new.txt to p/q/moved.txt"}},
	} {
		got, result := call(t, sess, tt.tool, tt.arguments)
		if diff := cmp.Diff(tt.want, got); diff != "" || result.IsError {
			t.Errorf("%s %s: error %t (-want +got):\n%s", tt.tool, tt.arguments, result.IsError, diff)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "one\n2\nthree\n" {
		t.Errorf("a.txt is %q, %v", b, err)
	}
}

// TestErrors checks that every tool refuses in words for a model.
func TestErrors(t *testing.T) {
	t.Parallel()
	sess := connect(t, fixture(t), nil, "")
	for _, tt := range []struct{ tool, arguments, want string }{
		{"read_file", `{"path":"../x"}`, "path outside allowed directories"},
		{"read_file", `{"path":"pic.png"}`, "read_media_file"},
		{"read_file", `{"path":1}`, "path"},
		{"read_media_file", `{"path":"/etc/passwd"}`, "path outside allowed directories"},
		{"read_multiple_files", `{"paths":[]}`, "at least 1"},
		{"read_multiple_files", `{"paths":["` + strings.Repeat(`a","`, 1001) + `"]}`, "at most 1000"},
		{"list_directory", `{"path":"a.txt"}`, "is not a folder"},
		{"directory_tree", `{"path":"none"}`, "there is no none"},
		{"get_file_info", `{"path":""}`, "the path is empty"},
		{"search_files", `{"path":".","pattern":"["}`, "not a valid pattern"},
		{"search_text", `{"path":".","pattern":"("}`, "RE2"},
		{"write_file", `{"path":"no/x","content":""}`, "create_directory"},
		{"edit_file", `{"path":"a.txt","edits":[{"oldText":"zzz","newText":""}]}`, "could not find exact match"},
		{"create_directory", `{"path":"a.txt"}`, "is no folder"},
		{"move_file", `{"source":"a.txt","destination":"empty.txt"}`, "exists already"},
	} {
		got, result := call(t, sess, tt.tool, tt.arguments)
		if !result.IsError || len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s %s: error %t, %q, want an error with %q", tt.tool, tt.arguments, result.IsError, got, tt.want)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "RES-SEC-TRAVERSAL")
	for _, revision := range []string{"2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			dir := fixture(t)
			sess := connect(t, dir, nil, revision)
			if sess.Revision() != revision {
				t.Fatalf("the session has revision %s, want %s", sess.Revision(), revision)
			}
			uris := map[string]string{}
			for r, err := range sess.Resources(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				uris[r.Name] = r.URI
			}
			if len(uris) != 6 || uris["a.txt"] == "" {
				t.Fatalf("resources are %v, want the 6 plain files of the folder itself", uris)
			}
			for r, err := range sess.ResourceTemplates(t.Context()) {
				if err != nil || r.URITemplate != "file:///{+path}" {
					t.Errorf("template %+v, %v", r, err)
				}
			}
			base := strings.TrimSuffix(uris["a.txt"], "a.txt")
			for uri, want := range map[string]mcp.ResourceContents{
				uris["a.txt"]:                mcp.TextResource(uris["a.txt"], "text/plain", "one\ntwo\nthree\n"),
				uris["empty.txt"]:            mcp.TextResource(uris["empty.txt"], "text/plain", ""),
				uris["pic.png"]:              mcp.BlobResource(uris["pic.png"], "image/png", []byte(png)),
				base + "sub/deep/%3Cc%3E.md": mcp.TextResource(base+"sub/deep/%3Cc%3E.md", "text/markdown", "# c\n"),
			} {
				got, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
				if err != nil {
					t.Errorf("read %s: %v", uri, err)
					continue
				}
				if diff := cmp.Diff([]mcp.ResourceContents{want}, got.Contents); diff != "" {
					t.Errorf("read %s (-want +got):\n%s", uri, diff)
				}
			}
			for uri, want := range map[string]string{
				base + "none":                   "not found",
				"file:///etc/passwd":            "path outside allowed directories",
				base + "sub":                    "is a folder",
				base + "..%2F..%2Fetc%2Fpasswd": "path outside allowed directories",
				"http://example.com/":           "not found",
			} {
				_, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("read %s: got error %v, want one with %q", uri, err, want)
				}
			}
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := files.New(&files.Options{Folders: []string{filepath.Join(t.TempDir(), "none")}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("New over a missing folder: got error %v", err)
	}
}

func ExampleNew() {
	srv, err := files.New(&files.Options{Folders: []string{"."}, ReadOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: files
}
