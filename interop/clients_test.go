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

// A theirClient is a client of others, told what to speak.
type theirClient struct {
	name     string
	command  []string // before the server's URL or command; the first is a script or a program
	asked    string   // what it is told to speak
	revision string   // what it should come to with a server that speaks all
}

// theirClients are all clients with everything they can be told to speak.
func theirClients() []theirClient {
	clients := []theirClient{
		{first, []string{"client-v1.mjs"}, "its default", r4},
		{second, []string{"client-v2.mjs", "legacy"}, "its default", r4},
		{second, []string{"client-v2.mjs", "legacy:" + r1}, r1, r1},
		{second, []string{"client-v2.mjs", "legacy:" + r2}, r2, r2},
		{second, []string{"client-v2.mjs", "legacy:" + r3}, r3, r3},
		{second, []string{"client-v2.mjs", "auto"}, automatic, r5},
		{second, []string{"client-v2.mjs", r5}, r5, r5},
	}
	for _, name := range []string{gosdk, mcpgo} {
		clients = append(clients, theirClient{name, []string{short(name), "tour", ""}, automatic, r5})
		for _, revision := range all {
			clients = append(clients, theirClient{name, []string{short(name), "tour", revision}, revision, revision})
		}
	}
	return clients
}

const automatic = "automatic"

// carriers are the ways to our server: each starts it and says what a client has
// to be given.
var carriers = map[string]func(t *testing.T) string{
	"stdio": func(*testing.T) string { return program("everything") },
	"HTTP":  func(t *testing.T) string { return start(t, program("everything"), "-http", "127.0.0.1:0") },
	overSSE: func(t *testing.T) string {
		return strings.TrimSuffix(start(t, program("everything"), "-http", "127.0.0.1:0"), "/mcp") + "/sse"
	},
}

// TestClients lets the clients of others talk to our server.
func TestClients(t *testing.T) {
	need(t)
	for _, c := range theirClients() {
		for carrier, target := range carriers {
			if carrier == overSSE && c.revision == r5 {
				continue
			}
			t.Run(short(c.name)+"/"+c.asked+"/"+carrier, func(t *testing.T) {
				t.Parallel()
				m := meeting{c.name, ferry, carrier, c.asked, c.revision}
				judge(t, m, runClient(t, append(commandOf(t, c.command...), target(t))), downgraded(c.revision))
			})
		}
	}
}

// commandOf returns the command line of a script in js or of one of our programs.
func commandOf(t *testing.T, args ...string) []string {
	t.Helper()
	if strings.HasSuffix(args[0], ".mjs") {
		return append([]string{"node", script(t, args[0])}, args[1:]...)
	}
	return append([]string{program(args[0])}, args[1:]...)
}

// runClient runs one of the clients and returns its report.
func runClient(t *testing.T, command []string) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*slow)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderr.Bytes())
	}
	if stderr.Len() > 0 {
		t.Logf("%s wrote:\n%s", command, stderr.Bytes())
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s printed %q: %v", command, out, err)
	}
	return r
}
