package cli_test

import (
	"strings"
	"testing"
)

// TestHostileText checks that nothing a server says controls the terminal or
// passes for a line of the program's own.
func TestHostileText(t *testing.T) {
	t.Setenv("TERM", "dumb")
	url := hostile(t, map[string]string{
		"server/discover": discovery("s" + evil),
		"tools/list": `{"resultType":"complete","tools":[{"name":` + quoted("t"+evil) + `,"title":` + quoted(evil) + `,"description":` + quoted(evil) + `,` +
			`"inputSchema":{"type":"object","properties":{` + quoted("p"+evil) + `:{"type":"string","description":` + quoted(evil) + `}}}},` +
			`{"name":"t","inputSchema":{"type":"object"}}]}`,
	})
	for _, args := range [][]string{
		{"info", url},
		{"ls", url, "tools"},
		{"ls", url, "tools", "--long"},
		{"call", url, "t"},
		{"call", url, "t", "--json"},
	} {
		got, _ := onTerminal(t, args...)
		if strings.ContainsAny(got, "\x1b\x07\u009b\u202e\x7f") {
			t.Errorf("%q shows %q", args, got)
		}
		if args[0] == "info" && strings.Contains(got, "\nspoofed") || args[0] == "ls" && strings.Contains(got, "t]0;owned2J\nspoofed") {
			t.Errorf("%q shows a line of the server's: %q", args, got)
		}
	}
}
