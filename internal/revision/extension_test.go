package revision_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/internal/trace"
)

func TestCheckExtensions(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "VER-EXT-ID-FORMAT", "VER-EXT-EMPTY-SETTINGS")
	tests := []struct{ id, settings, problem string }{
		{"io.modelcontextprotocol/tasks", `{}`, ""},
		{"com.example-1.mcp/a_b-c.d", `{"x":1}`, ""},
		{"a/1", ` {} `, ""},
		{"tasks", `{}`, "identifier"},
		{"/tasks", `{}`, "identifier"},
		{"a.b/", `{}`, "identifier"},
		{"1a/x", `{}`, "identifier"},
		{"a-/x", `{}`, "identifier"},
		{"a..b/x", `{}`, "identifier"},
		{"a_b/x", `{}`, "identifier"},
		{"a/-x", `{}`, "identifier"},
		{"a/x.", `{}`, "identifier"},
		{"a/x/y", `{}`, "identifier"},
		{"a/é", `{}`, "identifier"},
		{"[/x", `{}`, "identifier"},
		{"a/x", `true`, "object"},
		{"a/x", `null`, "object"},
		{"a/x", ``, "settings"},
		{"a/x", `{`, "settings"},
	}
	for _, tt := range tests {
		err := revision.CheckExtensions(map[string]json.RawMessage{tt.id: json.RawMessage(tt.settings)})
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q %s: got %v, want a problem with %q", tt.id, tt.settings, err, tt.problem)
		}
	}
}
