package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func completing(t *testing.T, opts *server.Options) *server.Server {
	t.Helper()
	srv := newServer(t, opts)
	srv.AddRawPrompt(mcp.Prompt{Name: "p", Arguments: []mcp.PromptArgument{{Name: "a"}, {Name: "b"}, {Name: "c"}}},
		func(context.Context, *server.Call) (any, error) { return nil, nil })
	srv.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, contents(""))
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "t:{id}/{part}", Name: "t"}, contents(""))
	return srv
}

func completeParams(ref, name, value, rest string) string {
	return fmt.Sprintf(`"ref":{%s},"argument":{"name":%q,"value":%q}%s`, ref, name, value, rest)
}

const (
	promptP   = `"type":"ref/prompt","name":"p"`
	templateT = `"type":"ref/resource","uri":"t:{id}/{part}"`
)

func TestCompletionIsRanked(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "COMPL-SORT-RELEVANCE", "COMPL-MAX-100", "COMPL-FUZZY")
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("n%03d", i)
	}
	srv := completing(t, nil)
	srv.CompletePrompt("p", "a", server.OneOf("Übersee", "New York", "york", "Yorkshire", "boyork", "Straße yo", "yoyoyo", "-", "éyo/yo"))
	srv.CompletePrompt("p", "b", server.OneOf(many...))
	d := talk(t, srv)
	d.open("2025-11-25")
	tests := []struct {
		name, value string
		want        string
		total       int64
	}{
		{"a", "yo", "york Yorkshire yoyoyo New York Straße yo éyo/yo boyork", 7},
		{"a", "YORK", "york Yorkshire New York boyork", 4},
		{"a", "über", "Übersee", 1},
		{"a", "none", "", 0},
		{"a", "", "Übersee New York york Yorkshire boyork Straße yo yoyoyo - éyo/yo", 9},
		{"b", "", strings.Join(many[:100], " "), 250},
		{"b", "N1", strings.Join(many[100:200], " "), 100},
	}
	for _, tt := range tests {
		r := result[mcp.CompleteResult](t, d.ask("completion/complete", completeParams(promptP, tt.name, tt.value, "")))
		got := strings.Join(r.Completion.Values, " ")
		if got != tt.want || r.Completion.Total == nil || *r.Completion.Total != tt.total || r.Completion.HasMore != (tt.total > 100) {
			t.Errorf("%s %q: got %q of %v, more: %v; want %q of %d", tt.name, tt.value, got, r.Completion.Total, r.Completion.HasMore, tt.want, tt.total)
		}
	}
}

func TestCompleters(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "COMPL-ERR-32601", "COMPL-ERR-32602", "COMPL-ERR-32603", "COMPL-REF-TYPES", "COMPL-SEC-VALIDATE",
		"COMPL-CAP-DECLARE-INIT", "COMPL-CAP-DECLARE-DISCOVER")
	srv := completing(t, nil)
	d := talk(t, srv)
	d.open("2025-11-25")
	code(t, d.ask("completion/complete", completeParams(promptP, "a", "", "")), jsonrpc.CodeMethodNotFound)
	if caps := result[mcp.DiscoverResult](t, d.askModern("server/discover", "")).Capabilities; caps.Completions != nil {
		t.Error("completion is declared although nothing is completed")
	}
	srv.CompletePrompt("p", "a", func(_ context.Context, _ *server.Call, value string, known map[string]string) ([]string, error) {
		return []string{value + known["b"]}, nil
	})
	srv.CompletePrompt("p", "b", func(context.Context, *server.Call, string, map[string]string) ([]string, error) {
		return nil, errors.New("a secret")
	})
	srv.CompleteResource("t:{id}/{part}", "id", server.OneOf("one", "two"))
	if caps := result[mcp.DiscoverResult](t, d.askModern("server/discover", "")).Capabilities; caps.Completions == nil {
		t.Error("completion is not declared")
	}
	const uri = `"type":"ref/resource","uri":"t:1/2"`
	tests := []struct {
		params string
		want   string
		code   int
	}{
		{params: completeParams(promptP, "a", "x", ""), want: "x"},
		{params: completeParams(promptP, "a", "x", `,"context":{"arguments":{"b":"y"}}`), want: "xy"},
		{params: completeParams(promptP, "a", "x", `,"context":{}`), want: "x"},
		{params: completeParams(promptP, "b", "x", ""), code: jsonrpc.CodeInternal},
		{params: completeParams(promptP, "c", "x", ""), want: ""},
		{params: completeParams(promptP, "d", "x", ""), code: jsonrpc.CodeInvalidParams},
		{params: completeParams(promptP, "", "x", ""), code: jsonrpc.CodeInvalidParams},
		{params: completeParams(`"type":"ref/prompt","name":"q"`, "a", "", ""), code: jsonrpc.CodeInvalidParams},
		{params: completeParams(`"type":"ref/tool","name":"p"`, "a", "", ""), code: jsonrpc.CodeInvalidParams},
		{params: completeParams(templateT, "id", "o", ""), want: "one two"},
		{params: completeParams(uri, "id", "t", ""), want: "two"},
		{params: completeParams(templateT, "part", "t", ""), want: ""},
		{params: completeParams(templateT, "x", "t", ""), code: jsonrpc.CodeInvalidParams},
		{params: completeParams(`"type":"ref/resource","uri":"r:1"`, "x", "t", ""), want: ""},
		{params: completeParams(`"type":"ref/resource","uri":"u:1"`, "x", "t", ""), code: jsonrpc.CodeInvalidParams},
		{params: `"argument":7`, code: jsonrpc.CodeInvalidParams},
	}
	for _, tt := range tests {
		for _, m := range []jsonrpc.Message{d.ask("completion/complete", tt.params), d.askModern("completion/complete", tt.params)} {
			if tt.code != 0 {
				code(t, m, tt.code)
				continue
			}
			if got := strings.Join(result[mcp.CompleteResult](t, m).Completion.Values, " "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.params, got, tt.want)
			}
		}
	}
	srv.RemovePrompts("p")
	d.send(`{"jsonrpc":"2.0","id":"gone","method":"completion/complete","params":{` + completeParams(promptP, "a", "x", "") + `}}`)
	refused := d.read()
	if refused.Kind() == jsonrpc.Notification {
		refused = d.read() // that the list has changed was told first
	}
	code(t, refused, jsonrpc.CodeInvalidParams)
}

// A completer goes before Options.Complete, which gets everything else.
func TestCompletersAndOptions(t *testing.T) {
	t.Parallel()
	srv := completing(t, &server.Options{Complete: func(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
		return &mcp.Completion{Values: []string{"any " + p.Argument.Name}}, nil
	}})
	srv.CompletePrompt("p", "a", server.OneOf("own"))
	d := talk(t, srv)
	d.open("2024-11-05")
	for name, want := range map[string]string{"a": "own", "b": "any b", "undeclared": "any undeclared"} {
		r := result[mcp.CompleteResult](t, d.ask("completion/complete", completeParams(promptP, name, "", "")))
		if !slices.Equal(r.Completion.Values, []string{want}) {
			t.Errorf("%s: got %q, want %q", name, r.Completion.Values, want)
		}
	}
}

func TestCompletersOfNothing(t *testing.T) {
	t.Parallel()
	srv := completing(t, nil)
	for name, register := range map[string]func(){
		"no prompt":   func() { srv.CompletePrompt("q", "a", server.OneOf()) },
		"no argument": func() { srv.CompletePrompt("p", "d", server.OneOf()) },
		"no template": func() { srv.CompleteResource("t:{id}", "id", server.OneOf()) },
		"no variable": func() { srv.CompleteResource("t:{id}/{part}", "x", server.OneOf()) },
		"nil":         func() { srv.CompletePrompt("p", "a", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: there was no panic", name)
				}
			}()
			register()
		}()
	}
}
