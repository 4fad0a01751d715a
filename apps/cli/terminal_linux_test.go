package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/ferrymcp/ferry/apps/cli"
	"github.com/ferrymcp/ferry/mcptest"
)

// onTerminal runs the command line on a terminal of 60 columns and returns what
// it shows there.
func onTerminal(t *testing.T, args ...string) (shown string, code int) {
	t.Helper()
	return typing(t, "", args...)
}

// typing is onTerminal with somebody who types, unless there is nothing to type.
func typing(t *testing.T, text string, args ...string) (shown string, code int) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer control.Close()
	fd := int(control.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&out, control) }) // ends with an error when the terminal is closed
	var in io.Reader = strings.NewReader("")
	if text != "" {
		in = terminal
		if _, err := control.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	code = cli.Main(t.Context(), args, in, terminal, terminal)
	_ = terminal.Close()
	reading.Wait()
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), code
}

// TestTerminal shows what is different for people.
func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	url := mcptest.Serve(t, newDemo(), nil)
	for _, tt := range []struct {
		name    string
		noColor bool
		args    []string
		code    int
		want    []string
		not     []string
	}{
		{
			name: "list", args: []string{"ls", url},
			want: []string{"\x1b[1mtools (10)\x1b[0m\n", "\x1b[1m  types     \x1b[0m  Tells what it got.\n"},
		},
		{
			name: "list without colour", noColor: true, args: []string{"ls", url},
			want: []string{"tools (10)\n"}, not: []string{"\x1b["},
		},
		{
			name: "wrapped", noColor: true, args: []string{"ls", "files", "tools"},
			want: []string{"move_file                  Moves or renames a file or\n                           folder. It fails if "},
		},
		{
			name: "long", noColor: true, args: []string{"ls", "files", "tools", "-l"},
			want: []string{"    Makes a file, or replaces the whole content of one that\n    is there, "},
		},
		{
			name: "narrow names", noColor: true, args: []string{"ls", "files", "templates"},
			want: []string{"file:///{+path}  A file in "},
		},
		{
			name: "control characters", args: []string{"call", url, "escape"},
			want: []string{"[31mred\n"}, not: []string{"\x1b[31m"},
		},
		{
			name: "progress", args: []string{"call", url, "steps", "--log-level", "info"},
			want: []string{"\r\x1b[K50% halfway", "\r\x1b[K2 there", "\x1b[2m[info] steps: a message\x1b[0m\n", "done\n"},
		},
		{
			name: "json", args: []string{"call", url, "structured", "--json"},
			want: []string{"{\n  \"_meta\": {", "\n  \"structuredContent\": {\n    \"n\": 1\n  }\n}\n"},
		},
		{
			name: "messages", args: []string{"prompt", url, "greet", "who=Ann", "how=loudly"},
			want: []string{"\x1b[1muser:\x1b[0m\nGreet Ann\n\x1b[1massistant:\x1b[0m\nHello loudly\n"},
		},
		{
			name: "error", args: []string{"call", url, "typs"}, code: 2,
			want: []string{"\x1b[31mferry: ", "Did you mean types?\n"},
		},
		{
			name: "trace", args: []string{"ping", url, "-n", "1", "--trace"},
			want: []string{" http -->\x1b[0m {", " http <--\x1b[0m {"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.noColor {
				t.Setenv("NO_COLOR", "1")
			}
			got, code := onTerminal(t, tt.args...)
			if code != tt.code {
				t.Errorf("ferry %q: exit code %d, want %d", tt.args, code, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("ferry %q: got %q, want %q in it", tt.args, got, want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(got, not) {
					t.Errorf("ferry %q: got %q, want no %q in it", tt.args, got, not)
				}
			}
			if tt.noColor {
				for line := range strings.Lines(got) {
					if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 60 {
						t.Errorf("ferry %q: a line has %d columns, want at most 60: %q", tt.args, n, line)
					}
				}
			}
		})
	}
}
