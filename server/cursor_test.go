package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// paged serves lists in pages of one.
func paged(t *testing.T, keys ...[]byte) *dialog {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{PageSize: 1, StateKeys: keys})
	t.Cleanup(func() { _ = srv.Close() })
	for i := range 3 {
		addTool(srv, fmt.Sprintf("t%d", i))
		srv.AddRawPrompt(mcp.Prompt{Name: fmt.Sprintf("p%d", i)}, func(context.Context, *server.Call) (any, error) { return nil, nil })
	}
	return talk(t, srv)
}

func secondPage(t *testing.T, d *dialog) (cursor string) {
	t.Helper()
	r := result[mcp.ListToolsResult](t, d.askModern("tools/list", ""))
	if r.NextCursor == nil {
		t.Fatal("there is no second page")
	}
	return *r.NextCursor
}

func TestCursorsAreOurs(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PAGE-INVALID-CURSOR-32602", "PAGE-STABLE-CURSORS", "PAGE-START-AFTER-CURSOR")
	d := paged(t)
	cursor := secondPage(t, d)
	if again := secondPage(t, d); again != cursor {
		t.Errorf("the cursor of the same place is %q and %q", cursor, again)
	}
	page := func(list, cursor string) jsonrpc.Message {
		return d.askModern(list, fmt.Sprintf(`"cursor":%q`, cursor))
	}
	if r := result[mcp.ListToolsResult](t, page("tools/list", cursor)); r.Tools[0].Name != "t1" {
		t.Errorf("second page: got %+v", r.Tools)
	}
	code(t, page("prompts/list", cursor), jsonrpc.CodeInvalidParams)
	code(t, page("tools/list", cursor[:len(cursor)-1]), jsonrpc.CodeInvalidParams)
	code(t, page("tools/list", cursor+"AAAA"), jsonrpc.CodeInvalidParams)
	code(t, page("tools/list", ""), jsonrpc.CodeInvalidParams)
	for i := range cursor {
		changed := []byte(cursor)
		if changed[i]++; changed[i] == cursor[i] {
			continue
		}
		code(t, page("tools/list", string(changed)), jsonrpc.CodeInvalidParams)
	}
}

func TestCursorsOfReplicas(t *testing.T) {
	t.Parallel()
	one, two := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)
	tests := []struct {
		name         string
		made, taken  [][]byte
		understood   bool
		sameAsBefore bool
	}{
		{"the same key", [][]byte{one}, [][]byte{one}, true, true},
		{"a new key comes first", [][]byte{one}, [][]byte{two, one}, true, false},
		{"the old key is gone", [][]byte{one}, [][]byte{two}, false, false},
		{"no keys", nil, nil, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cursor := secondPage(t, paged(t, tt.made...))
			other := paged(t, tt.taken...)
			m := other.askModern("tools/list", fmt.Sprintf(`"cursor":%q`, cursor))
			if understood := m.Error == nil; understood != tt.understood {
				t.Errorf("understood: %t, want %t (%v)", understood, tt.understood, m.Error)
			}
			if same := secondPage(t, other) == cursor; same != tt.sameAsBefore {
				t.Errorf("the same cursor: %t, want %t", same, tt.sameAsBefore)
			}
		})
	}
}

func FuzzCursor(f *testing.F) {
	srv := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{PageSize: 1})
	f.Cleanup(func() { _ = srv.Close() })
	addTool(srv, "t")
	for _, cursor := range []string{"", "nonsense", "AQ", "AQAAAAAAAAAAAAAAAAAAAAAAdA"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		sess, _ := srv.Stateless("2025-06-18")
		quoted, err := json.Marshal(cursor)
		if err != nil {
			t.Fatal(err)
		}
		r := serve(t, srv, sess, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":`+string(quoted)+`}}`)
		if r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("cursor %q: got %+v, want invalid parameters", cursor, r)
		}
	})
}
