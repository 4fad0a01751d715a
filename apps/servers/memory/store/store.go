// Package store keeps a knowledge graph: in a file of JSON lines, or in an SQLite
// database. Several processes may use one store at the same time, and what a method
// has returned for is there, even if the process is killed at that moment.
package store

import (
	"context"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
)

// A Store keeps a graph. Its methods may be called concurrently, by several
// processes too; each of them is done wholly or not at all. Errors are written for a
// model to read.
type Store interface {
	// Read returns the whole graph, which must not be changed.
	Read(ctx context.Context) (graph.Graph, error)
	// Search and Open return parts of it.
	Search(ctx context.Context, text string) (graph.Graph, error)
	Open(ctx context.Context, names []string) (graph.Graph, error)

	// The others change it, as the methods of graph.Graph of the same names do.
	CreateEntities(ctx context.Context, entities []graph.Entity) ([]graph.Entity, error)
	CreateRelations(ctx context.Context, relations []graph.Relation) ([]graph.Relation, error)
	AddObservations(ctx context.Context, additions []graph.Addition) ([]graph.Added, error)
	DeleteEntities(ctx context.Context, names []string) error
	DeleteObservations(ctx context.Context, deletions []graph.Deletion) error
	DeleteRelations(ctx context.Context, relations []graph.Relation) error

	// Import adds another graph to this one: entities that are there already get the
	// observations they do not have.
	Import(ctx context.Context, other graph.Graph) error

	// Path is the file it is kept in. Changes by other processes show in it or in
	// files whose names begin with its name.
	Path() string
	// Stamp is another text after each change, whoever made it.
	Stamp(ctx context.Context) (string, error)
	// Close gives back what is held. It may be called again.
	Close() error
}

// merge adds one graph to another.
func merge(g, other graph.Graph) (graph.Graph, error) {
	g, _ = g.CreateEntities(other.Entities)
	additions := make([]graph.Addition, len(other.Entities))
	for i, e := range other.Entities {
		additions[i] = graph.Addition{EntityName: e.Name, Contents: e.Observations}
	}
	g, _, err := g.AddObservations(additions)
	if err != nil {
		return g, err
	}
	g, _ = g.CreateRelations(other.Relations)
	return g, nil
}
