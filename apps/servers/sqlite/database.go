package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lite "modernc.org/sqlite" // the driver "sqlite"

	"github.com/ferrymcp/ferry/apps/servers/sqlite/statement"
)

// Limits bound what one call can cost. Zero fields mean the defaults.
type Limits struct {
	// Time is how long a statement may run; 30 s.
	Time time.Duration
	// Rows is the most rows that are returned; 1,000.
	Rows int
	// Text is the most bytes that are returned; 1 MiB.
	Text int
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.Rows <= 0 {
		l.Rows = 1000
	}
	if l.Text <= 0 {
		l.Text = 1 << 20
	}
	return l
}

// What the engine is told never to exceed, by the numbers of its limits.
var engineLimits = map[int]int{
	0: 16 << 20,          // bytes of a value
	1: statement.MaxText, // bytes of a statement
	7: 0,                 // databases that are attached
}

// A database is a file, open for reading and, unless it is read-only, for writing.
type database struct {
	reading, writing *sql.DB // writing is nil when nothing may be changed
	limits           Limits
}

// open opens a file, and makes it unless it is only read.
func open(path string, readOnly bool, limits Limits) (*database, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	flags := os.O_RDWR | os.O_CREATE
	if readOnly {
		flags = os.O_RDONLY
	} else if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the database: %w", err)
	}
	if info, err := os.Stat(full); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("database %s is not a plain file", full)
	}
	file, err := os.OpenFile(full, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	d := &database{limits: limits.withDefaults()}
	if d.reading, err = connect(full, "ro", "query_only(1)"); err != nil {
		return nil, err
	}
	if !readOnly {
		if d.writing, err = connect(full, "rw", "foreign_keys(0)"); err != nil {
			return nil, errors.Join(err, d.close())
		}
		d.writing.SetMaxOpenConns(1)
	}
	return d, nil
}

func connect(path, mode, pragma string) (*sql.DB, error) {
	options := url.Values{
		"mode": {mode}, "_defensive": {"1"},
		"_pragma": {"busy_timeout(5000)", "trusted_schema(0)", "cell_size_check(1)", pragma},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db.SetMaxOpenConns(4)
	return db, nil
}

func (d *database) close() error {
	err := d.reading.Close()
	if d.writing != nil {
		err = errors.Join(err, d.writing.Close())
	}
	return err
}

// with runs something on a connection that is bounded, for a bounded time.
func (d *database) with(ctx context.Context, db *sql.DB, do func(ctx context.Context, conn *sql.Conn) error) error {
	limited, cancel := context.WithTimeout(ctx, d.limits.Time)
	defer cancel()
	conn, err := db.Conn(limited)
	if err == nil {
		defer func() { _ = conn.Close() }() // it goes back to the others
		for id, value := range engineLimits {
			if _, err = lite.Limit(conn, id, value); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = do(limited, conn)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fmt.Errorf("the statement took longer than %v and was ended: ask for less, or add an index", d.limits.Time)
	}
	return plain(err)
}

// plain is an error of the engine without its numbers.
func plain(err error) error {
	text := err.Error()
	for _, prefix := range []string{"SQL logic error: ", "constraint failed: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return errors.New("Database error: " + text)
}

// rows is what a statement returns.
type rows struct {
	columns []string
	values  [][]any
	cut     bool // there is more
}

// query runs a statement that the engine does not let change anything.
func (d *database) query(ctx context.Context, text string, args ...any) (*rows, error) {
	r := &rows{values: [][]any{}}
	err := d.with(ctx, d.reading, func(ctx context.Context, conn *sql.Conn) error {
		result, err := conn.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer func() { _ = result.Close() }() // its error is that of Err
		if r.columns, err = result.Columns(); err != nil {
			return err
		}
		if dated(result) {
			// The driver would read texts in these columns as times.
			_ = result.Close()
			bare, err := conn.QueryContext(ctx, undated(text, len(r.columns)), args...)
			if err != nil {
				return err
			}
			defer func() { _ = bare.Close() }()
			return d.collect(r, bare)
		}
		return d.collect(r, result)
	})
	return r, err
}

// dated reports whether a column is declared to hold dates.
func dated(result *sql.Rows) bool {
	types, err := result.ColumnTypes()
	return err == nil && slices.ContainsFunc(types, func(t *sql.ColumnType) bool {
		return slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, t.DatabaseTypeName())
	})
}

// undated is a query around another, with its columns as they are but without their
// declarations: that is what a plus does.
func undated(text string, columns int) string {
	names, values := make([]string, columns), make([]string, columns)
	for i := range columns {
		names[i] = fmt.Sprintf("c%d", i)
		values[i] = "+" + names[i]
	}
	return "WITH q(" + strings.Join(names, ",") + ") AS (\n" + text + "\n) SELECT " + strings.Join(values, ",") + " FROM q"
}

// collect takes the rows that fit.
func (d *database) collect(r *rows, result *sql.Rows) error {
	size := 0
	for result.Next() {
		if len(r.values) >= d.limits.Rows {
			r.cut = true
			return nil
		}
		row := make([]any, len(r.columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := result.Scan(into...); err != nil {
			return err
		}
		for _, v := range row {
			size += sizeOf(v)
		}
		if size > d.limits.Text {
			r.cut = true
			if len(r.values) == 0 {
				return fmt.Errorf("one row has over %d bytes: ask for fewer columns, or for parts with substr", d.limits.Text)
			}
			return nil
		}
		r.values = append(r.values, row)
	}
	return result.Err()
}

// sizeOf is about how many bytes a value is as a text.
func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return 4 * len(v)
	}
	return 8
}

// exec runs a statement that changes something and returns how many rows it changed.
func (d *database) exec(ctx context.Context, text string) (affected int64, err error) {
	if d.writing == nil {
		return 0, errors.New("the database is read-only")
	}
	err = d.with(ctx, d.writing, func(ctx context.Context, conn *sql.Conn) error {
		result, err := conn.ExecContext(ctx, text)
		if err != nil {
			return err
		}
		affected, err = result.RowsAffected()
		return err
	})
	return affected, err
}
