package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/transport"
)

var update = flag.Bool("update", false, "write docs/interop.md from the results")

// scratch is a folder for this run alone. It has our programs, and every process
// of the run has it in its environment or its command line.
var scratch string

const scratchVariable = "FERRY_INTEROP_SCRATCH"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("FERRY_INTEROP") != "1" {
		return m.Run() // all tests skip
	}
	var err error
	if scratch, err = os.MkdirTemp("", "ferry-interop-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	os.Setenv(scratchVariable, scratch)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for program, folder := range map[string]string{everythingProgram(): ".", ferryProgram(): "../apps"} {
		name := strings.TrimSuffix(filepath.Base(program), ".exe")
		build := exec.CommandContext(ctx, "go", "build", "-o", program, map[string]string{
			"everything": "./everything", "ferry": "./cmd/ferry",
		}[name])
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", name, err, out)
			return 1
		}
	}
	code := m.Run()
	if left := leftovers(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "still running after the tests:\n%s\n", strings.Join(left, "\n"))
		code = 1
	}
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		if err := results.check(*update); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// need skips a test unless the others' packages are there to test against.
func need(t *testing.T) {
	t.Helper()
	if os.Getenv("FERRY_INTEROP") != "1" {
		t.Skip("needs node and npm packages: run scripts/interop.sh, or set FERRY_INTEROP=1 after npm ci in this folder")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("FERRY_INTEROP=1 is set: %v", err)
	}
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatalf("FERRY_INTEROP=1 is set, but the packages are not installed: run npm ci in this folder: %v", err)
	}
}

func everythingProgram() string { return filepath.Join(scratch, "everything"+exe()) }
func ferryProgram() string      { return filepath.Join(scratch, "ferry"+exe()) }

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// script returns the absolute path of a program in js.
func script(t *testing.T, name string) string { return absolute(t, "js", name) }

// installed returns the absolute path of a file in a package of node_modules.
func installed(t *testing.T, pkg, file string) string {
	return absolute(t, "node_modules", "@modelcontextprotocol", pkg, file)
}

func absolute(t *testing.T, elem ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// node is the transport to a server that node runs over standard input and
// output; what it writes to standard error shows when the test fails.
func node(t *testing.T, args ...string) *transport.Command {
	return &transport.Command{Path: "node", Args: args, Stderr: logWriter{t}}
}

// start runs a server until the test has ended and returns the first line it
// prints, which is where it is. What it prints later shows when the test fails.
func start(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = logWriter{t}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		in := bufio.NewReader(out)
		first, _ := in.ReadString('\n')
		lines <- strings.TrimSpace(first)
		io.Copy(logWriter{t}, in)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			t.Logf("%s %s did not end when it was asked to", program, args)
			cmd.Process.Kill()
			<-ended
		}
	})
	select {
	case line := <-lines:
		return line
	case <-time.After(15 * time.Second):
		t.Fatalf("%s %s printed nothing", program, args)
		return ""
	}
}

// waitForPort returns when somebody listens at a port of this machine.
func waitForPort(t *testing.T, port string) {
	t.Helper()
	for range 100 {
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

// leftovers returns the command lines of the processes of this run that are still
// there after a grace period. Only Linux can tell.
func leftovers() []string {
	var left []string
	for range 20 {
		if left = processes(); len(left) == 0 {
			return nil
		}
		<-time.After(100 * time.Millisecond)
	}
	return left
}

func processes() []string {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, folder := range folders {
		if filepath.Base(folder) == fmt.Sprint(os.Getpid()) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if bytes.Contains(line, []byte(scratch)) || bytes.Contains(environ, []byte(scratchVariable+"="+scratch)) {
			found = append(found, filepath.Base(folder)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}
