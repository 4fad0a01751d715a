package cli_test

import (
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/mcptest"
)

// TestInterview answers what servers ask, as a person at a terminal.
func TestInterview(t *testing.T) {
	t.Setenv("TERM", "dumb")
	url := mcptest.Serve(t, newAsker(), nil)
	tests := []struct {
		name, tool, typed string
		want              []string
	}{
		{
			"form", "ask", "Ann\n2\n\ntea, coffee\ny\ny\n",
			[]string{
				"The server " + url + " asks:\nWho are you?\n", "name (Your name), needed:", "How big?\n  1 s (Small)\n  2 m (Medium)\n",
				"size, one of these, needed:", "count, integer [3]:", "likes, any of these", "sure, y/n:",
				"  name: \"Ann\"\n  size: \"m\"\n  count: 3\n  likes: [\"tea\",\"coffee\"]\n  sure: true\n", "Send this?",
				`accept {"name":"Ann","size":"m","count":3,"likes":["tea","coffee"],"sure":true}`,
			},
		},
		{
			"what does not fit is asked again", "ask", "\nAnnabel\nAnn\nhuge\nLARGE\nx\n0\n7\n\nmaybe\n\n?\ny\n",
			[]string{
				"name: must have at most 5 characters", `size: must be one of "s", "m", "l"`, "count: must be a number",
				"count: must be at least 1", "sure: must be yes or no", `accept {"name":"Ann","size":"l","count":7}`,
			},
		},
		{"edited", "ask", "Ann\ns\n\n\n\ne\nBob\nm\n\n\n\ny\n", []string{`accept {"name":"Bob","size":"m","count":3}`}},
		{"declined in the end", "ask", "Ann\ns\n\n\n\nd\n", []string{"decline \n"}},
		{"declined at once", "ask", ":d\n", []string{"decline \n"}},
		{"cancelled", "ask", "Ann\n:c\n", []string{"cancel \n"}},
		{"end of input", "ask", "Ann\n\x04", []string{"cancel \n"}},
		{
			"page", "visit", "what\nyes\n",
			[]string{"Please log in.\n", "  https://login.example/start\n  at login.example\n", "Open the page now", "\naccept \n"},
		},
		{"page declined", "visit", "n\n", []string{"decline \n"}},
		{"page cancelled", "visit", "c\n", []string{"cancel \n"}},
	}
	for _, test := range tests {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(test.name+"/"+revision, func(t *testing.T) {
				got, code := typing(t, test.typed, "call", url, test.tool, "--revision", revision)
				if code != 0 {
					t.Errorf("exit code %d", code)
				}
				for _, want := range test.want {
					if !strings.Contains(got, want) {
						t.Errorf("got %q, want %q in it", got, want)
					}
				}
			})
		}
	}
}
