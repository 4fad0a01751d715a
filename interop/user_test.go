package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// A user answers what servers ask our client, and remembers it.
type user struct {
	mu        sync.Mutex
	questions []string
}

// options are those of a client that can be asked everything.
func (u *user) options(revision string) *client.Options {
	return &client.Options{
		Revision:     revision,
		Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Support{}, URL: &mcp.Support{}}},
		OnElicit:     u.elicit,
		OnSample:     u.sample,
		Roots:        []mcp.Root{{URI: "file:///work"}},
	}
}

func (u *user) elicit(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if p.IsURL() {
		u.note(p.Message + " " + p.URL)
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}
	form, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	u.note(p.Message + " " + properties(form))
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"name":"Ada","color":"green"}`)}, nil
}

func (u *user) sample(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	u.note(fmt.Sprintf("%s %d", p.Messages[0].Content[0].Text, p.MaxTokens))
	return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.SamplingContent{mcp.Text("two")}}, nil
}

func (u *user) note(question string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.questions = append(u.questions, question)
}

// asked returns the questions since it was called last.
func (u *user) asked() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := slices.Sorted(slices.Values(u.questions))
	u.questions = nil
	return strings.Join(all, ", ")
}

// asked calls a tool that asks, and shows what it asked and what came of it.
func (v *visitor) asked(ctx context.Context, tool string) (string, error) {
	v.user.asked() // what an earlier step has left
	seen, err := v.call(ctx, tool, `{}`, nil)
	if client.IsRemote(err) || strings.HasPrefix(seen, "tool error") {
		return refused, nil // servers say it in many ways
	}
	if questions := v.user.asked(); questions != "" {
		seen = questions + " -> " + seen
	}
	return seen, err
}
