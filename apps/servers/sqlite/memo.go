package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// memoURI is the memo of insights.
const memoURI = "memo://insights"

// The bounds of the memo.
const (
	maxInsights = 1000
	maxInsight  = 4096 // bytes
)

// A memo holds insights for as long as the server runs, for all its clients.
type memo struct {
	mu       sync.Mutex
	insights []string
}

// insight holds the arguments of append_insight.
type insight struct {
	Text string `json:"insight" jsonschema:"what was found out"`
}

// addMemo adds the memo with the tool that writes to it, and the prompt.
func addMemo(srv *server.Server) {
	m := new(memo)
	srv.AddResource(mcp.Resource{
		URI: memoURI, Name: "Business Insights Memo", Title: "Insights", MIMEType: "text/plain", Icons: icons,
		Description: "What was found out so far",
	}, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", m.text())}}, nil
	})
	add(srv, mcp.Tool{
		Name: "append_insight", Title: "Add insight", Annotations: hints(false, false, false),
		Description: "Adds something that was found out to the memo, which is the resource " + memoURI + ".",
	}, func(_ context.Context, in insight) (*mcp.CallToolResult, error) {
		if err := m.add(in.Text); err != nil {
			return nil, err
		}
		srv.ResourceUpdated(memoURI)
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("Insight added to memo")}}, nil
	})
	srv.AddPrompt(mcp.Prompt{
		Name: "mcp-demo", Title: "Demonstration", Icons: icons,
		Description: "Fills the database with made-up data on a topic and looks into it",
		Arguments:   []mcp.PromptArgument{{Name: "topic", Description: "what the data is about", Required: true}},
	}, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{
			Description: "Demo template for " + args["topic"],
			Messages:    []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(fmt.Sprintf(demo, args["topic"]))}},
		}, nil
	})
}

func (m *memo) add(text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the insight is empty")
	case len(text) > maxInsight:
		return fmt.Errorf("the insight has %d bytes, and at most %d fit: say it shorter", len(text), maxInsight)
	case len(m.insights) >= maxInsights:
		return errors.New("the memo is full")
	}
	m.insights = append(m.insights, text)
	return nil
}

func (m *memo) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.insights) == 0 {
		return "No business insights have been discovered yet."
	}
	return "Key Insights Discovered:\n\n- " + strings.Join(m.insights, "\n- ")
}

// demo is the prompt; it takes the topic.
const demo = `Show me what you can do with this database. The topic is: %s.

1. Make up a short story about somebody who has a question that data on this topic can answer.
2. With create_table, make two or three tables for that data, and with write_query put ten to fifteen rows into each.
3. Tell me what is there now, and propose three questions that I could ask. Wait for my choice.
4. Answer it with read_query, explain what the answer means, and keep it with append_insight.
5. Offer me one more question, in the same way.
6. In the end, sum up what was found out. It is in the resource memo://insights, which I can attach to our talk.
`

// schemaURI is the template of what tables are made with.
const schemaURI = "sqlite://schema/{table}"

// maxTables is how many tables are proposed.
const maxTables = 1000

// addSchema lets clients read what tables are made with.
func (t *tools) addSchema(srv *server.Server) {
	srv.AddResourceTemplate(mcp.ResourceTemplate{
		URITemplate: schemaURI, Name: "Table schema", MIMEType: "application/sql", Icons: icons,
		Description: "The statements that a table and its indexes are made with",
	}, func(ctx context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
		r, err := t.db.query(ctx, `SELECT sql FROM sqlite_master WHERE tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL ORDER BY type DESC, name`, vars["table"])
		switch {
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
		case len(r.values) == 0:
			return nil, &mcp.ResourceNotFoundError{URI: uri}
		}
		var b strings.Builder
		for _, row := range r.values {
			fmt.Fprintf(&b, "%v;\n", row[0])
		}
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "application/sql", b.String())}}, nil
	})
	srv.CompleteResource(schemaURI, "table", func(ctx context.Context, _ *server.Call, _ string, _ map[string]string) ([]string, error) {
		r, err := t.db.query(ctx, `SELECT name FROM sqlite_master WHERE type='table' ORDER BY name LIMIT ?`, maxTables)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
		}
		var names []string
		for _, row := range r.values {
			names = append(names, fmt.Sprint(row[0]))
		}
		return names, nil
	})
}
