package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// asking returns a server whose tool asks for everything, one after the other.
func asking() *server.Server {
	type deployment struct {
		Where   string   `json:"where"   jsonschema:"enum=test|live,titles=Test|Live"`
		Times   int      `json:"times"   jsonschema:"minimum=1,default=3"`
		Regions []string `json:"regions" jsonschema:"enum=eu|us"`
	}
	srv := server.New(mcp.Implementation{Name: "asking", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "ask"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		id, err := server.Once(ctx, c, "ticket", func(context.Context) (int, error) { return 7, nil })
		if err != nil {
			return "", err
		}
		roots, err := server.Roots(ctx, c, "roots")
		if err != nil {
			return "", err
		}
		said, err := server.Sample(ctx, c, "model", &mcp.CreateMessageParams{
			MaxTokens: 10,
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text("one"), mcp.Text("two")}}},
		})
		if err != nil {
			return "", err
		}
		got := fmt.Sprintf("%d %s %s", id, roots[0].URI, said.Content[0].Text)
		answer, err := server.Elicit[deployment](ctx, c, "where", "Where?")
		if _, ok := errors.AsType[*mcp.MissingCapabilityError](err); ok {
			return got + " nobody to ask", nil
		}
		return fmt.Sprintf("%s %s %+v", got, answer.Action, answer.Value), err
	})
	return srv
}

// TestOneHandlerAsks runs one handler that asks its client, for clients of every
// revision over every carrier.
func TestOneHandlerAsks(t *testing.T) {
	mcptest.Proves(t, "ELICIT-MRTR", "ELICIT-CAP-EMPTY-IS-FORM", "ELICIT-MESSAGE-REQUIRED", "ELICIT-SCHEMA-FLAT", "ELICIT-SCHEMA-TYPES-2025-06",
		"ELICIT-SCHEMA-TYPES-2025-11", "ELICIT-SEC-SERVER-VALIDATE", "MRTR-RESULT-SHAPE", "MRTR-STATELESS-RETRY", "MRTR-REQUEST-TYPES",
		"ROOT-LIST-MRTR", "ROOT-LIST-RPC", "SAMP-MRTR", "SAMP-NO-ARRAY-PRE-2025-11", "SAMP-REQ-REQUIRED")
	grid := mcptest.Grid{
		Server: asking,
		Client: func() *client.Options {
			return &client.Options{
				OnRoots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///work"}}, nil },
				OnSample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
					var said []string
					for _, m := range p.Messages {
						for _, block := range m.Content {
							said = append(said, block.Text)
						}
					}
					return &mcp.CreateMessageResult{Model: "m", Content: mcp.SamplingContent{mcp.Text(strings.Join(said, "+"))}}, nil
				},
				OnElicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					content := map[string]any{}
					for _, f := range p.RequestedSchema.Fields {
						switch {
						case f.Kind() == mcp.FormChoices:
							content[f.Name] = []string{"eu"}
						case f.Kind() == mcp.FormChoice:
							content[f.Name] = f.Options()[1].Const
						case f.Kind() == mcp.FormBoolean:
							content[f.Name] = f.Name == "regions.eu"
						case f.Default == nil:
							content[f.Name] = 3
						}
					}
					raw, err := json.Marshal(content)
					return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: raw}, err
				},
			}
		},
	}
	grid.Run(t, func(t *testing.T, sess *client.Session, _ mcptest.Carrier) {
		want := "7 file:///work one+two accept {Where:live Times:3 Regions:[eu]}"
		if strings.HasPrefix(sess.Revision(), "2024") || strings.HasPrefix(sess.Revision(), "2025-03") {
			want = "7 file:///work one+two nobody to ask"
		}
		if got := text(t, call(t, sess, "ask", `{}`)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}
