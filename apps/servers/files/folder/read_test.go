package folder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/files/folder"
)

func TestReadText(t *testing.T) {
	t.Parallel()
	five := "one\ntwo\nthree\nfour\nfive\n"
	long := strings.Repeat("x", 70<<10)
	f := open(t, fixture(t, map[string]string{
		"empty": "", "five": five, "open": "one\ntwo", "crlf": "a\r\nb\r\n", "bom": "\ufeffx\n",
		"wide": long + "\n" + long + "\nend\n", "newlines": "\n\n\n", "utf8": strings.Repeat("é", sniffed), "shift": "x" + strings.Repeat("日", sniffed),
	}), folder.Limits{})
	tests := []struct {
		file  string
		lines folder.Lines
		want  string
	}{
		{"empty", folder.Lines{}, ""},
		{"empty", folder.Lines{Head: 3}, ""},
		{"empty", folder.Lines{Tail: 3}, ""},
		{"empty", folder.Lines{Offset: 1}, ""},
		{"five", folder.Lines{}, five},
		{"five", folder.Lines{Head: 2}, "one\ntwo\n"},
		{"five", folder.Lines{Head: 9}, five},
		{"five", folder.Lines{Tail: 2}, "four\nfive\n"},
		{"five", folder.Lines{Tail: 5}, five},
		{"five", folder.Lines{Tail: 9}, five},
		{"five", folder.Lines{Offset: 2, Limit: 2}, "two\nthree\n"},
		{"five", folder.Lines{Offset: 4}, "four\nfive\n"},
		{"five", folder.Lines{Limit: 1}, "one\n"},
		{"five", folder.Lines{Offset: 5, Limit: 9}, "five\n"},
		{"open", folder.Lines{Tail: 1}, "two"},
		{"open", folder.Lines{Offset: 2}, "two"},
		{"crlf", folder.Lines{}, "a\r\nb\r\n"},
		{"crlf", folder.Lines{Tail: 1}, "b\r\n"},
		{"bom", folder.Lines{}, "\ufeffx\n"},
		{"wide", folder.Lines{Offset: 3}, "end\n"},
		{"wide", folder.Lines{Tail: 2}, long + "\nend\n"},
		{"wide", folder.Lines{Head: 1}, long + "\n"},
		{"newlines", folder.Lines{Tail: 2}, "\n\n"},
		{"utf8", folder.Lines{}, strings.Repeat("é", sniffed)},
		{"shift", folder.Lines{}, "x" + strings.Repeat("日", sniffed)},
	}
	for _, tt := range tests {
		got, err := f.ReadText(t.Context(), tt.file, tt.lines)
		if err != nil || got != tt.want {
			t.Errorf("ReadText(%s, %+v) = %.100q (%d bytes), %v, want %.100q (%d bytes)", tt.file, tt.lines, got, len(got), err, tt.want, len(tt.want))
		}
	}
	for _, tt := range []struct {
		lines folder.Lines
		want  string
	}{
		{folder.Lines{Head: 1, Tail: 1}, "choose one of"},
		{folder.Lines{Head: 1, Limit: 1}, "choose one of"},
		{folder.Lines{Head: -1}, "cannot be negative"},
		{folder.Lines{Offset: 6}, "offset 6 is after the end: the file has 5 lines"},
		{folder.Lines{Offset: 100, Limit: 1}, "the file has 5 lines"},
	} {
		if _, err := f.ReadText(t.Context(), "five", tt.lines); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ReadText(five, %+v): got error %v, want one with %q", tt.lines, err, tt.want)
		}
	}
	if _, err := f.ReadText(t.Context(), "open", folder.Lines{Offset: 3}); err == nil || !strings.Contains(err.Error(), "has 2 lines") {
		t.Errorf("ReadText(open) from line 3: got error %v", err)
	}
}

// sniffed is how much of a file is looked at to tell whether it is text.
const sniffed = 8 << 10

func TestBinary(t *testing.T) {
	t.Parallel()
	png := "\x89PNG\r\n\x1a\n\x00\x00"
	f := open(t, fixture(t, map[string]string{
		"a.png": png, "latin1.txt": "caf\xe9", "late": strings.Repeat("a", sniffed) + "\xff", "later": strings.Repeat("a\n", sniffed) + "\x00",
		"cut": strings.Repeat("a", sniffed-1) + "é", "utf16.txt": "\xff\xfeh\x00i\x00",
	}), folder.Limits{Media: 100_000})
	for _, name := range []string{"a.png", "latin1.txt", "late", "utf16.txt"} {
		if got, err := f.ReadText(t.Context(), name, folder.Lines{}); err == nil || !strings.Contains(err.Error(), "read_media_file") {
			t.Errorf("ReadText(%s) = %.20q, %v, want an error that names read_media_file", name, got, err)
		}
	}
	if _, err := f.ReadText(t.Context(), "cut", folder.Lines{}); err != nil {
		t.Errorf("ReadText of a file with a character at the edge: %v", err)
	}
	for name, want := range map[string]string{"a.png": "image/png", "latin1.txt": "text/plain", "late": "text/plain", "utf16.txt": "text/plain"} {
		b, err := f.ReadBytes(name)
		if err != nil || b.MIMEType != want || b.Text() {
			t.Errorf("ReadBytes(%s): type %q, text %t, %v, want %q, no text", name, b.MIMEType, b.Text(), err, want)
		}
	}
	b, err := f.ReadBytes("a.png")
	if err != nil || string(b.Data) != png {
		t.Errorf("ReadBytes(a.png) = %q, %v", b.Data, err)
	}
}

// TestHugeFile uses a file with a hole, larger than every limit.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"huge": strings.Repeat("line\n", 10_000), "small": "line\n"})
	path := filepath.Join(dir, "huge")
	if err := os.Truncate(path, 1<<33); err != nil {
		t.Skip(err)
	}
	f := open(t, dir, folder.Limits{Text: 1 << 10, Media: 1 << 20})
	for want, err := range map[string]error{
		"huge has 8 GiB, and one call returns at most 1 KiB: read it in parts": second(f.ReadText(t.Context(), "huge", folder.Lines{})),
		"ask for fewer lines": second(f.ReadText(t.Context(), "huge", folder.Lines{Head: 1000})),
		"at most 1 MiB are":   second(f.ReadBytes("huge")),
		"over 64 MiB are not": second(f.Edit("huge", []folder.Edit{{OldText: "line", NewText: "x"}}, false)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	// Its end is one line of zeros that is too long to return.
	if _, err := f.ReadText(t.Context(), "huge", folder.Lines{Tail: 1}); err == nil || !strings.Contains(err.Error(), "ask for fewer lines") {
		t.Errorf("the last line: got error %v", err)
	}
	if got, err := f.ReadText(t.Context(), "huge", folder.Lines{Offset: 5000, Limit: 2}); err != nil || got != "line\nline\n" {
		t.Errorf("lines from the middle: %q, %v", got, err)
	}
	m, err := f.Search(t.Context(), folder.Query{Path: ".", Expression: "line"})
	if err != nil || len(m.List) != 1 || m.Skipped != 1 {
		t.Errorf("Search = %d matches, %d skipped, %v, want the small file only", len(m.List), m.Skipped, err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	f := open(t, fixture(t, map[string]string{"a/b": strings.Repeat("x\n", 10_000)}), folder.Limits{})
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("reason")
	cancel(reason)
	for op, err := range map[string]error{
		"Find":          second(f.Find(ctx, ".", "**", folder.Walk{}, all)),
		"Search":        second(f.Search(ctx, folder.Query{Path: ".", Expression: "x"})),
		"Search a file": second(f.Search(ctx, folder.Query{Path: "a/b", Expression: "y|z"})),
		"head":          second(f.ReadText(ctx, "a/b", folder.Lines{Head: 2})),
		"tail":          second(f.ReadText(ctx, "a/b", folder.Lines{Tail: 2})),
	} {
		if !errors.Is(err, reason) {
			t.Errorf("%s: got error %v, want the cause of the cancellation", op, err)
		}
	}
	if _, _, _, err := f.Tree(ctx, ".", folder.Walk{}); !errors.Is(err, reason) {
		t.Errorf("Tree: got error %v, want the cause of the cancellation", err)
	}
}
