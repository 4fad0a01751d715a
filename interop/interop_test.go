package interop_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
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
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
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

// build builds our programs.
func build() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for name, folder := range map[string]string{
		"everything": "./everything", "go-sdk": "./gosdk", "mcp-go": "./mcpgo", "ferry": "../apps/cmd/ferry",
	} {
		build := exec.CommandContext(ctx, "go", "build", "-o", program(name), ".")
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
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

// program returns the path of one of our programs.
func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(scratch, name)
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

// command is the transport to a server over standard input and output; what it
// writes to standard error shows when the test fails.
func command(t *testing.T, path string, args ...string) *transport.Command {
	return &transport.Command{Path: path, Args: args, Stderr: logWriter{t}, Grace: 10 * time.Second}
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
