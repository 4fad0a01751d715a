package thinking_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/apps/servers/internal/dropin"
	"github.com/ferrymcp/ferry/apps/servers/thinking"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
	"github.com/ferrymcp/ferry/transport"
)

type object map[string]any

// think calls the tool and returns the result and its text.
func think(t *testing.T, sess *client.Session, arguments any) (*mcp.CallToolResult, string) {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "sequentialthinking", Arguments: data}, nil)
	if err != nil {
		t.Fatalf("call with %s: %v", data, err)
	}
	if len(result.Content) != 1 {
		t.Fatalf("call with %s: %d blocks, want 1", data, len(result.Content))
	}
	return result, result.Content[0].Text
}

func TestMain(m *testing.M) { mcptest.Main(m) }

func step(number any, more object) object {
	in := object{"thought": "a step", "thoughtNumber": number, "totalThoughts": 3, "nextThoughtNeeded": true}
	maps.Copy(in, more)
	return in
}

func TestThink(t *testing.T) {
	t.Parallel()
	mcptest.Matrix(t, func() *server.Server { return thinking.New(&thinking.Options{Alone: true}) },
		func(t *testing.T, sess *client.Session) {
			for i, tt := range []struct {
				in   object
				want string
			}{
				{step(1, nil), `{"thoughtNumber":1,"totalThoughts":3,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":1}`},
				{step("2", object{"nextThoughtNeeded": "False"}), `{"thoughtNumber":2,"totalThoughts":3,"nextThoughtNeeded":false,"branches":[],"thoughtHistoryLength":2}`},
				{step(5.0, object{"isRevision": "TRUE", "revisesThought": " 2 "}), `{"thoughtNumber":5,"totalThoughts":5,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":3}`},
				{step(6, object{"branchFromThought": "2", "branchId": "<b>"}), `{"thoughtNumber":6,"totalThoughts":6,"nextThoughtNeeded":true,"branches":["<b>"],"thoughtHistoryLength":4}`},
				{step(7, object{"branchFromThought": 2, "branchId": "10"}), `{"thoughtNumber":7,"totalThoughts":7,"nextThoughtNeeded":true,"branches":["10","<b>"],"thoughtHistoryLength":5}`},
				{step(8, object{"branchId": "none"}), `{"thoughtNumber":8,"totalThoughts":8,"nextThoughtNeeded":true,"branches":["10","<b>"],"thoughtHistoryLength":6}`},
				{step(9, object{"branchFromThought": 2, "branchId": "9", "needsMoreThoughts": true}), `{"thoughtNumber":9,"totalThoughts":9,"nextThoughtNeeded":true,"branches":["9","10","<b>"],"thoughtHistoryLength":7}`},
			} {
				result, text := think(t, sess, tt.in)
				var compact bytes.Buffer
				if err := json.Compact(&compact, []byte(text)); err != nil || compact.String() != tt.want || result.IsError {
					t.Errorf("step %d: got %s, %v, want %s", i, text, err, tt.want)
				}
				if len(result.StructuredContent) > 0 && string(result.StructuredContent) != tt.want {
					t.Errorf("step %d: structured content is %s, want %s", i, result.StructuredContent, tt.want)
				}
			}
		})
}

// TestRefused checks that what is wrong is named, and not counted.
func TestRefused(t *testing.T) {
	t.Parallel()
	sess := mcptest.Pair(t, thinking.New(nil), &client.Options{Revision: "2025-11-25"})
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		in   any
		want string
	}{
		{object{}, "thoughtNumber is missing"},
		{object{"thought": 1}, "thought must be text"},
		{step(0, nil), "thoughtNumber must be a whole number from 1 on, such as 3, not 0"},
		{step(1.5, nil), "not 1.5"},
		{step("many", nil), `not "many"`},
		{step(1, object{"totalThoughts": json.Number("9007199254740992")}), "totalThoughts must be"},
		{step(1, object{"revisesThought": object{}}), "revisesThought must be"},
		{step(1, object{"nextThoughtNeeded": "maybe"}), `nextThoughtNeeded must be true or false, not "maybe"`},
		{step(1, object{"isRevision": 1}), "isRevision must be"},
		{step(1, object{"branchFromThought": "NaN"}), "branchFromThought must be"},
		{step(1, object{"branchId": long, "branchFromThought": 1}), "short name"},
		{step(1, object{"needsMoreThoughts": long}), "…"},
	} {
		if result, text := think(t, sess, tt.in); !result.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%v: got error %t, %q, want an error with %q", tt.in, result.IsError, text, tt.want)
		}
	}
	for i := range 1000 {
		if result, text := think(t, sess, step(1, object{"branchFromThought": 1, "branchId": fmt.Sprint("b", i)})); result.IsError {
			t.Fatalf("branch %d: %s", i, text)
		}
	}
	if result, text := think(t, sess, step(1, object{"branchFromThought": 1, "branchId": "more"})); !result.IsError || !strings.Contains(text, "go on in one of them") {
		t.Errorf("branch 1,001: got error %t, %s", result.IsError, text)
	}
	if _, text := think(t, sess, step(1, nil)); !strings.Contains(text, `"thoughtHistoryLength": 1001`) {
		t.Errorf("what was refused counts: %s", text[len(text)-60:])
	}
}

// TestWhose checks whose thoughts are counted together.
func TestWhose(t *testing.T) {
	t.Parallel()
	counted := func(t *testing.T, sess *client.Session, want string) {
		t.Helper()
		if _, text := think(t, sess, step(1, object{"branchFromThought": 1, "branchId": "mine"})); !strings.Contains(text, `"thoughtHistoryLength": `+want+"\n") {
			t.Errorf("got %s, want the length %s", text, want)
		}
	}
	srv := thinking.New(nil)
	url := mcptest.Serve(t, srv, nil)
	dial := func(revision string) *client.Session {
		return mcptest.Connect(t, httpclient.New(url, nil), &client.Options{Revision: revision})
	}
	a, b := dial("2025-06-18"), dial("2025-06-18")
	counted(t, a, "1")
	counted(t, a, "2")
	counted(t, b, "1")
	nobody := dial("2026-07-28")
	counted(t, nobody, "1")
	counted(t, nobody, "1") // cannot be told from others

	near := func(principal string) *client.Session {
		return mcptest.Connect(t, asPrincipal(t, srv, principal), &client.Options{Revision: "2026-07-28"})
	}
	counted(t, near("ada"), "1")
	counted(t, near("ada"), "2")
	counted(t, near("bob"), "1")
}

// TestShown checks what people see, and that a thought cannot paint.
func TestShown(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	sess := mcptest.Pair(t, thinking.New(&thinking.Options{Log: &out}), nil)
	think(t, sess, step(1, object{"thought": "é\x1b[2J\u202eback\nsecond\tline\x00"}))
	think(t, sess, step(2, object{"isRevision": true, "revisesThought": 1}))
	think(t, sess, step(3, object{"branchFromThought": 1, "branchId": "b", "thought": strings.Repeat("x", 20_000)}))
	if text := out.String(); strings.ContainsAny(text, "\x1b\x00\u202e") || len(text) > 130_000 || !strings.Contains(text, "│ second line ") {
		t.Errorf("%d bytes are shown, or what paints:\n%.300s", out.Len(), text)
	}
	for _, head := range []string{"💭 Thought 1/3", "🔄 Revision 2/3 (revising thought 1)", "🌿 Branch 3/3 (from thought 1, ID: b)"} {
		if !strings.Contains(out.String(), head) {
			t.Errorf("nothing shown begins with %s", head)
		}
	}
}

// differences from npm's server-sequential-thinking; see docs/servers.md.
var differences = []dropin.Difference{
	{Where: "tools/*/description", Why: "our own words."},
	{Where: "tools/*/inputSchema/properties/*/description", Why: "our own words."},
	{Where: "calls/wrong*/**", Why: "the error says which argument is wrong and what to give; the original sends the report of its validation library."},
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	theirs := dropin.Original(t, "server-sequential-thinking", nil)
	ours := mcptest.Pair(t, thinking.New(&thinking.Options{Alone: true}), &client.Options{Revision: "2025-11-25"})
	c := dropin.Compare(t, theirs, ours, "thinking", differences)
	c.Tools()
	for i, in := range []object{
		step(1, nil), step("2", object{"nextThoughtNeeded": "FALSE"}), step(7, object{"totalThoughts": "4"}),
		step(2, object{"isRevision": true, "revisesThought": "1", "needsMoreThoughts": "true"}),
		step(3, object{"branchFromThought": 1, "branchId": "b"}), step(4, object{"branchFromThought": 1, "branchId": "7"}),
		step(5, object{"branchId": "alone"}), step(6, object{"branchFromThought": "2", "branchId": "a<&>é\u2027"}), step(1e3, nil), step(" 8 ", nil),
	} {
		c.Call(fmt.Sprint("step", i), "sequentialthinking", in)
	}
	for i, in := range []object{{}, step(0, nil), step("x", nil), step(1, object{"nextThoughtNeeded": "perhaps"}), step(1.5, nil)} {
		c.Call(fmt.Sprint("wrong", i), "sequentialthinking", in)
	}
	c.Call("last", "sequentialthinking", step(9, object{"nextThoughtNeeded": false}))
}

func ExampleNew() {
	srv := thinking.New(nil)
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: thinking
}

// FuzzArguments gives the tool anything.
func FuzzArguments(f *testing.F) {
	f.Add(`{"thought":"a","thoughtNumber":"1","totalThoughts":2,"nextThoughtNeeded":"true"}`)
	f.Add(`{"thoughtNumber":1e400,"branchFromThought":-0}`)
	f.Add(`{"branchFromThought":"1e3","branchId":"\ud800"}`)
	sess := mcptest.Pair(f, thinking.New(nil), nil)
	f.Fuzz(func(t *testing.T, arguments string) {
		if !json.Valid([]byte(arguments)) || !strings.HasPrefix(strings.TrimSpace(arguments), "{") {
			return
		}
		_, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: "sequentialthinking", Arguments: json.RawMessage(arguments)}, nil)
		if err != nil && strings.Contains(err.Error(), "internal") {
			t.Errorf("%s: %v", arguments, err)
		}
	})
}

// asPrincipal connects to a server as somebody.
func asPrincipal(t *testing.T, srv *server.Server, principal string) transport.Transport {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return transport.Dial(func(context.Context) (transport.Conn, error) {
		near, far := transport.Pipe()
		serving.Go(func() { _ = srv.ServePeer(t.Context(), far, &server.Peer{Principal: principal}) })
		return near, nil
	})
}
