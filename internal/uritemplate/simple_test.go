package uritemplate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	library "github.com/yosida95/uritemplate/v3"

	"github.com/ferrymcp/ferry/internal/uritemplate"
)

// FuzzSimple compares what is matched here with what the library matches.
func FuzzSimple(f *testing.F) {
	for _, template := range []string{"note://{id}", "file:///{+path}", "a{x}b", "a{+x}b", "{x}", "{+x}", "a{x}aa"} {
		for _, uri := range []string{
			"note://7", "note://", "file:///a/b,c", "ab", "a1b", "abb", "abab", "a%41b", "a%4", "a%zzb", "é", "%c3%a9", "a,,b", ",", "a,b",
			"a b", "aaa", "aaaa", "aa", "file:///", "a%2Fb", "a\x00b", "a%25b", "file:///%2c,%2C",
		} {
			f.Add(template, uri)
		}
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		if strings.Count(template, "{") != 1 || len(uri) > 200 || strings.Count(uri, ",") > 100 || utf8.RuneCountInString(uri) == 1 {
			return // the library takes any one character for a variable without a value
		}
		ours, err := uritemplate.Parse(template)
		if err != nil {
			return
		}
		theirs, err := library.New(template)
		if err != nil {
			t.Fatalf("%q: %v", template, err)
		}
		vars, ok := ours.Match(uri)
		want := theirs.Match(uri)
		if ok != (want != nil) {
			t.Fatalf("%q matches %q: %v, want %v", template, uri, ok, want)
		}
		for _, name := range ours.Names() {
			value, got := vars[name]
			if got != (len(want[name].V) > 0) || value != strings.Join(want[name].V, ",") {
				t.Fatalf("%q: %s of %q is %q, %v; want %q", template, name, uri, value, got, want[name].V)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for name, template := range map[string]string{"simple": "file:///{+path}", "other": "file:///{host}/{+path}"} {
		b.Run(name, func(b *testing.B) {
			t, err := uritemplate.Parse(template)
			if err != nil {
				b.Fatal(err)
			}
			uri := "file:///" + strings.Repeat("folder/", 13) + "name"
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := t.Match(uri); !ok {
					b.Fatal("no match")
				}
			}
		})
	}
}
