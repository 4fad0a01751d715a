package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func newServer() *server.Server {
	srv := server.New(mcp.Implementation{Name: "everything", Version: "1.0.0"}, &server.Options{
		Instructions: "Call what you like.",
		Complete:     complete,
		PageSize:     3,
		Capabilities: mcp.ServerCapabilities{Logging: &mcp.LoggingCapability{}},
	})
	addAnswers(srv)
	addWaiting(srv)
	addQuestions(srv)
	addResources(srv)
	srv.AddPrompt(mcp.Prompt{Name: "travel", Arguments: []mcp.PromptArgument{{Name: "city", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			message := mcp.PromptMessage{Role: mcp.RoleUser, Content: mcp.Text("Plan a trip to " + args["city"])}
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{message}}, nil
		})
	return srv
}

func complete(_ context.Context, _ *server.Call, p *mcp.CompleteParams) (*mcp.Completion, error) {
	var values []string
	for _, city := range []string{"Berlin", "Bern", "Paris"} {
		if strings.HasPrefix(city, p.Argument.Value) {
			values = append(values, city)
		}
	}
	return &mcp.Completion{Values: values}, nil
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

// addAnswers adds the tools that answer at once.
func addAnswers(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{Name: "add", Description: "Adds"},
		func(_ context.Context, _ *server.Call, in terms) (sum, error) { return sum{in.A + in.B}, nil })
	server.AddTool(srv, mcp.Tool{Name: "fail"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("the disk is full")
	})
	server.AddTool(srv, mcp.Tool{Name: "blocks"}, func(context.Context, *server.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			mcp.Text("plain"),
			mcp.Image([]byte{1, 2, 3}, "image/png"),
			mcp.Audio([]byte{4, 5}, "audio/wav"),
			mcp.Link(mcp.Resource{URI: "note:1", Name: "one"}),
			mcp.Embed(mcp.TextResource("note:1", "text/plain", "first")),
		}}, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "talk"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		return "talked", c.Log(ctx, mcp.LevelInfo, "interop", "hello")
	})
	server.AddTool(srv, mcp.Tool{Name: "grow"}, func(context.Context, *server.Call, struct{}) (string, error) {
		srv.AddRawTool(mcp.Tool{Name: "grown"}, func(context.Context, *server.Call) (any, error) {
			return &mcp.CallToolResult{}, nil
		})
		return "grown", nil
	})
}

// addWaiting adds the tools that take their time.
func addWaiting(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{Name: "count"}, func(ctx context.Context, c *server.Call, in struct {
		To int `json:"to"`
	},
	) (string, error) {
		for i := range in.To {
			if err := c.Progress(ctx, float64(i+1), float64(in.To), fmt.Sprintf("step %d", i+1)); err != nil {
				return "", err
			}
			pause(ctx)
		}
		return "counted", nil
	})
	cancelled := make(chan struct{}, 1)
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		if err := c.Progress(ctx, 1, 0, "waiting"); err != nil {
			return "", err
		}
		<-ctx.Done()
		cancelled <- struct{}{}
		return "", context.Cause(ctx)
	})
	// waited returns when a call of wait has been cancelled.
	server.AddTool(srv, mcp.Tool{Name: "waited"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		select {
		case <-cancelled:
			return "cancelled", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
}

// pause keeps the messages around it from leaving in one piece: the clients of
// both generations lose progress that arrives together with the result.
func pause(ctx context.Context) {
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
	}
}

func addResources(srv *server.Server) {
	srv.AddResource(mcp.Resource{URI: "note:1", Name: "one", MIMEType: "text/plain"},
		func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", "first")}}, nil
		})
	srv.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "letter:{name}", Name: "letters"},
		func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			if vars["name"] == "nobody" {
				return nil, &mcp.ResourceNotFoundError{URI: uri}
			}
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{
				mcp.BlobResource(uri, "application/octet-stream", []byte("to "+vars["name"])),
			}}, nil
		})
}
