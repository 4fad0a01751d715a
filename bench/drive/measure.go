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
)

// A sample is one run of one program.
type sample struct {
	CPU     float64       `json:"cpu_us"` // per unit
	Rate    float64       `json:"per_second"`
	P50     float64       `json:"p50_us"`
	P99     float64       `json:"p99_us"`
	Objects float64       `json:"allocs,omitempty"` // per unit
	Bytes   float64       `json:"alloc_bytes,omitempty"`
	Faults  progressFault `json:"faults,omitzero"`
}

// How a run is made.
type settings struct {
	duration, warmUp time.Duration
	allocs           bool
	profileDir       string
}

// patience is how much longer than planned a run may take.
const patience = 5 * time.Second

// measure starts the program, drives it and ends it.
func (s *settings) measure(program, path string, w *workload) (sample, error) {
	var l net.Listener
	var address string
	if w.client && w.http {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return sample{}, err
		}
		defer l.Close()
		address = l.Addr().String()
	}
	p, err := start(path, w, address, s.allocs || s.profileDir != "")
	if err != nil {
		return sample{}, err
	}
	m := &meter{settings: s, p: p, name: strings.ReplaceAll(program+"-"+w.name, " ", "-")}
	r := &run{w: w, p: p, warmUp: s.warmUp, duration: s.duration, begin: m.begin, end: m.end}
	// A program that has stopped answering must not stop everything.
	var hung atomic.Bool
	watchdog := time.AfterFunc(s.warmUp+s.duration+patience, func() {
		hung.Store(true)
		_ = p.cmd.Process.Kill()
	})
	defer watchdog.Stop()
	drive := r.stdio
	switch {
	case w.client:
		drive = func() (tally, error) { return r.client(l) }
	case w.http:
		drive = r.http
	}
	t, err := drive()
	m.profiling.Wait() // where end was not called
	p.stop()
	if hung.Load() {
		err = fmt.Errorf("no end within %v: it stopped answering", patience)
	}
	if err := errors.Join(err, m.profileErr); err != nil {
		return sample{}, fmt.Errorf("%s, %s: %w", program, w.name, err)
	}
	units := float64(t.replies * w.per())
	return sample{
		CPU:     micros(m.cpu) / units,
		Rate:    units / t.took.Seconds(),
		P50:     micros(quantile(t.latencies, 0.50)),
		P99:     micros(quantile(t.latencies, 0.99)),
		Objects: float64(m.heap.objects) / units,
		Bytes:   float64(m.heap.bytes) / units,
		Faults:  r.progress,
	}, nil
}

// A meter reads what a process has used while it was measured.
type meter struct {
	*settings
	p    *process
	name string // of the profile

	cpu  time.Duration
	heap heap

	profiling  sync.WaitGroup
	profileErr error
}

func (m *meter) begin() error {
	if m.profileDir != "" {
		file := filepath.Join(m.profileDir, m.name+".pprof")
		m.profiling.Go(func() { m.profileErr = m.p.profile(file, m.duration) })
	}
	if m.allocs {
		h, err := m.p.heap()
		if err != nil {
			return err
		}
		m.heap = h
	}
	cpu, err := cpuTime(m.p.cmd.Process.Pid)
	m.cpu = cpu
	return err
}

func (m *meter) end() error {
	cpu, err := cpuTime(m.p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	m.cpu = cpu - m.cpu
	m.profiling.Wait() // it ends with the process otherwise
	if m.allocs {
		h, err := m.p.heap()
		if err != nil {
			return err
		}
		m.heap = heap{h.objects - m.heap.objects, h.bytes - m.heap.bytes}
	}
	return nil
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
