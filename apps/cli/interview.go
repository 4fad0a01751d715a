package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/mcp"
)

// An interview asks the person at the terminal what a server wants to know, one
// question at a time. Everything is shown on standard error.
type interview struct {
	p      *program
	server string
	turn   chan struct{} // of size 1: whose question is shown
	lines  lineReader
}

func newInterview(p *program, server string) *interview {
	return &interview{p: p, server: server, turn: make(chan struct{}, 1), lines: lineReader{in: bufio.NewReader(p.stdin)}}
}

// A leaving is the choice to end an interview; it is one of the actions.
type leaving string

func (l leaving) Error() string { return string(l) }

const howToLeave = "At any time :d declines and :c, or the end of the input, cancels."

func (i *interview) elicit(ctx context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	select {
	case i.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-i.turn }()
	i.p.err.line(bold, fmt.Sprintf("The server %s asks:", i.server))
	i.p.err.line(plain, params.Message)
	var content json.RawMessage
	var err error
	if params.IsURL() {
		err = i.page(ctx, params.URL)
	} else {
		content, err = i.form(ctx, params.RequestedSchema)
	}
	if left, ok := errors.AsType[leaving](err); ok {
		return &mcp.ElicitResult{Action: string(left)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
}

// read asks for one line.
func (i *interview) read(ctx context.Context, prompt string) (string, error) {
	i.p.err.write([]byte(i.p.err.paint(bold, i.p.err.inline(prompt)) + " "))
	text, err := i.lines.next(ctx)
	switch {
	case ctx.Err() != nil:
		i.p.err.line(plain, "")
		return "", context.Cause(ctx)
	case err != nil && text == "":
		i.p.err.line(plain, "")
		return "", leaving(mcp.ElicitCancel)
	}
	switch text = strings.TrimRight(text, "\r\n"); text {
	case ":d":
		return "", leaving(mcp.ElicitDecline)
	case ":c":
		return "", leaving(mcp.ElicitCancel)
	}
	return text, nil
}

// page asks for consent to visit a web page. It is the user who opens it.
func (i *interview) page(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("read the address of the page: %w", err)
	}
	i.p.err.line(plain, "It wants you to visit this page in your browser:")
	i.p.err.line(plain, "  "+address)
	i.p.err.line(plain, "  at "+i.p.err.paint(bold, i.p.err.clean(u.Hostname())))
	if odd(u.Hostname()) {
		i.p.err.line(yellow, "The name of the host has characters that may look like others.")
	}
	if u.Scheme != "https" {
		i.p.err.line(yellow, "The page is not encrypted on its way.")
	}
	for {
		text, err := i.read(ctx, "Do you want to visit it? y(es), d(ecline), c(ancel):")
		if err != nil {
			return err
		}
		switch yes, known := yesOrNo(strings.TrimSpace(text)); {
		case yes:
			i.p.err.line(dim, "Open the page now; the server goes on when you are done there.")
			return nil
		case known || text == "d":
			return leaving(mcp.ElicitDecline)
		case text == "c":
			return leaving(mcp.ElicitCancel)
		}
	}
}

// odd reports whether a host name could be taken for another.
func odd(host string) bool {
	return strings.Contains(host, "xn--") || strings.ContainsFunc(host, func(r rune) bool { return r > 127 })
}

// form asks for each field, and shows the answers before they are sent.
func (i *interview) form(ctx context.Context, form *mcp.FormSchema) (json.RawMessage, error) {
	i.p.err.line(dim, "An empty line takes what stands in brackets, or leaves the field out. "+howToLeave)
	for {
		values := new(object)
		for n := range form.Fields {
			field := &form.Fields[n]
			value, err := i.field(ctx, field, slices.Contains(form.Required, field.Name))
			if err != nil {
				return nil, err
			}
			if value != nil {
				values.set(field.Name, value)
			}
		}
		for _, name := range values.names {
			i.p.err.line(plain, "  "+i.p.err.inline(name)+": "+string(values.values[name]))
		}
		again, err := i.confirm(ctx, len(form.Fields) > 0)
		if err != nil {
			return nil, err
		}
		if !again {
			return values.MarshalJSON()
		}
	}
}

// confirm asks what to do with the answers. It reports whether to ask anew.
func (i *interview) confirm(ctx context.Context, some bool) (again bool, err error) {
	question := "Accept? y(es), d(ecline), c(ancel):"
	if some {
		question = "Send this? y(es), e(dit), d(ecline), c(ancel):"
	}
	for {
		text, err := i.read(ctx, question)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes":
			return false, nil
		case "e", "edit":
			return true, nil
		case "d", "decline", "n", "no":
			return false, leaving(mcp.ElicitDecline)
		case "c", "cancel":
			return false, leaving(mcp.ElicitCancel)
		}
	}
}

// field asks for the value of one field until it fits. It is nil when the field
// is left out.
func (i *interview) field(ctx context.Context, field *mcp.FormField, required bool) (json.RawMessage, error) {
	if field.Description != "" {
		i.p.err.line(plain, field.Description)
	}
	for n, o := range field.Options() {
		text := fmt.Sprintf("  %d %s", n+1, o.Const)
		if o.Title != o.Const {
			text += " (" + o.Title + ")"
		}
		i.p.err.line(plain, i.p.err.inline(text))
	}
	for {
		text, err := i.read(ctx, promptFor(field, required))
		if err != nil {
			return nil, err
		}
		switch {
		case text != "":
			value, err := parseField(field, text)
			if err == nil {
				return value, nil
			}
			i.p.err.line(red, fmt.Sprintf("%s: %v", field.Name, err))
		case field.Default != nil:
			return field.Default, nil
		case !required:
			return nil, nil
		}
	}
}

// promptFor is what stands before the cursor.
func promptFor(field *mcp.FormField, required bool) string {
	kind := ""
	switch field.Kind() {
	case mcp.FormNumber:
		kind = ", " + field.Type
	case mcp.FormBoolean:
		kind = ", y/n"
	case mcp.FormChoice:
		kind = ", one of these"
	case mcp.FormChoices:
		kind = ", any of these, with commas between"
	case mcp.FormText, mcp.FormUnknown:
		if field.Format != "" {
			kind = ", " + field.Format
		}
	}
	if required && field.Default == nil {
		kind += ", needed"
	}
	text := about(field) + kind
	if field.Default != nil {
		text += " [" + string(field.Default) + "]"
	}
	return text + ":"
}

// A lineReader reads lines, and can be left while it does: what is read then is
// the next line. It is for one user at a time.
type lineReader struct {
	in      *bufio.Reader
	reading sync.WaitGroup // the goroutine that reads; it ends with the program, as nothing else ends the reading of a terminal
	pending chan lineRead  // nil when nothing is being read
}

type lineRead struct {
	text string
	err  error
}

func (l *lineReader) next(ctx context.Context) (string, error) {
	if l.pending == nil {
		pending := make(chan lineRead, 1)
		l.pending = pending
		l.reading.Go(func() {
			text, err := l.in.ReadString('\n')
			pending <- lineRead{text, err}
		})
	}
	select {
	case line := <-l.pending:
		l.pending = nil
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
