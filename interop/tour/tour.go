// Package tour goes through everything that a server of these tests offers, with
// a client of others written in Go, and writes down what the client shows of it,
// as ../js/report.mjs does. It is not for our client, which has a tour of its own
// in the tests.
package tour

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"
)

// A Client is what differs between the clients. Results are the client's own
// values, which have to encode as they came.
type Client interface {
	// Revision is the revision that the connection has come to.
	Revision() string
	// Introduction is the name and the instructions of the server.
	Introduction() (name, instructions string)
	// List returns one page of what a method such as tools/list lists.
	List(ctx context.Context, method, cursor string) (any, error)
	// Call calls a tool, asking for progress if progress is not nil.
	Call(ctx context.Context, name string, arguments map[string]any, progress func(Progress)) (any, error)
	Read(ctx context.Context, uri string) (any, error)
	Prompt(ctx context.Context, name string, arguments map[string]string) (any, error)
	// Complete completes the argument of a prompt.
	Complete(ctx context.Context, prompt, argument, value string) (any, error)
	// Talk calls the tool talk so that messages of a level are sent.
	Talk(ctx context.Context, level string) error
	// Listen asks for changes of the list of tools until stop is called, and
	// returns when they are sent.
	Listen(ctx context.Context) (stop func(), err error)
	Ping(ctx context.Context) error
	// Code is the code of an error that the server has sent, or 0.
	Code(err error) int
}

// limit is how long a step may take.
const limit = 30 * time.Second

// Take goes through everything and returns one short text for each step. The
// client tells of notifications and questions with heard.
func Take(ctx context.Context, c Client, heard *Heard) map[string]string {
	v := &visit{Client: c, heard: heard}
	steps := map[string]string{}
	for _, step := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"revision", func(context.Context) (string, error) { return c.Revision(), nil }},
		{"server", v.introduction},
		{"tools", func(ctx context.Context) (string, error) { return v.names(ctx, "tools/list") }},
		{"schema", v.schema},
		{"call", v.add},
		{"tool error", func(ctx context.Context) (string, error) { return v.call(ctx, "fail", nil) }},
		{"wrong arguments", func(ctx context.Context) (string, error) {
			return v.vaguely(ctx, "add", map[string]any{"a": "one"})
		}},
		{"unknown tool", func(ctx context.Context) (string, error) { return v.vaguely(ctx, "nothing", nil) }},
		{"content", func(ctx context.Context) (string, error) { return v.call(ctx, "blocks", nil) }},
		{"progress", v.progress},
		{"cancel", v.cancel},
		{"resources", func(ctx context.Context) (string, error) { return v.names(ctx, "resources/list") }},
		{"templates", func(ctx context.Context) (string, error) { return v.names(ctx, "resources/templates/list") }},
		{"read", func(ctx context.Context) (string, error) { return v.read(ctx, "note:1") }},
		{"read template", func(ctx context.Context) (string, error) { return v.read(ctx, "letter:Ada") }},
		{"not found", func(ctx context.Context) (string, error) { return v.read(ctx, "letter:nobody") }},
		{"prompts", func(ctx context.Context) (string, error) { return v.names(ctx, "prompts/list") }},
		{"prompt", func(ctx context.Context) (string, error) { return v.prompt(ctx, map[string]string{"city": "Rome"}) }},
		{"prompt without argument", func(ctx context.Context) (string, error) { return v.prompt(ctx, map[string]string{}) }},
		{"complete", v.complete},
		{"elicit", func(ctx context.Context) (string, error) { return v.asked(ctx, "ask") }},
		{"elicit URL", func(ctx context.Context) (string, error) { return v.asked(ctx, "visit") }},
		{"sample", func(ctx context.Context) (string, error) { return v.asked(ctx, "think") }},
		{"roots", func(ctx context.Context) (string, error) { return v.asked(ctx, "where") }},
		{"two questions", func(ctx context.Context) (string, error) { return v.asked(ctx, "both") }},
		{"log", v.log},
		{"list changed", v.listChanged},
		{"ping", func(ctx context.Context) (string, error) { return "ok", c.Ping(ctx) }},
	} {
		steps[step.name] = v.take(ctx, step.run)
	}
	return steps
}

// A visit is a client on its tour.
type visit struct {
	Client
	heard *Heard
}

// take takes a step and shows what came of it.
func (v *visit) take(ctx context.Context, step func(context.Context) (string, error)) string {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("too late"))
	defer cancel()
	seen, err := step(ctx)
	if err == nil {
		return seen
	}
	if code := v.Code(err); code != 0 {
		return fmt.Sprintf("error %d", code)
	}
	return err.Error()
}

func (v *visit) introduction(context.Context) (string, error) {
	name, instructions := v.Introduction()
	return name + ": " + instructions, nil
}

// elements gathers all pages of a list.
func (v *visit) elements(ctx context.Context, method string) ([]element, error) {
	var all []element
	for cursor := ""; ; {
		got, err := v.List(ctx, method, cursor)
		if err != nil {
			return nil, err
		}
		var p page
		if err := convert(got, &p); err != nil {
			return nil, err
		}
		all = append(all, slices.Concat(p.Tools, p.Resources, p.Templates, p.Prompts)...)
		if cursor = p.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

func (v *visit) names(ctx context.Context, method string) (string, error) {
	all, err := v.elements(ctx, method)
	var names []string
	for _, e := range all {
		names = append(names, e.show(method))
	}
	slices.Sort(names)
	return strings.Join(names, " "), err
}

func (v *visit) schema(ctx context.Context) (string, error) {
	all, err := v.elements(ctx, "tools/list")
	if err != nil {
		return "", err
	}
	for _, e := range all {
		if e.Name == "add" {
			return strings.TrimSpace(e.InputSchema.fields() + " -> " + e.OutputSchema.fields()), nil
		}
	}
	return "", errors.New("no tool add")
}

func (v *visit) add(ctx context.Context) (string, error) {
	got, err := v.Call(ctx, "add", map[string]any{"a": 1, "b": 2}, nil)
	if err != nil {
		return "", err
	}
	var r toolResult
	if err := convert(got, &r); err != nil {
		return "", err
	}
	structured := "null"
	if len(r.Structured) > 0 {
		structured = string(r.Structured)
	}
	return structured + " " + show(r.Content), nil
}

// call calls a tool and shows its result.
func (v *visit) call(ctx context.Context, name string, arguments map[string]any) (string, error) {
	return v.follow(ctx, name, arguments, nil)
}

func (v *visit) follow(ctx context.Context, name string, arguments map[string]any, progress func(Progress)) (string, error) {
	got, err := v.Call(ctx, name, arguments, progress)
	if err != nil {
		return "", err
	}
	var r toolResult
	if err := convert(got, &r); err != nil {
		return "", err
	}
	if r.IsError {
		return toolError + ": " + show(r.Content), nil
	}
	return show(r.Content), nil
}

const toolError = "tool error"

// vaguely is call without the text of an error, which everybody words differently.
func (v *visit) vaguely(ctx context.Context, name string, arguments map[string]any) (string, error) {
	seen, err := v.call(ctx, name, arguments)
	if strings.HasPrefix(seen, toolError) {
		seen = toolError
	}
	return seen, err
}

// asked calls a tool that asks, and shows what the client was asked and what came
// of it. Servers say in many ways that a client cannot be asked.
func (v *visit) asked(ctx context.Context, name string) (string, error) {
	v.heard.Questions() // what an earlier step has left
	seen, err := v.call(ctx, name, nil)
	if (err != nil && v.Code(err) != 0) || strings.HasPrefix(seen, toolError) {
		log.Printf("%s: %s%v", name, seen, err)
		return "refused", nil
	}
	if questions := v.heard.Questions(); questions != "" {
		seen = questions + " -> " + seen
	}
	return seen, err
}

func (v *visit) progress(ctx context.Context) (string, error) {
	steps := make(chan Progress, 16)
	result, err := v.follow(ctx, "count", map[string]any{"to": 3}, func(p Progress) { steps <- p })
	if err != nil {
		return "", err
	}
	var seen []string
	late := time.After(patience) // a client may tell of progress after the result
	for len(seen) < 3 {
		select {
		case p := <-steps:
			seen = append(seen, strings.TrimSpace(fmt.Sprintf("%v/%v %s", p.Progress, p.Total, p.Message)))
		case <-late:
			return strings.Join(append(seen, result), ", "), nil
		}
	}
	return strings.Join(append(seen, result), ", "), nil
}

func (v *visit) cancel(ctx context.Context) (string, error) {
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	_, err := v.Call(waiting, "wait", nil, func(Progress) { giveUp() })
	here := "given up"
	if err == nil || waiting.Err() == nil {
		here = fmt.Sprintf("got %v", err)
	}
	soon, stop := context.WithTimeout(ctx, 2*patience)
	defer stop()
	there, err := v.call(soon, "waited", nil)
	if err != nil && v.Code(err) == 0 {
		return here + ", the server was not told", nil
	}
	return here + ", " + there, err
}

func (v *visit) read(ctx context.Context, uri string) (string, error) {
	got, err := v.Read(ctx, uri)
	if err != nil {
		return "", err
	}
	var r readResult
	if err := convert(got, &r); err != nil {
		return "", err
	}
	var parts []string
	for _, c := range r.Contents {
		parts = append(parts, c.MIMEType+" "+c.Text+string(c.Blob))
	}
	return strings.Join(parts, ", "), nil
}

func (v *visit) prompt(ctx context.Context, arguments map[string]string) (string, error) {
	got, err := v.Prompt(ctx, "travel", arguments)
	if err != nil {
		return "", err
	}
	var r promptResult
	if err := convert(got, &r); err != nil {
		return "", err
	}
	var parts []string
	for _, m := range r.Messages {
		parts = append(parts, m.Role+": "+m.Content.Text)
	}
	return strings.Join(parts, ", "), nil
}

func (v *visit) complete(ctx context.Context) (string, error) {
	got, err := v.Complete(ctx, "travel", "city", "Be")
	if err != nil {
		return "", err
	}
	var r completeResult
	err = convert(got, &r)
	return strings.Join(r.Completion.Values, " "), err
}

func (v *visit) log(ctx context.Context) (string, error) {
	if err := v.Talk(ctx, "info"); err != nil {
		return "", err
	}
	params, err := v.heard.Next(ctx, "notifications/message")
	if err != nil {
		return "", err
	}
	var message struct{ Level, Logger, Data string }
	err = json.Unmarshal(params, &message)
	return fmt.Sprintf("%s %s: %s", message.Level, message.Logger, message.Data), err
}

func (v *visit) listChanged(ctx context.Context) (string, error) {
	stop, err := v.Listen(ctx)
	if err != nil {
		return "", err
	}
	defer stop()
	if _, err := v.call(ctx, "grow", nil); err != nil {
		return "", err
	}
	if _, err := v.heard.Next(ctx, "notifications/tools/list_changed"); err != nil {
		return "", err
	}
	all, err := v.names(ctx, "tools/list")
	if !strings.Contains(all, "grown") {
		return "told, not there", err
	}
	return "told and there", err
}
