package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestClients lets the clients of others talk to our server.
func TestClients(t *testing.T) {
	need(t)
	clients := []struct {
		name     string
		script   []string
		asked    string
		revision string
	}{
		{first, []string{"client-v1.mjs"}, "its default", r4},
		{second, []string{"client-v2.mjs", "legacy"}, "its default", r4},
		{second, []string{"client-v2.mjs", "legacy:" + r1}, r1, r1},
		{second, []string{"client-v2.mjs", "legacy:" + r2}, r2, r2},
		{second, []string{"client-v2.mjs", "legacy:" + r3}, r3, r3},
		{second, []string{"client-v2.mjs", "auto"}, "automatic", r5},
		{second, []string{"client-v2.mjs", r5}, r5, r5},
	}
	carriers := map[string]func(t *testing.T) string{
		"stdio": func(*testing.T) string { return everythingProgram() },
		"HTTP":  func(t *testing.T) string { return start(t, everythingProgram(), "-http", "127.0.0.1:0") },
		overSSE: func(t *testing.T) string {
			return strings.TrimSuffix(start(t, everythingProgram(), "-http", "127.0.0.1:0"), "/mcp") + "/sse"
		},
	}
	for _, c := range clients {
		for carrier, target := range carriers {
			if carrier == overSSE && (c.revision == r5 || c.asked == "automatic") {
				continue
			}
			t.Run(short(c.name)+"/"+c.asked+"/"+carrier, func(t *testing.T) {
				t.Parallel()
				m := meeting{c.name, ferry, carrier, c.asked, c.revision}
				args := append([]string{script(t, c.script[0])}, c.script[1:]...)
				judge(t, m, runClient(t, append(args, target(t))), downgraded(c.revision))
			})
		}
	}
}

// runClient runs one of the clients in js and returns its report.
func runClient(t *testing.T, args []string) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node %s: %v\n%s", args, err, stderr.Bytes())
	}
	if stderr.Len() > 0 {
		t.Logf("node %s wrote:\n%s", args, stderr.Bytes())
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("node %s printed %q: %v", args, out, err)
	}
	return r
}
