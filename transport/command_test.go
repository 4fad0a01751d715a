package transport_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

// buffer is a writer for standard error that may be read at any time.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestCommand(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-LAUNCH", "STDIO-CLIENT-SUPPORT")
	rt := open(t, self("echo"), nil)
	for i := range int64(10) {
		if _, err := rt.RoundTrip(t.Context(), request(i, []string{strings.Repeat("x", 10_000*int(i))})); err != nil {
			t.Fatal(err)
		}
	}
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := rt.RoundTrip(t.Context(), request(1, nil)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("RoundTrip after Close: %v", err)
	}
}

func TestStdioKeepsStrayOutputAway(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-STDOUT-CLEAN", "STDIO-STDERR-LOG", "STDIO-STDERR-NOT-ERROR")
	var stderr buffer
	c := self("prints")
	c.Stderr = &stderr
	rec := new(recorder)
	rt := open(t, c, rec)
	if _, err := rt.RoundTrip(t.Context(), request(1, nil)); err != nil {
		t.Fatal(err)
	}
	rt.Close()
	if len(rec.strays) > 0 {
		t.Errorf("stray output on the connection: %v", rec.strays)
	}
	want := []string{"stray println\n", "stray builtin\n"}
	if runtime.GOOS != "windows" { // where the descriptor itself is replaced
		want = append(want, "stray old file\n", "stray child\n")
	}
	for _, want := range want {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not on standard error, which has %q", want, stderr.String())
		}
	}
}

func TestStdioLife(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"twice", "closing"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			// Standard input stays open: only Close can end the read.
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleVar+"="+role)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func TestCommandExit(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-SERVER", "STDIO-STDERR-HANDLE")
	rt := open(t, self("exit"), nil)
	_, err := rt.RoundTrip(t.Context(), request(1, nil))
	<-rt.Done()
	if err == nil {
		t.Error("a server that exits has answered")
	}
	var exit *transport.ExitError
	if err := rt.Err(); !errors.As(err, &exit) || !errors.Is(err, io.EOF) {
		t.Fatalf("Err: got %v, want an *ExitError", err)
	}
	if got, want := exit.Error(), "server exited with status 3: cannot open database"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if code := exit.State.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}

func TestCommandStartError(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "no-such-program-here", os.TempDir(), "/nonexistent/x"} {
		_, err := (&transport.Command{Path: path}).Open(t.Context(), nil)
		var start *transport.StartError
		if !errors.As(err, &start) || start.Path != path || errors.Unwrap(start) == nil {
			t.Errorf("Open of %q: got %v, want a *StartError", path, err)
		}
	}
	_, err := (&transport.Command{Path: "no-such-program-here"}).Open(t.Context(), nil)
	if !errors.Is(err, exec.ErrNotFound) || !strings.HasPrefix(err.Error(), "start no-such-program-here: ") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := self("echo").Open(ctx, nil); err != context.Canceled {
		t.Errorf("Open with an ended context: %v", err)
	}
}

func TestCommandStubborn(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-SIGNALS", "STDIO-SHUTDOWN-PORTABLE")
	ready := make(notes, 1)
	rt := open(t, self("stubborn"), ready)
	<-ready
	// It reads nothing either.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for id := int64(0); ctx.Err() == nil && id < 1000; id++ {
		short, stop := context.WithTimeout(ctx, time.Millisecond)
		_, _ = rt.RoundTrip(short, request(id, []string{strings.Repeat("x", 1000)}))
		stop()
	}
	start := time.Now()
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if d := time.Since(start); d > 1200*time.Millisecond {
		t.Errorf("Close took %v", d)
	}
}
