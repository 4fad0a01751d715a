package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
)

// answers are what the command line says to questions of a server.
type answers struct {
	fields  []string // key=value
	accept  bool
	decline bool
	roots   []string // paths
	given   []argument
}

// askedFlags adds the flags of the commands whose server may ask something.
func (p *program) askedFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&p.answers.fields, "answer", nil, "answer a field of a form that the server shows, as `key=value` or key:=json; may be repeated")
	f.BoolVar(&p.answers.accept, "accept", false, "accept what the server asks, with the answers of --answer and defaults")
	f.BoolVar(&p.answers.decline, "decline", false, "decline what the server asks")
	f.StringArrayVar(&p.answers.roots, "root", nil, "tell the server that it may work in this `folder`; may be repeated")
	_ = c.MarkFlagDirname("root")
}

// maybeAsked makes the client one that a server can ask, as far as there is
// somebody to answer: the command line, or a person at a terminal.
func (p *program) maybeAsked(c *cobra.Command, opts *client.Options, server string) error {
	if c.Flags().Lookup("answer") == nil {
		return nil
	}
	if p.answers.decline && (p.answers.accept || len(p.answers.fields) > 0) {
		return usagef("--decline goes with neither --accept nor --answer")
	}
	roots, err := rootsOf(p.answers.roots)
	if err != nil {
		return err
	}
	opts.Roots = roots
	if p.answers.given, err = p.parseArguments(p.answers.fields); err != nil {
		return err
	}
	yes := &mcp.Support{}
	able := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: yes, URL: yes}}
	switch {
	case p.answers.accept || p.answers.decline || len(p.answers.fields) > 0:
		opts.Capabilities, opts.OnElicit = able, p.answerAsTold
	case p.interactive():
		opts.Capabilities, opts.OnElicit = able, newInterview(p, server).elicit
	}
	return nil
}

// interactive reports whether there is a person to ask.
func (p *program) interactive() bool {
	f, ok := p.stdin.(*os.File)
	if !ok || !p.err.terminal {
		return false
	}
	_, terminal := terminalWidth(f)
	return terminal
}

// rootsOf makes roots of paths, which must be there.
func rootsOf(paths []string) ([]mcp.Root, error) {
	var roots []mcp.Root
	for _, path := range paths {
		full, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(full)
		}
		if err != nil {
			return nil, usagef("--root: %w", err)
		}
		slashed := filepath.ToSlash(full)
		if !strings.HasPrefix(slashed, "/") {
			slashed = "/" + slashed // a drive
		}
		uri := url.URL{Scheme: "file", Path: slashed}
		roots = append(roots, mcp.Root{URI: uri.String(), Name: filepath.Base(full)})
	}
	return roots, nil
}

// answerAsTold answers with what the command line says.
func (p *program) answerAsTold(_ context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	p.err.settle()
	if p.answers.decline {
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}
	if params.IsURL() {
		if !p.answers.accept {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}
		p.err.line(plain, "ferry: the server wants you to visit "+params.URL)
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}
	values := new(object)
	for i := range params.RequestedSchema.Fields {
		field := &params.RequestedSchema.Fields[i]
		value, err := p.answers.value(field)
		if err != nil {
			return p.unanswered(field, err)
		}
		if value != nil {
			values.set(field.Name, value)
		} else if field.Default == nil && slices.Contains(params.RequestedSchema.Required, field.Name) {
			return p.unanswered(field, errors.New("is needed"))
		}
	}
	content, err := values.MarshalJSON()
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, err
}

// unanswered tells what to do about a question that the command line has no
// answer for, and gives up on it.
func (p *program) unanswered(field *mcp.FormField, problem error) (*mcp.ElicitResult, error) {
	p.err.line(red, fmt.Sprintf("ferry: the server asks for %s: %v", about(field), problem))
	p.err.line(plain, fmt.Sprintf("Answer with --answer %s=..., or say --decline.", field.Name))
	return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
}

// value returns the answer of the command line for a field, nil if it has none.
func (a *answers) value(field *mcp.FormField) (json.RawMessage, error) {
	var texts []string
	for _, given := range a.given {
		switch {
		case given.key != field.Name:
		case given.json:
			return checked(field, json.RawMessage(given.value))
		default:
			texts = append(texts, given.value)
		}
	}
	switch {
	case len(texts) == 0:
		return nil, nil
	case field.Kind() != mcp.FormChoices && len(texts) > 1:
		return nil, fmt.Errorf("answered %d times", len(texts))
	}
	return parseField(field, strings.Join(texts, ","))
}

// parseField makes a value for a field of what a person wrote. Choices may be
// named by their number, value or title, several with commas between them.
func parseField(field *mcp.FormField, text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	var value any = text
	switch field.Kind() {
	case mcp.FormNumber:
		value = json.RawMessage(trimmed)
		if !json.Valid([]byte(trimmed)) {
			return nil, errors.New("must be a number")
		}
	case mcp.FormBoolean:
		yes, known := yesOrNo(trimmed)
		if !known {
			return nil, errors.New("must be yes or no")
		}
		value = yes
	case mcp.FormChoice:
		value = choose(field, trimmed)
	case mcp.FormChoices:
		chosen := []string{}
		for one := range strings.SplitSeq(trimmed, ",") {
			if one = strings.TrimSpace(one); one != "" {
				chosen = append(chosen, choose(field, one))
			}
		}
		value = chosen
	case mcp.FormText, mcp.FormUnknown:
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return checked(field, raw)
}

// checked returns a value that fits the field.
func checked(field *mcp.FormField, value json.RawMessage) (json.RawMessage, error) {
	alone := mcp.FormSchema{Fields: []mcp.FormField{*field}}
	content, err := json.Marshal(map[string]json.RawMessage{field.Name: value})
	if err != nil {
		return nil, err
	}
	if _, err := alone.Fill(content); err != nil {
		if wrong, ok := errors.AsType[*mcp.FormError](err); ok {
			return nil, errors.New(wrong.Problem)
		}
		return nil, err
	}
	return value, nil
}

// choose returns the value that a text stands for, or the text.
func choose(field *mcp.FormField, text string) string {
	options := field.Options()
	for _, o := range options {
		if o.Const == text {
			return text
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= len(options) {
		return options[n-1].Const
	}
	for _, o := range options {
		if strings.EqualFold(o.Title, text) || strings.EqualFold(o.Const, text) {
			return o.Const
		}
	}
	return text
}

func yesOrNo(text string) (yes, known bool) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return true, true
	case "n", "no", "false":
		return false, true
	}
	return false, false
}

// about names a field for people.
func about(field *mcp.FormField) string {
	if field.Title != "" && field.Title != field.Name {
		return field.Name + " (" + field.Title + ")"
	}
	return field.Name
}
