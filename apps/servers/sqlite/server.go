// Package sqlite is the server "sqlite": it lets a model read and change one SQLite
// database, and keep a memo of what it finds.
package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/internal/icon"
	"github.com/ferrymcp/ferry/apps/servers/internal/quote"
	"github.com/ferrymcp/ferry/apps/servers/sqlite/statement"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// version is what the server says of itself; it follows its tools.
const version = "1.0.0"

// icons is the picture of the server and its tools: a barrel.
var icons = icon.Line("M4 6c0-4 16-4 16 0v12c0 4-16 4-16 0zM4 6c0 4 16 4 16 0M4 12c0 4 16 4 16 0")

// Options configures the server. Nil is valid.
type Options struct {
	// ReadOnly leaves out the tools that change something, and the engine refuses it.
	ReadOnly bool
	// Limits bound what one call can cost.
	Limits Limits
	// Server configures what is not special to this server; nil is valid.
	Server *server.Options
}

// A Server serves one database, which it holds open, so it must be closed.
type Server struct {
	*server.Server
	db *database
}

// New opens the file of a database, which is made if it is not there and may be
// changed, and makes the server.
func New(path string, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	db, err := open(path, opts.ReadOnly, opts.Limits)
	if err != nil {
		return nil, err
	}
	var o server.Options
	if opts.Server != nil {
		o = *opts.Server
	}
	resources := &mcp.ResourcesCapability{Subscribe: true}
	if o.Capabilities.Resources == nil {
		o.Capabilities.Resources = resources
	}
	srv := server.New(mcp.Implementation{Name: "sqlite", Title: "SQLite", Version: version, Icons: icons}, &o)
	t := &tools{db: db}
	t.addReading(srv)
	if !opts.ReadOnly {
		t.addWriting(srv)
	}
	t.addSchema(srv)
	addMemo(srv)
	return &Server{Server: srv, db: db}, nil
}

// Close ends the server and closes the database. It may be called again.
func (s *Server) Close() error { return errors.Join(s.Server.Close(), s.db.close()) }

// tools are the tools over one database.
type tools struct{ db *database }

// query holds the arguments of the tools that take a statement.
type query struct {
	Query string `json:"query" jsonschema:"one statement of SQL"`
}

// table holds the arguments of describe_table.
type table struct {
	Name string `json:"table_name" jsonschema:"name of the table"`
}

func hints(readOnly, destructive, idempotent bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint: readOnly, DestructiveHint: &destructive, IdempotentHint: idempotent, OpenWorldHint: mcp.Ptr(false),
	}
}

var rowsSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"rows":{"type":"array","items":{"type":"object"}},` +
	`"more":{"type":"boolean","description":"whether there are more rows than are returned"}},"required":["rows"]}`)

// addReading adds the tools that change nothing.
func (t *tools) addReading(srv *server.Server) {
	add(srv, mcp.Tool{
		Name: "read_query", Title: "Read", Annotations: hints(true, false, true), OutputSchema: rowsSchema,
		Description: "Runs a SELECT and returns its rows.",
	}, func(ctx context.Context, in query) (*mcp.CallToolResult, error) {
		s, text, err := statement.Parse(in.Query)
		if err != nil {
			return nil, err
		}
		if err := s.Check(); err != nil {
			return nil, err
		}
		if !s.Reads() {
			return nil, errors.New("Only SELECT queries are allowed for read_query") //nolint:staticcheck // as it is elsewhere
		}
		return shown(t.db.query(ctx, text))
	})
	add(srv, mcp.Tool{
		Name: "list_tables", Title: "Tables", Annotations: hints(true, false, true), OutputSchema: rowsSchema,
		Description: "Lists the tables of the database.",
	}, func(ctx context.Context, _ struct{}) (*mcp.CallToolResult, error) {
		return shown(t.db.query(ctx, `SELECT name FROM sqlite_master WHERE type='table'`))
	})
	add(srv, mcp.Tool{
		Name: "describe_table", Title: "Columns", Annotations: hints(true, false, true), OutputSchema: rowsSchema,
		Description: "Lists the columns of a table with their types.",
	}, func(ctx context.Context, in table) (*mcp.CallToolResult, error) {
		r, err := t.db.query(ctx, `SELECT * FROM pragma_table_info(?)`, in.Name)
		if err == nil && len(r.values) == 0 {
			return nil, fmt.Errorf("there is no table %q: list_tables tells which there are", in.Name)
		}
		return shown(r, err)
	})
}

// addWriting adds the tools that change something.
func (t *tools) addWriting(srv *server.Server) {
	add(srv, mcp.Tool{
		Name: "write_query", Title: "Write", Annotations: hints(false, true, false), OutputSchema: rowsSchema,
		Description: "Runs an INSERT, UPDATE, DELETE or another statement that changes the database, and returns how many rows it changed.",
	}, func(ctx context.Context, in query) (*mcp.CallToolResult, error) {
		s, text, err := statement.Parse(in.Query)
		if err != nil {
			return nil, err
		}
		if s.Begins("select") || s.Begins("values") {
			return nil, errors.New("SELECT queries are not allowed for write_query")
		}
		return t.write(ctx, s, text)
	})
	add(srv, mcp.Tool{
		Name: "create_table", Title: "Create table", Annotations: hints(false, false, false),
		Description: "Makes a table.",
	}, func(ctx context.Context, in query) (*mcp.CallToolResult, error) {
		s, text, err := statement.Parse(in.Query)
		if err != nil {
			return nil, err
		}
		if !s.Begins("create", "table") {
			return nil, errors.New("Only CREATE TABLE statements are allowed") //nolint:staticcheck // as it is elsewhere
		}
		if _, err := t.write(ctx, s, text); err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("Table created successfully")}}, nil
	})
}

func (t *tools) write(ctx context.Context, s statement.Statement, text string) (*mcp.CallToolResult, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	for _, word := range changes {
		if s.Begins(word) {
			n, err := t.db.exec(ctx, text)
			return shown(&rows{columns: []string{"affected_rows"}, values: [][]any{{n}}}, err)
		}
	}
	return nil, fmt.Errorf("a statement that begins with %q is not allowed: begin with %s", s.Word(), strings.ToUpper(strings.Join(changes, ", ")))
}

// changes are the keywords that statements begin with which write_query takes. A
// statement with WITH can be of both kinds: the engine tells.
var changes = []string{"insert", "update", "delete", "replace", "with", "create", "drop", "alter"}

// add adds a tool with its picture.
func add[In any](srv *server.Server, t mcp.Tool, fn func(ctx context.Context, in In) (*mcp.CallToolResult, error)) {
	t.Icons = icons
	server.AddTool(srv, t, func(ctx context.Context, _ *server.Call, in In) (*mcp.CallToolResult, error) { return fn(ctx, in) })
}

// shown makes a result of rows: as a text, in the form that Python has for them, and
// as JSON.
func shown(r *rows, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(r.values))
	objects := make([]map[string]any, len(r.values))
	for i, row := range r.values {
		members := make([]string, len(row))
		objects[i] = map[string]any{}
		for j, v := range row {
			members[j] = quote.Text(r.columns[j]) + ": " + literal(v)
			objects[i][r.columns[j]] = member(v)
		}
		texts[i] = "{" + strings.Join(members, ", ") + "}"
	}
	raw, err := json.Marshal(struct {
		Rows []map[string]any `json:"rows"`
		More bool             `json:"more,omitempty"`
	}{objects, r.cut})
	if err != nil {
		return nil, fmt.Errorf("write the rows as JSON: %w", err)
	}
	result := &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.Text("[" + strings.Join(texts, ", ") + "]")},
		StructuredContent: raw,
	}
	if r.cut {
		result.Content = append(result.Content, mcp.Text(fmt.Sprintf("… there are more rows than these %d: use LIMIT and OFFSET, or ask for fewer", len(r.values))))
	}
	return result, nil
}

// member is a value as JSON can have it.
func member(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return literal(v)
		}
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	}
	return v
}

// literal writes a value as Python does.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".eIN") {
			text += ".0"
		}
		return strings.ToLower(strings.TrimPrefix(text, "+"))
	case bool:
		if v {
			return "True"
		}
		return "False"
	case []byte:
		var b strings.Builder
		b.WriteString("b'")
		for _, c := range v {
			if c < ' ' || c > '~' || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, `\x%02x`, c)
				continue
			}
			b.WriteByte(c)
		}
		return b.String() + "'"
	case time.Time:
		return quote.Text(v.Format(time.RFC3339Nano))
	case string:
		return quote.Text(strings.ToValidUTF8(v, "\uFFFD"))
	}
	return fmt.Sprint(v)
}
