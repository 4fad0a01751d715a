package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrymcp/ferry/bench/program"
)

// A sample is one figure of one run of one program, with what is known beside it.
type sample struct {
	Cost    float64       `json:"cost"` // in the unit of the row
	Rate    float64       `json:"per_second,omitempty"`
	P50     float64       `json:"p50_us,omitempty"`
	P99     float64       `json:"p99_us,omitempty"`
	Objects float64       `json:"allocs,omitempty"` // per unit
	Bytes   float64       `json:"alloc_bytes,omitempty"`
	Faults  progressFault `json:"faults,omitzero"`
}

// How a run is made.
type settings struct {
	duration, warmUp time.Duration
	// counting counts allocations, which costs time that then counts too.
	counting   bool
	profileDir string
	// profileKind is the path of the profile to take, "" for that of the processor.
	profileKind string
	paths       map[string]string // of the built programs
}

// path is that of the program to run for a workload.
func (s *settings) path(w *workload, program string) string { return s.paths[w.program(program)] }

// patience is how much longer than planned a run may take.
const patience = 5 * time.Second

// load starts the program, keeps it busy and ends it.
func (s *settings) load(w *workload, program string) ([]sample, error) {
	var l net.Listener
	var address string
	if w.client && w.http {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		defer l.Close()
		address = l.Addr().String()
	}
	args, addresses := w.args(address), 0
	if w.listens() {
		addresses++
	}
	if s.counting || s.profileDir != "" {
		args = append(args, control...)
		addresses++
	}
	p, err := start(s.path(w, program), args, addresses)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	return s.drive(p, l, w, program)
}

// drive keeps a process busy and measures it. The listener is for clients.
func (s *settings) drive(p *process, l net.Listener, w *workload, name string) ([]sample, error) {
	m := &meter{settings: s, p: p, file: profileName(name, w)}
	r := &run{w: w, p: p, warmUp: s.warmUp, duration: s.duration, begin: m.begin, end: m.end}
	if w.streams > 0 {
		idle, err := openStreams(p.address, w)
		if err != nil {
			return nil, err
		}
		defer idle.close()
	}
	// A program that has stopped answering must not stop everything.
	var hung atomic.Bool
	enough := patience + time.Duration(w.job.size/1e6)*time.Second
	watchdog := time.AfterFunc(s.warmUp+s.duration+enough, func() {
		hung.Store(true)
		_ = p.cmd.Process.Kill()
	})
	defer watchdog.Stop()
	keepBusy := r.stdio
	switch {
	case w.client:
		keepBusy = func() (tally, error) { return r.client(l) }
	case w.http:
		keepBusy = r.http
	}
	t, err := keepBusy()
	m.profiling.Wait() // where end was not called
	if hung.Load() {
		err = fmt.Errorf("no end within %v: it stopped answering", enough)
	}
	if err := errors.Join(err, m.profileErr); err != nil {
		return nil, err
	}
	units := float64(t.replies * w.per())
	return []sample{{
		Cost:    micros(m.cpu) / units,
		Rate:    units / t.took.Seconds(),
		P50:     micros(quantile(t.latencies, 0.50)),
		P99:     micros(quantile(t.latencies, 0.99)),
		Objects: float64(m.after.Objects-m.before.Objects) / units,
		Bytes:   float64(m.after.Bytes-m.before.Bytes) / units,
		Faults:  r.progress,
	}}, nil
}

// profileName is the file of a program's profile.
func profileName(program string, w *workload) string {
	return strings.ReplaceAll(program+"-"+w.name, " ", "-") + ".pprof"
}

// A meter reads what a process has used while it was measured.
type meter struct {
	*settings
	p    *process
	file string // of the profile

	cpu           time.Duration
	before, after program.Counts

	profiling  sync.WaitGroup
	profileErr error
}

func (m *meter) begin() error {
	if m.profileDir != "" {
		file := filepath.Join(m.profileDir, m.file)
		m.profiling.Go(func() { m.profileErr = m.p.profile(m.profileKind, file, m.duration) })
	}
	var err error
	if m.counting {
		if m.before, err = m.p.counts(false); err != nil {
			return err
		}
	}
	m.cpu, err = cpuTime(m.p.cmd.Process.Pid)
	return err
}

func (m *meter) end() error {
	cpu, err := cpuTime(m.p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	m.cpu = cpu - m.cpu
	m.profiling.Wait() // it ends with the process otherwise
	if m.counting {
		m.after, err = m.p.counts(false)
	}
	return err
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// quantile sorts the durations.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}
