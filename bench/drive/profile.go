package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A profile says where the processor time of a request goes, or who allocates
// what it needs.
type profile struct {
	Workload string             `json:"workload"`
	Program  string             `json:"program"`
	Memory   bool               `json:"memory,omitempty"`
	Cost     float64            `json:"cost"`  // of a request, in µs or bytes
	Parts    map[string]float64 `json:"parts"` // of it
}

// A part is a kind of work, known by the functions that do it.
type part struct {
	name string
	// anywhere are prefixes of functions: a stack with one of them belongs here.
	anywhere []string
}

// parts are looked for in this order; what belongs to none is the rest of the
// runtime and of the standard library.
var parts = []part{
	{"system calls", []string{"internal/runtime/syscall.", "syscall.RawSyscall", "runtime/internal/syscall."}},
	{"collector", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}},
	{"allocation", []string{"runtime.mallocgc", "runtime.newobject", "runtime.growslice", "runtime.makeslice"}},
	{"stacks", []string{"runtime.newstack", "runtime.copystack"}},
	{"scheduler", []string{
		"runtime.schedule", "runtime.findRunnable", "runtime.mcall", "runtime.park_m", "runtime.goready", "runtime.ready",
		"runtime.futex", "runtime.netpoll", "runtime.notewakeup", "runtime.wakep", "runtime.sysmon", "runtime.goexit0", "runtime.newproc",
	}},
	{"JSON, schemas", []string{
		"encoding/json.", "github.com/go-json-experiment/json", "github.com/ferrymcp/ferry/internal/json.",
		"github.com/ferrymcp/ferry/jsonrpc.", "github.com/ferrymcp/ferry/mcp.append", "github.com/ferrymcp/ferry/internal/schema.",
	}},
	{"own code", []string{"github.com/ferrymcp/ferry/", "main."}},
	{"net/http", []string{"net/http.", "net/textproto."}},
}

const restOfIt = "rest"

// profiled are the workloads to profile.
var profiled = []string{"stdio d1", "stdio d64", "stdio d64 modern", "stdio d64 add", "http session c32", "http modern c32"}

// profiles measures where the time of our server goes, and where that of the
// floor goes.
func (o *options) profiles(dir string) ([]record, error) {
	var out []record
	for _, name := range profiled {
		w := named(name)
		if !o.run.MatchString(w.name) {
			continue
		}
		programs := []string{oursName, floorName}
		if err := o.build(dir, w, programs); err != nil {
			return nil, err
		}
		for i := range 2 * len(programs) {
			program := programs[i%2]
			tell("profile of %s, %s", w.name, program)
			p, err := o.profile(dir, w, program, i >= len(programs))
			if err != nil {
				return nil, fmt.Errorf("profile of %s, %s: %w", w.name, program, err)
			}
			out = append(out, record{Profile: p})
		}
	}
	tell("")
	return out, nil
}

func named(name string) *workload {
	for _, w := range workloads() {
		if w.name == name {
			return w
		}
	}
	panic("no workload " + name)
}

// profile measures one program, and keeps its profile in dir.
func (o *options) profile(dir string, w *workload, program string, memory bool) (*profile, error) {
	s := settings{duration: 2 * time.Second, warmUp: o.warmUp, profileDir: dir, paths: o.paths}
	kind := "profile"
	if memory {
		s.counting, s.duration, kind = true, time.Second, "allocs"
	}
	s.profileKind = kind
	samples, err := s.load(w, program)
	if err != nil {
		return nil, err
	}
	cost := samples[0].Cost
	if memory {
		cost = samples[0].Bytes
	}
	file := filepath.Join(dir, profileName(program, w))
	traces, err := exec.Command("go", "tool", "pprof", "-sample_index="+sampleOf[kind], "-traces", s.path(w, program), file).Output()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return &profile{w.name, program, memory, cost, spread(traces, cost)}, nil
}

// sampleOf is the value to take from each kind of profile.
var sampleOf = map[string]string{"profile": "cpu", "allocs": "alloc_space"}

// amount reads what pprof prints before a stack: a time or a size.
func amount(text string) (float64, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds(), true
	}
	number := strings.TrimRight(text, "kMGB")
	v, err := strconv.ParseFloat(number, 64)
	units := map[string]float64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
	unit, known := units[strings.TrimPrefix(text, number)]
	return v * unit, err == nil && known
}

// spread reads the traces that pprof prints, stacks with what was spent at each, and
// spreads the cost of a request over the parts.
func spread(traces []byte, cost float64) map[string]float64 {
	times := map[string]float64{}
	var all, took float64
	var stack []string
	add := func() {
		if took > 0 {
			times[partOf(stack)] += took
			all += took
		}
		stack, took = stack[:0], 0
	}
	lines := bufio.NewScanner(bytes.NewReader(traces))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-----------+") {
			add()
			continue
		}
		fields := strings.Fields(line)
		if len(fields) == 0 || !strings.HasPrefix(line, " ") {
			continue
		}
		if v, ok := amount(fields[0]); ok && len(fields) > 1 {
			took, fields = v, fields[1:]
		}
		stack = append(stack, fields[0])
	}
	add()
	for name := range times {
		times[name] *= cost / all
	}
	return times
}

// partNames are the names of the parts, in the order of tables.
func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return append(names, restOfIt)
}

// partOf finds the part that a stack belongs to.
func partOf(stack []string) string {
	for _, p := range parts {
		for _, function := range stack {
			for _, prefix := range p.anywhere {
				if strings.HasPrefix(function, prefix) {
					return p.name
				}
			}
		}
	}
	return restOfIt
}
