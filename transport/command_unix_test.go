//go:build unix

package transport_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/transport"
)

func init() { roles["host"] = hostOfChildren }

// shell is a server written as a shell script. Its first notification names
// the process ids in its method, separated by commas.
func shell(script string) *transport.Command {
	return &transport.Command{Path: "/bin/sh", Args: []string{"-c", script}}
}

const tell = `echo "{\"jsonrpc\":\"2.0\",\"method\":\"$PIDS\"}"`

func pids(t *testing.T, list string) (all []int) {
	t.Helper()
	for s := range strings.SplitSeq(list, ",") {
		pid, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("no process ids: %q", list)
		}
		all = append(all, pid)
	}
	return all
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if stat, rerr := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); rerr == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return after == "" || after[0] != 'Z'
	}
	return err != nil || !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func allGone(t *testing.T, all []int) {
	t.Helper()
	for _, pid := range all {
		eventually(t, fmt.Sprintf("process %d gone", pid), func() bool { return !alive(pid) })
	}
}

func TestCommandEndsTree(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-SHUTDOWN-SIGNALS", "STDIO-SHUTDOWN-PORTABLE")
	const ignore = `trap "" TERM HUP INT; `
	tests := map[string]struct {
		script string
		close  bool // the test has to close; otherwise the server exits by itself
	}{
		"polite":                        {`sleep 1000 & PIDS=$$,$!; ` + tell + `; cat >/dev/null`, true},
		"stubborn":                      {ignore + `sh -c '` + ignore + `while :; do sleep 1000; done' & PIDS=$$,$!; ` + tell + `; while :; do sleep 1000; done`, true},
		"deep":                          {`sh -c 'sh -c "sleep 1000" & sleep 1000' & PIDS=$$,$!; ` + tell + `; sleep 1000`, true},
		"exits and leaves others":       {`sleep 1000 & PIDS=$$,$!; ` + tell, false},
		"closes its output and goes on": {`PIDS=$$; ` + tell + `; exec >/dev/null; sleep 1000`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(notes, 1)
			rt := open(t, shell(tt.script), told)
			all := pids(t, <-told)
			start := time.Now()
			if tt.close {
				if err := rt.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			} else {
				<-rt.Done()
			}
			if d := time.Since(start); d > 1500*time.Millisecond {
				t.Errorf("the end took %v", d)
			}
			allGone(t, all)
		})
	}
}

// TestCommandHeldPipes has a process that left the group keep the pipes open.
func TestCommandHeldPipes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	told := make(notes, 1)
	rt := open(t, shell(`setsid sleep 1000 & PIDS=$!; `+tell+`; echo going >&2; exit 4`), told)
	escaped := pids(t, <-told)[0]
	defer func() { _ = syscall.Kill(escaped, syscall.SIGKILL) }()
	start := time.Now()
	<-rt.Done()
	if got, want := fmt.Sprint(rt.Err()), "connection lost: server exited with status 4: going"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if d := time.Since(start); d > 1500*time.Millisecond {
		t.Errorf("the end took %v", d)
	}
}

func TestCommandStderr(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "STDIO-STDERR-HANDLE")
	var stderr buffer
	c := shell(`i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; kill -9 $$`)
	c.Stderr = &stderr
	rt := open(t, c, nil)
	<-rt.Done()
	text := rt.Err().Error()
	if !strings.Contains(text, "killed") || !strings.HasSuffix(text, "line 1998\nline 1999") || len(text) > 300 {
		t.Errorf("got %q", text)
	}
	if got := strings.Count(stderr.String(), "\n"); got != 2000 {
		t.Errorf("standard error has %d lines, want 2000", got)
	}
}

// TestCommandLeaks is not parallel: it counts what the process has.
func TestCommandLeaks(t *testing.T) {
	round := func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				told := make(notes, 1)
				rt, err := shell(`PIDS=$$; `+tell+`; cat >/dev/null`).Open(t.Context(), told)
				if err != nil {
					t.Error(err)
					return
				}
				<-told
				rt.Close()
			})
		}
		wg.Wait()
		_, _ = (&transport.Command{Path: "/nonexistent/x"}).Open(t.Context(), nil)
		rt, err := shell("exit 1").Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		<-rt.Done()
		rt.Close()
	}
	round() // what is made once
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for range 5 {
		round()
	}
	eventually(t, "no goroutine more than before", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "no descriptor more than before", func() bool { return openFiles() <= files })
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

// hostOfChildren starts five servers with a child each, says who they are and waits.
func hostOfChildren() int {
	told := make(notes, 5)
	for range 5 {
		// They do not read, so that the end of input tells them nothing.
		rt, err := shell(`sleep 1000 & PIDS=$$,$!; `+tell+`; wait`).Open(nopContext(), told)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		_ = rt
	}
	for range 5 {
		fmt.Println(<-told)
	}
	select {}
}

func TestCommandHostKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends the children of a killed process")
	}
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), roleVar+"=host")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var all []int
	for s := bufio.NewScanner(out); len(all) < 10 && s.Scan(); {
		all = append(all, pids(t, s.Text())...)
	}
	for _, pid := range all {
		if !alive(pid) {
			t.Errorf("process %d does not run", pid)
		}
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	if len(all) != 10 {
		t.Fatalf("%d processes, want 10", len(all))
	}
	allGone(t, all)
}

func ExampleCommand() {
	server := &transport.Command{Path: "sh", Args: []string{"-c", `read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'`}}
	rt, err := server.Open(nopContext(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()
	res, err := rt.RoundTrip(nopContext(), &transport.Outgoing{ID: jsonrpc.IntID(1), Method: "ping"})
	fmt.Println(string(res.Result), err)
	// Output: {} <nil>
}
