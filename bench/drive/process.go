package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// build compiles the programs for a workload and adds their paths by name.
func build(dir string, w *workload, programs []string, paths map[string]string) error {
	for _, program := range programs {
		name := w.program(program)
		if paths[name] != "" {
			continue
		}
		out := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if runtime.GOOS == "windows" {
			out += ".exe"
		}
		cmd := exec.Command("go", "build", "-o", out, "github.com/ferrymcp/ferry/bench/"+name)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, text)
		}
		paths[name] = out
	}
	return nil
}

// A process is a running server or client.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	address string // of HTTP
	pprof   string

	errors sync.WaitGroup // reads what the process says on standard error
}

// start runs the program and waits until it listens. A client over HTTP is told
// the address of its server.
func start(path string, w *workload, address string, profiled bool) (*process, error) {
	args := w.args(address)
	waitFor := 0
	if w.http && !w.client {
		waitFor++
	}
	if profiled {
		args = append(args, "-pprof", "127.0.0.1:0")
		waitFor++
	}
	p := &process{cmd: exec.Command(path, args...)}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	r, stderr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = stderr
	if waitFor == 0 {
		p.cmd.Stderr = os.Stderr
	}
	err = p.cmd.Start()
	_ = stderr.Close()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	lines := bufio.NewScanner(r)
	err = p.addresses(lines, waitFor)
	p.errors.Go(func() {
		defer r.Close()
		for lines.Scan() {
		}
	})
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// addresses reads where the server listens. What it says later is dropped.
func (p *process) addresses(lines *bufio.Scanner, n int) error {
	for ; n > 0 && lines.Scan(); n-- {
		what, addr, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "listening":
			p.address = addr
		case "profiling":
			p.pprof = addr
		default:
			return fmt.Errorf("unexpected line from the program: %s", lines.Text())
		}
	}
	if n > 0 {
		return errors.New("the program ended before it listened")
	}
	return nil
}

// stop ends the process.
func (p *process) stop() {
	_ = p.in.Close()
	_ = p.out.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed: the error says so
	p.errors.Wait()
}

var memLine = regexp.MustCompile(`(?m)^# (Mallocs|TotalAlloc) = (\d+)`)

// A heap is how much a process has allocated since its start.
type heap struct{ objects, bytes int64 }

func (p *process) heap() (heap, error) {
	var h heap
	if p.pprof == "" {
		return h, nil
	}
	page, err := get("http://" + p.pprof + "/debug/pprof/heap?debug=1")
	if err != nil {
		return h, err
	}
	for _, m := range memLine.FindAllStringSubmatch(string(page), -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		if m[1] == "Mallocs" {
			h.objects = n
		} else {
			h.bytes = n
		}
	}
	return h, nil
}

// profile writes a CPU profile of the next seconds to the file.
func (p *process) profile(file string, during time.Duration) error {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.pprof, max(1, int(during.Seconds())))
	data, err := get(url)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

func get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
