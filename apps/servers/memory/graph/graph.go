// Package graph is a knowledge graph: entities with observations, and relations
// between them. Graphs are values: what changes one makes another, and shares what
// stayed. Nothing here does I/O.
package graph

import (
	"fmt"
	"slices"
	"strings"
)

// An Entity is a thing with a name, a type and what is known of it.
type Entity struct {
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
}

// A Relation leads from one entity to another. Neither has to be there.
type Relation struct {
	From         string `json:"from"`
	To           string `json:"to"`
	RelationType string `json:"relationType"`
}

// A Graph is a whole knowledge graph or a part of one.
type Graph struct {
	Entities  []Entity   `json:"entities"`
	Relations []Relation `json:"relations"`
}

// An Addition is observations for an entity.
type Addition struct {
	EntityName string   `json:"entityName"`
	Contents   []string `json:"contents"`
}

// An Added is what was new of an Addition.
type Added struct {
	EntityName        string   `json:"entityName"`
	AddedObservations []string `json:"addedObservations"`
}

// A Deletion is observations to take from an entity.
type Deletion struct {
	EntityName   string   `json:"entityName"`
	Observations []string `json:"observations"`
}

// A MissingError tells that there is no entity of a name.
type MissingError struct{ Name string }

// Error implements the error interface, for a model to read.
func (e *MissingError) Error() string {
	return fmt.Sprintf("Entity with name %s not found: find it with search_nodes, or make it with create_entities. Nothing was changed", e.Name)
}

// names are the entities by name; of several, the first counts.
func (g Graph) names() map[string]int {
	names := make(map[string]int, len(g.Entities))
	for i, e := range g.Entities {
		if _, taken := names[e.Name]; !taken {
			names[e.Name] = i
		}
	}
	return names
}

// Equal reports whether two graphs are the same, in the same order.
func (g Graph) Equal(other Graph) bool {
	return slices.Equal(g.Relations, other.Relations) && slices.EqualFunc(g.Entities, other.Entities, func(a, b Entity) bool {
		return a.Name == b.Name && a.EntityType == b.EntityType && slices.Equal(a.Observations, b.Observations)
	})
}

// CreateEntities adds entities whose names are not taken, and returns those.
func (g Graph) CreateEntities(entities []Entity) (Graph, []Entity) {
	names := g.names()
	added := []Entity{}
	for _, e := range entities {
		if _, taken := names[e.Name]; taken {
			continue
		}
		names[e.Name] = 0
		e.Observations = append([]string{}, e.Observations...)
		added = append(added, e)
	}
	g.Entities = append(append([]Entity{}, g.Entities...), added...)
	return g, added
}

// CreateRelations adds relations that are not there yet, and returns those.
func (g Graph) CreateRelations(relations []Relation) (Graph, []Relation) {
	there := make(map[Relation]bool, len(g.Relations))
	for _, r := range g.Relations {
		there[r] = true
	}
	added := []Relation{}
	for _, r := range relations {
		if !there[r] {
			there[r] = true
			added = append(added, r)
		}
	}
	g.Relations = append(append([]Relation{}, g.Relations...), added...)
	return g, added
}

// AddObservations adds observations that are not there yet, and returns those. All
// entities must be there; the error is a *MissingError.
func (g Graph) AddObservations(additions []Addition) (Graph, []Added, error) {
	names := g.names()
	g.Entities = slices.Clone(g.Entities)
	results := []Added{}
	for _, a := range additions {
		i, ok := names[a.EntityName]
		if !ok {
			return Graph{}, nil, &MissingError{a.EntityName}
		}
		e := &g.Entities[i]
		fresh := without(a.Contents, e.Observations)
		e.Observations = append(append([]string{}, e.Observations...), fresh...)
		results = append(results, Added{a.EntityName, fresh})
	}
	return g, results, nil
}

// without are the texts that are not in others, each once.
func without(texts, others []string) []string {
	seen := make(map[string]bool, len(others))
	for _, text := range others {
		seen[text] = true
	}
	rest := []string{}
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			rest = append(rest, text)
		}
	}
	return rest
}

// DeleteEntities takes entities away, with the relations from and to them.
func (g Graph) DeleteEntities(names []string) Graph {
	gone := set(names)
	return Graph{
		Entities:  kept(g.Entities, func(e Entity) bool { return !gone[e.Name] }),
		Relations: kept(g.Relations, func(r Relation) bool { return !gone[r.From] && !gone[r.To] }),
	}
}

// DeleteObservations takes observations from entities; what is not there is ignored.
func (g Graph) DeleteObservations(deletions []Deletion) Graph {
	names := g.names()
	g.Entities = slices.Clone(g.Entities)
	for _, d := range deletions {
		if i, ok := names[d.EntityName]; ok {
			gone := set(d.Observations)
			e := &g.Entities[i]
			e.Observations = kept(e.Observations, func(o string) bool { return !gone[o] })
		}
	}
	return g
}

// DeleteRelations takes relations away.
func (g Graph) DeleteRelations(relations []Relation) Graph {
	gone := make(map[Relation]bool, len(relations))
	for _, r := range relations {
		gone[r] = true
	}
	g.Relations = kept(g.Relations, func(r Relation) bool { return !gone[r] })
	return g
}

// Search finds the entities in whose name, type or observations a text occurs,
// capitals and small letters being the same, with the relations from and to them.
func (g Graph) Search(text string) Graph {
	text = strings.ToLower(text)
	in := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return g.around(func(e Entity) bool {
		return in(e.Name) || in(e.EntityType) || slices.ContainsFunc(e.Observations, in)
	})
}

// Open returns the entities of these names, with the relations from and to them.
func (g Graph) Open(names []string) Graph {
	wanted := set(names)
	return g.around(func(e Entity) bool { return wanted[e.Name] })
}

// around returns entities and the relations from and to them.
func (g Graph) around(wanted func(Entity) bool) Graph {
	part := Graph{Entities: kept(g.Entities, wanted)}
	names := part.names()
	part.Relations = kept(g.Relations, func(r Relation) bool {
		_, from := names[r.From]
		_, to := names[r.To]
		return from || to
	})
	return part
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// kept is a copy with the elements that are wanted, never nil.
func kept[E any](list []E, wanted func(E) bool) []E {
	rest := []E{}
	for _, e := range list {
		if wanted(e) {
			rest = append(rest, e)
		}
	}
	return rest
}
