package folder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
)

var project = map[string]string{
	"main.go": "package main\n\nfunc main() {}\n", "README.md": "# Main\r\nmain\r\n", ".hidden": "main",
	"pkg/a.go": "package pkg", "pkg/a_test.go": "package pkg", "pkg/deep/b.go": "", "node_modules/x/index.go": "main",
	"logs/1.log": "", "ü/日本.go": "// main: 日本",
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := open(t, fixture(t, project), folder.Limits{})
	tests := []struct {
		start, pattern string
		exclude        []string
		want           []string
	}{
		{".", "*.go", nil, []string{"main.go"}},
		{".", "**/*.go", nil, []string{"main.go", "node_modules/x/index.go", "pkg/a.go", "pkg/a_test.go", "pkg/deep/b.go", "ü/日本.go"}},
		{".", "**/*.go", []string{"node_modules", "**/*_test.go"}, []string{"main.go", "pkg/a.go", "pkg/deep/b.go", "ü/日本.go"}},
		{".", "**/*.go", []string{"pkg/**", "**/x"}, []string{"main.go", "ü/日本.go"}},
		{"pkg", "*.go", nil, []string{"pkg/a.go", "pkg/a_test.go"}},
		{"pkg", "**/b.go", nil, []string{"pkg/deep/b.go"}},
		{".", "{pkg,logs}/*", []string{"**/*.log"}, []string{"pkg/a.go", "pkg/a_test.go", "pkg/deep"}},
		{".", "*", []string{"*o*"}, []string{".hidden", "README.md", "pkg", "ü"}},
		{".", "none", nil, nil},
	}
	for _, tt := range tests {
		got, err := f.Find(t.Context(), tt.start, tt.pattern, folder.Walk{Exclude: tt.exclude}, all)
		if err != nil {
			t.Errorf("Find(%s, %s, %v): %v", tt.start, tt.pattern, tt.exclude, err)
		}
		if diff := cmp.Diff(tt.want, got.Paths); diff != "" || got.More != 0 || got.Cut != "" {
			t.Errorf("Find(%s, %s, %v) = %+v (-want +got):\n%s", tt.start, tt.pattern, tt.exclude, got, diff)
		}
	}
	for pattern, want := range map[string]string{
		"": "the pattern is empty", "[": "is not a valid pattern", strings.Repeat("a", 2000): "over 1024 bytes", strings.Repeat("{a,b}", 9): "over 8 braces",
		strings.Repeat("{"+strings.Repeat(",", 100)+"}", 8) + "z": "over 256 patterns", "{{a,b,c},{a,b,c},{a,b,c},{a,b,c},{a,b,c},{a,b,c}}": "over 256 patterns",
	} {
		if _, err := f.Find(t.Context(), ".", pattern, folder.Walk{}, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%.20q): got error %v, want one with %q", pattern, err, want)
		}
		if _, err := f.Find(t.Context(), ".", "*", folder.Walk{Exclude: []string{pattern}}, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find without %.20q: got error %v, want one with %q", pattern, err, want)
		}
		if pattern == "" {
			continue
		}
		if _, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "x", Include: pattern}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Search in %.20q: got error %v, want one with %q", pattern, err, want)
		}
	}
	if _, err := f.Find(t.Context(), ".", `[{,]\{,*,{go,md}`, folder.Walk{}, all); err != nil {
		t.Errorf("Find with braces that are none: %v", err)
	}
	if _, err := f.Find(t.Context(), ".", "*", folder.Walk{Exclude: make([]string, 101)}, all); err == nil || !strings.Contains(err.Error(), "over 100 patterns") {
		t.Errorf("Find without 101 patterns: got error %v", err)
	}
	if _, err := f.Find(t.Context(), "main.go", "*", folder.Walk{}, all); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("Find in a file: got error %v", err)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("é", 500) + "needle" + strings.Repeat("é", 500)
	files := map[string]string{"wide": wide, "binary": "main\x00"}
	maps.Copy(files, project)
	f := open(t, fixture(t, files), folder.Limits{})
	tests := []struct {
		query folder.Query
		want  []string
	}{
		{
			folder.Query{Path: ".", Expression: "main", Walk: folder.Walk{Exclude: []string{"node_modules"}}},
			[]string{".hidden:1:main", "README.md:2:main", "main.go:1:package main", "main.go:3:func main() {}", "ü/日本.go:1:// main: 日本"},
		},
		{folder.Query{Path: ".", Expression: "^main$", IgnoreCase: true, Include: "*.md"}, []string{"README.md:2:main"}},
		{folder.Query{Path: ".", Expression: "MAIN", IgnoreCase: true, Include: "*.md"}, []string{"README.md:1:# Main", "README.md:2:main"}},
		{folder.Query{Path: ".", Expression: `日.`, Include: "ü/*.go"}, []string{"ü/日本.go:1:// main: 日本"}},
		{folder.Query{Path: "pkg/a.go", Expression: `pk\w`}, []string{"pkg/a.go:1:package pkg"}},
		{folder.Query{Path: "pkg", Expression: `package`}, []string{"pkg/a.go:1:package pkg", "pkg/a_test.go:1:package pkg"}},
		{folder.Query{Path: ".", Expression: "absent"}, nil},
	}
	for _, tt := range tests {
		got, err := f.Search(t.Context(), tt.query)
		if err != nil {
			t.Errorf("Search(%+v): %v", tt.query, err)
		}
		var lines []string
		for _, m := range got.List {
			lines = append(lines, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
		}
		if diff := cmp.Diff(tt.want, lines); diff != "" {
			t.Errorf("Search(%+v) (-want +got):\n%s", tt.query, diff)
		}
	}

	got, err := f.Search(t.Context(), folder.Query{Path: "wide", Expression: "needle"})
	if err != nil || len(got.List) != 1 || len(got.List[0].Text) > 420 || !strings.Contains(got.List[0].Text, "needle") ||
		!strings.HasPrefix(got.List[0].Text, "…é") || !strings.HasSuffix(got.List[0].Text, "é…") {
		t.Errorf("a match in a long line: %+v, %v", got, err)
	}
	got, err = f.Search(t.Context(), folder.Query{Path: ".", Expression: "main"})
	if err != nil || got.Skipped != 1 {
		t.Errorf("a binary file was not counted as skipped: %+v, %v", got, err)
	}
	for _, path := range []string{".", "main.go"} {
		got, err = f.Search(t.Context(), folder.Query{Path: path, Expression: "main", Results: 1})
		if err != nil || len(got.List) != 1 || !got.Full {
			t.Errorf("Search(%s) for one line: %+v, %v", path, got, err)
		}
	}
	for expression, want := range map[string]string{"": "is empty", "(": "is not valid", `(?=a)`: "no lookaround", strings.Repeat("a", 2000): "over 1024", strings.Repeat("(a?){1000}", 20): "costs too much"} {
		if _, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: expression}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Search(%.20q): got error %v, want one with %q", expression, err, want)
		}
	}
	if _, err := f.Search(t.Context(), folder.Query{Path: "none", Expression: "a"}); err == nil {
		t.Error("Search in nothing: got no error")
	}
}

// One line of a file can be work for minutes.
func TestSearchIsCancelledInsideALine(t *testing.T) {
	t.Parallel()
	f := open(t, fixture(t, map[string]string{"line": strings.Repeat("é", 1<<20) + "b"}), folder.Limits{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := f.Search(ctx, folder.Query{Path: "line", Expression: "(?:é?){900}c"})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("got error %v after %v, want the deadline's after little time", err, time.Since(began))
	}
	got, err := f.Search(t.Context(), folder.Query{Path: "line", Expression: "é[b-d](?:x{0,5}){0,5}"})
	if err != nil || len(got.List) != 1 || !strings.HasSuffix(got.List[0].Text, "éb") {
		t.Errorf("a match at the end of a long line: %+v, %v", got, err)
	}
}

func TestTreeAndList(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"b/c/d.txt": "", "b/skip/x": "", "a.txt": ""})
	mkdir(t, filepath.Join(dir, "empty"))
	symlink(t, "b", filepath.Join(dir, "link"))
	f := open(t, dir, folder.Limits{})
	text, more, cut, err := f.Tree(t.Context(), ".", folder.Walk{Exclude: []string{"skip"}})
	if err != nil || more != 0 || cut != "" {
		t.Fatalf("Tree: %d more, cut %q, %v", more, cut, err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, []byte(text)); err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"a.txt","type":"file"},{"name":"b","type":"directory","children":[{"name":"c","type":"directory","children":[{"name":"d.txt","type":"file"}]}]},` +
		`{"name":"empty","type":"directory","children":[]},{"name":"link","type":"file"}]`
	if got.String() != want {
		t.Errorf("Tree:\ngot  %s\nwant %s", got.String(), want)
	}
	entries, _, err := f.List(".")
	wantEntries := []folder.Entry{{Name: "a.txt"}, {Name: "b", Type: os.ModeDir}, {Name: "empty", Type: os.ModeDir}, {Name: "link", Type: os.ModeSymlink}}
	if diff := cmp.Diff(wantEntries, entries, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 25 {
		files[fmt.Sprintf("f%02d.txt", i)] = "x\nx\n"
	}
	dir := fixture(t, files)
	mkdir(t, filepath.Join(dir, strings.Repeat("d/", 120)))
	f := open(t, dir, folder.Limits{Results: 10})
	if got, more, err := f.List("."); err != nil || len(got) != 10 || more != 16 {
		t.Errorf("List = %d entries, %d more, %v, want 10, 16", len(got), more, err)
	}
	if got, err := f.Find(t.Context(), ".", "*.txt", folder.Walk{}, all); err != nil || len(got.Paths) != 10 || got.More != 15 {
		t.Errorf("Find = %d paths, %d more, %v, want 10, 15", len(got.Paths), got.More, err)
	} else if !strings.Contains(string(got.Cut), "more than 100 deep") {
		t.Errorf("Find in a deep folder: cut is %q", got.Cut)
	}
	if text, more, _, err := f.Tree(t.Context(), ".", folder.Walk{}); err != nil || more != 100+25-10 || strings.Count(text, "name") != 10 {
		t.Errorf("Tree = %s, %d more, %v", text, more, err)
	}
	if got, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "x", Results: 99}); err != nil || len(got.List) != 10 || !got.Full {
		t.Errorf("Search = %d lines, full %t, %v, want 10, true", len(got.List), got.Full, err)
	}
	f = open(t, dir, folder.Limits{Visits: 5})
	if got, err := f.Find(t.Context(), ".", "**", folder.Walk{Exclude: []string{"d"}}, all); err != nil || !strings.Contains(string(got.Cut), "only the first 5") {
		t.Errorf("Find with 5 visits = %+v, %v", got, err)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a b.txt": "a b.txt", "日本": "日本", "a\nb": `"a\nb"`, " a": `" a"`, "a\xff": `"a\xff"`, "\x1b[31m": `"\x1b[31m"`, "": "",
	} {
		if got := folder.Quote(name); got != want {
			t.Errorf("Quote(%q) = %s, want %s", name, got, want)
		}
	}
}
