package transport_test

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// The test binary is also the server that the tests of Command start: this
// variable names what it then does.
const roleVar = "FERRY_TEST_ROLE"

var roles = map[string]func() int{
	"echo":   func() int { echo(mustStdio()); return 0 },
	"prints": printingServer,
	"exit":   func() int { fmt.Fprintln(os.Stderr, "cannot open database"); return 3 },
	// Ignores every polite way to be ended.
	"stubborn": func() int {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
		fmt.Println(`{"jsonrpc":"2.0","method":"ready"}`)
		select {}
	},
	"twice": func() int {
		mustStdio()
		if _, err := transport.Stdio(); err == nil {
			return 1
		}
		return 0
	},
	"closing": func() int { // closes while it reads
		conn := mustStdio()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := conn.Read(); err != transport.ErrClosed {
				fmt.Fprintf(os.Stderr, "read after close: %v\n", err)
				os.Exit(1)
			}
		})
		_ = conn.Write([]byte(`{"jsonrpc":"2.0","method":"ready"}`))
		_ = conn.Close()
		wg.Wait()
		return 0
	},
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVar)]; role != nil {
		os.Exit(role())
	}
	os.Exit(m.Run())
}

func mustStdio() transport.Conn {
	conn, err := transport.Stdio()
	if err != nil {
		panic(err)
	}
	return conn
}

// printingServer prints in every way there is before and while it serves.
func printingServer() int {
	old := os.Stdout
	conn := mustStdio()
	fmt.Println("stray println")
	if runtime.GOOS != "windows" {
		fmt.Fprintln(old, "stray old file")
	}
	print("stray builtin\n")
	if b, err := io.ReadAll(os.Stdin); err != nil || len(b) > 0 {
		fmt.Fprintf(os.Stderr, "stdin gives %q, %v\n", b, err)
		return 1
	}
	child, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "echo stray child"}, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err == nil {
		_, _ = child.Wait()
	}
	echo(conn)
	return 0
}

// self is the test binary in a role.
func self(role string) *transport.Command {
	return &transport.Command{Path: os.Args[0], Env: []string{roleVar + "=" + role, "GORACE=atexit_sleep_ms=0"}}
}

func open(t *testing.T, c *transport.Command, recv transport.Receiver) transport.RoundTripper {
	t.Helper()
	rt, err := c.Open(t.Context(), recv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	return rt
}

// eventually polls until ok, and fails the test when that takes too long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("still not: %s", what)
		}
	}
}

// notes is a Receiver that passes method names on.
type notes chan string

func (n notes) Receive(m jsonrpc.Message, _ jsonrpc.ID) { n <- m.Method }
