package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

type booking struct {
	City   string `json:"city"`
	Nights int    `json:"nights,omitempty"`
	Class  string `json:"class,omitempty"  jsonschema:"enum=first|second"`
}

// curious is a server that asks before it answers.
func curious() *server.Server {
	srv := server.New(mcp.Implementation{Name: "curious", Version: "1"}, nil)
	tool := func(name string, ask func(context.Context, *server.Call) (string, error)) {
		server.AddTool(srv, mcp.Tool{Name: name}, func(ctx context.Context, c *server.Call, in struct {
			Note string `json:"note,omitempty"`
		},
		) (string, error) {
			text, err := ask(ctx, c)
			return in.Note + text, err
		})
	}
	tool("book", func(ctx context.Context, c *server.Call) (string, error) {
		answer, err := server.Elicit[struct {
			City string `json:"city"`
		}](ctx, c, "where", "Where to?")
		if err != nil || !answer.Accepted() {
			return answer.Action, err
		}
		more, err := server.Elicit[booking](ctx, c, "how", "How?")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %d", more.Action, answer.Value.City, more.Value.Nights), nil
	})
	tool("think", func(ctx context.Context, c *server.Call) (string, error) {
		said, err := server.Sample(ctx, c, "thought", &mcp.CreateMessageParams{
			MaxTokens: 10, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("Think.")}}},
		})
		if err != nil {
			return "", err
		}
		return said.Model + ": " + said.Content[0].Text, nil
	})
	tool("look", func(ctx context.Context, c *server.Call) (string, error) {
		roots, err := server.Roots(ctx, c, "roots")
		if err != nil {
			return "", err
		}
		var names []string
		for _, r := range roots {
			names = append(names, r.URI)
		}
		return strings.Join(names, " "), nil
	})
	tool("pay", func(ctx context.Context, c *server.Call) (string, error) {
		answer, err := server.ElicitURL(ctx, c, "page", &mcp.ElicitParams{Message: "Pay.", URL: "https://pay.example/1"})
		if err != nil {
			return "", err
		}
		return answer.Action, nil
	})
	return srv
}

// helpful answers what servers ask.
func helpful() *client.Options {
	yes := &mcp.Support{}
	return &client.Options{
		Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: yes, URL: yes}},
		OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			answer := &mcp.ElicitResult{Action: mcp.ElicitAccept}
			if !p.IsURL() {
				answer.Content = json.RawMessage(`{"city":"Bern","nights":2}`)
			}
			return answer, nil
		},
		OnSample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			if p.Messages[0].Content[0].Text != "Think." {
				return nil, errors.New("not what was asked")
			}
			return &mcp.CreateMessageResult{Model: "small", Content: mcp.SamplingContent{mcp.Text("I am.")}}, nil
		},
		Roots: []mcp.Root{{URI: "file:///home"}},
	}
}

func TestAsking(t *testing.T) {
	// The wire is watched: no server of the stateless revision sends a request.
	mcptest.Proves(t, "MRTR-CLIENT-FULFIL", "MRTR-CLIENT-RESPONSES", "ROOT-LIST-RPC", "SAMP-RESULT-FIELDS",
		"BASE-SERVER-NO-REQUESTS", "STDIO-NO-SERVER-REQUEST", "HTTP-SSE-NO-SERVER-REQUEST", "HTTP-NO-CLIENT-RESPONSE",
		"BASE-CLIENT-NO-RESPONSES", "STDIO-NO-CLIENT-RESPONSE", "MRTR-ONLY-CHANNEL", "TOOL-CALL-RETRY-NEW-ID",
		"MRTR-NEW-ID", "SCH-INPUT-REQUEST-BARE", "SCH-INPUT-REQUIRED-ONE-OF", "SCH-INPUT-RESPONSE-BARE",
		"MRTR-REQUEST-TYPES", "MRTR-AT-LEAST-ONE", "ELICIT-MRTR", "SAMP-MRTR", "ROOT-LIST-MRTR", "ROOT-LIST-CHANGED-REFRESH",
		"ROOT-SRV-HANDLE-CHANGES")
	grid := mcptest.Grid{Server: curious, Client: helpful}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		want := map[string]string{"think": "small: I am.", "look": "file:///home"}
		if sess.Revision() >= "2025-06-18" {
			want["book"] = "accept Bern 2"
		}
		if sess.Revision() >= "2025-11-25" {
			want["pay"] = "accept"
		}
		var wg sync.WaitGroup
		for name, answer := range want {
			for i := range 3 {
				wg.Go(func() {
					note := fmt.Sprintf("%d ", i)
					arguments, _ := json.Marshal(map[string]string{"note": note})
					r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments}, nil)
					if err != nil || r.IsError || len(r.Content) != 1 || r.Content[0].Text != note+answer {
						t.Errorf("%s: got %+v, %v, want %q", name, r, err, note+answer)
					}
				})
			}
		}
		wg.Wait()
		if err := sess.SetRoots(t.Context(), []mcp.Root{{URI: "file:///other"}}); err != nil {
			t.Error(err)
		}
		if got := text(t, call(t, sess, "look", `{}`)); got != "file:///other" {
			t.Errorf("look: got %q after the roots have changed", got)
		}
	})
}

// TestAskingOthers asks clients that decline, and those that cannot be asked.
func TestAskingOthers(t *testing.T) {
	decline := func() *client.Options {
		opts := helpful()
		opts.OnElicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}
		return opts
	}
	declining := mcptest.Grid{Server: curious, Client: decline, Revisions: []string{"2025-06-18", "2025-11-25", "2026-07-28"}}
	declining.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		if got := text(t, call(t, sess, "book", `{}`)); got != "decline" {
			t.Errorf("book: got %q", got)
		}
	})
}

// TestQuestionsAreWithdrawn has a server that does not wait for the answer to its
// question, and says so.
func TestQuestionsAreWithdrawn(t *testing.T) {
	mcptest.Proves(t, "CANCEL-SAME-DIRECTION", "CANCEL-RECEIVER-STOP")
	ended := make(chan struct{}, 100)
	grid := mcptest.Grid{
		Server: func() *server.Server {
			srv := server.New(testInfo, nil)
			server.AddTool(srv, mcp.Tool{Name: "hurry"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
				little, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				if _, err := server.Roots(little, c, "roots"); !errors.Is(err, context.DeadlineExceeded) {
					return "", fmt.Errorf("not what was to come: %w", err)
				}
				return "never mind", nil
			})
			return srv
		},
		Client: func() *client.Options {
			return &client.Options{OnRoots: func(ctx context.Context) ([]mcp.Root, error) {
				<-ctx.Done()
				ended <- struct{}{}
				return nil, context.Cause(ctx)
			}}
		},
		Revisions: revisions[:4],
	}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		for range 3 {
			if got := text(t, call(t, sess, "hurry", `{}`)); got != "never mind" {
				t.Errorf("got %q", got)
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("the client is still looking for an answer")
			}
		}
	})
}

func TestNobodyToAsk(t *testing.T) {
	mcptest.Matrix(t, curious, func(t *testing.T, sess *client.Session) {
		for _, name := range []string{"book", "think", "look", "pay"} {
			r, err := sess.CallTool(t.Context(), &mcp.CallToolParams{Name: name}, nil)
			if err == nil && !r.IsError {
				t.Errorf("%s: got %+v from a server that could not ask", name, r)
			}
		}
	})
}
