package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Watch(watchAll)
	mcptest.Main(m)
}

// call calls a tool and fails the test on anything but a result.
func call(t *testing.T, sess *client.Session, name, arguments string) *mcp.CallToolResult {
	t.Helper()
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}, nil)
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	return result
}

func text(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if len(result.Content) != 1 || result.Content[0].Type != mcp.TypeText {
		t.Fatalf("got %+v, want one block of text", result.Content)
	}
	return result.Content[0].Text
}

func TestIntroductions(t *testing.T) {
	mcptest.Proves(t, "TOOL-CAP-DECLARE-INIT", "TOOL-CAP-DECLARE-DISCOVER", "RES-CAP-DECLARE-INIT", "RES-CAP-DECLARE-DISCOVER",
		"PROMPT-CAP-DECLARE-INIT", "PROMPT-CAP-DECLARE-DISCOVER")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		if got := sess.ServerInfo().Name; got != "everything" {
			t.Errorf("server name: got %q, want %q", got, "everything")
		}
		if got := sess.Instructions(); got != "Call what you like." {
			t.Errorf("instructions: got %q", got)
		}
		caps := sess.ServerCapabilities()
		if caps.Tools == nil || caps.Prompts == nil || caps.Resources == nil {
			t.Errorf("capabilities: got %+v, want tools, prompts and resources", caps)
		}
		if !strings.HasSuffix(t.Name(), sess.Revision()) {
			t.Errorf("revision: got %q in %s", sess.Revision(), t.Name())
		}
		if err := sess.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
	})
}

func TestListsInPages(t *testing.T) {
	mcptest.Proves(t, "PAGE-INVALID-CURSOR-32602", "PAGE-END-MISSING-CURSOR")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		var names []string
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		want := []string{"add", "blocks", "count", "crash", "fail", "grow", "log", "repeat", "touch", "wait", "waited"}
		if !slices.Equal(names, want) {
			t.Errorf("tools: got %v, want %v", names, want)
		}
		first, err := sess.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(first.Tools) != 4 || first.NextCursor == nil {
			t.Errorf("first page: got %d tools, cursor %v, want 4 and one", len(first.Tools), first.NextCursor)
		}
		bad := "nonsense"
		_, err = sess.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: &bad})
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	})
}

// wantCode checks that the peer answered with an error of that code.
func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	remote, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || remote.Code != code || !client.IsRemote(err) {
		t.Errorf("got %v, want an error of the server with code %d", err, code)
	}
}

func TestCalls(t *testing.T) {
	mcptest.Proves(t, "TOOL-ERR-EXECUTION-ISERROR", "TOOL-UNKNOWN-32602", "TOOL-ERR-INPUT-VALIDATION-ISERROR")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		if got := text(t, call(t, sess, "add", `{"a":1,"b":2}`)); got != `{"sum":3}` {
			t.Errorf("add: got %s", got)
		}
		for name, want := range map[string]string{
			"fail":  "the disk is full",
			"crash": `tool "crash" failed: internal error`,
		} {
			if result := call(t, sess, name, `{}`); !result.IsError || text(t, result) != want {
				t.Errorf("%s: got %+v, want a tool error %q", name, result, want)
			}
		}
		if result := call(t, sess, "add", `{"a":"one","b":2}`); !result.IsError {
			t.Errorf("wrong arguments: got %+v, want a tool error", result)
		}
		_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}, nil)
		wantCode(t, err, jsonrpc.CodeInvalidParams)
		_, err = sess.Call(t.Context(), "no/such/method", nil, nil)
		wantCode(t, err, jsonrpc.CodeMethodNotFound)
	})
}

func TestStructuredOutputFollowsTheRevision(t *testing.T) {
	mcptest.Proves(t, "TOOL-STRUCTURED-OBJECT-ONLY")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		known := sess.Revision() >= "2025-06-18"
		result := call(t, sess, "add", `{"a":1,"b":2}`)
		if got := string(result.StructuredContent); known != (got == `{"sum":3}`) {
			t.Errorf("structured content: got %q, known to the revision: %t", got, known)
		}
		for tool, err := range sess.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if tool.Name == "add" && known != (tool.OutputSchema != nil) {
				t.Errorf("output schema: got %s, known to the revision: %t", tool.OutputSchema, known)
			}
		}
	})
}

func TestBlocksFollowTheRevision(t *testing.T) {
	mcptest.Proves(t, "TOOL-RESULT-BLOCKS-2024", "TOOL-RESULT-BLOCKS-2025-03", "TOOL-RESULT-BLOCKS-2025-06")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		want := []string{"text", "image", "audio", "resource_link", "resource"}
		if sess.Revision() < "2025-06-18" {
			want[3] = "text"
		}
		if sess.Revision() < "2025-03-26" {
			want[2] = "resource"
		}
		var got []string
		for _, block := range call(t, sess, "blocks", `{}`).Content {
			got = append(got, block.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got blocks %v, want %v", got, want)
		}
	})
}

func TestProgressIsInOrderAndBeforeTheResult(t *testing.T) {
	mcptest.Proves(t, "PROG-INCREASING", "PROG-NOTIFY")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		const steps = 20
		var seen []float64
		result, err := sess.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(fmt.Sprintf(`{"to":%d}`, steps))},
			&client.CallOptions{Progress: func(p mcp.ProgressParams) { seen = append(seen, p.Progress) }})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, result); got != "counted" {
			t.Errorf("got %q, want counted", got)
		}
		if !slices.IsSorted(seen) || len(seen) == 0 || seen[len(seen)-1] != steps {
			t.Errorf("got progress %v, want a growing one that ends with %d", seen, steps)
		}
	})
}

// TestProgressOfManyCalls has calls tell progress at once: each hears of its own.
func TestProgressOfManyCalls(t *testing.T) {
	mcptest.Proves(t, "PROG-TOKEN-UNIQUE", "PROG-TRACK")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				steps := i + 1
				_, err := sess.CallTool(t.Context(),
					&mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(fmt.Sprintf(`{"to":%d}`, steps))},
					&client.CallOptions{Progress: func(p mcp.ProgressParams) {
						if p.Total == nil || *p.Total != float64(steps) {
							t.Errorf("a call of %d steps heard of %+v", steps, p)
						}
					}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestCancelReachesTheHandler(t *testing.T) {
	mcptest.Proves(t, "CANCEL-RECEIVER-STOP", "CANCEL-CLIENT-OWN", "CANCEL-SAME-DIRECTION", "CANCEL-NOT-INITIALIZE",
		"CANCEL-SERVER-ONLY-SUBSCRIPTION")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		before := text(t, call(t, sess, "waited", `{}`))
		var cancelled, waiting int
		if _, err := fmt.Sscanf(before, "%d of %d", &cancelled, &waiting); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := sess.CallTool(ctx, &mcp.CallToolParams{Name: "wait"},
			&client.CallOptions{Progress: func(mcp.ProgressParams) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
		want := fmt.Sprintf("%d of %d", cancelled+1, waiting+1)
		eventually(t, "the handler to be cancelled", func() bool { return text(t, call(t, sess, "waited", `{}`)) == want })
	})
}

// eventually asks until the answer is yes. Each question is a round trip, so
// there is nothing to wait for in between.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestReads(t *testing.T) {
	mcptest.Proves(t, "RES-NOT-FOUND-32002", "RES-NOT-FOUND-32602", "RES-NOT-FOUND-NO-EMIT-32002", "RES-READ-SHAPE",
		"TOOL-RESOURCE-LINK-UNLISTED")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		read := func(uri string) (*mcp.ReadResourceResult, error) {
			return sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
		}
		note, err := read("note:1")
		if err != nil || len(note.Contents) != 1 || note.Contents[0].Text != "first" {
			t.Errorf("note: got %+v, %v", note, err)
		}
		letter, err := read("letter:ada")
		if err != nil || len(letter.Contents) != 1 || string(letter.Contents[0].Blob) != "to ada" {
			t.Errorf("letter: got %+v, %v", letter, err)
		}
		code := mcp.CodeResourceNotFound
		if sess.Revision() >= "2026-07-28" {
			code = jsonrpc.CodeInvalidParams
		}
		for _, uri := range []string{"letter:nobody", "note:2"} {
			_, err := read(uri)
			wantCode(t, err, code)
		}
	})
}

func TestPrompts(t *testing.T) {
	mcptest.Proves(t, "PROMPT-MISSING-ARG-32602")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		got, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "travel", Arguments: map[string]string{"city": "Bern"}}, nil)
		if err != nil || len(got.Messages) != 1 || got.Messages[0].Content.Text != "Plan a trip to Bern" {
			t.Errorf("prompt: got %+v, %v", got, err)
		}
		_, err = sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "travel"}, nil)
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	})
}

func TestBigResult(t *testing.T) {
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		got := text(t, call(t, sess, "repeat", `{"text":"0123456789abcdef","times":262144}`))
		if len(got) != 4<<20 || got[:16] != "0123456789abcdef" {
			t.Errorf("got %d bytes, want %d", len(got), 4<<20)
		}
	})
}

func TestManyCallsAtOnce(t *testing.T) {
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "add", Arguments: json.RawMessage(fmt.Sprintf(`{"a":%d,"b":1}`, i)),
				}, nil)
				want := fmt.Sprintf(`{"sum":%d}`, i+1)
				if err != nil || len(result.Content) != 1 || result.Content[0].Text != want {
					t.Errorf("got %+v, %v, want %s", result, err, want)
				}
			})
		}
		wg.Wait()
	})
}
