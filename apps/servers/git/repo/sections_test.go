package repo

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// rewrite rewrites a patch that comes in pieces.
func rewrite(patch string, piece int) string {
	var out bytes.Buffer
	s := &sections{to: &out}
	for rest := patch; rest != ""; {
		n := min(piece, len(rest))
		_, _ = s.Write([]byte(rest[:n])) // writing to memory does not fail
		rest = rest[n:]
	}
	_ = s.begin()
	return out.String()
}

// FuzzSections rewrites patches: it makes no difference in which pieces they come.
func FuzzSections(f *testing.F) {
	f.Add("diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 3)
	f.Add("diff --git \"a/\\303\\244 \\\"\" \"b/y\"\nrename from z\nrename to y\ndiff --git a/b b/b\nBinary files a/b and b/b differ\n", 7)
	f.Add("diff --git a/e b/e\nnew file mode 100644\ndiff --git", 1)
	f.Fuzz(func(t *testing.T, patch string, piece int) {
		if len(patch) > 4096 {
			return
		}
		if whole, parts := rewrite(patch, len(patch)+1), rewrite(patch, max(1, piece)); whole != parts {
			t.Errorf("%q gives %q at once and %q in pieces of %d", patch, whole, parts, piece)
		}
	})
}

// FuzzPager keeps a window of lines: it makes no difference in which pieces they come.
func FuzzPager(f *testing.F) {
	f.Add("a\nbc\n\nd", 1, 2, 5, 2)
	f.Add(strings.Repeat("x", 100), 0, 0, 10, 7)
	f.Fuzz(func(t *testing.T, text string, skip, lines, most, piece int) {
		if len(text) > 4096 {
			return
		}
		page := func(piece int) Page {
			p := &pager{window: Window{Skip: max(0, skip), Lines: max(0, lines)}, most: max(1, most)}
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				if _, err := p.Write([]byte(rest[:n])); errors.Is(err, errFull) {
					break
				}
				rest = rest[n:]
			}
			return p.page()
		}
		whole, parts := page(len(text)+1), page(max(1, piece))
		if whole != parts {
			t.Errorf("%q: got %+v at once and %+v in pieces", text, whole, parts)
		}
		if len(whole.Text) > 3*max(1, most) { // what is no text takes more room
			t.Errorf("%q: the page has %d bytes, and at most %d fit", text, len(whole.Text), most)
		}
	})
}
