package memory

import (
	"context"
	"fmt"

	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
	"github.com/ferrymcp/ferry/apps/servers/memory/store"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// maxAnswer is how much of the graph one answer may hold, in bytes of its texts.
const maxAnswer = 16 << 20

// tools are the tools over one store.
type tools struct {
	store   store.Store
	changed func(ctx context.Context) // tells subscribers
	icons   []mcp.Icon
}

// The arguments of the tools.
type (
	entities struct {
		Entities []graph.Entity `json:"entities"`
	}
	relations struct {
		Relations []graph.Relation `json:"relations"`
	}
	additions struct {
		Observations []graph.Addition `json:"observations"`
	}
	deletions struct {
		Deletions []graph.Deletion `json:"deletions"`
	}
	names struct {
		Names []string `json:"names"`
	}
	entityNames struct {
		EntityNames []string `json:"entityNames"`
	}
	query struct {
		Query string `json:"query"`
	}
)

// results and success are what tools answer, beside the arguments' own types.
type (
	results struct {
		Results []graph.Added `json:"results"`
	}
	success struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
)

// add adds a tool. What its function returns is the structured content, and text is
// what of it the text shows.
func add[In, Out any](t *tools, srv *server.Server, tool mcp.Tool, text func(Out) any, fn func(ctx context.Context, in In) (Out, error)) {
	tool.Icons = t.icons
	tool.InputSchema, tool.OutputSchema = inputSchemas[tool.Name], outputSchemas[tool.Name]
	server.AddTool(srv, tool, func(ctx context.Context, _ *server.Call, in In) (*mcp.CallToolResult, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		answer, err := result.JSON(out)
		if err != nil {
			return nil, err
		}
		shown := text(out)
		plain, ok := shown.(string)
		if !ok {
			if plain, err = result.Text(shown); err != nil {
				return nil, err
			}
		}
		answer.Content = []mcp.Content{mcp.Text(plain)}
		return answer, nil
	})
}

// hints are the annotations of a tool. To call one again with the same arguments
// changes nothing more.
func hints(readOnly, destructive bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: readOnly, DestructiveHint: &destructive, IdempotentHint: true, OpenWorldHint: mcp.Ptr(false)}
}

// whole shows all of an answer.
func whole(g graph.Graph) any { return g }

// addReading adds the tools that look.
func (t *tools) addReading(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "read_graph", Title: "Read Graph", Annotations: hints(true, false),
		Description: "Returns the whole knowledge graph: all entities with their observations, and all relations. " +
			"It can be long; search_nodes and open_nodes return parts.",
	}, whole, func(ctx context.Context, _ struct{}) (graph.Graph, error) {
		g, err := t.store.Read(ctx)
		return bounded(g, err)
	})
	add(t, srv, mcp.Tool{
		Name: "search_nodes", Title: "Search Nodes", Annotations: hints(true, false),
		Description: "Finds entities by a text in their name, type or observations, and returns them with the relations from and to them.",
	}, whole, func(ctx context.Context, in query) (graph.Graph, error) {
		g, err := t.store.Search(ctx, in.Query)
		return bounded(g, err)
	})
	add(t, srv, mcp.Tool{
		Name: "open_nodes", Title: "Open Nodes", Annotations: hints(true, false),
		Description: "Returns the entities of these names, with the relations from and to them. Names that are not there are left out.",
	}, whole, func(ctx context.Context, in names) (graph.Graph, error) {
		g, err := t.store.Open(ctx, in.Names)
		return bounded(g, err)
	})
}

// bounded refuses what is too long for one answer.
func bounded(g graph.Graph, err error) (graph.Graph, error) {
	size := 0
	for _, e := range g.Entities {
		size += len(e.Name) + len(e.EntityType) + 64
		for _, o := range e.Observations {
			size += len(o) + 8
		}
	}
	for _, r := range g.Relations {
		size += len(r.From) + len(r.To) + len(r.RelationType) + 64
	}
	if err == nil && size > maxAnswer {
		return graph.Graph{}, fmt.Errorf("this is too long for one answer: %d entities and %d relations. Find fewer of them with search_nodes, or name some for open_nodes",
			len(g.Entities), len(g.Relations))
	}
	return g, err
}

// addAdding adds the tools that add something.
func (t *tools) addAdding(srv *server.Server) {
	add(t, srv, mcp.Tool{
		Name: "create_entities", Title: "Create Entities", Annotations: hints(false, false),
		Description: "Adds entities to the knowledge graph: things, people, ideas, with what is known of them. " +
			"Names that are taken are left alone; use add_observations for them. Returns what is new.",
	}, func(out entities) any { return out.Entities }, func(ctx context.Context, in entities) (entities, error) {
		added, err := t.store.CreateEntities(ctx, in.Entities)
		return entities{added}, t.done(ctx, err)
	})
	add(t, srv, mcp.Tool{
		Name: "create_relations", Title: "Create Relations", Annotations: hints(false, false),
		Description: "Adds relations between entities, in active voice, such as Ada works_at Acme. Those that are there already are left alone. Returns what is new.",
	}, func(out relations) any { return out.Relations }, func(ctx context.Context, in relations) (relations, error) {
		added, err := t.store.CreateRelations(ctx, in.Relations)
		return relations{added}, t.done(ctx, err)
	})
	add(t, srv, mcp.Tool{
		Name: "add_observations", Title: "Add Observations", Annotations: hints(false, false),
		Description: "Adds facts to entities that are there. If one of the entities is not there, nothing is added. Returns what is new.",
	}, func(out results) any { return out.Results }, func(ctx context.Context, in additions) (results, error) {
		added, err := t.store.AddObservations(ctx, in.Observations)
		return results{added}, t.done(ctx, err)
	})
}

// addDeleting adds the tools that take something away.
func (t *tools) addDeleting(srv *server.Server) {
	message := func(out success) any { return out.Message }
	add(t, srv, mcp.Tool{
		Name: "delete_entities", Title: "Delete Entities", Annotations: hints(false, true),
		Description: "Forgets entities, what is known of them, and the relations from and to them. Names that are not there are ignored.",
	}, message, func(ctx context.Context, in entityNames) (success, error) {
		err := t.store.DeleteEntities(ctx, in.EntityNames)
		return success{true, "Entities deleted successfully"}, t.done(ctx, err)
	})
	add(t, srv, mcp.Tool{
		Name: "delete_observations", Title: "Delete Observations", Annotations: hints(false, true),
		Description: "Forgets facts about entities, given word for word. What is not there is ignored.",
	}, message, func(ctx context.Context, in deletions) (success, error) {
		err := t.store.DeleteObservations(ctx, in.Deletions)
		return success{true, "Observations deleted successfully"}, t.done(ctx, err)
	})
	add(t, srv, mcp.Tool{
		Name: "delete_relations", Title: "Delete Relations", Annotations: hints(false, true),
		Description: "Forgets relations, each given by both ends and its type. What is not there is ignored.",
	}, message, func(ctx context.Context, in relations) (success, error) {
		err := t.store.DeleteRelations(ctx, in.Relations)
		return success{true, "Relations deleted successfully"}, t.done(ctx, err)
	})
}

// done tells subscribers of a change that was made.
func (t *tools) done(ctx context.Context, err error) error {
	if err == nil {
		t.changed(ctx)
	}
	return err
}
