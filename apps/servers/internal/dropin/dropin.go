package dropin

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A Difference is one that is meant.
type Difference struct {
	// Where is a pattern for the path of what differs, as in
	// tools/*/description or calls/head/content/0/text.
	Where string
	// Why says for users why it differs.
	Why string
}

// A Comparison is of two servers, which get the same calls.
type Comparison struct {
	t      *testing.T
	theirs *client.Session
	ours   *client.Session
	meant  []Difference
	used   []bool
	// Theirs and Ours make results comparable, such as by putting one name for the
	// folders that the servers work in; nil changes nothing.
	Theirs, Ours *strings.Replacer
}

// root is the folder of the repository: tests run in the folder of their package,
// and the names of source files may not tell where they are.
func root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.work")); missing == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// Original starts a package of npm, by its name without the scope. The test is
// skipped where such packages are not.
func Original(t *testing.T, pkg string, env []string, args ...string) *client.Session {
	t.Helper()
	return Connect(t, original(t, pkg, env, args), nil)
}

// original is the way to a package of npm.
func original(t *testing.T, pkg string, env, args []string) *transport.Command {
	t.Helper()
	if os.Getenv("FERRY_INTEROP") != "1" {
		t.Skip("needs node and npm packages: run scripts/interop.sh")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(root(), "interop", "node_modules", "@modelcontextprotocol", pkg, "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("the package is not installed: %v: run scripts/interop.sh", err)
	}
	return &transport.Command{Path: node, Args: append([]string{script}, args...), Env: env}
}

// Connect opens a session that ends with the test.
func Connect(t *testing.T, via transport.Transport, opts *client.Options) *client.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sess, err := client.New(mcp.Implementation{Name: "dropin", Version: "1.0.0"}, opts).Connect(ctx, via)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sess.Close() })
	return sess
}

// Compare begins a comparison. When the test ends, every difference that is meant
// must have been seen, and be in the section of docs/servers.md with that heading.
func Compare(t *testing.T, theirs, ours *client.Session, section string, meant []Difference) *Comparison {
	t.Helper()
	c := &Comparison{t: t, theirs: theirs, ours: ours, meant: meant, used: make([]bool, len(meant))}
	t.Cleanup(func() {
		for i, d := range meant {
			if !c.used[i] && !t.Failed() {
				t.Errorf("nothing differs at %s any more: take it off the list", d.Where)
			}
		}
	})
	checkPage(t, section, meant)
	return c
}

// checkPage looks for differences in the page for users.
func checkPage(t *testing.T, section string, meant []Difference) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(), "docs", "servers.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "\n## "+section+"\n")
	if !found {
		t.Fatalf("docs/servers.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	text = strings.Join(strings.Fields(text), " ")
	for _, d := range meant {
		if line := "- `" + d.Where + "`: " + d.Why; !strings.Contains(text, line) {
			t.Errorf("section %q of docs/servers.md has no line\n%s", section, line)
		}
	}
}

// Tools compares the lists of tools.
func (c *Comparison) Tools() {
	c.t.Helper()
	c.same("tools", c.tools(c.theirs), c.tools(c.ours))
}

// tools are the tools of a server by name, without what says nothing: hints that
// are the default, a dialect, an execution as a plain call, and pictures.
func (c *Comparison) tools(sess *client.Session) map[string]any {
	c.t.Helper()
	list := map[string]any{}
	for tool, err := range sess.Tools(c.t.Context()) {
		if err != nil {
			c.t.Fatal(err)
		}
		m := c.generic(tool)
		for _, name := range []string{"name", "icons", "execution"} {
			delete(m, name)
		}
		for _, name := range []string{"inputSchema", "outputSchema"} {
			if schema, ok := m[name].(map[string]any); ok {
				delete(schema, "$schema")
			}
		}
		if hints, ok := m["annotations"].(map[string]any); ok {
			for name, usual := range map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true} {
				if hints[name] == usual {
					delete(hints, name)
				}
			}
		}
		list[tool.Name] = m
	}
	return list
}

// Call calls a tool of both servers and compares the results, under a name.
func (c *Comparison) Call(name, tool string, arguments any) {
	c.t.Helper()
	c.Calls(name, tool, arguments, arguments)
}

// Calls is Call with arguments of their own for each server.
func (c *Comparison) Calls(name, tool string, theirs, ours any) {
	c.t.Helper()
	c.same("calls/"+name, c.call(c.theirs, c.Theirs, tool, theirs), c.call(c.ours, c.Ours, tool, ours))
}

func (c *Comparison) call(sess *client.Session, r *strings.Replacer, tool string, arguments any) any {
	c.t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		c.t.Fatal(err)
	}
	result, err := sess.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: data}, nil)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	result.Meta = nil
	if r == nil {
		r = strings.NewReplacer()
	}
	return replaced(c.generic(result), r)
}

// Read compares what the servers have at an address.
func (c *Comparison) Read(uri string) {
	c.t.Helper()
	read := func(sess *client.Session) any {
		result, err := sess.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return c.generic(map[string]any{"contents": result.Contents})
	}
	c.same("resources/"+uri, read(c.theirs), read(c.ours))
}

// same compares two values, down to their members.
func (c *Comparison) same(path string, theirs, ours any) {
	c.t.Helper()
	for _, d := range diff(path, theirs, ours) {
		meant := false
		for i, m := range c.meant {
			if ok, err := doublestar.Match(m.Where, d.path); err != nil {
				c.t.Fatalf("%s: %v", m.Where, err)
			} else if ok {
				c.used[i], meant = true, true
			}
		}
		if !meant {
			c.t.Errorf("%s differs:\n theirs %s\n ours   %s", d.path, show(d.theirs), show(d.ours))
		}
	}
}

// generic is a value as JSON has it.
func (c *Comparison) generic(v any) map[string]any {
	c.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}
