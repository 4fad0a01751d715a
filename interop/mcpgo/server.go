package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/ferrymcp/ferry/interop/tour"
)

func newServer() *server.MCPServer {
	srv := server.NewMCPServer("everything", "1.0.0",
		server.WithInstructions("Call what you like."),
		server.WithPaginationLimit(3),
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithLogging(),
		server.WithElicitation(),
		server.WithRoots(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(cities{}),
		server.WithInputSchemaValidation(),
	)
	srv.EnableSampling()
	addAnswers(srv)
	addWaiting(srv)
	addQuestions(srv)
	addResources(srv)
	srv.AddPrompt(mcp.NewPrompt("travel", mcp.WithArgument("city", mcp.RequiredArgument())),
		func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			message := mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Plan a trip to "+req.Params.Arguments["city"]))
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{message}), nil
		})
	return srv
}

// Cities complete the argument of the prompt.
type cities struct{}

// CompletePromptArgument completes the beginning of a city.
func (cities) CompletePromptArgument(_ context.Context, _ string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	values := []string{}
	for _, city := range []string{"Berlin", "Bern", "Paris"} {
		if strings.HasPrefix(city, arg.Value) {
			values = append(values, city)
		}
	}
	return &mcp.Completion{Values: values}, nil
}

type sum struct {
	Sum int `json:"sum"`
}

func addAnswers(srv *server.MCPServer) {
	srv.AddTool(mcp.NewTool("add", mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required()), mcp.WithOutputSchema[sum]()),
		func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultStructuredOnly(sum{req.GetInt("a", 0) + req.GetInt("b", 0)}), nil
		})
	srv.AddTool(mcp.NewTool("fail"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("the disk is full"), nil
	})
	srv.AddTool(mcp.NewTool("blocks"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		note := mcp.TextResourceContents{URI: "note:1", MIMEType: "text/plain", Text: "first"}
		return &mcp.CallToolResult{Result: mcp.Result{}, Content: []mcp.Content{
			mcp.NewTextContent("plain"),
			mcp.NewImageContent(base64.StdEncoding.EncodeToString([]byte{1, 2, 3}), "image/png"),
			mcp.NewAudioContent(base64.StdEncoding.EncodeToString([]byte{4, 5}), "audio/wav"),
			mcp.NewResourceLink("note:1", "one", "", ""),
			mcp.NewEmbeddedResource(note),
		}}, nil
	})
	srv.AddTool(mcp.NewTool("talk"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := srv.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "interop", "hello"))
		time.Sleep(pause)
		return mcp.NewToolResultText("talked"), err
	})
	srv.AddTool(mcp.NewTool("grow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		srv.AddTool(mcp.NewTool("grown"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(""), nil
		})
		return mcp.NewToolResultText("grown"), nil
	})
}

// pause keeps a message from being lost: over HTTP the package may drop what it
// has taken up when the result is ready.
const pause = 100 * time.Millisecond

func addWaiting(srv *server.MCPServer) {
	srv.AddTool(mcp.NewTool("count", mcp.WithNumber("to")), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		to := req.GetInt("to", 0)
		for i := range to {
			if err := progress(ctx, srv, req, i+1, to, fmt.Sprintf("step %d", i+1)); err != nil {
				return nil, err
			}
			time.Sleep(pause)
		}
		return mcp.NewToolResultText("counted"), nil
	})
	cancelled := make(chan struct{}, 1)
	srv.AddTool(mcp.NewTool("wait"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := progress(ctx, srv, req, 1, 2, "waiting"); err != nil {
			return nil, err
		}
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, context.Cause(ctx)
	})
	srv.AddTool(mcp.NewTool("waited"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-cancelled:
			return mcp.NewToolResultText("cancelled"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

func progress(ctx context.Context, srv *server.MCPServer, req mcp.CallToolRequest, step, total int, message string) error {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return nil
	}
	return srv.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": req.Params.Meta.ProgressToken, "progress": step, "total": total, "message": message,
	})
}

// addQuestions adds the tools that ask the client: in the older revisions the
// package makes requests of the questions.
func addQuestions(srv *server.MCPServer) {
	form := mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: tour.Question, RequestedSchema: tour.Form}
	page := mcp.ElicitationParams{Mode: mcp.ElicitationModeURL, Message: tour.Errand, URL: tour.Page, ElicitationID: "e1"}
	riddle := mcp.CreateMessageParams{MaxTokens: tour.Tokens, Messages: []mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: mcp.NewTextContent(tour.Riddle)},
	}}
	type builder = server.InputRequestBuilder
	for name, ask := range map[string]func(b *builder) *builder{
		"ask":   func(b *builder) *builder { return b.Elicit("form", form) },
		"visit": func(b *builder) *builder { return b.Elicit("page", page) },
		"think": func(b *builder) *builder { return b.Sample("riddle", riddle) },
		"where": func(b *builder) *builder { return b.Roots("roots") },
		"both":  func(b *builder) *builder { return b.Elicit("form", form).Roots("roots") },
	} {
		srv.AddTool(mcp.NewTool(name), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(req.Params.InputResponses) == 0 {
				return ask(server.NewInputRequestBuilder(name)).ToolResult(), nil
			}
			return mcp.NewToolResultText(showAnswers(req.Params.InputResponses)), nil
		})
	}
}

func showAnswers(answers mcp.InputResponses) string {
	var parts []string
	if a := server.ElicitationResponse(answers, "form"); a != nil {
		content, _ := a.Content.(map[string]any)
		parts = append(parts, fmt.Sprintf("%s %v %v", a.Action, content["name"], content["color"]))
	}
	if a := server.ElicitationResponse(answers, "page"); a != nil {
		parts = append(parts, string(a.Action))
	}
	if a := server.SamplingResponse(answers, "riddle"); a != nil {
		parts = append(parts, a.Model+" says "+mcp.GetTextFromContent(a.Content))
	}
	if a := server.RootsResponse(answers, "roots"); a != nil {
		parts = append(parts, a.Roots[0].URI)
	}
	return strings.Join(parts, ", ")
}

func addResources(srv *server.MCPServer) {
	srv.AddResource(mcp.NewResource("note:1", "one", mcp.WithMIMEType("text/plain")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "first"}}, nil
		})
	srv.AddResourceTemplate(mcp.NewResourceTemplate("letter:{name}", "letters"),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			name := strings.TrimPrefix(req.Params.URI, "letter:")
			if name == "nobody" {
				return nil, fmt.Errorf("read %s: %w", req.Params.URI, server.ErrResourceNotFound)
			}
			return []mcp.ResourceContents{mcp.BlobResourceContents{
				URI: req.Params.URI, MIMEType: "application/octet-stream", Blob: base64.StdEncoding.EncodeToString([]byte("to " + name)),
			}}, nil
		})
}
