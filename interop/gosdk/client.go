package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrymcp/ferry/interop/tour"
)

// A client is the package's session as the tour wants it.
type client struct {
	*mcp.ClientSession

	mu    sync.Mutex
	steps map[string]func(tour.Progress) // by progress token
}

func connect(ctx context.Context, revision string, target []string, heard *tour.Heard) (tour.Client, func(), error) {
	c := &client{steps: map[string]func(tour.Progress){}}
	impl := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2: &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{
				Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
			},
		},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if req.Params.Mode == "url" {
				heard.Ask(req.Params.Message + " " + req.Params.URL)
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			heard.Ask(tour.ShowForm(req.Params.Message, req.Params.RequestedSchema))
			return &mcp.ElicitResult{Action: "accept", Content: tour.Filled()}, nil
		},
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			text, _ := req.Params.Messages[0].Content.(*mcp.TextContent)
			heard.Ask(fmt.Sprintf("%s %d", text.Text, req.Params.MaxTokens))
			return &mcp.CreateMessageResult{Role: "assistant", Model: tour.Model, Content: &mcp.TextContent{Text: tour.Answer}}, nil
		},
		ToolListChangedHandler: func(_ context.Context, req *mcp.ToolListChangedRequest) {
			heard.Tell("notifications/tools/list_changed", req.Params)
		},
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			heard.Tell("notifications/message", req.Params)
		},
		ProgressNotificationHandler: c.progress,
	})
	impl.AddRoots(&mcp.Root{URI: tour.Root})
	var via mcp.Transport = &mcp.CommandTransport{Command: exec.Command(target[0], target[1:]...)}
	switch {
	case strings.HasSuffix(target[0], "/sse"):
		via = &mcp.SSEClientTransport{Endpoint: target[0]}
	case strings.HasPrefix(target[0], "http:"):
		via = &mcp.StreamableClientTransport{Endpoint: target[0]}
	}
	sess, err := impl.Connect(ctx, via, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, nil, err
	}
	c.ClientSession = sess
	return c, func() { _ = sess.Close() }, nil
}

func (c *client) progress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	c.mu.Lock()
	step := c.steps[fmt.Sprint(req.Params.ProgressToken)]
	c.mu.Unlock()
	if step != nil {
		step(tour.Progress{Progress: req.Params.Progress, Total: req.Params.Total, Message: req.Params.Message})
	}
}

func (c *client) Revision() string { return c.InitializeResult().ProtocolVersion }

func (c *client) Introduction() (name, instructions string) {
	return c.InitializeResult().ServerInfo.Name, c.InitializeResult().Instructions
}

func (c *client) List(ctx context.Context, method, cursor string) (any, error) {
	switch method {
	case "tools/list":
		return c.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	case "resources/list":
		return c.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
	case "resources/templates/list":
		return c.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
	case "prompts/list":
		return c.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
	}
	return nil, errors.New("cannot list " + method)
}

func (c *client) Call(ctx context.Context, name string, arguments map[string]any, progress func(tour.Progress)) (any, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if arguments == nil {
		params.Arguments = map[string]any{}
	}
	if progress != nil {
		c.mu.Lock()
		token := fmt.Sprintf("p%d", len(c.steps))
		c.steps[token] = progress
		c.mu.Unlock()
		params.SetProgressToken(token)
	}
	return c.CallTool(ctx, params)
}

func (c *client) Read(ctx context.Context, uri string) (any, error) {
	return c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
}

func (c *client) Prompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	return c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
}

func (c *client) Complete(ctx context.Context, prompt, argument, value string) (any, error) {
	return c.ClientSession.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: mcp.CompleteParamsArgument{Name: argument, Value: value},
	})
}

// Talk asks for messages with the call where the revision has that.
func (c *client) Talk(ctx context.Context, level string) error {
	params := &mcp.CallToolParams{Name: "talk", Arguments: map[string]any{}}
	if !tour.Legacy(c.Revision()) {
		params.Meta = mcp.Meta{mcp.MetaKeyLogLevel: level}
	} else if err := c.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(level)}); err != nil {
		return err
	}
	_, err := c.CallTool(ctx, params)
	return err
}

// Listen has nothing to do: the session listens because there is a handler.
func (c *client) Listen(context.Context) (func(), error) { return func() {}, nil }

// Ping lists tools where the revision has no ping: the package sends one anyway.
func (c *client) Ping(ctx context.Context) error {
	if tour.Legacy(c.Revision()) {
		return c.ClientSession.Ping(ctx, nil)
	}
	_, err := c.ListTools(ctx, nil)
	return err
}

func (c *client) Code(err error) int {
	if remote, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return int(remote.Code)
	}
	return 0
}
