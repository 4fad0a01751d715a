package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// thinker is a server whose tool lets the client's model call tools that only it
// knows, until the model is done.
func thinker() *server.Server {
	srv := server.New(testInfo, nil)
	server.AddTool(srv, mcp.Tool{Name: "think"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		p := &mcp.CreateMessageParams{
			MaxTokens: 10, Tools: []mcp.Tool{{Name: "look up", InputSchema: json.RawMessage(`{"type":"object"}`)}},
			Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("Think.")}}},
		}
		for round := range 3 {
			said, err := server.Sample(ctx, c, fmt.Sprint("round ", round), p)
			if err != nil {
				return "", err
			}
			if said.StopReason != mcp.StopToolUse {
				return said.StopReason + ": " + said.Content[0].Text, nil
			}
			var results mcp.SamplingContent
			for _, b := range said.Content {
				result := &mcp.ToolResult{ToolUseID: b.ToolUse.ID, Content: []mcp.Content{mcp.Text(string(b.ToolUse.Input))}}
				results = append(results, mcp.Content{Type: mcp.TypeToolResult, ToolResult: result, Meta: b.Meta})
			}
			p.Messages = append(p.Messages, mcp.SamplingMessage{Role: said.Role, Content: said.Content}, mcp.SamplingMessage{Role: mcp.RoleUser, Content: results})
		}
		return "", errors.New("the model does not stop")
	})
	return srv
}

// TestModelCallsTools has a model call two tools at once. What was noted on the
// calls comes back with them and with their results.
func TestModelCallsTools(t *testing.T) {
	mcptest.Proves(t, "SAMP-META-PRESERVE", "SAMP-TOOLUSE-PARALLEL", "SAMP-TOOLS-SCOPED", "SAMP-STOPREASON-OPEN", "SAMP-TOOLS-CAP",
		"SAMP-TOOLRESULT-SHAPE", "SAMP-TOOLUSE-BALANCE", "SAMP-TOOLRESULT-ONLY")
	calls := mcp.SamplingContent{
		{Type: mcp.TypeToolUse, ToolUse: &mcp.ToolUse{ID: "b", Name: "look up", Input: json.RawMessage(`{"n":1}`)}, Meta: mcp.Meta{"cache": json.RawMessage(`{"key":1}`)}},
		{Type: mcp.TypeToolUse, ToolUse: &mcp.ToolUse{ID: "a", Name: "look up"}, Meta: mcp.Meta{"cache": json.RawMessage(`{"key":2}`)}},
	}
	const loop = `[{"role":"user","content":{"type":"text","text":"Think."}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"look up","input":{"n":1},"_meta":{"cache":{"key":1}}},` +
		`{"type":"tool_use","id":"a","name":"look up","input":{},"_meta":{"cache":{"key":2}}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"b","content":[{"type":"text","text":"{\"n\":1}"}],"_meta":{"cache":{"key":1}}},` +
		`{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"{}"}],"_meta":{"cache":{"key":2}}}]}]`
	var mu sync.Mutex
	var asked [][]mcp.SamplingMessage
	grid := mcptest.Grid{Server: thinker, Revisions: []string{"2025-11-25", "2026-07-28"}, Client: func() *client.Options {
		return &client.Options{
			Capabilities: mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{Tools: &mcp.Support{}}},
			OnSample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, p.Messages)
				if len(p.Messages) == 1 {
					return &mcp.CreateMessageResult{Model: "m", StopReason: mcp.StopToolUse, Content: calls}, nil
				}
				return &mcp.CreateMessageResult{Model: "m", StopReason: "satisfied", Content: mcp.SamplingContent{mcp.Text("42")}}, nil
			},
		}
	}}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		if got := text(t, call(t, sess, "think", `{}`)); got != "satisfied: 42" {
			t.Errorf("got %q", got)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(asked) != 2 {
			t.Fatalf("the model was asked %d times, want 2", len(asked))
		}
		if got, err := json.Marshal(asked[1]); err != nil || string(got) != loop {
			t.Errorf("asked with\n%s, %v\nwant\n%s", got, err, loop)
		}
		asked = nil
	})
}
