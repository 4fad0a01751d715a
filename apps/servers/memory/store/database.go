package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
)

// A Database keeps a graph in an SQLite database, with an index of all texts. It is
// for graphs that are too large to be written anew with each change.
type Database struct {
	path string
	db   *sql.DB
}

// schema makes what is not there yet. The rows of texts are those of entities, by
// twice their number, and of observations, by one more than that.
const schema = `
CREATE TABLE IF NOT EXISTS entity (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS observation (
	id INTEGER PRIMARY KEY, entity INTEGER NOT NULL REFERENCES entity(id) ON DELETE CASCADE, text TEXT NOT NULL, UNIQUE (entity, text));
CREATE TABLE IF NOT EXISTS relation (
	id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (source, target, type));
CREATE INDEX IF NOT EXISTS relation_target ON relation (target);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, tokenize='trigram');
CREATE TRIGGER IF NOT EXISTS entity_in AFTER INSERT ON entity BEGIN
	INSERT INTO texts (rowid, text) VALUES (2*new.id, new.name || char(10) || new.type); END;
CREATE TRIGGER IF NOT EXISTS entity_out AFTER DELETE ON entity BEGIN
	DELETE FROM texts WHERE rowid = 2*old.id; END;
CREATE TRIGGER IF NOT EXISTS observation_in AFTER INSERT ON observation BEGIN
	INSERT INTO texts (rowid, text) VALUES (2*new.id+1, new.text); END;
CREATE TRIGGER IF NOT EXISTS observation_out AFTER DELETE ON observation BEGIN
	DELETE FROM texts WHERE rowid = 2*old.id+1; END;
`

// OpenDatabase returns the store in a database, which is made if it is not there.
func OpenDatabase(ctx context.Context, name string) (*Database, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("memory database %s: %w", name, err)
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the memory: %w", err)
	}
	// The driver would make it readable for all.
	file, err := os.OpenFile(full, os.O_RDWR|os.O_CREATE|nonblocking, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a plain file")
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("memory database %s: %w", full, err)
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "trusted_schema(OFF)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(full), RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open the memory database: %w", err)
	}
	db.SetMaxOpenConns(4)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("memory database %s: %w: is it one of this server?", full, err), db.Close())
	}
	return &Database{path: full, db: db}, nil
}

// Path is the file of the database.
func (d *Database) Path() string { return d.path }

// Close closes the database.
func (d *Database) Close() error { return d.db.Close() }

// Stamp tells states of the database apart.
func (d *Database) Stamp(ctx context.Context) (string, error) {
	// The driver's own counter of changes is one of a connection, so the largest
	// numbers are asked for: they grow with what comes, and the counts go with what goes.
	var stamp string
	err := d.db.QueryRowContext(ctx, `SELECT printf('%d-%d-%d-%d-%d-%d',
		(SELECT count(*) FROM entity), (SELECT coalesce(max(id), 0) FROM entity),
		(SELECT count(*) FROM observation), (SELECT coalesce(max(id), 0) FROM observation),
		(SELECT count(*) FROM relation), (SELECT coalesce(max(id), 0) FROM relation))`).Scan(&stamp)
	return stamp, failed(err)
}

// failed explains an error of the database.
func failed(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*graph.MissingError](err); ok {
		return err
	}
	return fmt.Errorf("memory database: %w", err)
}

// change does something wholly or not at all.
func (d *Database) change(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return failed(err)
	}
	if err := fn(tx); err != nil {
		return failed(errors.Join(err, ignoreDone(tx.Rollback())))
	}
	return failed(tx.Commit())
}

// ignoreDone lets a transaction be that the end of its context has ended.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// insert reports whether a statement has added a row, and its number.
func insert(ctx context.Context, tx *sql.Tx, statement string, args ...any) (id int64, added bool, err error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, false, err
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 {
		return 0, false, err
	}
	id, err = result.LastInsertId()
	return id, true, err
}

// CreateEntities adds entities.
func (d *Database) CreateEntities(ctx context.Context, entities []graph.Entity) ([]graph.Entity, error) {
	added := []graph.Entity{}
	err := d.change(ctx, func(tx *sql.Tx) error {
		for _, e := range entities {
			id, fresh, err := insert(ctx, tx, `INSERT OR IGNORE INTO entity (name, type) VALUES (?, ?)`, e.Name, e.EntityType)
			if err != nil {
				return err
			}
			if !fresh {
				continue
			}
			if e.Observations, err = observe(ctx, tx, id, e.Observations); err != nil {
				return err
			}
			added = append(added, e)
		}
		return nil
	})
	return added, err
}

// observe adds observations to an entity and returns the new ones.
func observe(ctx context.Context, tx *sql.Tx, entity int64, texts []string) ([]string, error) {
	fresh := []string{}
	for _, text := range texts {
		_, added, err := insert(ctx, tx, `INSERT OR IGNORE INTO observation (entity, text) VALUES (?, ?)`, entity, text)
		if err != nil {
			return nil, err
		}
		if added {
			fresh = append(fresh, text)
		}
	}
	return fresh, nil
}

// CreateRelations adds relations.
func (d *Database) CreateRelations(ctx context.Context, relations []graph.Relation) ([]graph.Relation, error) {
	added := []graph.Relation{}
	err := d.change(ctx, func(tx *sql.Tx) error {
		for _, r := range relations {
			_, fresh, err := insert(ctx, tx, `INSERT OR IGNORE INTO relation (source, target, type) VALUES (?, ?, ?)`, r.From, r.To, r.RelationType)
			if err != nil {
				return err
			}
			if fresh {
				added = append(added, r)
			}
		}
		return nil
	})
	return added, err
}

// AddObservations adds observations.
func (d *Database) AddObservations(ctx context.Context, additions []graph.Addition) ([]graph.Added, error) {
	results := []graph.Added{}
	err := d.change(ctx, func(tx *sql.Tx) error {
		for _, a := range additions {
			var id int64
			err := tx.QueryRowContext(ctx, `SELECT id FROM entity WHERE name = ?`, a.EntityName).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return &graph.MissingError{Name: a.EntityName}
			}
			if err != nil {
				return err
			}
			fresh, err := observe(ctx, tx, id, a.Contents)
			if err != nil {
				return err
			}
			results = append(results, graph.Added{EntityName: a.EntityName, AddedObservations: fresh})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// DeleteEntities takes entities away.
func (d *Database) DeleteEntities(ctx context.Context, names []string) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		for _, name := range names {
			if _, err := tx.ExecContext(ctx, `DELETE FROM relation WHERE source = ?1 OR target = ?1`, name); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM entity WHERE name = ?`, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteObservations takes observations away.
func (d *Database) DeleteObservations(ctx context.Context, deletions []graph.Deletion) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		for _, del := range deletions {
			for _, text := range del.Observations {
				_, err := tx.ExecContext(ctx, `DELETE FROM observation WHERE text = ? AND entity = (SELECT id FROM entity WHERE name = ?)`, text, del.EntityName)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// DeleteRelations takes relations away.
func (d *Database) DeleteRelations(ctx context.Context, relations []graph.Relation) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		for _, r := range relations {
			_, err := tx.ExecContext(ctx, `DELETE FROM relation WHERE source = ? AND target = ? AND type = ?`, r.From, r.To, r.RelationType)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Import adds another graph.
func (d *Database) Import(ctx context.Context, other graph.Graph) error {
	if _, err := d.CreateEntities(ctx, other.Entities); err != nil {
		return err
	}
	additions := make([]graph.Addition, len(other.Entities))
	for i, e := range other.Entities {
		additions[i] = graph.Addition{EntityName: e.Name, Contents: e.Observations}
	}
	if _, err := d.AddObservations(ctx, additions); err != nil {
		return err
	}
	_, err := d.CreateRelations(ctx, other.Relations)
	return err
}
