package mcp_test

import (
	"testing"

	"github.com/ferrymcp/ferry/internal/trace"
	"github.com/ferrymcp/ferry/mcp"
)

func TestDisplayNames(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "TOOL-TITLE-PRECEDENCE")
	annotated := &mcp.ToolAnnotations{Title: "annotated"}
	for _, tt := range []struct {
		shown interface{ DisplayName() string }
		want  string
	}{
		{&mcp.Tool{Name: "n"}, "n"},
		{&mcp.Tool{Name: "n", Annotations: &mcp.ToolAnnotations{}}, "n"},
		{&mcp.Tool{Name: "n", Annotations: annotated}, "annotated"},
		{&mcp.Tool{Name: "n", Title: "t", Annotations: annotated}, "t"},
		{&mcp.Prompt{Name: "n"}, "n"},
		{&mcp.Prompt{Name: "n", Title: "t"}, "t"},
		{&mcp.PromptArgument{Name: "n", Title: "t"}, "t"},
		{&mcp.Resource{Name: "n", Title: "t"}, "t"},
		{&mcp.ResourceTemplate{Name: "n", Title: "t"}, "t"},
		{&mcp.Implementation{Name: "n", Title: "t"}, "t"},
	} {
		if got := tt.shown.DisplayName(); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.shown, got, tt.want)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	trace.Proves(t, "TOOL-ANNOT-DEFAULTS", "TOOL-ANNOT-CONDITIONAL")
	no, yes := new(false), new(true)
	for _, tt := range []struct {
		hints                                        *mcp.ToolAnnotations
		readOnly, destructive, idempotent, openWorld bool
	}{
		{nil, false, true, false, true},
		{&mcp.ToolAnnotations{}, false, true, false, true},
		{&mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: yes}, true, false, true, true},
		{&mcp.ToolAnnotations{DestructiveHint: no, IdempotentHint: true, OpenWorldHint: no}, false, false, true, false},
		{&mcp.ToolAnnotations{DestructiveHint: yes, OpenWorldHint: yes}, false, true, false, true},
	} {
		a := tt.hints
		if a.ReadOnly() != tt.readOnly || a.Destructive() != tt.destructive || a.Idempotent() != tt.idempotent || a.OpenWorld() != tt.openWorld {
			t.Errorf("%+v: read-only %t, destructive %t, idempotent %t, open world %t", a, a.ReadOnly(), a.Destructive(), a.Idempotent(), a.OpenWorld())
		}
	}
}
