package sqlite_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/sqlite"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

// open serves a database file.
func open(t testing.TB, path string, opts *sqlite.Options) *client.Session {
	t.Helper()
	srv, err := sqlite.New(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return mcptest.Pair(t, srv.Server, nil)
}

func call(t testing.TB, sess *client.Session, tool, name, value string) (string, *mcp.CallToolResult) {
	t.Helper()
	arguments := map[string]string{}
	if name != "" {
		arguments[name] = value
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: raw}, nil)
	if err != nil {
		t.Fatalf("%s %q: %v", tool, value, err)
	}
	return r.Content[0].Text, r
}

// succeed calls a tool that takes a statement.
func succeed(t testing.TB, sess *client.Session, tool, sql string) string {
	t.Helper()
	text, r := call(t, sess, tool, "query", sql)
	if r.IsError {
		t.Fatalf("%s %q failed: %s", tool, sql, text)
	}
	return text
}

// fixture makes a database with a table and three rows.
func fixture(t testing.TB) (string, *client.Session) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new folder", "a?b#c.db")
	sess := open(t, path, nil)
	if got := succeed(t, sess, "create_table", "CREATE TABLE People (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', born DATE, photo BLOB, height REAL);"); got != "Table created successfully" {
		t.Errorf("create_table says %q", got)
	}
	if got := succeed(t, sess, "write_query", "INSERT INTO People VALUES (1,'Ada','1815-12-10',x'00ff',1.5), (2,'O''Hara',NULL,NULL,2), (3,'ö\n\"',5,NULL,NULL)"); got != "[{'affected_rows': 3}]" {
		t.Errorf("write_query says %q", got)
	}
	return path, sess
}

func TestTools(t *testing.T) {
	t.Parallel()
	path, sess := fixture(t)
	for _, tt := range []struct{ sql, want string }{
		{"SELECT * FROM people", `[{'id': 1, 'name': 'Ada', 'born': '1815-12-10', 'photo': b'\x00\xff', 'height': 1.5}, ` +
			`{'id': 2, 'name': "O'Hara", 'born': None, 'photo': None, 'height': 2.0}, {'id': 3, 'name': 'ö\n"', 'born': 5, 'photo': None, 'height': None}]`},
		{"select name, born from people where id = 1 -- ; DROP TABLE people", `[{'name': 'Ada', 'born': '1815-12-10'}]`},
		{"/* ; */ WITH x AS (SELECT ';' AS a) SELECT a FROM x ;", `[{'a': ';'}]`},
		{"VALUES (1, 2)", `[{'column1': 1, 'column2': 2}]`},
		{"SELECT 1 WHERE 0", `[]`},
		{"SELECT count(*) AS \"pragma; x\" FROM people", `[{'pragma; x': 3}]`},
	} {
		if got := succeed(t, sess, "read_query", tt.sql); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.sql, got, tt.want)
		}
	}
	_, r := call(t, sess, "read_query", "query", "SELECT id, name FROM people LIMIT 1")
	if got := string(r.StructuredContent); got != `{"rows":[{"id":1,"name":"Ada"}]}` {
		t.Errorf("structured rows are %s", got)
	}
	if got, _ := call(t, sess, "list_tables", "", ""); got != "[{'name': 'People'}]" {
		t.Errorf("list_tables says %s", got)
	}
	got, _ := call(t, sess, "describe_table", "table_name", "people")
	if !strings.HasPrefix(got, "[{'cid': 0, 'name': 'id', 'type': 'INTEGER', 'notnull': 0, 'dflt_value': None, 'pk': 1}, {'cid': 1, 'name': 'name', 'type': 'TEXT', 'notnull': 1, 'dflt_value': \"'x'\", 'pk': 0}") {
		t.Errorf("describe_table says %s", got)
	}
	for _, sql := range []string{"UPDATE people SET name='B' WHERE id=1", "DELETE FROM people WHERE id=2", "WITH a AS (SELECT 9 AS i) INSERT INTO people(id) SELECT i FROM a", "REPLACE INTO people(id) VALUES (9)"} {
		if got := succeed(t, sess, "write_query", sql); got != "[{'affected_rows': 1}]" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	succeed(t, sess, "write_query", "ALTER TABLE people ADD COLUMN more")
	succeed(t, sess, "write_query", "CREATE INDEX i ON people(name)")

	only := open(t, path, &sqlite.Options{ReadOnly: true})
	if got := succeed(t, only, "read_query", "SELECT count(*) AS n FROM people"); got != "[{'n': 3}]" {
		t.Errorf("read-only: %s", got)
	}
	var names []string
	for tool, err := range only.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if want := []string{"append_insight", "describe_table", "list_tables", "read_query"}; !slices.Equal(names, want) {
		t.Errorf("tools are %q, want %q", names, want)
	}
	if _, err := sqlite.New(filepath.Join(t.TempDir(), "none.db"), &sqlite.Options{ReadOnly: true}); err == nil {
		t.Error("a database that is not there was opened to read")
	}
}

// TestAttacks tries to change what is only read, to do two things at once, and to get
// at files and programs.
func TestAttacks(t *testing.T) {
	t.Parallel()
	path, sess := fixture(t)
	other := filepath.Join(filepath.Dir(path), "other.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	both := []string{
		"", " ; ", "-- nothing", "/* nothing",
		"SELECT 1; DROP TABLE people", "SELECT 1;;SELECT 2", "SELECT '\\'; DROP TABLE people; --'", "SELECT 1 /* ; */; DELETE FROM people",
		"SELECT ''''; DELETE FROM people --'", "SELECT \"a\"\";\" ; DELETE FROM people", "SELECT [a;]; DELETE FROM people", "SELECT `a``;`; DELETE FROM people",
		"SELECT 'open", "SELECT 1\x00; DROP TABLE people",
		"ATTACH DATABASE '" + other + "' AS o", "/**/ATTACH '" + other + "' AS o", "\ufeffattach '" + other + "' as o", "DETACH main",
		"PRAGMA writable_schema=1", "PRAGMA query_only=0", "pragma journal_mode=wal", "VACUUM INTO '" + other + "'", "VACUUM",
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE x", "REINDEX", "ANALYZE", "EXPLAIN SELECT 1",
		"SELECT load_extension('/tmp/x.so')", "SELECT \"load_extension\"('/tmp/x.so')", "SELECT LOAD_EXTENSION ('/tmp/x.so')", "SELECT [load_extension]('x')",
		"SELECT readfile('/etc/passwd')", "SELECT writefile('" + other + "', 'x')", "SELECT edit('x')", "SELECT * FROM pragma_database_list",
		"SELECT * FROM pragma_function_list()", "SELECT fts3_tokenizer('simple')",
		"CREATE VIRTUAL TABLE v USING csv(filename='/etc/passwd')", "INSERT INTO sqlite_master VALUES (1,2,3,4,5)", "UPDATE sqlite_master SET sql='x'", "DELETE FROM sqlite_schema",
		"CREATE TABLE t AS SELECT load_extension('x')", "CREATE TRIGGER x AFTER INSERT ON people BEGIN DELETE FROM people; END",
		"WITH a AS (SELECT 1) DELETE FROM nothing",
		"SELECT zeroblob(1000000000)", "SELECT printf('%1000000000d', 1)", "SELECT hex(randomblob(100000000))",
		"SELECT ?1, :name", strings.Repeat("(", 10_000), "SELECT " + strings.Repeat("1+", 600_000) + "1",
	}
	reading := []string{
		"INSERT INTO people(id) VALUES (4)", "UPDATE people SET name='x'", "DELETE FROM people", "DROP TABLE people", "CREATE TABLE x(y)", "ALTER TABLE people RENAME TO p",
		"WITH a AS (SELECT 4 AS i) INSERT INTO people(id) SELECT i FROM a", "WITH a AS (SELECT 1) DELETE FROM people", "WITH a AS (SELECT 1) UPDATE people SET name='x' RETURNING *",
	}
	for tool, list := range map[string][]string{
		"read_query": slices.Concat(both, reading), "write_query": append(slices.Clone(both), "SELECT 1", "VALUES (1)"),
		"create_table": append(slices.Clone(both), "CREATE INDEX i ON people(name)", "CREATE TEMP TABLE x(y)", "DROP TABLE people", "SELECT 1", "INSERT INTO people(id) VALUES (5)"),
	} {
		for _, sql := range list {
			if text, r := call(t, sess, tool, "query", sql); !r.IsError {
				t.Errorf("%s %.80q: got %q, want an error", tool, sql, text)
			}
		}
	}
	for _, name := range []string{"people); DROP TABLE people; --", "people' OR '1'='1", "\"people\"", "x\x00", ""} {
		if text, r := call(t, sess, "describe_table", "table_name", name); !r.IsError {
			t.Errorf("describe_table %q: %s", name, text)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was made")
	}
}

// TestLimits asks for more than there may be.
func TestLimits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	sess := open(t, path, &sqlite.Options{Limits: sqlite.Limits{Time: 300 * time.Millisecond, Rows: 10, Text: 10_000}})
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT "
	if text, r := call(t, sess, "read_query", "query", endless+"count(*) FROM n"); !r.IsError || !strings.Contains(text, "took longer than") {
		t.Errorf("an endless statement: %q", text)
	}
	text, r := call(t, sess, "read_query", "query", endless+"i FROM n")
	if !strings.HasSuffix(text, "{'i': 10}]") || len(r.Content) != 2 || !strings.Contains(string(r.StructuredContent), `"more":true`) {
		t.Errorf("endless rows: %q, %d blocks", text, len(r.Content))
	}
	if text, r := call(t, sess, "read_query", "query", "SELECT hex(zeroblob(6000)) UNION ALL SELECT 1"); !r.IsError || !strings.Contains(text, "one row has over") {
		t.Errorf("a long row: %.100q", text)
	}
	succeed(t, sess, "create_table", "CREATE TABLE t(a)")
	if text, r := call(t, sess, "write_query", "query", "INSERT INTO t "+endless+"i FROM n"); !r.IsError || !strings.Contains(text, "took longer than") {
		t.Errorf("endless writing: %q", text)
	}
	if got := succeed(t, sess, "read_query", "SELECT count(*) AS n FROM t"); got != "[{'n': 0}]" {
		t.Errorf("after endless writing: %s", got)
	}
}

func TestMemoAndSchema(t *testing.T) {
	t.Parallel()
	_, sess := fixture(t)
	read := func(uri string) string {
		r, err := sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}, nil)
		if err != nil {
			return err.Error()
		}
		return r.Contents[0].Text
	}
	if got := read("memo://insights"); got != "No business insights have been discovered yet." {
		t.Errorf("the memo is %q", got)
	}
	sub, err := sess.Subscribe(t.Context(), &mcp.SubscriptionFilter{ResourceSubscriptions: []string{"memo://insights"}})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if got, _ := call(t, sess, "append_insight", "insight", "rain helps"); got != "Insight added to memo" {
		t.Errorf("append_insight says %q", got)
	}
	if change, err := sub.Next(t.Context()); err != nil {
		t.Errorf("the change was not told: %v, %v", change, err)
	}
	if got := read("memo://insights"); !strings.HasSuffix(got, "\n- rain helps") {
		t.Errorf("the memo is %q", got)
	}
	for _, text := range []string{" ", strings.Repeat("x", 10_000)} {
		if _, r := call(t, sess, "append_insight", "insight", text); !r.IsError {
			t.Errorf("an insight of %d bytes was taken", len(text))
		}
	}
	if got := read("sqlite://schema/People"); !strings.HasPrefix(got, "CREATE TABLE People (id INTEGER PRIMARY KEY") {
		t.Errorf("the schema is %q", got)
	}
	if got := read("sqlite://schema/none"); !strings.Contains(got, "not found") {
		t.Errorf("the schema of nothing is %q", got)
	}
	done, err := sess.Complete(t.Context(), &mcp.CompleteParams{
		Ref: mcp.ResourceRef("sqlite://schema/{table}"), Argument: mcp.CompleteArgument{Name: "table", Value: "pe"},
	})
	if err != nil || !slices.Equal(done.Completion.Values, []string{"People"}) {
		t.Errorf("completion: %+v, %v", done, err)
	}
	prompt, err := sess.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "mcp-demo", Arguments: map[string]string{"topic": "100% rain"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(true, strings.Contains(prompt.Messages[0].Content.Text, "The topic is: 100% rain.")); diff != "" {
		t.Errorf("the prompt is %q", prompt.Messages[0].Content.Text)
	}
}

func ExampleNew() {
	srv, err := sqlite.New(filepath.Join(os.TempDir(), "ferry-example.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	// srv.ServeStdio(ctx) would serve it to a client that started this program.
	fmt.Println(srv.Info().Name)
	// Output: sqlite
}
