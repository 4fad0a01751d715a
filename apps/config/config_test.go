package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrymcp/ferry/apps/config"
)

// env is what the tests' variables are.
var env = map[string]string{"TOKEN": "s3cret", "EMPTY": "", "PORT": "8080", "BAD": "a\nb", "NUL": "a\x00b"}

func parse(text string) (*config.Config, []config.Warning, error) {
	return config.Parse("mcp.json", []byte(text), &config.Options{
		Dir:       filepath.FromSlash("/work space"),
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
}

func messages(warnings []config.Warning) []string {
	var list []string
	for _, w := range warnings {
		list = append(list, w.String())
	}
	return list
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		servers    []config.Server
		ferry      config.Ferry
		warnings   []string
	}{
		{
			name: "the usual form, in the order of the file",
			text: `{"mcpServers": {
				"zeta": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "v", "PORT": 3000, "ON": true}},
				"alpha": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
			}}`,
			servers: []config.Server{
				{
					Name: "zeta", Kind: config.Stdio, Command: "npx", Args: []string{"-y", "server"}, Prefix: "zeta",
					Env: config.Secrets{"KEY": "v", "PORT": "3000", "ON": "true"},
				},
				{
					Name: "alpha", Kind: config.HTTP, URL: "https://example.com/mcp", Prefix: "alpha",
					Headers: config.Secrets{"Authorization": "Bearer s3cret"},
				},
			},
		},
		{
			name: "the form of VS Code, comments, trailing commas, a mark at the beginning, Windows line ends",
			text: "\ufeff{\r\n  // why\r\n  \"inputs\": [],\r\n  \"servers\": {\r\n    \"a b\": {\"type\": \"sse\", \"url\": \"http://[::1]:80/\",}, /* { */\r\n  },\r\n} // end",
			servers: []config.Server{
				{Name: "a b", Kind: config.SSE, URL: "http://[::1]:80/", Prefix: "a_b"},
			},
			warnings: []string{"mcp.json:3:3: inputs are ignored, nobody is there to be asked: use ${env:NAME} where an input is used"},
		},
		{
			name:    "kinds",
			text:    `{"mcpServers": {"a": {"type":"http","url":"http://h"}, "b": {"type":"streamable-http","url":"http://h"}, "c": {"type":"streamableHttp","url":"http://h"}, "d": {"type":"stdio","command":"d"}}}`,
			servers: []config.Server{{Name: "a", Kind: config.HTTP, URL: "http://h", Prefix: "a"}, {Name: "b", Kind: config.HTTP, URL: "http://h", Prefix: "b"}, {Name: "c", Kind: config.HTTP, URL: "http://h", Prefix: "c"}, {Name: "d", Kind: config.Stdio, Command: "d", Prefix: "d"}},
		},
		{
			name: "variables",
			text: `{"mcpServers": {"x": {"command": "${workspaceFolder}/run", "cwd": "sub", "args": [
				"${PORT}", "${env:PORT}", "${NONE:-8000}", "${EMPTY:-full}", "${EMPTY}", "${env:NONE:-a:-b}", "$${PORT}", "$PORT", "$$", "", "${workspaceFolderBasename}${/}${pathSeparator}"]}}}`,
			servers: []config.Server{{
				Name: "x", Kind: config.Stdio, Command: filepath.FromSlash("/work space") + "/run", Prefix: "x",
				Cwd:  filepath.FromSlash("/work space/sub"),
				Args: []string{"8080", "8080", "8000", "full", "", "a:-b", "${PORT}", "$PORT", "$$", "", "work space" + strings.Repeat(string(filepath.Separator), 2)},
			}},
		},
		{
			name:    "a disabled server keeps its text and needs no variable",
			text:    `{"mcpServers": {"x": {"command": "${NONE}", "disabled": true}, "y": {"url": "${NONE}", "disabled": true}}}`,
			servers: []config.Server{{Name: "x", Kind: config.Stdio, Disabled: true, Command: "${NONE}", Prefix: "x"}, {Name: "y", Kind: config.HTTP, Disabled: true, URL: "${NONE}", Prefix: "y"}},
		},
		{
			name: "prefix, timeout and tools",
			text: `{"mcpServers": {
				"a": {"command": "a", "prefix": "", "timeout": "1m30s", "tools": {"allow": ["read_*"], "deny": ["*_all"], "x": 1}},
				"b": {"command": "b", "prefix": "my.b", "timeout": 1500, "tools": ["one"]}
			}}`,
			servers: []config.Server{
				{Name: "a", Kind: config.Stdio, Command: "a", Timeout: 90 * time.Second, Tools: config.Filter{Allow: []string{"read_*"}, Deny: []string{"*_all"}}},
				{Name: "b", Kind: config.Stdio, Command: "b", Prefix: "my.b", Timeout: 1500 * time.Millisecond, Tools: config.Filter{Allow: []string{"one"}}},
			},
			warnings: []string{
				`mcp.json:2:111: server "a": unknown member "x" of "tools" is ignored`,
				`mcp.json:3:56: server "b": "timeout" without a unit is taken for milliseconds: write "1.5s"`,
			},
		},
		{
			name: "prefixes from odd names",
			text: `{"mcpServers": {"@scope/server one": {"command": "a"}, "über": {"command": "b"}, "a/b": {"command": "c"}, "a b": {"command": "d"}}}`,
			servers: []config.Server{
				{Name: "@scope/server one", Kind: config.Stdio, Command: "a", Prefix: "scope_server_one"},
				{Name: "über", Kind: config.Stdio, Command: "b", Prefix: "ber"},
				{Name: "a/b", Kind: config.Stdio, Command: "c", Prefix: "a_b"},
				{Name: "a b", Kind: config.Stdio, Command: "d", Prefix: "a_b"},
			},
			warnings: []string{`mcp.json:1:108: servers "a/b" and "a b" have the same prefix "a_b": where names are the same the first wins`},
		},
		{
			name: "ferry",
			text: `{"ferry": {"separator": "__", "listen": "127.0.0.1:${PORT}", "more": 1, "builtins": ["time",
				{"server": "files", "name": "docs", "args": ["${workspaceFolder}"], "env": {"A": "b"}, "prefix": "", "disabled": false, "dir": "x"}]}, "$schema": "x", "other": {}}`,
			ferry: config.Ferry{Separator: "__", Listen: "127.0.0.1:8080", Builtins: []config.Server{
				{Name: "time", Kind: config.Builtin, Command: "time", Prefix: "time"},
				{Name: "docs", Kind: config.Builtin, Command: "files", Args: []string{filepath.FromSlash("/work space")}, Env: config.Secrets{"A": "b"}},
			}},
			warnings: []string{
				`mcp.json:1:62: unknown member "more" of "ferry" is ignored`,
				`mcp.json:2:125: builtin "docs": unknown member "dir" is ignored`,
				`mcp.json:2:156: unknown member "other" is ignored`,
			},
		},
		{
			name:    "members that do not go with the kind, unknown members, null",
			text:    `{"servers": {"old": {}}, "mcpServers": {"a": {"command": "a", "headers": {}, "envFile": ".env", "env": {"X": null}}, "b": {"url": "http://b", "args": [], "env": {}, "cwd": ""}}}`,
			servers: []config.Server{{Name: "a", Kind: config.Stdio, Command: "a", Prefix: "a"}, {Name: "b", Kind: config.HTTP, URL: "http://b", Prefix: "b"}},
			warnings: []string{
				`mcp.json:1:2: "servers" is ignored because there is "mcpServers"`,
				`mcp.json:1:41: server "a": "headers" is ignored in a server of type "stdio"`,
				`mcp.json:1:78: server "a": unknown member "envFile" is ignored`,
				`mcp.json:1:105: server "a": env "X" is null and ignored`,
				`mcp.json:1:118: server "b": "args" is ignored in a server of type "http"`,
				`mcp.json:1:118: server "b": "env" is ignored in a server of type "http"`,
				`mcp.json:1:118: server "b": "cwd" is ignored in a server of type "http"`,
			},
		},
		{name: "nothing", text: `{}`, warnings: []string{`mcp.json:1:1: no server: there is neither "mcpServers" nor "servers"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, warnings, err := parse(tt.text)
			if err != nil {
				t.Fatalf("Parse(%s): %v", tt.text, err)
			}
			ignore := cmpopts.IgnoreFields(config.Server{}, "Line", "Column")
			if diff := cmp.Diff(tt.servers, cfg.Servers, ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Parse(%s) servers (-want +got):\n%s", tt.text, diff)
			}
			if diff := cmp.Diff(tt.ferry, cfg.Ferry, ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Parse(%s) ferry (-want +got):\n%s", tt.text, diff)
			}
			if diff := cmp.Diff(tt.warnings, messages(warnings)); diff != "" {
				t.Errorf("Parse(%s) warnings (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	server := func(body string) string { return `{"mcpServers": {"x": {` + body + `}}}` }
	tests := []struct{ text, want string }{
		{"", `mcp.json:1:1: the file is empty: write {"mcpServers": {}}`},
		{" \n ", `mcp.json:1:1: the file is empty: write {"mcpServers": {}}`},
		{"[]", `mcp.json:1:1: the file must be an object, not an array`},
		{"{\n  \"a\": 1\n  \"b\"", `mcp.json:3:3: invalid character '"' after object value (expecting ',' or '}')`},
		{`{"a": "C:\Users"}`, `mcp.json:1:7: not a valid JSON value: in a string, a backslash is written \\, and only \n, \t and the like stand for something else`},
		{"{\"a\": \"\xff\"}", `mcp.json:1:8: not valid UTF-8`},
		{"{ /* x", `mcp.json:1:3: parsing comment: unexpected EOF`},
		{strings.Repeat("[", 100000), `mcp.json:1:65: nested deeper than 64`},
		{"// [[" + "\n\"\\\"[\" /* \" */ " + strings.Repeat("{", 65), `mcp.json:2:79: nested deeper than 64`},
		{strings.Repeat(" ", 1<<20+1), `mcp.json:1:1: the file is over 1048576 bytes`},
		{`{"mcpServers": {"x": {"command": "a"}, "x": {"command": "b"}}}`, `mcp.json:1:40: "x" comes twice in the list of servers`},
		{`{"mcpServers": {"": {}}}`, `mcp.json:1:17: the server name "" is empty`},
		{`{"mcpServers": {" a": {}}}`, `mcp.json:1:17: the server name " a" begins or ends with a space`},
		{`{"mcpServers": {"a\nb": {}}}`, `mcp.json:1:17: the server name "a\nb" holds a character that cannot be printed`},
		{`{"mcpServers": {"` + strings.Repeat("a", 129) + `": {}}}`, `mcp.json:1:17: the server name "` + strings.Repeat("a", 129) + `" is over 128 bytes`},
		{`{"mcpServers": {"日本": {"command": "a"}}}`, `mcp.json:1:17: server "日本": no prefix can be made of the name: give one with "prefix"`},
		{`{"mcpServers": {"x": 1}}`, `mcp.json:1:22: server "x": the entry must be an object, not a number` + "\n" + `mcp.json:1:17: server "x": neither "command" nor "url": write the program to start or the address to call`},
		{server(`"type": "ws", "url": "http://a"`), `mcp.json:1:17: server "x": "type" is "ws": known are "stdio", "http", "streamable-http" and "sse"`},
		{server(`"type": "stdio", "url": "http://a"`), `mcp.json:1:17: server "x": "type" is "stdio", but there is no "command"`},
		{server(`"type": "sse", "command": "a"`), `mcp.json:1:17: server "x": "type" is "sse", but there is no "url"`},
		{server(`"command": "a", "url": "http://a"`), `mcp.json:1:17: server "x": both "command" and "url": a server is one of them`},
		{server(`"command": ""`), `mcp.json:1:17: server "x": "command" is empty`},
		{server(`"command": ["a"]`), `mcp.json:1:34: server "x": "command" must be a string, not an array`},
		{server(`"command": "a", "args": "b"`), `mcp.json:1:47: server "x": "args" must be an array of strings, not a string`},
		{server(`"command": "a", "args": [null]`), `mcp.json:1:48: server "x": "args"[0] must be a string, not null`},
		{server(`"command": "a", "args": ["${NUL}"]`), `mcp.json:1:48: server "x": "args"[0] holds a zero byte`},
		{server(`"command": "a", "disabled": "yes"`), `mcp.json:1:51: server "x": "disabled" must be true or false, not a string`},
		{server(`"command": "a", "env": []`), `mcp.json:1:46: server "x": "env" must be an object, not an array`},
		{server(`"command": "a", "env": {"A=B": ""}`), `mcp.json:1:47: server "x": env "A=B" is not a name for a variable`},
		{server(`"command": "a", "env": {"A": {}}`), `mcp.json:1:52: server "x": env "A" must be a string, not an object`},
		{server(`"command": "a", "timeout": true`), `mcp.json:1:50: server "x": "timeout" must be a duration over zero such as "30s"`},
		{server(`"command": "a", "timeout": "0s"`), `mcp.json:1:50: server "x": "timeout" must be a duration over zero such as "30s"`},
		{server(`"command": "a", "timeout": "soon"`), `mcp.json:1:50: server "x": "timeout" must be a duration over zero such as "30s"`},
		{server(`"command": "a", "timeout": -1`), `mcp.json:1:50: server "x": "timeout" must be a duration over zero such as "30s"`},
		{server(`"command": "a", "tools": ["["]`), `mcp.json:1:49: server "x": "tools"[0]: "[" is not a valid pattern`},
		{server(`"command": "a", "prefix": "a b"`), `mcp.json:1:49: server "x": "prefix" may hold up to 64 letters, digits, "_", "-" and "."; "" means none`},
		{server(`"url": "http://a", "headers": {"A B": ""}`), `mcp.json:1:54: server "x": header "A B" is not a name for a header`},
		{server(`"url": "http://a", "headers": {"A": "${BAD}"}`), `mcp.json:1:59: server "x": header "A" holds a control character, such as a line end`},
		{server(`"url": "ftp://a"`), `mcp.json:1:30: server "x": "url" must begin with http:// or https:// and name a host`},
		{server(`"url": "http:///a"`), `mcp.json:1:30: server "x": "url" must begin with http:// or https:// and name a host`},
		{server(`"url": "http://a:${TOKEN}/"`), `mcp.json:1:30: server "x": "url" is not a valid address (its text is not shown): invalid port`},
		{server(`"command": "${NONE}"`), `mcp.json:1:34: server "x": "command": variable NONE is not set: set it, or give a default with ${NONE:-default}`},
		{server(`"command": "${NONE"`), `mcp.json:1:34: server "x": "command": ${ without }: write $${ for a plain ${`},
		{server(`"command": "${input:key}"`), `mcp.json:1:34: server "x": "command": ${input:key} is not supported, nobody is there to be asked: set an environment variable and write ${env:NAME}`},
		{server(`"command": "${command:x}"`), `mcp.json:1:34: server "x": "command": ${…} holds no name of a variable: known are ${NAME}, ${NAME:-default}, ${env:NAME} and ${workspaceFolder}, and $${ is a plain ${`},
		{server(`"command": "${A:-${B}}"`), `mcp.json:1:34: server "x": "command": the default of ${A} holds another ${: that is not supported`},
		{`{"ferry": {"separator": "/"}}`, `mcp.json:1:25: "separator" may hold up to 8 letters, digits, "_", "-" and "."`},
		{`{"ferry": {"listen": "8080"}}`, `mcp.json:1:22: "listen" must be host:port, such as "127.0.0.1:8080" or ":8080"`},
		{`{"ferry": {"listen": "${NONE}"}}`, `mcp.json:1:22: "listen": variable NONE is not set: set it, or give a default with ${NONE:-default}`},
		{`{"ferry": {"listen": ":1", "address": ":2"}}`, `mcp.json:1:28: "listen" and "address" mean the same: write one`},
		{`{"ferry": {"builtins": [{}]}}`, `mcp.json:1:25: an entry of "builtins" must name its "server"`},
		{`{"ferry": {"builtins": [" x"]}}`, `mcp.json:1:25: the server name " x" begins or ends with a space`},
		{`{"ferry": {"builtins": ["a", "a"]}}`, `mcp.json:1:30: the name "a" comes twice in "builtins": give one of them another "name"`},
	}
	for _, tt := range tests {
		name := tt.text
		t.Run(name[:min(len(name), 50)], func(t *testing.T) {
			t.Parallel()
			cfg, _, err := parse(tt.text)
			if err == nil {
				t.Fatalf("Parse(%.200q) = %v, want error %s", tt.text, cfg, tt.want)
			}
			if err.Error() != tt.want {
				t.Errorf("Parse(%.200q) error:\ngot:  %s\nwant: %s", tt.text, err, tt.want)
			}
			if _, ok := errors.AsType[*config.Error](err); !ok {
				t.Errorf("Parse(%.200q) error is %T, want *Error inside", tt.text, err)
			}
		})
	}
}

func TestParseReportsAll(t *testing.T) {
	t.Parallel()
	_, _, err := parse(`{"mcpServers": {"a": {"command": "${A_KEY}"}, "b": {"command": "b", "env": {"X": "${B_KEY}"}}}}`)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 {
		t.Fatalf("got %v, want two errors", err)
	}
	for i, want := range []struct{ server, variable string }{{"a", "A_KEY"}, {"b", "B_KEY"}} {
		e, _ := errors.AsType[*config.Error](joined.Unwrap()[i])
		if e.Server != want.server || e.Variable != want.variable {
			t.Errorf("error %d: got server %q, variable %q, want %q, %q", i, e.Server, e.Variable, want.server, want.variable)
		}
	}

	many := strings.Repeat(`"${NONE}",`, 100)
	_, _, err = parse(`{"mcpServers": {"a": {"command": "a", "args": [` + many + `]}}}`)
	if n := strings.Count(err.Error(), "\n") + 1; n != 20 {
		t.Errorf("100 mistakes gave %d errors, want 20", n)
	}
}

// TestSecretsAreNotPrinted tries every way in which a value ends up in a log.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	cfg, _, err := parse(`{"mcpServers": {
		"a": {"command": "run", "args": ["--key=${TOKEN}"], "env": {"KEY": "${TOKEN}", "B": "s3cret"}, "disabled": true},
		"b": {"url": "https://s3cret:s3cret@host/mcp?key=${TOKEN}", "headers": {"Authorization": "${TOKEN}"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	log := slog.New(slog.NewJSONHandler(&b, nil))
	for _, s := range cfg.Servers {
		fmt.Fprintf(&b, "%v %+v %#v %s\n", s, s, s, s)
		fmt.Fprintf(&b, "%v %+v %#v %v\n", &s, &s, s.Env, s.Headers)
		log.Info("server", "server", s, "env", s.Env)
	}
	fmt.Fprintf(&b, "%v %+v %v", cfg, cfg, cfg.Servers)
	if strings.Contains(b.String(), "s3cret") {
		t.Errorf("a secret is printed:\n%s", b.String())
	}
	want := "mcp.json:\n  a: stdio run, 1 arguments, env [B KEY], disabled\n  b: http https://host/mcp, headers [Authorization]"
	if got := cfg.String(); got != want {
		t.Errorf("String:\ngot:  %s\nwant: %s", got, want)
	}
	if got := (config.Server{Name: "x", Kind: config.HTTP, URL: "http://a b/s3cret"}).String(); strings.Contains(got, "s3cret") {
		t.Errorf("a broken address is printed: %s", got)
	}
	for _, text := range []string{`{"a": "s3cret \q"}`, `{"mcpServers": {"a": {"url": "http://%${TOKEN}"}}}`} {
		if _, _, err := parse(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Parse(%s): got error %v, want one without the secret", text, err)
		}
	}
}

func TestPositionOfEntries(t *testing.T) {
	t.Parallel()
	cfg, _, err := parse("{\"mcpServers\": {\n  \"a\": {\"command\": \"a\"},\n\t\"b\": {\"command\": \"b\"}}}")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int{{2, 3}, {3, 2}} {
		if s := cfg.Servers[i]; s.Line != want[0] || s.Column != want[1] {
			t.Errorf("entry %s is at %d:%d, want %d:%d", s.Name, s.Line, s.Column, want[0], want[1])
		}
	}
}

func TestFindAndLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := config.Find(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find in an empty folder: got error %v, want fs.ErrNotExist", err)
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"servers": {"x": {"command": "x", "args": ["${workspaceFolder}", "${userHome}"]}}}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// Each is preferred to the one before.
	for _, name := range []string{filepath.Join(".vscode", "mcp.json"), ".mcp.json", "mcp.json"} {
		want := write(name)
		got, err := config.Find(dir)
		if err != nil || got != want {
			t.Fatalf("Find: got %q, %v, want %q", got, err, want)
		}
		cfg, _, err := config.Load(got)
		if err != nil {
			t.Fatalf("Load(%s): %v", got, err)
		}
		if cfg.Dir != dir || cfg.Servers[0].Args[0] != dir {
			t.Errorf("Load(%s): workspace folder is %q, argument %q, want %q", got, cfg.Dir, cfg.Servers[0].Args[0], dir)
		}
	}

	if err := os.Mkdir(filepath.Join(t.TempDir(), "mcp.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Load(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Load of a folder: got error %v", err)
	}
	if _, _, err := config.Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of nothing: got error %v, want fs.ErrNotExist", err)
	}
}

func TestFindPassesFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mcp.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := config.Find(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find: got %q, %v, want fs.ErrNotExist", got, err)
	}
}

func TestParseDefaults(t *testing.T) {
	t.Setenv("FERRY_CONFIG_TEST", "value")
	cfg, _, err := config.Parse("x", []byte(`{"mcpServers": {"x": {"command": "${FERRY_CONFIG_TEST}"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := os.Getwd()
	if cfg.Dir != dir || cfg.Servers[0].Command != "value" {
		t.Errorf("got folder %q, command %q, want %q, %q", cfg.Dir, cfg.Servers[0].Command, dir, "value")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "${A:-b}", "args": ["$${x}"], "env": {"A": 1}, "timeout": 5}}}`)
	f.Add(`{"servers": {"a": {"url": "http://a", "headers": {"A": "${env:B}"}}, /* x */ }, "ferry": {"builtins": ["time", {}]}} // y`)
	f.Add(`{"ferry": {"listen": ":1", "builtins": [{"server": "a", "tools": ["*"]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		cfg, warnings, err := parse(text)
		if (cfg == nil) == (err == nil) {
			t.Fatalf("Parse(%q) = %v, %v: want one of them", text, cfg, err)
		}
		lines := strings.Count(text, "\n") + 2
		for _, w := range warnings {
			if w.Line < 1 || w.Line > lines || w.Column < 1 {
				t.Errorf("Parse(%q): warning at %d:%d", text, w.Line, w.Column)
			}
		}
		if err != nil {
			return
		}
		_ = cfg.String()
		for _, s := range append(cfg.Servers, cfg.Ferry.Builtins...) {
			if s.Name == "" || s.Kind == "" || s.Line < 1 {
				t.Errorf("Parse(%q): incomplete server %+v", text, s)
			}
		}
	})
}
