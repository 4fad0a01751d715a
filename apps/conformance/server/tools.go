package main

import (
	"context"
	"errors"
	"time"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// step is the time that the suite wants between two notifications.
const step = 50 * time.Millisecond

// nothing are the arguments of a tool that takes none. What is sent all the same
// is ignored.
type nothing = map[string]any

// addText adds a tool without arguments.
func addText(srv *server.Server, name, description string, run func(ctx context.Context, c *server.Call) (string, error)) {
	server.AddTool(srv, mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, c *server.Call, _ nothing) (string, error) { return run(ctx, c) })
}

// addContent adds a tool that answers with the blocks.
func addContent(srv *server.Server, name, description string, blocks ...mcp.Content) {
	server.AddTool(srv, mcp.Tool{Name: name, Description: description},
		func(context.Context, *server.Call, nothing) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: blocks}, nil
		})
}

// addTools adds the tools that clients of every revision can call.
func addTools(srv *server.Server) {
	image := mcp.Image(pixel, "image/png")
	addContent(srv, "test_simple_text", "Answers with text", mcp.Text("This is a simple text response for testing."))
	addContent(srv, "test_image_content", "Answers with an image", image)
	addContent(srv, "test_audio_content", "Answers with audio", mcp.Audio(silence, "audio/wav"))
	addContent(srv, "test_embedded_resource", "Answers with a resource",
		mcp.Embed(mcp.TextResource("test://embedded-resource", "text/plain", "This is an embedded resource content.")))
	addContent(srv, "test_multiple_content_types", "Answers with text, an image and a resource",
		mcp.Text("Multiple content types test:"), image,
		mcp.Embed(mcp.TextResource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)))
	addText(srv, "test_error_handling", "Always fails", func(context.Context, *server.Call) (string, error) {
		return "", errors.New("this tool intentionally returns an error for testing")
	})
	addText(srv, "test_tool_with_logging", "Sends three log messages", logThrice)
	addText(srv, "test_tool_with_progress", "Reports progress three times", progressThrice)
	addText(srv, "test_reconnection", "Lets go of the connection before it answers", answerLater)
}

func logThrice(ctx context.Context, c *server.Call) (string, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, step); err != nil {
				return "", err
			}
		}
		if err := c.Log(ctx, mcp.LevelInfo, "conformance", message); err != nil {
			return "", err
		}
	}
	return "Tool with logging executed successfully", nil
}

func progressThrice(ctx context.Context, c *server.Call) (string, error) {
	for done := 0.0; done <= 100; done += 50 {
		if done > 0 {
			if err := pause(ctx, step); err != nil {
				return "", err
			}
		}
		if err := c.Progress(ctx, done, 100, ""); err != nil {
			return "", err
		}
	}
	return "Tool with progress executed successfully", nil
}

func answerLater(ctx context.Context, c *server.Call) (string, error) {
	c.Disconnect(2 * step)
	if err := pause(ctx, 2*step); err != nil {
		return "", err
	}
	return "Reconnection test completed successfully", nil
}

// pause waits for d, or until the request is cancelled.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
