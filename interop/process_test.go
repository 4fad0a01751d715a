package interop_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// background runs a program until the test has ended. What it prints shows when
// the test fails; the first URL in it comes out of the channel.
func background(t *testing.T, env []string, program string, args ...string) <-chan string {
	t.Helper()
	out := &finder{log: logWriter{t}, found: make(chan string, 1)}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%s %s did not end when it was asked to", program, args)
			cmd.Process.Kill()
			<-ended
		}
	})
	return out.found
}

// start runs a server in the background and returns the URL that it prints.
func start(t *testing.T, program string, args ...string) string {
	t.Helper()
	select {
	case url := <-background(t, nil, program, args...):
		return url
	case <-time.After(90 * time.Second):
		t.Fatalf("%s %s printed no URL", program, args)
		return ""
	}
}

// A finder logs what a program prints and looks for a URL in it.
type finder struct {
	log   logWriter
	text  string // what was printed until the URL was found
	found chan string
}

var url = regexp.MustCompile(`(http://\S+)\s`)

// Write is called by one goroutine, as os/exec promises for one writer.
func (f *finder) Write(p []byte) (int, error) {
	if f.found != nil {
		f.text += string(p)
		if match := url.FindStringSubmatch(f.text); match != nil {
			f.found <- match[1]
			f.found, f.text = nil, ""
		}
	}
	return f.log.Write(p)
}

// waitForPort returns when somebody listens at a port of this machine.
func waitForPort(t *testing.T, port string) {
	t.Helper()
	for range 1200 {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatalf("nobody listens at port %s", port)
}

// logWriter shows output in the log of a test.
type logWriter struct{ t *testing.T }

// Write logs what a program wrote.
func (w logWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(strings.TrimSpace(string(p))) {
		w.t.Log(strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}
