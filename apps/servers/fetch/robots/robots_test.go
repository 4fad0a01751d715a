package robots_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/fetch/robots"
)

func TestAllows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, path string
		want             bool
	}{
		{"empty", "", "/a", true},
		{"all", "User-agent: *\nDisallow: /", "/a", false},
		{"nothing", "User-agent: *\nDisallow:", "/a", true},
		{"robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", true},
		{"longest", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true},
		{"longest, other order", "User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", false},
		{"tie", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", true},
		{"own group", "User-agent: *\nAllow: /\nUser-agent: FERRY\nDisallow: /a", "/a", false},
		{"own group alone", "User-agent: *\nDisallow: /\nUser-agent: ferry/2\nDisallow: /b", "/a", true},
		{"own group without rules", "User-agent: *\nDisallow: /\n\nUser-agent: ferry", "/a", true},
		{"another's", "User-agent: ferryman\nDisallow: /", "/a", true},
		{"merged", "User-agent: ferry\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: ferry\nDisallow: /c", "/c", false},
		{"several names", "User-agent: x\nUser-agent: ferry\nDisallow: /a", "/a", false},
		{"other lines", "User-agent: ferry\nSitemap: /x\nCrawl-delay: 3\nDisallow: /a", "/a", false},
		{"wildcard", "User-agent: *\nDisallow: /*.gif$", "/x/y.gif", false},
		{"wildcard, not at the end", "User-agent: *\nDisallow: /*.gif$", "/x/y.gif?z", true},
		{"wildcards", "User-agent: *\nDisallow: /a*b*c", "/axxbyyczz", false},
		{"parts that overlap", "User-agent: *\nDisallow: /ab*b$", "/ab", true},
		{"escapes", "User-agent: *\nDisallow: /%7eA/%c3%a4", "/~A/ä", false},
		{"escaped signs", "User-agent: *\nDisallow: /a%2A%24b", "/a*$b", false},
		{"escaped slash", "User-agent: *\nDisallow: /a%2Fb", "/a/b", true},
		{"query", "User-agent: *\nDisallow: /*?id=", "/x?id=3", false},
		{"case of paths", "User-agent: *\nDisallow: /A", "/a", true},
		{"comment, ends, mark", "\ufeffUser-agent: * # all\rDisallow : /a # no\r\n", "/a", false},
		{"no group", "Disallow: /", "/a", true},
		{"behind the limit", "User-agent: *\n#" + strings.Repeat("x", robots.MaxBytes) + "\nDisallow: /", "/a", true},
	} {
		if got := robots.Parse([]byte(tt.file), "Ferry/1.0 (x)").Allows(tt.path); got != tt.want {
			t.Errorf("%s: Allows(%q) = %t, want %t", tt.name, tt.path, got, tt.want)
		}
	}
	if !(*robots.Rules)(nil).Allows("/") {
		t.Error("no rules disallow something")
	}
}

// FuzzParse reads anything, and compares patterns with expressions that say the same.
func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*$\nAllow: /%7e", "/xa")
	f.Add("/a*b$", "/aXb")
	plain := regexp.MustCompile(`^[/*][a-z/*]*\$?$`)
	f.Fuzz(func(t *testing.T, text, path string) {
		robots.Parse([]byte(text), "ferry").Allows(path)
		if len(text) > 100 || !plain.MatchString(text) || strings.ContainsFunc(path, func(r rune) bool { return r < 'a' || r > 'z' }) {
			return
		}
		path = "/" + path
		pattern, anchored := strings.CutSuffix(text, "$")
		expr := "^" + strings.ReplaceAll(pattern, "*", ".*")
		if anchored {
			expr += "$"
		}
		got := robots.Parse([]byte("User-agent: *\nDisallow: "+text), "ferry").Allows(path)
		if want := !regexp.MustCompile(expr).MatchString(path); got != want {
			t.Errorf("Disallow: %s allows %s: %t, want %t", text, path, got, want)
		}
	})
}
