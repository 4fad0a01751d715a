package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A session is a connection to the target of a command.
type session struct {
	*client.Session
	target  *target
	program *program
}

// ask connects to the target and calls use with the session and the arguments
// that are left. A target is optional where the default endpoint will do.
func (p *program) ask(c *cobra.Command, args []string, optional bool, use func(context.Context, *session, []string) error) error {
	t, rest, err := p.locate(c, args, optional)
	if err != nil {
		return err
	}
	if t.close != nil {
		defer t.close()
	}
	level := mcp.LoggingLevel(p.flags.logLevel)
	if level != "" && !level.Valid() {
		return usagef("--log-level %q: must be debug, info, notice, warning, error, critical, alert or emergency", level)
	}
	if p.flags.timeout < 0 {
		return usagef("--timeout must not be negative")
	}
	ctx := c.Context()
	sess, err := p.connect(c, t)
	if err != nil {
		return p.unreached(err, t, optional && len(args) == 0)
	}
	defer func() { _ = sess.Close() }()
	if level != "" {
		if err := sess.SetLogLevel(ctx, level); err != nil {
			return fmt.Errorf("ask for log messages: %w", err)
		}
	}
	err = use(ctx, &session{Session: sess, target: t, program: p}, rest)
	p.err.settle()
	return p.refused(err, t)
}

// connect opens a session with the options of the command line.
func (p *program) connect(c *cobra.Command, t *target) (*client.Session, error) {
	ctx := c.Context()
	opts := &client.Options{
		Revision:       p.flags.revision,
		Timeout:        p.flags.timeout,
		MaxTimeout:     p.flags.timeout,
		ConnectTimeout: p.flags.timeout,
		OnNotification: p.notified,
	}
	if err := p.maybeAsked(c, opts, t.name); err != nil {
		return nil, err
	}
	to := t.transport
	if p.flags.trace {
		to = transport.Tap(to, p.tracer(t.carrier))
	}
	info := mcp.Implementation{Name: "ferry", Title: "Ferry", Version: version()}
	sess, err := client.New(info, opts).Connect(ctx, to)
	if err != nil && !is[*client.ConnectError](err) && ctx.Err() == nil {
		err = &usageError{err: err} // the options are wrong: an unknown revision
	}
	return sess, err
}

// unreached adds to an error of connecting what people need to know.
func (p *program) unreached(err error, t *target, byDefault bool) error {
	if is[*usageError](err) {
		return err
	}
	if refused := p.refused(err, t); is[*loginError](refused) {
		return refused
	}
	if byDefault && is[*client.UnreachableError](err) {
		return &unreachableError{
			err:  fmt.Errorf("connect to %s: %w", t.name, err),
			hint: `Start it with "ferry up", or name a TARGET.`,
		}
	}
	return fmt.Errorf("connect to %s: %w", t.name, err)
}

// tracer shows frames.
func (p *program) tracer(carrier string) func(transport.Frame) {
	began := time.Now()
	return func(f transport.Frame) {
		arrow, s := "-->", green
		if f.Direction == transport.Received {
			arrow, s = "<--", yellow
		}
		head := fmt.Sprintf("%9.3fs %s %s", f.Time.Sub(began).Seconds(), carrier, arrow)
		p.err.write([]byte(p.err.paint(s, head) + " " + p.err.clean(string(f.Data)) + "\n"))
	}
}

// notified shows what the server says by itself.
func (p *program) notified(method string, params json.RawMessage) {
	switch method {
	case mcp.NotificationMessage:
		var m mcp.LoggingMessageParams
		if json.Unmarshal(params, &m) != nil {
			return
		}
		head := "[" + string(m.Level) + "]"
		if m.Logger != "" {
			head += " " + m.Logger + ":"
		}
		p.err.line(dim, head+" "+logText(m.Data))
	case mcp.NotificationProgress: // of calls that are over
	default:
		if p.flags.verbose {
			p.err.line(dim, method)
		}
	}
}

// logText is the text of a log message: a string as it is, all else as JSON.
func logText(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) == nil {
		return strings.TrimRight(s, "\n")
	}
	return string(data)
}

// result makes a request and decodes its result, which is returned as it came
// too. Result is a pointer.
func (s *session) result(ctx context.Context, method string, params, result any, opts *client.CallOptions) (json.RawMessage, error) {
	raw, err := s.Call(ctx, method, params, opts)
	if err != nil {
		return nil, err
	}
	var kind mcp.Result
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, &client.ProtocolError{Method: method, Problem: err.Error()}
	}
	if kind.ResultType == mcp.ResultInputRequired {
		input := new(mcp.InputRequiredResult)
		if err := json.Unmarshal(raw, input); err != nil {
			return nil, &client.ProtocolError{Method: method, Problem: err.Error()}
		}
		return nil, &client.InputRequiredError{Method: method, Result: input}
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return nil, &client.ProtocolError{Method: method, Problem: err.Error()}
	}
	return raw, nil
}

// callOptions are those of calls that may take a while: they show progress.
func (s *session) callOptions() *client.CallOptions {
	return &client.CallOptions{Progress: s.program.progress}
}

// progress shows how far a call is: on a terminal in one line, elsewhere only
// if asked to.
func (p *program) progress(step mcp.ProgressParams) {
	var text string
	if step.Total != nil && *step.Total > 0 {
		text = fmt.Sprintf("%3.0f%%", 100*step.Progress / *step.Total)
	} else {
		text = fmt.Sprintf("%v", step.Progress)
	}
	if step.Message != "" {
		text += " " + step.Message
	}
	switch {
	case p.err.terminal:
		p.err.replace(text)
	case p.flags.verbose:
		p.err.line(plain, "progress: "+strings.TrimSpace(text))
	}
}

// printJSON writes one JSON document: indented for people, as it is for
// programs.
func (p *program) printJSON(doc json.RawMessage) error {
	if p.out.terminal {
		text, err := indent(doc)
		if err != nil {
			return err
		}
		p.out.text(text)
		return nil
	}
	p.out.write(append(slices.Clip(doc), '\n'))
	return nil
}

// printValue is printJSON for a value of ours.
func (p *program) printValue(v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.printJSON(doc)
}
