package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A process is one run of git.
type process struct {
	dir  string
	env  []string // in addition to what every process gets
	args []string // after the options that every process gets
	in   []byte
	out  io.Writer
}

// errFull is what an output returns that has all it wants. The process ends then,
// and that is no error.
var errFull = errors.New("there is enough output")

// maxStderr is how much of an error message is kept.
const maxStderr = 8 << 10

// killDelay is how long the output of a process may stay open that has ended.
const killDelay = 500 * time.Millisecond

// run runs git and waits for it, for what it starts, and for its output.
func (g *Git) run(ctx context.Context, p *process) error {
	if err := enter(ctx, g.running); err != nil {
		return err
	}
	defer func() { <-g.running }()
	limited, cancel := context.WithTimeout(ctx, g.limits.Time)
	defer cancel()
	out := &watched{to: p.out, full: cancel}
	var problem head
	cmd := exec.CommandContext(limited, g.path, append([]string{"--no-pager"}, p.args...)...)
	cmd.Dir = p.dir
	cmd.Env = append(environment(os.Environ()), p.env...)
	cmd.Stdin = bytes.NewReader(p.in)
	cmd.Stdout, cmd.Stderr = out, &problem
	cmd.WaitDelay = killDelay
	lead(cmd)
	err := cmd.Run()
	reap(cmd)
	switch {
	case out.done:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Errorf("git %s took longer than %v and was ended: ask for less, such as fewer commits or one path", p.args[0], g.limits.Time)
	case err != nil:
		return failure(p.args[0], problem.String(), err)
	}
	return nil
}

// A CommandError is what git says when it refuses or fails.
type CommandError struct {
	// Command is the command of git.
	Command string
	// Message is what it said, without what is only for people at a terminal.
	Message string
}

// Error implements the error interface.
func (f *CommandError) Error() string { return fmt.Sprintf("git %s: %s", f.Command, f.Message) }

// failure makes an error of what a process has written to standard error.
func failure(command, stderr string, err error) error {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(stderr, "\uFFFD")) {
		line = strings.TrimRight(line, "\r\n ")
		if line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "warning:") {
			continue
		}
		for _, prefix := range []string{"fatal: ", "error: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return &CommandError{command, fmt.Sprintf("it failed with status %d and did not say why", exit.ExitCode())}
		}
		return fmt.Errorf("run git %s: %w", command, err)
	}
	return &CommandError{command, strings.Join(lines, "\n")}
}

// watched ends the process when the output has all it wants.
type watched struct {
	to   io.Writer
	full func()
	done bool
}

func (w *watched) Write(b []byte) (int, error) {
	if w.to == nil {
		return len(b), nil
	}
	n, err := w.to.Write(b)
	if errors.Is(err, errFull) {
		w.done = true
		w.full()
	}
	return n, err
}

// A head keeps the beginning of what is written, and swallows the rest.
type head struct{ bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	if room := maxStderr - h.Len(); room > 0 {
		_, _ = h.Buffer.Write(b[:min(room, len(b))]) // writing to memory does not fail
	}
	return len(b), nil
}
