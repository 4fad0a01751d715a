package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrymcp/ferry/interop/tour"
)

func newServer() *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions:      "Call what you like.",
		PageSize:          3,
		CompletionHandler: complete,
	})
	addAnswers(srv)
	addWaiting(srv)
	addQuestions(srv)
	addResources(srv)
	srv.AddPrompt(&mcp.Prompt{Name: "travel", Arguments: []*mcp.PromptArgument{{Name: "city", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := &mcp.TextContent{Text: "Plan a trip to " + req.Params.Arguments["city"]}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
		})
	return srv
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	for _, city := range []string{"Berlin", "Bern", "Paris"} {
		if strings.HasPrefix(city, req.Params.Argument.Value) {
			values = append(values, city)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values}}, nil
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// add adds a tool without a result but text.
func add[In any](srv *mcp.Server, name string, run func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)) {
	mcp.AddTool(srv, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		result, err := run(ctx, req, in)
		return result, nil, err
	})
}

type none = struct{}

func addAnswers(srv *mcp.Server) {
	mcp.AddTool(srv, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in terms) (*mcp.CallToolResult, sum, error) {
		return nil, sum{in.A + in.B}, nil
	})
	add(srv, "fail", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		return nil, errors.New("the disk is full")
	})
	add(srv, "blocks", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "plain"},
			&mcp.ImageContent{Data: []byte{1, 2, 3}, MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte{4, 5}, MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "note:1", Name: "one"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "note:1", MIMEType: "text/plain", Text: "first"}},
		}}, nil
	})
	add(srv, "talk", func(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: "interop", Data: "hello"})
		return text("talked"), err
	})
	add(srv, "grow", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		add(srv, "grown", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) { return text(""), nil })
		return text("grown"), nil
	})
}

func addWaiting(srv *mcp.Server) {
	add(srv, "count", func(ctx context.Context, req *mcp.CallToolRequest, in struct {
		To int `json:"to"`
	},
	) (*mcp.CallToolResult, error) {
		for i := range in.To {
			if err := progress(ctx, req, i+1, in.To, fmt.Sprintf("step %d", i+1)); err != nil {
				return nil, err
			}
			time.Sleep(5 * time.Millisecond)
		}
		return text("counted"), nil
	})
	cancelled := make(chan struct{}, 1)
	add(srv, "wait", func(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		if err := progress(ctx, req, 1, 0, "waiting"); err != nil {
			return nil, err
		}
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, context.Cause(ctx)
	})
	add(srv, "waited", func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		select {
		case <-cancelled:
			return text("cancelled"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

func progress(ctx context.Context, req *mcp.CallToolRequest, step, total int, message string) error {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(step), Total: float64(total), Message: message,
	})
}

// addQuestions adds the tools that ask the client: in the older revisions the
// package makes requests of the questions.
func addQuestions(srv *mcp.Server) {
	form := &mcp.ElicitParams{Mode: "form", Message: tour.Question, RequestedSchema: tour.Form}
	page := &mcp.ElicitParams{Mode: "url", Message: tour.Errand, URL: tour.Page, ElicitationID: "e1"}
	riddle := &mcp.CreateMessageParams{MaxTokens: tour.Tokens, Messages: []*mcp.SamplingMessage{
		{Role: "user", Content: &mcp.TextContent{Text: tour.Riddle}},
	}}
	for name, questions := range map[string]mcp.InputRequestMap{
		"ask":   {"form": form},
		"visit": {"page": page},
		"think": {"riddle": riddle},
		"where": {"roots": &mcp.ListRootsParams{}},
		"both":  {"form": form, "roots": &mcp.ListRootsParams{}},
	} {
		add(srv, name, func(_ context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
			answers := req.Params.InputResponses
			if len(answers) < len(questions) {
				return &mcp.CallToolResult{InputRequests: questions, RequestState: name}, nil
			}
			var parts []string
			for _, key := range []string{"form", "page", "riddle", "roots"} {
				if answer, ok := answers[key]; ok {
					parts = append(parts, showAnswer(answer))
				}
			}
			return text(strings.Join(parts, ", ")), nil
		})
	}
}

func showAnswer(answer mcp.InputResponse) string {
	switch a := answer.(type) {
	case *mcp.ElicitResult:
		if a.Content == nil {
			return a.Action
		}
		return fmt.Sprintf("%s %v %v", a.Action, a.Content["name"], a.Content["color"])
	case *mcp.CreateMessageWithToolsResult:
		said, _ := a.Content[0].(*mcp.TextContent)
		return a.Model + " says " + said.Text
	case *mcp.ListRootsResult:
		return a.Roots[0].URI
	}
	return fmt.Sprintf("? %T", answer)
}

func addResources(srv *mcp.Server) {
	srv.AddResource(&mcp.Resource{URI: "note:1", Name: "one", MIMEType: "text/plain"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: "first"}}}, nil
		})
	srv.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "letter:{name}", Name: "letters"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			name := strings.TrimPrefix(req.Params.URI, "letter:")
			if name == "nobody" {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: req.Params.URI, MIMEType: "application/octet-stream", Blob: []byte("to " + name)},
			}}, nil
		})
}
