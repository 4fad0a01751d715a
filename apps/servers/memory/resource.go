package memory

import (
	"context"

	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

const (
	// graphURI is the graph as one JSON object.
	graphURI = "memory://knowledge-graph"
	// linesURI is the graph as a file of JSON lines, to take it elsewhere.
	linesURI = "memory://knowledge-graph.jsonl"
)

// addResources lets clients read the graph.
func (t *tools) addResources(srv *server.Server) {
	srv.AddResource(mcp.Resource{
		URI: graphURI, Name: "knowledge-graph", Title: "Knowledge Graph", MIMEType: "application/json", Icons: t.icons,
		Description: "The whole knowledge graph with all entities and relations",
	}, t.read("application/json", result.Text))
	srv.AddResource(mcp.Resource{
		URI: linesURI, Name: "knowledge-graph-lines", Title: "Knowledge Graph as JSON Lines", MIMEType: "application/jsonl", Icons: t.icons,
		Description: "The whole knowledge graph in the form of its file, one entity or relation on each line, to keep or to import elsewhere",
	}, t.read("application/jsonl", func(g any) (string, error) {
		data, err := graph.Document{Graph: g.(graph.Graph)}.Append(nil)
		return string(data), err
	}))
}

// read reads the graph in a form.
func (t *tools) read(mimeType string, write func(any) (string, error)) server.ResourceHandler {
	return func(ctx context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		g, err := bounded(t.store.Read(ctx))
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
		}
		text, err := write(g)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, mimeType, text)}}, nil
	}
}
