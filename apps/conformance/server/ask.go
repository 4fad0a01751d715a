package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// The forms that the suite wants to be asked with.
type (
	named struct {
		Name string `json:"name"`
	}
	agreed struct {
		OK bool `json:"ok"`
	}
	colored struct {
		Color string `json:"color"`
	}
	contextual struct {
		Context string `json:"context"`
	}
	account struct {
		Username string `json:"username" jsonschema:"description=User's response"`
		Email    string `json:"email"    jsonschema:"description=User's email address"`
	}
	defaults struct {
		Name     string  `json:"name,omitempty"     jsonschema:"default=John Doe"`
		Age      int     `json:"age,omitempty"      jsonschema:"default=30"`
		Score    float64 `json:"score,omitempty"    jsonschema:"default=95.5"`
		Status   string  `json:"status,omitempty"   jsonschema:"enum=active|inactive|pending,default=active"`
		Verified bool    `json:"verified,omitempty" jsonschema:"default=true"`
	}
)

// enums has each way to write choices, one of which Go types do not make: it is
// for older clients.
var enums = mcp.FormSchema{Fields: []mcp.FormField{
	{Name: "untitledSingle", Type: "string", Enum: []string{"option1", "option2", "option3"}},
	{Name: "titledSingle", Type: "string", OneOf: []mcp.FormOption{
		{Const: "value1", Title: "First Option"}, {Const: "value2", Title: "Second Option"}, {Const: "value3", Title: "Third Option"},
	}},
	{
		Name: "legacyEnum", Type: "string",
		Enum: []string{"opt1", "opt2", "opt3"}, EnumNames: []string{"Option One", "Option Two", "Option Three"},
	},
	{Name: "untitledMulti", Type: "array", Items: &mcp.FormItems{Type: "string", Enum: []string{"option1", "option2", "option3"}}},
	{Name: "titledMulti", Type: "array", Items: &mcp.FormItems{AnyOf: []mcp.FormOption{
		{Const: "value1", Title: "First Choice"}, {Const: "value2", Title: "Second Choice"}, {Const: "value3", Title: "Third Choice"},
	}}},
}}

// addAskingTools adds the tools that ask the client, and the prompt.
func addAskingTools(srv *server.Server) {
	type prompt struct {
		Prompt string `json:"prompt"`
	}
	server.AddTool(srv, mcp.Tool{Name: "test_sampling", Description: "Asks the client's model"},
		func(ctx context.Context, c *server.Call, in prompt) (string, error) {
			said, err := sample(ctx, c, "sample", in.Prompt)
			return "LLM response: " + said, err
		})
	type message struct {
		Message string `json:"message"`
	}
	server.AddTool(srv, mcp.Tool{Name: "test_elicitation", Description: "Asks the user"},
		func(ctx context.Context, c *server.Call, in message) (string, error) {
			return told(server.Elicit[account](ctx, c, "account", in.Message))
		})
	addText(srv, "test_elicitation_sep1034_defaults", "Asks with defaults", func(ctx context.Context, c *server.Call) (string, error) {
		return told(server.Elicit[defaults](ctx, c, "defaults", "Please review these values"))
	})
	addText(srv, "test_elicitation_sep1330_enums", "Asks with choices", func(ctx context.Context, c *server.Call) (string, error) {
		r, err := server.ElicitForm(ctx, c, "enums", "Please choose", &enums)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("User response: action=%s, content=%s", r.Action, r.Content), nil
	})
	addText(srv, "test_streaming_elicitation", "Asks the user for a name", askName)
	addRounds(srv)
}

// addRounds adds the tools for calls that take several rounds.
func addRounds(srv *server.Server) {
	const prefix = "test_input_required_result_"
	addText(srv, prefix+"elicitation", "Asks the user for a name", askName)
	addText(srv, prefix+"sampling", "Asks the client's model", func(ctx context.Context, c *server.Call) (string, error) {
		return sample(ctx, c, "capital_question", "What is the capital of France?")
	})
	addText(srv, prefix+"list_roots", "Asks for the roots", askRoots)
	addText(srv, prefix+"request_state", "Remembers something", func(ctx context.Context, c *server.Call) (string, error) {
		return remembering(ctx, c, "state-ok", askOK)
	})
	addText(srv, prefix+"tampered_state", "Remembers something", func(ctx context.Context, c *server.Call) (string, error) {
		return remembering(ctx, c, "state-ok", askOK)
	})
	addText(srv, prefix+"multiple_inputs", "Asks everything at once", func(ctx context.Context, c *server.Call) (string, error) {
		return remembering(ctx, c, "everything answered", func(ctx context.Context, c *server.Call) (string, error) {
			return "", server.All(
				func() error { _, err := askName(ctx, c); return err },
				func() error { _, err := sample(ctx, c, "greeting", "Write a greeting"); return err },
				func() error { _, err := askRoots(ctx, c); return err },
			)
		})
	})
	addText(srv, prefix+"multi_round", "Asks twice", func(ctx context.Context, c *server.Call) (string, error) {
		return remembering(ctx, c, "two steps done", func(ctx context.Context, c *server.Call) (string, error) {
			if _, err := server.Elicit[named](ctx, c, "step1", "Step 1: What is your name?"); err != nil {
				return "", err
			}
			return told(server.Elicit[colored](ctx, c, "step2", "Step 2: What is your favorite color?"))
		})
	})
	addText(srv, prefix+"capabilities", "Asks what the client can answer", askPossible)
	srv.AddPrompt(mcp.Prompt{Name: prefix + "prompt", Description: "Asks the user for context"},
		func(ctx context.Context, c *server.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
			answer, err := server.Elicit[contextual](ctx, c, "user_context", "What context should the prompt use?")
			if err != nil {
				return nil, err
			}
			text := mcp.Text("Use this context: " + answer.Value.Context)
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: text}}}, nil
		})
}

// remembering is for tools that must have a state before the first answer. It
// says that it has come back when they are done.
func remembering(ctx context.Context, c *server.Call, done string, run func(context.Context, *server.Call) (string, error)) (string, error) {
	said, err := server.Once(ctx, c, "begun", func(context.Context) (string, error) { return done, nil })
	if err != nil {
		return "", err
	}
	_, err = run(ctx, c)
	return said, err
}

func askName(ctx context.Context, c *server.Call) (string, error) {
	return told(server.Elicit[named](ctx, c, "user_name", "What is your name?"))
}

func askOK(ctx context.Context, c *server.Call) (string, error) {
	return told(server.Elicit[agreed](ctx, c, "confirm", "Please confirm"))
}

func askRoots(ctx context.Context, c *server.Call) (string, error) {
	roots, err := server.Roots(ctx, c, "client_roots")
	return fmt.Sprintf("Roots: %v", roots), err
}

// askPossible asks what the client has declared, and nothing else.
func askPossible(ctx context.Context, c *server.Call) (string, error) {
	can := c.ClientCapabilities()
	var ask []func() error
	if can.Elicitation.SupportsForm() {
		ask = append(ask, func() error { _, err := askName(ctx, c); return err })
	}
	if can.Sampling != nil {
		ask = append(ask, func() error { _, err := sample(ctx, c, "greeting", "Write a greeting"); return err })
	}
	return "The client was asked what it can answer", server.All(ask...)
}

func sample(ctx context.Context, c *server.Call, key, prompt string) (string, error) {
	result, err := server.Sample(ctx, c, key, &mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.SamplingContent{mcp.Text(prompt)}}},
		MaxTokens: 100,
	})
	if err != nil {
		return "", err
	}
	var said strings.Builder
	for _, block := range result.Content {
		said.WriteString(block.Text)
	}
	return said.String(), nil
}

// told describes what a user did.
func told[T any](answer server.Answer[T], err error) (string, error) {
	return fmt.Sprintf("User response: action=%s, content=%+v", answer.Action, answer.Value), err
}
