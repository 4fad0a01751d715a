package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// slow is how long anything may take that does not have to fail: a busy machine
// needs seconds to start a program.
const slow = time.Minute

// A report says in a short text for each step what a client saw of a server.
type report map[string]string

// A visitor is our client on a visit to a server.
type visitor struct {
	*client.Session
	heard map[string]chan json.RawMessage // notifications by method
	user  *user                           // who answers the server; nil if nobody does
}

// visit connects our client to a server; an empty revision lets it find out.
func visit(t *testing.T, via transport.Transport, revision string) *visitor {
	t.Helper()
	return visitWith(t, via, &client.Options{Revision: revision})
}

// visitAsked is visit with a user who answers what the server asks.
func visitAsked(t *testing.T, via transport.Transport, revision string) *visitor {
	t.Helper()
	u := &user{}
	v := visitWith(t, via, u.options(revision))
	v.user = u
	return v
}

func visitWith(t *testing.T, via transport.Transport, opts *client.Options) *visitor {
	t.Helper()
	v := &visitor{heard: map[string]chan json.RawMessage{}}
	for _, method := range []string{
		mcp.NotificationMessage, mcp.NotificationToolsListChanged,
		mcp.NotificationResourcesUpdated, mcp.NotificationSubscriptionsAcknowledged,
	} {
		v.heard[method] = make(chan json.RawMessage, 16)
	}
	opts.Timeout, opts.ConnectTimeout, opts.ProbeTimeout = slow, slow, slow
	opts.OnNotification = func(method string, params json.RawMessage) {
		select {
		case v.heard[method] <- params:
		default: // not one that we wait for
		}
	}
	c := client.New(mcp.Implementation{Name: "interop", Version: "1.0.0"}, opts)
	sess, err := c.Connect(t.Context(), via)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		if err := sess.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	v.Session = sess
	return v
}

// tour goes through everything and reports, as js/report.mjs does.
func (v *visitor) tour(ctx context.Context) report {
	r := report{}
	for name, step := range map[string]func(context.Context) (string, error){
		"revision":                func(context.Context) (string, error) { return v.Revision(), nil },
		"server":                  v.introduction,
		"tools":                   func(ctx context.Context) (string, error) { return names(v.Tools(ctx), toolName) },
		"schema":                  v.schema,
		"call":                    v.add,
		"tool error":              func(ctx context.Context) (string, error) { return v.call(ctx, "fail", `{}`, nil) },
		"wrong arguments":         func(ctx context.Context) (string, error) { return v.vaguely(ctx, "add", `{"a":"one"}`) },
		"unknown tool":            func(ctx context.Context) (string, error) { return v.vaguely(ctx, "nothing", `{}`) },
		"content":                 func(ctx context.Context) (string, error) { return v.call(ctx, "blocks", `{}`, nil) },
		"progress":                v.progress,
		"resources":               func(ctx context.Context) (string, error) { return names(v.Resources(ctx), resourceURI) },
		"templates":               func(ctx context.Context) (string, error) { return names(v.ResourceTemplates(ctx), templateText) },
		"read":                    func(ctx context.Context) (string, error) { return v.read(ctx, "note:1") },
		"read template":           func(ctx context.Context) (string, error) { return v.read(ctx, "letter:Ada") },
		"not found":               func(ctx context.Context) (string, error) { return v.read(ctx, "letter:nobody") },
		"prompts":                 func(ctx context.Context) (string, error) { return names(v.Prompts(ctx), promptShape) },
		"prompt":                  func(ctx context.Context) (string, error) { return v.prompt(ctx, map[string]string{"city": "Rome"}) },
		"prompt without argument": func(ctx context.Context) (string, error) { return v.prompt(ctx, map[string]string{}) },
		"complete":                v.complete,
		"log":                     v.log,
		"ping":                    func(ctx context.Context) (string, error) { return "ok", v.Ping(ctx) },
	} {
		r.add(ctx, name, step)
	}
	for name, tool := range map[string]string{
		"elicit": "ask", "elicit URL": "visit", "sample": "think", "roots": "where", "two questions": "both",
	} {
		r.add(ctx, name, func(ctx context.Context) (string, error) { return v.asked(ctx, tool) })
	}
	r.add(ctx, "cancel", v.cancel)
	r.add(ctx, "list changed", v.listChanged) // last: it adds a tool
	return r
}

// add takes a step and writes down what came of it.
func (r report) add(ctx context.Context, name string, step func(context.Context) (string, error)) {
	ctx, cancel := context.WithTimeoutCause(ctx, slow, errors.New("too late"))
	defer cancel()
	seen, err := step(ctx)
	if remote, ok := errors.AsType[*jsonrpc.Error](err); ok && client.IsRemote(err) {
		seen = fmt.Sprintf("error %d", remote.Code)
	} else if err != nil {
		seen = err.Error()
	}
	r[name] = seen
}

func (v *visitor) introduction(context.Context) (string, error) {
	return v.ServerInfo().Name + ": " + v.Instructions(), nil
}

func (v *visitor) schema(ctx context.Context) (string, error) {
	for tool, err := range v.Tools(ctx) {
		if err != nil {
			return "", err
		}
		if tool.Name == "add" {
			return strings.TrimSpace(properties(tool.InputSchema) + " -> " + properties(tool.OutputSchema)), nil
		}
	}
	return "", errors.New("no tool add")
}

func properties(schema json.RawMessage) string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &s) != nil {
		return "?"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), " ")
}

func (v *visitor) add(ctx context.Context) (string, error) {
	result, err := v.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: json.RawMessage(`{"a":1,"b":2}`)}, nil)
	if err != nil {
		return "", err
	}
	structured := "null"
	if len(result.StructuredContent) > 0 {
		structured = string(result.StructuredContent)
	}
	return structured + " " + show(result.Content), nil
}

// call calls a tool and shows its result.
func (v *visitor) call(ctx context.Context, name, arguments string, opts *client.CallOptions) (string, error) {
	result, err := v.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}, opts)
	if err != nil {
		return "", err
	}
	if result.IsError {
		return "tool error: " + show(result.Content), nil
	}
	return show(result.Content), nil
}

// vaguely is call without the text of an error, which everybody words differently.
func (v *visitor) vaguely(ctx context.Context, name, arguments string) (string, error) {
	seen, err := v.call(ctx, name, arguments, nil)
	if strings.HasPrefix(seen, "tool error") {
		seen = "tool error"
	}
	return seen, err
}

func (v *visitor) progress(ctx context.Context) (string, error) {
	var seen []string
	result, err := v.call(ctx, "count", `{"to":3}`, &client.CallOptions{Progress: func(p mcp.ProgressParams) {
		seen = append(seen, strings.TrimSpace(fmt.Sprintf("%v/%v %s", p.Progress, *p.Total, p.Message)))
	}})
	return strings.Join(append(seen, result), ", "), err
}

func (v *visitor) cancel(ctx context.Context) (string, error) {
	waiting, giveUp := context.WithCancelCause(ctx)
	enough := errors.New("enough")
	_, err := v.call(waiting, "wait", `{}`, &client.CallOptions{Progress: func(mcp.ProgressParams) { giveUp(enough) }})
	here := "given up"
	if !errors.Is(err, enough) {
		here = fmt.Sprintf("got %v", err)
	}
	soon, stop := context.WithTimeout(ctx, 2*patience)
	defer stop()
	there, err := v.call(soon, "waited", `{}`, nil)
	if soon.Err() != nil {
		there, err = "the server was not told", nil
	}
	return here + ", " + there, err
}

func (v *visitor) read(ctx context.Context, uri string) (string, error) {
	result, err := v.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}, nil)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, c := range result.Contents {
		parts = append(parts, c.MIMEType+" "+c.Text+string(c.Blob))
	}
	return strings.Join(parts, ", "), nil
}

func (v *visitor) prompt(ctx context.Context, args map[string]string) (string, error) {
	result, err := v.GetPrompt(ctx, &mcp.GetPromptParams{Name: "travel", Arguments: args}, nil)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, m := range result.Messages {
		parts = append(parts, string(m.Role)+": "+m.Content.Text)
	}
	return strings.Join(parts, ", "), nil
}

func (v *visitor) complete(ctx context.Context) (string, error) {
	result, err := v.Complete(ctx, &mcp.CompleteParams{
		Ref:      mcp.Reference{Type: "ref/prompt", Name: "travel"},
		Argument: mcp.CompleteArgument{Name: "city", Value: "Be"},
	})
	if err != nil {
		return "", err
	}
	return strings.Join(result.Completion.Values, " "), nil
}

func (v *visitor) log(ctx context.Context) (string, error) {
	if err := v.SetLogLevel(ctx, mcp.LevelInfo); err != nil {
		return "", err
	}
	if _, err := v.call(ctx, "talk", `{}`, nil); err != nil {
		return "", err
	}
	var message struct {
		Level, Logger, Data string
	}
	if err := v.next(ctx, mcp.NotificationMessage, &message); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %s", message.Level, message.Logger, message.Data), nil
}

func (v *visitor) listChanged(ctx context.Context) (string, error) {
	stop, err := v.follow(ctx, mcp.SubscriptionFilter{ToolsListChanged: true})
	if err != nil {
		return "", err
	}
	defer stop()
	if _, err := v.call(ctx, "grow", `{}`, nil); err != nil {
		return "", err
	}
	if err := v.next(ctx, mcp.NotificationToolsListChanged, nil); err != nil {
		return "", err
	}
	all, err := names(v.Tools(ctx), toolName)
	if !strings.Contains(all, "grown") {
		return "told, not there", err
	}
	return "told and there", err
}

// follow asks for changes until the returned function is called.
func (v *visitor) follow(ctx context.Context, what mcp.SubscriptionFilter) (stop func(), err error) {
	sub, err := v.Subscribe(ctx, &what)
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Close() }, nil
}

// patience is how long to wait for a notification that should come at once, and
// does not come from some.
const patience = 5 * time.Second

// next waits for a notification and decodes its parameters unless into is nil.
func (v *visitor) next(ctx context.Context, method string, into any) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case params := <-v.heard[method]:
		if into == nil {
			return nil
		}
		return json.Unmarshal(params, into)
	case <-timer.C:
		return fmt.Errorf("no %s in time", method)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
