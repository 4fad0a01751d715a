package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// everything is the server that all scenarios run against: some of each
// feature.
func everything() *server.Server {
	srv := server.New(mcp.Implementation{Name: "everything", Version: "1.0.0", Title: "Everything"}, &server.Options{
		Instructions: "Call what you like.",
		PageSize:     4,
	})
	addTools(srv)
	addChanges(srv)
	addBlocks(srv)
	addResources(srv)
	srv.AddPrompt(mcp.Prompt{Name: "travel", Title: "Travel", Arguments: []mcp.PromptArgument{{Name: "city", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
				{Role: mcp.RoleUser, Content: mcp.Text("Plan a trip to " + args["city"])},
			}}, nil
		})
	srv.CompletePrompt("travel", "city", server.OneOf("Paris", "Berlin", "New Bern", "Bern"))
	srv.CompleteResource("letter:{name}", "name", func(_ context.Context, _ *server.Call, _ string, known map[string]string) ([]string, error) {
		return []string{"ada", "adam " + known["family"]}, nil
	})
	return srv
}

type terms struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

func addTools(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{Name: "add", Title: "Add", Description: "Adds"},
		func(_ context.Context, _ *server.Call, in terms) (sum, error) { return sum{in.A + in.B}, nil })
	server.AddTool(srv, mcp.Tool{Name: "fail"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("the disk is full")
	})
	server.AddTool(srv, mcp.Tool{Name: "crash"}, func(context.Context, *server.Call, struct{}) (string, error) {
		panic("a secret")
	})
	server.AddTool(srv, mcp.Tool{Name: "count"}, func(ctx context.Context, c *server.Call, in struct {
		To int `json:"to"`
	},
	) (string, error) {
		for i := range in.To {
			if err := c.Progress(ctx, float64(i+1), float64(in.To), fmt.Sprintf("step %d", i+1)); err != nil {
				return "", err
			}
		}
		return "counted", nil
	})
	server.AddTool(srv, mcp.Tool{Name: "repeat"}, func(_ context.Context, _ *server.Call, in struct {
		Text  string `json:"text"`
		Times int    `json:"times"`
	},
	) (string, error) {
		return strings.Repeat(in.Text, in.Times), nil
	})
	server.AddTool(srv, mcp.Tool{Name: "log"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		log := slog.New(c.LogHandler("everything"))
		log.DebugContext(ctx, "looked")
		log.WarnContext(ctx, "found", "n", 3)
		return "logged", nil
	})
	var waiting, cancelled atomic.Int64
	server.AddTool(srv, mcp.Tool{Name: "wait"}, func(ctx context.Context, c *server.Call, _ struct{}) (string, error) {
		waiting.Add(1)
		if err := c.Progress(ctx, 1, 0, "waiting"); err != nil {
			return "", err
		}
		<-ctx.Done()
		cancelled.Add(1)
		return "", context.Cause(ctx)
	})
	server.AddTool(srv, mcp.Tool{Name: "waited"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return fmt.Sprintf("%d of %d", cancelled.Load(), waiting.Load()), nil
	})
}

// addChanges adds tools that change the server.
func addChanges(srv *server.Server) {
	type named struct {
		Name string `json:"name"`
	}
	server.AddTool(srv, mcp.Tool{Name: "grow"}, func(_ context.Context, _ *server.Call, in named) (string, error) {
		srv.AddRawTool(mcp.Tool{Name: in.Name}, func(context.Context, *server.Call) (any, error) {
			return &mcp.CallToolResult{}, nil
		})
		return "grown", nil
	})
	server.AddTool(srv, mcp.Tool{Name: "touch"}, func(_ context.Context, _ *server.Call, in named) (string, error) {
		srv.ResourceUpdated(in.Name)
		return "touched", nil
	})
}

// addBlocks adds a tool that returns every kind of block.
func addBlocks(srv *server.Server) {
	server.AddTool(srv, mcp.Tool{Name: "blocks"}, func(context.Context, *server.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			mcp.Text(""),
			mcp.Image([]byte{1, 2, 3}, "image/png"),
			mcp.Audio([]byte{4, 5}, "audio/wav"),
			mcp.Link(mcp.Resource{URI: "note:1", Name: "one", Title: "One"}),
			mcp.Embed(mcp.TextResource("note:1", "text/plain", "first")),
		}}, nil
	})
}

func addResources(srv *server.Server) {
	srv.AddResource(mcp.Resource{URI: "note:1", Name: "one", Title: "One", MIMEType: "text/plain"},
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
