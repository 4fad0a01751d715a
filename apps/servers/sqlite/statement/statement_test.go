package statement_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/sqlite/statement"
)

// FuzzParse reads statements: what is returned is the beginning of the text, and the
// same statement when it is read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1;", "select 'a''b', \"c\"\"d\", [e], `f``g` -- h\n /* i */ ; ", "x'00' || 1e5 ? :a @b $c", ";;", "'", "\x00", "\ufeffa\u00a0b", "/*", "a;b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s, text, err := statement.Parse(sql)
		if err != nil {
			return
		}
		if len(s) == 0 || !strings.HasPrefix(sql, text) {
			t.Fatalf("parse(%q) = %v, %q", sql, s, text)
		}
		again, same, err := statement.Parse(text)
		if err != nil || same != text || !slices.Equal(again, s) {
			t.Fatalf("parse(%q) = %v, but parse(%q) = %v, %q, %v", sql, s, text, again, same, err)
		}
		_ = s.Check()
	})
}
