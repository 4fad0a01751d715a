package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
)

// Read returns the whole graph.
func (d *Database) Read(ctx context.Context) (g graph.Graph, err error) {
	err = d.look(ctx, func(tx *sql.Tx) error {
		if g.Entities, err = entities(ctx, tx, `1`); err != nil {
			return err
		}
		g.Relations, err = relations(ctx, tx, `1`)
		return err
	})
	return g, err
}

// Open finds entities by name.
func (d *Database) Open(ctx context.Context, names []string) (graph.Graph, error) {
	return d.around(ctx, func(tx *sql.Tx) error {
		for _, name := range names {
			if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO temp.wanted SELECT id, name FROM entity WHERE name = ?`, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Search finds entities with all the words of a text, in whatever order, as parts of
// words too. Words of fewer than three letters are not in the index.
func (d *Database) Search(ctx context.Context, text string) (graph.Graph, error) {
	if strings.TrimSpace(text) == "" {
		return d.Read(ctx)
	}
	// Zero ends a text for SQLite, so it cannot be looked for.
	words := strings.FieldsFunc(text, func(r rune) bool { return r == 0 || unicode.IsSpace(r) })
	if len(words) == 0 {
		return d.Open(ctx, nil)
	}
	return d.around(ctx, func(tx *sql.Tx) error {
		//nolint:gosec // what is put together is text of this program
		if _, err := tx.ExecContext(ctx, `INSERT INTO temp.wanted `+having(words[0]), argument(words[0])); err != nil {
			return err
		}
		for _, word := range words[1:] {
			//nolint:gosec // what is put together is text of this program
			if _, err := tx.ExecContext(ctx, `DELETE FROM temp.wanted WHERE id NOT IN (SELECT id FROM (`+having(word)+`))`, argument(word)); err != nil {
				return err
			}
		}
		return nil
	})
}

// having selects the entities with a word.
func having(word string) string {
	match := `text MATCH ?`
	if utf8.RuneCountInString(word) < 3 {
		match = `text LIKE ? ESCAPE '\'`
	}
	return `SELECT id, name FROM entity WHERE id IN (
		SELECT rowid/2 FROM texts WHERE rowid % 2 = 0 AND ` + match + ` UNION
		SELECT entity FROM observation WHERE id IN (SELECT rowid/2 FROM texts WHERE rowid % 2 = 1 AND ` + strings.Replace(match, "?", "?1", 1) + `))`
}

// argument is a word as the index, or LIKE, wants it, so that nothing in it has
// another meaning.
func argument(word string) string {
	if utf8.RuneCountInString(word) < 3 {
		return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word) + "%"
	}
	return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
}

// around returns the entities that fn puts into temp.wanted, with their relations.
func (d *Database) around(ctx context.Context, fn func(tx *sql.Tx) error) (g graph.Graph, err error) {
	err = d.look(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TEMP TABLE IF NOT EXISTS wanted (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM temp.wanted`); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		if g.Entities, err = entities(ctx, tx, `entity.id IN (SELECT id FROM temp.wanted)`); err != nil {
			return err
		}
		const names = `(SELECT name FROM temp.wanted)`
		g.Relations, err = relations(ctx, tx, `source IN `+names+` OR target IN `+names)
		return err
	})
	return g, err
}

// look reads one state of the database.
func (d *Database) look(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(fn(tx), ignoreDone(tx.Rollback())))
}

// entities reads entities with their observations, in the order in which they came.
func entities(ctx context.Context, tx *sql.Tx, where string) ([]graph.Entity, error) {
	//nolint:gosec // what is put together is text of this program
	rows, err := tx.QueryContext(ctx, `SELECT entity.id, name, type, text FROM entity
		LEFT JOIN observation ON observation.entity = entity.id WHERE `+where+` ORDER BY entity.id, observation.id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	list := []graph.Entity{}
	last := int64(-1)
	for rows.Next() {
		var id int64
		var name, kind string
		var text sql.NullString
		if err := rows.Scan(&id, &name, &kind, &text); err != nil {
			return nil, err
		}
		if id != last {
			list = append(list, graph.Entity{Name: name, EntityType: kind, Observations: []string{}})
			last = id
		}
		if text.Valid {
			e := &list[len(list)-1]
			e.Observations = append(e.Observations, text.String)
		}
	}
	return list, rows.Err()
}

// relations reads relations in the order in which they came.
func relations(ctx context.Context, tx *sql.Tx, where string) ([]graph.Relation, error) {
	//nolint:gosec // what is put together is text of this program
	rows, err := tx.QueryContext(ctx, `SELECT source, target, type FROM relation WHERE `+where+` ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	list := []graph.Relation{}
	for rows.Next() {
		var r graph.Relation
		if err := rows.Scan(&r.From, &r.To, &r.RelationType); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}
