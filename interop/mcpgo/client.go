package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ferrymcp/ferry/interop/tour"
)

// A visitor is the package's client as the tour wants it.
type visitor struct {
	*client.Client
	heard    *tour.Heard
	greeting *mcp.InitializeResult

	mu    sync.Mutex
	steps map[string]func(tour.Progress) // by progress token
}

func connect(ctx context.Context, revision string, target []string, heard *tour.Heard) (tour.Client, func(), error) {
	via, err := reach(revision, target)
	if err != nil {
		return nil, nil, err
	}
	options := []client.ClientOption{client.WithProtocolVersion(revision), client.WithDiscoverTimeout(tour.Probe)}
	if _, ok := via.(transport.BidirectionalInterface); ok {
		options = append(options, user{heard}.options()...)
	}
	c := client.NewClient(via, options...)
	v := &visitor{Client: c, heard: heard, steps: map[string]func(tour.Progress){}}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			v.progress(n.Params.AdditionalFields)
			return
		}
		heard.Tell(n.Method, n.Params)
	})
	if err := c.Start(ctx); err != nil {
		return nil, nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1.0.0"}
	if v.greeting, err = c.Initialize(ctx, hello); err != nil {
		return nil, nil, err
	}
	return v, func() { _ = c.Close() }, nil
}

// reach returns a transport to a server; over HTTP+SSE the package does not let
// servers ask. Over HTTP the client listens to a
// session's stream only when it is told to, and then speaks the older revisions.
func reach(revision string, target []string) (transport.Interface, error) {
	switch {
	case strings.HasSuffix(target[0], "/sse"):
		return transport.NewSSE(target[0])
	case strings.HasPrefix(target[0], "http:") && tour.Legacy(revision):
		return transport.NewStreamableHTTP(target[0], transport.WithContinuousListening())
	case strings.HasPrefix(target[0], "http:"):
		return transport.NewStreamableHTTP(target[0])
	}
	return transport.NewStdio(target[0], nil, target[1:]...), nil
}

func (v *visitor) progress(params map[string]any) {
	v.mu.Lock()
	step := v.steps[fmt.Sprint(params["progressToken"])]
	v.mu.Unlock()
	if step == nil {
		return
	}
	p := tour.Progress{}
	p.Progress, _ = params["progress"].(float64)
	p.Total, _ = params["total"].(float64)
	p.Message, _ = params["message"].(string)
	step(p)
}

// Revision is the revision that the client has come to.
func (v *visitor) Revision() string { return v.ProtocolVersion() }

// Introduction is what the server says of itself.
func (v *visitor) Introduction() (name, instructions string) {
	return v.greeting.ServerInfo.Name, v.greeting.Instructions
}

// List returns a page.
func (v *visitor) List(ctx context.Context, method, cursor string) (any, error) {
	page := mcp.PaginatedRequest{Params: mcp.PaginatedParams{Cursor: mcp.Cursor(cursor)}}
	switch method {
	case "tools/list":
		return v.ListToolsByPage(ctx, mcp.ListToolsRequest{PaginatedRequest: page})
	case "resources/list":
		return v.ListResourcesByPage(ctx, mcp.ListResourcesRequest{PaginatedRequest: page})
	case "resources/templates/list":
		return v.ListResourceTemplatesByPage(ctx, mcp.ListResourceTemplatesRequest{PaginatedRequest: page})
	case "prompts/list":
		return v.ListPromptsByPage(ctx, mcp.ListPromptsRequest{PaginatedRequest: page})
	}
	return nil, errors.New("cannot list " + method)
}

// Call calls a tool.
func (v *visitor) Call(ctx context.Context, name string, arguments map[string]any, progress func(tour.Progress)) (any, error) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	req := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments}}
	if progress != nil {
		v.mu.Lock()
		token := fmt.Sprintf("p%d", len(v.steps))
		v.steps[token] = progress
		v.mu.Unlock()
		req.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	return v.CallTool(ctx, req)
}

// Read reads a resource.
func (v *visitor) Read(ctx context.Context, uri string) (any, error) {
	return v.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
}

// Prompt gets a prompt.
func (v *visitor) Prompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	return v.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name, Arguments: arguments}})
}

// Complete completes an argument of a prompt.
func (v *visitor) Complete(ctx context.Context, prompt, argument, value string) (any, error) {
	return v.Client.Complete(ctx, mcp.CompleteRequest{Params: mcp.CompleteParams{
		Ref: mcp.PromptReference{Type: "ref/prompt", Name: prompt}, Argument: mcp.CompleteArgument{Name: argument, Value: value},
	}})
}

// Talk sets the level, which the client sends with each request where the revision has that.
func (v *visitor) Talk(ctx context.Context, level string) error {
	if err := v.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevel(level)}}); err != nil {
		return err
	}
	_, err := v.Call(ctx, "talk", nil, nil)
	return err
}

// Listen listens where the revision has to be asked for changes.
func (v *visitor) Listen(ctx context.Context) (func(), error) {
	if tour.Legacy(v.Revision()) {
		return func() {}, nil
	}
	stop, err := v.ListenAsync(ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
	if err != nil {
		return nil, err
	}
	if _, err := v.heard.Next(ctx, "notifications/subscriptions/acknowledged"); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// Code is the code of a server's error; the client keeps it for those it knows.
func (v *visitor) Code(err error) int {
	switch {
	case errors.Is(err, mcp.ErrInvalidParams):
		return mcp.INVALID_PARAMS
	case errors.Is(err, mcp.ErrResourceNotFound):
		return mcp.RESOURCE_NOT_FOUND
	case errors.Is(err, mcp.ErrInternalError):
		return mcp.INTERNAL_ERROR
	case errors.Is(err, mcp.ErrInvalidRequest):
		return mcp.INVALID_REQUEST
	case mcp.IsMissingRequiredClientCapability(err):
		return mcp.MISSING_REQUIRED_CLIENT_CAPABILITY
	}
	return 0
}

// A user answers what servers ask.
type user struct{ heard *tour.Heard }

func (u user) options() []client.ClientOption {
	var capabilities mcp.ClientCapabilities
	capabilities.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}
	return []client.ClientOption{
		client.WithElicitationHandler(u), client.WithSamplingHandler(u), client.WithRootsHandler(u),
		client.WithClientCapabilities(capabilities),
	}
}

// Elicit fills in a form or opens a page.
func (u user) Elicit(_ context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}
	if req.Params.Mode == mcp.ElicitationModeURL {
		u.heard.Ask(req.Params.Message + " " + req.Params.URL)
	} else {
		u.heard.Ask(tour.ShowForm(req.Params.Message, req.Params.RequestedSchema))
		answer.Content = tour.Filled()
	}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

// CreateMessage is the model.
func (u user) CreateMessage(_ context.Context, req mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	u.heard.Ask(fmt.Sprintf("%s %d", mcp.GetTextFromContent(req.Messages[0].Content), req.MaxTokens))
	said := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(tour.Answer)}
	return &mcp.CreateMessageResult{SamplingMessage: said, Model: tour.Model}, nil
}

// ListRoots returns the roots.
func (u user) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: tour.Root}}}, nil
}
