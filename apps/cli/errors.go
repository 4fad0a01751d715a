package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// The exit codes, which scripts rely on.
const (
	exitOK          = 0
	exitTool        = 1   // the tool says that it failed
	exitUsage       = 2   // the command line or the configuration is wrong
	exitUnreachable = 3   // no server, or no answer
	exitProtocol    = 4   // the server answered with an error, or nonsense
	exitLogin       = 5   // the user has to log in
	exitInterrupted = 130 // by the user
)

// A usageError is the mistake of whoever wrote the command line or the
// configuration.
type usageError struct {
	err     error
	command string // whose help to read; may be empty
	hint    string // what to do instead; may be empty
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) *usageError {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// A toolError tells that a tool failed; what it says has been printed.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

// An unreachableError is one that no package below has a type for, such as an
// address that is in use.
type unreachableError struct {
	err  error
	hint string
}

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// judge returns the exit code for an error, and the name of the kind of error
// in JSON.
func judge(ctx context.Context, err error) (code int, kind string) {
	switch {
	case is[*usageError](err):
		return exitUsage, "usage"
	case ctx.Err() != nil:
		return exitInterrupted, "interrupted"
	case is[*toolError](err):
		return exitTool, "tool"
	case is[*loginError](err):
		return loginCode(err)
	case noMCP(err):
		return exitProtocol, "protocol"
	case is[*unreachableError](err), is[*client.UnreachableError](err), is[*client.TimeoutError](err),
		is[*transport.StartError](err), errors.Is(err, client.ErrClosed), errors.Is(err, context.DeadlineExceeded):
		return exitUnreachable, "unreachable"
	case is[*jsonrpc.Error](err):
		return exitProtocol, "server"
	default:
		return exitProtocol, "protocol"
	}
}

// noMCP reports whether a server answered well over HTTP, but with something
// else than the protocol.
func noMCP(err error) bool {
	e, ok := errors.AsType[*httpclient.StatusError](err)
	return ok && e.Status >= 200 && e.Status < 300
}

// loginCode is judge for errors about logins. That the server cannot be reached now is
// no reason to log in.
func loginCode(err error) (code int, kind string) {
	if e, ok := errors.AsType[*oauth.Error](err); ok && e.Temporary {
		return exitUnreachable, "unreachable"
	}
	return exitLogin, "login"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// report prints an error and returns the exit code.
func (p *program) report(ctx context.Context, err error) int {
	code, kind := judge(ctx, err)
	if p.flags.json {
		p.reportJSON(err, code, kind)
		return code
	}
	switch kind {
	case "tool": // has been printed
		return code
	case "login":
		if e, ok := errors.AsType[*loginError](err); ok && e.told {
			return code
		}
	case "interrupted":
		p.err.line(plain, "ferry: interrupted")
		return code
	}
	p.err.line(red, "ferry: "+explain(err))
	for _, line := range hints(err) {
		p.err.line(plain, line)
	}
	return code
}

// explain says what went wrong, for people.
func explain(err error) string {
	if e, ok := errors.AsType[*client.ConnectError](err); ok && len(e.Tried) > 0 {
		return strings.Replace(err.Error(), e.Error(), reason(e), 1)
	}
	return err.Error()
}

// reason says why a server could not be connected to, without what was asked.
func reason(e *client.ConnectError) string {
	err := telling(e.Tried)
	if u, ok := errors.AsType[*client.UnreachableError](err); ok {
		err = u.Err
	}
	return err.Error()
}

// telling returns the attempt's error that says most: that of a server which has
// exited, or the last. --trace shows what was tried.
func telling(tried []client.Attempt) error {
	for _, a := range tried {
		if exit, ok := errors.AsType[*transport.ExitError](a.Err); ok {
			return exit
		}
	}
	return tried[len(tried)-1].Err
}

// hints say what can be done about an error.
func hints(err error) []string {
	var lines []string
	if hint := hinted(err); hint != "" {
		lines = append(lines, hint)
	}
	if e, ok := errors.AsType[*usageError](err); ok {
		if e.command != "" {
			lines = append(lines, fmt.Sprintf("Run %q to see how it is used.", e.command+" --help"))
		}
	}
	if e, ok := errors.AsType[*httpclient.StatusError](err); ok && e.IsAuth() {
		lines = append(lines, `The server asks for authorization: give it with --header "Authorization: Bearer ...", or under "headers" in the configuration.`)
	}
	if is[*httpclient.RedirectError](err) {
		lines = append(lines, "Name the address it leads to instead, if you trust it.")
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); is[*client.InputRequiredError](err) || ok && e.Code == mcp.CodeMissingClientCapability {
		lines = append(lines, "The server wants to ask a person first: run this on a terminal, or see --answer and --root.")
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && len(e.Data) > 0 {
		lines = append(lines, "data: "+string(e.Data))
	}
	return lines
}

// hinted returns the hint that an error of ours has with it; empty if none.
func hinted(err error) string {
	if e, ok := errors.AsType[*usageError](err); ok {
		return e.hint
	}
	if e, ok := errors.AsType[*loginError](err); ok {
		return e.hint()
	}
	if e, ok := errors.AsType[*unreachableError](err); ok {
		return e.hint
	}
	return ""
}

// An errorReport is what --json prints on standard error.
type errorReport struct {
	Error struct {
		Kind    string          `json:"kind"`
		Code    int             `json:"code,omitempty"` // that of JSON-RPC
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	} `json:"error"`
	Exit int `json:"exit"`
}

func (p *program) reportJSON(err error, code int, kind string) {
	r := errorReport{Exit: code}
	r.Error.Kind = kind
	r.Error.Message = explain(err)
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && kind == "server" {
		r.Error.Code, r.Error.Message, r.Error.Data = e.Code, e.Message, e.Data
	}
	doc, encodeErr := json.Marshal(r)
	if encodeErr != nil { // data that is not JSON
		r.Error.Data = nil
		doc, _ = json.Marshal(r) //nolint:errchkjson // nothing in it can fail to encode
	}
	p.err.text(string(append(doc, '\n')))
}
