package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/cli"
)

// hostile starts a server over HTTP that says what it is told to: results by
// method, and an error for all else. It has a session if it has a result for
// initialize.
func hostile(t *testing.T, results map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		result, known := results[m.Method]
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case known:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%s,"data":%s}}`, m.ID, quoted("no"+evil), quoted(evil))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// evil is what a terminal would obey, and what would begin a line of its own.
const evil = "\x1b]0;owned\x07\u009b2J\u202e\x7f\nspoofed"

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func discovery(name string) string {
	return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":` + quoted(name) + `,"version":"1"}}}`
}

// command runs the command line without a terminal.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Main(t.Context(), args, strings.NewReader(""), &out, &err)
	return out.String(), err.String(), code
}

// TestEmptyCursor lists the tools of a server that writes an empty cursor on the
// last page.
func TestEmptyCursor(t *testing.T) {
	url := hostile(t, map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"only","inputSchema":{"type":"object"}}],"nextCursor":""}`,
	})
	if out, stderr, code := command(t, "ls", url); out != "only\n" || code != 0 {
		t.Errorf("got %q, %q, code %d", out, stderr, code)
	}
}

// TestCircularSchema shows a tool whose schema has more ways through its
// references than anybody can go.
func TestCircularSchema(t *testing.T) {
	circle := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 10), ",")
	url := hostile(t, map[string]string{
		"server/discover": discovery("circle"),
		"tools/list": `{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object",` +
			`"properties":{"p":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[` + circle + `,{"type":"string"}]}}}}]}`,
	})
	if out, stderr, code := command(t, "ls", "--long", url); !strings.Contains(out, "[p]  string") || code != 0 {
		t.Errorf("got %q, %q, code %d", out, stderr, code)
	}
}
