//go:build linux || windows

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKilledUpLeavesNoChildren kills ferry up in a way that lets it do nothing,
// and expects its children to be gone, though they ignore the end of their
// input and requests to end. FERRY_KILL_LOOPS says how often; 5 if it is not set.
func TestKilledUpLeavesNoChildren(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program")
	}
	loops := 5
	if text := os.Getenv("FERRY_KILL_LOOPS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("FERRY_KILL_LOOPS: %v", err)
		}
		loops = n
	}
	name := "ferry"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../cmd/ferry").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	child, err := exec.LookPath("stubborn")
	if err != nil {
		t.Fatal(err)
	}
	const children = 5
	var entries []string
	for i := range children {
		entries = append(entries, fmt.Sprintf(`"child%d": {"command": %q}`, i, child))
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, `{"mcpServers": {`+strings.Join(entries, ",")+`}}`)
	for i := range loops {
		if left := killUp(t, program, file, children); left > 0 {
			t.Fatalf("loop %d: %d of %d children are still there %v after ferry was killed", i+1, left, children, patience)
		}
	}
}

// killUp starts ferry up, kills it once all children are connected to the
// test, and returns how many of them do not go away.
func killUp(t *testing.T, program, file string, children int) (left int) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "up", "--address", "127.0.0.1:0", "--config", file)
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "FERRY_TEST_LEASH="+l.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var leashes []net.Conn
	for range children {
		conn, err := l.Accept()
		if err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("wait for children: %v\n%s", err, &stderr)
		}
		defer conn.Close()
		leashes = append(leashes, conn)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	// The system closes the connections of a process that ends.
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, conn := range leashes {
		wg.Go(func() {
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			_, err := io.Copy(io.Discard, conn)
			if nerr, ok := err.(net.Error); ok && nerr.Timeout() {
				mu.Lock()
				left++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return left
}
