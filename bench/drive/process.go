package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/bench/program"
)

// ferryName is the program that users run.
const ferryName = "ferry"

// build compiles what a workload needs into dir, unless it is there already.
func (s *settings) build(dir string, w *workload, programs []string) error {
	names := slices.Clone(w.needs)
	for _, name := range programs {
		names = append(names, w.program(name))
	}
	for _, name := range names {
		if s.paths[name] != "" {
			continue
		}
		out := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if runtime.GOOS == "windows" {
			out += ".exe"
		}
		from := "github.com/ferrymcp/ferry/bench/" + name
		if name == ferryName {
			from = "github.com/ferrymcp/ferry/apps/cmd/ferry"
		}
		cmd := exec.Command("go", "build", "-trimpath", "-o", out, from)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, text)
		}
		s.paths[name] = out
	}
	return nil
}

// A process is a running server or client.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	address string // of HTTP
	control string

	errors sync.WaitGroup // reads what the process says on standard error
	end    []func()       // called when it stops, the last first
}

// atEnd has f called when the process has been stopped.
func (p *process) atEnd(f func()) { p.end = append(p.end, f) }

// control is the flag that lets a program be asked for profiles and counts.
var control = []string{"-control", "127.0.0.1:0"}

// start runs the program with the arguments and waits until it has told the
// given number of addresses on standard error.
func start(path string, args []string, addresses int) (*process, error) {
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
	if addresses == 0 {
		p.cmd.Stderr = os.Stderr
	}
	err = p.cmd.Start()
	_ = stderr.Close()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	lines := bufio.NewScanner(r)
	err = p.addresses(lines, addresses)
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
		case "control":
			p.control = addr
		case ferryName: // its banner begins "ferry serves URL"
			_, rest, _ := strings.Cut(addr, "http://")
			p.address, _, _ = strings.Cut(rest, "/")
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
	for _, f := range slices.Backward(p.end) {
		f()
	}
}

// counts asks the process what it has allocated and what it holds, after a
// collection of garbage if that is to be free.
func (p *process) counts(free bool) (c program.Counts, err error) {
	url := "http://" + p.control + "/counts"
	if free {
		url += "?free"
	}
	page, err := get(url)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(page, &c)
}

// profile writes a profile of the next seconds to the file: one of the processor,
// which is the kind "profile" or "", or another kind that pprof knows.
func (p *process) profile(kind, file string, during time.Duration) error {
	url := fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", p.control, cmp.Or(kind, "profile"), max(1, int(during.Seconds())))
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
