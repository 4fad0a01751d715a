package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/internal/dropin"
	"github.com/ferrymcp/ferry/apps/servers/memory"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

const graphURI = "memory://knowledge-graph"

type (
	object map[string]any
	list   []any
)

// start serves a memory.
func start(t *testing.T, opts *memory.Options) *memory.Server {
	t.Helper()
	srv, err := memory.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(srv.Close(), srv.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return srv
}

func call(t *testing.T, sess *client.Session, tool string, arguments any) (*mcp.CallToolResult, string) {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: data}, nil)
	if err != nil {
		t.Fatalf("%s %.100s: %v", tool, data, err)
	}
	return result, result.Content[0].Text
}

func entity(name string, observations ...any) object {
	return object{"name": name, "entityType": "person", "observations": append(list{}, observations...)}
}

// TestRevisions uses the memory in every revision over every carrier.
func TestRevisions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mcptest.Matrix(t, func() *server.Server {
		srv, err := memory.New(context.Background(), &memory.Options{File: filepath.Join(dir, "memory.jsonl")})
		if err != nil {
			panic(err)
		}
		return srv.Server
	}, func(t *testing.T, sess *client.Session) {
		name := t.Name()
		if result, text := call(t, sess, "create_entities", object{"entities": list{entity(name, "is here")}}); result.IsError || !strings.Contains(text, `"is here"`) {
			t.Errorf("create_entities: error %t, %s", result.IsError, text)
		}
		if _, text := call(t, sess, "search_nodes", object{"query": name}); !strings.Contains(text, name) {
			t.Errorf("search_nodes: %s", text)
		}
		got, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: graphURI}, nil)
		if err != nil || len(got.Contents) != 1 || !strings.Contains(got.Contents[0].Text, name) {
			t.Errorf("read %s: %+v, %v", graphURI, got, err)
		}
	})
}

// TestSubscription hears of changes by another server over the same store, as
// another process would be.
func TestSubscription(t *testing.T) {
	t.Parallel()
	for _, opts := range []memory.Options{{File: "m.jsonl"}, {Database: "m.db"}} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(opts.File+opts.Database+"/"+revision, func(t *testing.T) {
				t.Parallel()
				opts := opts
				dir := t.TempDir()
				if opts.File != "" {
					opts.File = filepath.Join(dir, "new", opts.File)
				} else {
					opts.Database = filepath.Join(dir, "new", opts.Database)
				}
				sess := mcptest.Pair(t, start(t, &opts).Server, &client.Options{Revision: revision})
				sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{graphURI}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = sub.Close() }()
				hear := func(what string) {
					t.Helper()
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					defer cancel()
					if _, err := sub.Next(ctx); err != nil {
						t.Fatalf("nothing is heard of %s: %v", what, err)
					}
				}
				other := mcptest.Pair(t, start(t, &opts).Server, nil)
				call(t, other, "create_entities", object{"entities": list{entity("Ada")}})
				hear("an entity of another process")
				call(t, sess, "add_observations", object{"observations": list{object{"entityName": "Ada", "contents": list{"counts"}}}})
				hear("an observation of this one")
			})
		}
	}
}

// TestHostileFile reads files that somebody else has written.
func TestHostileFile(t *testing.T) {
	t.Parallel()
	ada := `{"type":"entity","name":"Ada","entityType":"person","observations":["<b>"]}`
	for name, lines := range map[string][]string{
		"not JSON":       {"nonsense", `{"type":"entity","name":"cut`, "\xff\xfe\x00"},
		"other types":    {`{"type":"note","text":"kept"}`, `[]`, `"text"`, `null`, `1e999`},
		"wrong members":  {`{"type":"entity","name":1,"entityType":[],"observations":{}}`, `{"type":"entity","name":"x"}`, `{"type":"entity","name":"x","entityType":"y","observations":[null]}`, `{"type":"relation","from":"a"}`},
		"deep":           {strings.Repeat("[", 100_000), `{"type":"entity","name":` + strings.Repeat("[", 50_000) + `}`},
		"names of code":  {`{"type":"entity","__proto__":{"x":1},"constructor":1}`},
		"duplicate keys": {`{"type":"entity","type":"note","name":"x","name":"y","entityType":"z","observations":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "memory.jsonl")
			text := strings.Join(append([]string{ada}, lines...), "\r\n") + "\n\n"
			if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
				t.Fatal(err)
			}
			sess := mcptest.Pair(t, start(t, &memory.Options{File: file}).Server, nil)
			want := "{\n  \"entities\": [\n    {\n      \"name\": \"Ada\",\n      \"entityType\": \"person\",\n      \"observations\": [\n        \"<b>\"\n      ]\n    }\n  ],\n  \"relations\": []\n}"
			if result, text := call(t, sess, "read_graph", object{}); text != want || result.IsError {
				t.Errorf("read_graph: error %t, got %s", result.IsError, text)
			}
			call(t, sess, "create_entities", object{"entities": list{entity("Bob")}})
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range append(lines, ada, `"Bob"`) {
				if !strings.Contains(string(kept), line) {
					t.Errorf("the line %.100q is lost", line)
				}
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("the file's mode is %v, %v, want as before", info.Mode(), err)
			}
		})
	}
}

// TestRefused gives the server what it cannot use.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []memory.Options{
		{File: filepath.Join(dir, "folder")},
		{Database: filepath.Join(dir, "folder")},
		{Database: filepath.Join(dir, "text.db")},
		{File: "a", Database: "b"},
	} {
		if srv, err := memory.New(t.Context(), &o); err == nil {
			t.Errorf("New with %+v: no error", o)
			_ = srv.Close()
		}
	}
	file := filepath.Join(dir, "memory.jsonl")
	sess := mcptest.Pair(t, start(t, &memory.Options{File: file}).Server, nil)
	for _, tt := range []struct {
		tool string
		in   any
		want string
	}{
		{"create_entities", object{"entities": list{object{"name": "x"}}}, "entityType"},
		{"create_entities", object{"entities": "x"}, "entities"},
		{"add_observations", object{"observations": list{object{"entityName": "none", "contents": list{"x"}}}}, "Entity with name none not found: find it with search_nodes"},
		{"open_nodes", object{}, "names"},
		{"search_nodes", object{"query": 1}, "query"},
	} {
		if result, text := call(t, sess, tt.tool, tt.in); !result.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%s %v: error %t, %q, want an error with %q", tt.tool, tt.in, result.IsError, text, tt.want)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made of nothing: %v", err)
	}
	reader := mcptest.Pair(t, start(t, &memory.Options{File: file, ReadOnly: true}).Server, nil)
	for tool, err := range reader.Tools(t.Context()) {
		if err != nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("read-only, there is %s, %v", tool.Name, err)
		}
	}
}

// TestLinks checks that a change goes through a link, and a pipe does not block.
func TestLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links")
	}
	dir := t.TempDir()
	link, real := filepath.Join(dir, "link.jsonl"), filepath.Join(dir, "real.jsonl")
	if err := os.Symlink("real.jsonl", link); err != nil {
		t.Fatal(err)
	}
	srv := start(t, &memory.Options{File: link})
	call(t, mcptest.Pair(t, srv.Server, nil), "create_entities", object{"entities": list{entity("Ada")}})
	if data, err := os.ReadFile(real); err != nil || !strings.Contains(string(data), "Ada") {
		t.Errorf("behind the link is %q, %v", data, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link has gone: %v, %v", info, err)
	}
	// The file becomes a folder while the server runs.
	if err := os.Rename(real, real+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	sess := mcptest.Pair(t, srv.Server, nil)
	if result, text := call(t, sess, "create_entities", object{"entities": list{entity("Bob")}}); !result.IsError || !strings.Contains(text, "real.jsonl") {
		t.Errorf("with a folder in its place: error %t, %s", result.IsError, text)
	}
}

func TestImportExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := start(t, &memory.Options{File: filepath.Join(dir, "a.jsonl")})
	sess := mcptest.Pair(t, from.Server, nil)
	call(t, sess, "create_entities", object{"entities": list{entity("Ada", "a", "b"), entity("Bob")}})
	call(t, sess, "create_relations", object{"relations": list{object{"from": "Ada", "to": "Bob", "relationType": "knows"}}})
	lines, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: graphURI + ".jsonl"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"entity","name":"Ada","entityType":"person","observations":["a","b"]}
{"type":"entity","name":"Bob","entityType":"person","observations":[]}
{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}`
	if diff := cmp.Diff(want, lines.Contents[0].Text); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	if data, err := os.ReadFile(from.Path()); string(data) != want || err != nil {
		t.Errorf("the file is %s, %v", data, err)
	}
	to := start(t, &memory.Options{Database: filepath.Join(dir, "b.db")})
	for range 2 {
		if err := to.Import(t.Context(), []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	_, theirs := call(t, sess, "read_graph", object{})
	if _, ours := call(t, mcptest.Pair(t, to.Server, nil), "read_graph", object{}); ours != theirs {
		t.Errorf("imported: %s\nwant %s", ours, theirs)
	}
	if err := to.Import(t.Context(), []byte("nonsense")); err == nil || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("Import of nonsense: got error %v", err)
	}
}

// differences from npm's server-memory; see docs/servers.md.
var differences = []dropin.Difference{
	{Where: "tools/*/description", Why: "our own words."},
	{Where: "tools/*/*Schema/**/description", Why: "our own words, and lists and the root have none or one."},
	{Where: "tools/{create_entities,create_relations,add_observations}/annotations/idempotentHint", Why: "what is there already is left alone, so doing it twice is doing it once; the original says that it is not."},
	{Where: "calls/twice*/**", Why: "what comes twice in one call is added once; the original adds it twice, and finds only the first later."},
	{Where: "calls/wrong*/**", Why: "the error says what to do; the original's is the report of its validation library, or has no advice."},
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "theirs.jsonl")
	theirs := dropin.Original(t, "server-memory", []string{"MEMORY_FILE_PATH=" + file})
	srv := start(t, &memory.Options{File: filepath.Join(dir, "ours.jsonl")})
	c := dropin.Compare(t, theirs, mcptest.Pair(t, srv.Server, &client.Options{Revision: "2025-11-25"}), "memory", differences)
	c.Tools()
	compareCalls(c)
	a, errA := os.ReadFile(file)
	b, errB := os.ReadFile(srv.Path())
	if string(a) != string(b) || errA != nil || errB != nil {
		t.Errorf("the files differ, %v, %v:\n theirs %s\n ours   %s", errA, errB, a, b)
	}
	// Each reads what the other has written.
	ours := mcptest.Pair(t, start(t, &memory.Options{File: file}).Server, nil)
	call(t, ours, "create_entities", object{"entities": list{entity("Eve", "<é> \"quoted\" \\ 🌿")}})
	if _, text := call(t, theirs, "open_nodes", object{"names": list{"Eve"}}); !strings.Contains(text, "🌿") {
		t.Errorf("theirs does not read what ours has written: %s", text)
	}
	call(t, theirs, "delete_entities", object{"entityNames": list{"Ada"}})
	if _, text := call(t, ours, "read_graph", object{}); strings.Contains(text, `"Ada"`) || !strings.Contains(text, "🌿") {
		t.Errorf("ours does not read what theirs has written: %s", text)
	}
}

func compareCalls(c *dropin.Comparison) {
	c.Call("empty", "read_graph", object{})
	c.Call("create", "create_entities", object{"entities": list{entity("Ada", "counts <b> & é", ""), entity("Bob"), entity("")}})
	c.Call("create again", "create_entities", object{"entities": list{entity("Ada", "other"), object{"name": "Cy", "entityType": "ROBOT", "observations": list{"10"}, "more": 1}}})
	c.Call("relate", "create_relations", object{"relations": list{
		object{"from": "Ada", "to": "Bob", "relationType": "knows"}, object{"from": "Cy", "to": "none", "relationType": "seeks"}, object{"from": "none", "to": "nobody", "relationType": "is"},
	}})
	c.Call("relate again", "create_relations", object{"relations": list{object{"from": "Ada", "to": "Bob", "relationType": "knows"}}})
	c.Call("observe", "add_observations", object{"observations": list{object{"entityName": "Bob", "contents": list{"new", "line\nline"}}, object{"entityName": "Ada", "contents": list{""}}}})
	for _, query := range []string{"ada", "ROBOT", "É", "1", "", "none", "new"} {
		c.Call("search "+query, "search_nodes", object{"query": query})
	}
	c.Call("open", "open_nodes", object{"names": list{"Bob", "none", "Cy"}})
	c.Call("open none", "open_nodes", object{"names": list{}})
	c.Read(graphURI)
	c.Call("forget", "delete_observations", object{"deletions": list{object{"entityName": "Bob", "observations": list{"new", "what"}}, object{"entityName": "none", "observations": list{}}}})
	c.Call("unrelate", "delete_relations", object{"relations": list{object{"from": "none", "to": "nobody", "relationType": "is"}, object{"from": "a", "to": "b", "relationType": "c"}}})
	c.Call("delete", "delete_entities", object{"entityNames": list{"Bob", "none"}})
	c.Call("all", "read_graph", object{})
	c.Call("twice", "create_entities", object{"entities": list{entity("Dee", "1"), entity("Dee", "2")}})
	c.Call("twice forgotten", "delete_entities", object{"entityNames": list{"Dee"}})
	c.Call("all at last", "read_graph", object{})
	c.Call("wrong entity", "add_observations", object{"observations": list{object{"entityName": "none", "contents": list{"x"}}}})
	c.Call("wrong shape", "create_entities", object{"entities": list{object{"name": "x"}}})
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	srv, err := memory.New(context.Background(), &memory.Options{File: filepath.Join(dir, "memory.jsonl")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: memory
}
