package uritemplate_test

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/internal/uritemplate"
)

func parse(t testing.TB, template string) *uritemplate.Template {
	t.Helper()
	tm, err := uritemplate.Parse(template)
	if err != nil {
		t.Fatalf("Parse(%q): %v", template, err)
	}
	return tm
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		template, uri string
		want          map[string]string // nil: no match
	}{
		{"file:///logs", "file:///logs", map[string]string{}},
		{"file:///logs", "file:///logs/", nil},
		{"file:///{name}", "file:///a", map[string]string{"name": "a"}},
		{"file:///{name}", "file:///a/b", nil},
		{"file:///{name}", "file:///a%2Fb%20c", map[string]string{"name": "a/b c"}},
		{"file:///{+path}", "file:///a/b", map[string]string{"path": "a/b"}},
		{"db://{table}/{id}", "db://users/7", map[string]string{"table": "users", "id": "7"}},
		{"db://{table}/{id}", "xdb://users/7", nil},
		{"x://a{/path*}", "x://a/b/c", map[string]string{"path": "b,c"}},
		{"x://a{?q,r}", "x://a?q=1&r=2", map[string]string{"q": "1", "r": "2"}},
		{"x://a{?q,r}", "x://a?r=2&q=1", nil}, // a documented limit
		{"x://a{?q}", "x://a", map[string]string{}},
		{"x://{id:3}", "x://abc", map[string]string{"id": "abc"}},
		{"x://{id:1}/{id}", "x://a/abc", map[string]string{"id": "abc"}},
		{"x://a{#frag}", "x://a#b", map[string]string{"frag": "b"}},
		{"x://{id}", "x://\xff\x00", nil},
	}
	for _, tt := range tests {
		got, ok := parse(t, tt.template).Match(tt.uri)
		if ok != (tt.want != nil) || !maps.Equal(got, tt.want) {
			t.Errorf("Parse(%q).Match(%q) = %v, %v, want %v", tt.template, tt.uri, got, ok, tt.want)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"id": "a b/c", "q": "x&y", "unused": "1"}
	tests := []struct{ template, want string }{
		{"x://{id}", "x://a%20b%2Fc"},
		{"x://{+id}", "x://a%20b/c"},
		{"x://{id:3}{?q,none}", "x://a%20b?q=x%26y"},
		{"x://{none}", "x://"},
	}
	for _, tt := range tests {
		tm := parse(t, tt.template)
		if got, err := tm.Expand(vars); got != tt.want || err != nil {
			t.Errorf("Parse(%q).Expand(%v) = %q, %v, want %q", tt.template, vars, got, err, tt.want)
		}
		if tm.Raw() != tt.template {
			t.Errorf("Raw() = %q, want %q", tm.Raw(), tt.template)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := parse(t, "x://{b}/{a}/{b}{?c*,d:3}").Names()
	if want := []string{"b", "a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, template := range []string{
		"x://{", "x://}", "x://{}", "x://{a b}", "x://{a:0}", "x://\xff",
		"x://" + strings.Repeat("{a}", 17), "x://{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}",
		"x://{a:65}", "x://{a:40}{b:40}", "x://{a:99999999999999999999}", strings.Repeat("x", uritemplate.MaxTemplate+1),
	} {
		if _, err := uritemplate.Parse(template); err == nil {
			t.Errorf("Parse(%.60q) succeeds, want an error", template)
		}
	}
	if vars, ok := parse(t, "x://{+a}").Match("x://" + strings.Repeat("a", uritemplate.MaxURI)); ok {
		t.Errorf("Match of a URI over the bound = %d variables, want no match", len(vars))
	}
}

// The worst templates and URIs within bounds, or just outside them.
// What takes time is memory; that can be measured while the machine is busy.
func TestWorstCase(t *testing.T) { // not parallel: it counts the allocations of the process
	tests := []struct{ template, uri string }{
		{strings.Repeat("{+a}", uritemplate.MaxVariables) + "!", strings.Repeat("a", uritemplate.MaxURI)},
		{"{a}", strings.Repeat(",", 8192)},
		{"{/a*}", strings.Repeat("/", 8192)},
		{"{/a*}", strings.Repeat("/", 250) + strings.Repeat("a", 7000)},
		{"{?a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p}", "?a=" + strings.Repeat(",", 250) + strings.Repeat("a", 7000)},
		{"{+a:64}", strings.Repeat(strings.Repeat("a", 31)+",", 250)},
		{"{+a:4,b:4,c:4,d:4,e:4,f:4,g:4,h:4,i:4,j:4,k:4,l:4,m:4,n:4,o:4,p:4}", strings.Repeat("aaa,", 250)},
	}
	for _, tt := range tests {
		template := parse(t, tt.template)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		template.Match(tt.uri)
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 4_000_000 {
			t.Errorf("Parse(%q).Match of %d bytes allocates %d times", tt.template, len(tt.uri), n)
		} else {
			t.Logf("%q: %d", tt.template, n)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	tm := parse(t, "x://{a}/{b}")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, ok := tm.Match("x://1/2"); !ok || got["a"] != "1" || got["b"] != "2" {
					t.Errorf("Match = %v, %v", got, ok)
				}
				if got, err := tm.Expand(map[string]string{"a": "1"}); got != "x://1/" || err != nil {
					t.Errorf("Expand = %q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTemplate(f *testing.F) {
	f.Add("x://{a}/{b:3}{?c*}", "x://1/2?c=3")
	f.Add("{+a}{#b,c}{.d}{;e}{&f}", "a#b,c.d;e=1&f=2")
	f.Fuzz(func(t *testing.T, template, uri string) {
		tm, err := uritemplate.Parse(template)
		if err != nil {
			return
		}
		vars, ok := tm.Match(uri)
		if !ok {
			return
		}
		for name := range vars {
			if !slices.Contains(tm.Names(), name) {
				t.Errorf("Parse(%q).Match(%q) has variable %q, not in %v", template, uri, name, tm.Names())
			}
		}
		if _, err := tm.Expand(vars); err != nil {
			t.Logf("Expand: %v", err)
		}
	})
}
