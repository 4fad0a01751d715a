package transport

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Command is the stdio transport, client side: a server that runs as a child
// process and is spoken to over its standard input and output. Each Open
// starts the program anew.
//
// Close ends the whole process tree: standard input is closed, then, for what
// does not end by itself, come a request to terminate and the kill. What a server leaves behind
// in its process group (job, on Windows) when it exits is killed too. Processes that leave
// the group on purpose, as daemons do, are beyond its reach.
//
// When this process itself is killed, the operating system ends the children:
// on Linux the whole process group, on Windows the whole job. Elsewhere they
// only see the end of their standard input.
type Command struct {
	// Path is the program: a path, or a name that is looked up in PATH (and, on
	// Windows, with the endings in PATHEXT).
	Path string
	// Args are the arguments, without the name of the program.
	Args []string
	// Dir is the working directory; empty for that of this process.
	Dir string
	// Env is added to the environment of this process, which the server
	// inherits. Entries are "name=value"; the last of a name counts.
	Env []string
	// Stderr takes what the server writes to standard error, a line at a time;
	// nil drops it. The server waits while Stderr does. The end of it is kept
	// for error messages in either case.
	Stderr io.Writer
	// Grace is how long the server may take to exit once its standard input is
	// closed, and again after it was told to terminate. Zero means 350 ms,
	// which keeps Close within a second; negative means no time at all.
	Grace time.Duration
	// Lines adjusts the framing; nil means the defaults.
	Lines *LineOptions
}

// Open implements Transport. It starts the program; ctx is not used after
// that. An error is a *StartError, or the cause of ctx. When the server exits,
// requests in flight and Err get an error that errors.As finds an *ExitError in.
func (c *Command) Open(ctx context.Context, recv Receiver) (RoundTripper, error) {
	return openConn(ctx, c, recv)
}

func (c *Command) connect(context.Context) (Conn, error) {
	p, err := startChild(c)
	if err != nil {
		return nil, &StartError{Path: c.Path, Err: err}
	}
	return Lines(childOut{p}, childIn{p}, c.Lines), nil
}

func (c *Command) grace() time.Duration {
	if c.Grace == 0 {
		return 350 * time.Millisecond
	}
	return max(c.Grace, 0)
}

func (c *Command) command() *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(cmd.Environ(), c.Env...)
	return cmd
}

// A StartError tells that a server could not be started.
type StartError struct {
	Path string
	Err  error
}

// Error implements the error interface.
func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// An ExitError tells that a server ended the connection by exiting, with
// whatever status. It matches io.EOF.
type ExitError struct {
	State *os.ProcessState
	// Stderr is the end of what the server wrote to standard error, at most 8 KiB.
	Stderr string
}

// Error gives the status and the last lines of standard error.
func (e *ExitError) Error() string {
	text := "server exited: " + e.State.String()
	if code := e.State.ExitCode(); code >= 0 {
		text = fmt.Sprintf("server exited with status %d", code)
	}
	lines := strings.Split(strings.TrimSpace(e.Stderr), "\n")
	last := strings.Join(lines[max(0, len(lines)-5):], "\n")
	if len(last) > 1024 {
		last = "…" + strings.ToValidUTF8(last[len(last)-1024:], "")
	}
	if last == "" {
		return text
	}
	return text + ": " + last
}

// Unwrap returns io.EOF.
func (e *ExitError) Unwrap() error { return io.EOF }
