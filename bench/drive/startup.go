package main

import (
	"bufio"
	"bytes"
	"fmt"
	"time"
)

// starts measures how long a server takes from its start to its first list of
// tools, n of which have types of their own.
func starts(name string, n int, must, aim float64) *workload {
	j := job{method: toolsList, tools: ownTools + n, typed: n}
	return &workload{
		name: name, job: j, depth: 1, measure: (*settings).startUp,
		rows: []row{
			{unit: "ms to the first list", must: must, aim: aim},
			{name: name + ", memory", unit: "MB resident"},
		},
	}
}

// startsInRound is how many starts make a sample.
const startsInRound = 4

// startUp starts the program a few times, as a host does: it initializes, then
// asks for the tools.
func (s *settings) startUp(w *workload, program string) ([]sample, error) {
	var took, size []float64
	for range startsInRound {
		t, n, err := startOnce(w, s.path(w, program))
		if err != nil {
			return nil, err
		}
		took, size = append(took, t.Seconds()*1000), append(size, float64(n)/1e6)
	}
	return []sample{{Cost: median(took)}, {Cost: median(size)}}, nil
}

func startOnce(w *workload, path string) (took time.Duration, size int64, err error) {
	began := time.Now()
	p, err := start(path, w.args(""), 0)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	watchdog := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	in := bufio.NewReaderSize(p.out, 64<<10)
	if _, err := p.in.Write(append(initialize(0), '\n')); err != nil {
		return 0, 0, err
	}
	reply, err := in.ReadBytes('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("read the reply to initialize: %w", err)
	}
	if !bytes.Contains(reply, []byte(revisions.Legacy)) {
		return 0, 0, fmt.Errorf("unexpected reply to initialize: %.200s", reply)
	}
	ask := append([]byte(initialized+"\n"), w.job.request(nil, 1)...)
	if _, err := p.in.Write(append(ask, '\n')); err != nil {
		return 0, 0, err
	}
	if reply, err = in.ReadBytes('\n'); err != nil {
		return 0, 0, fmt.Errorf("read the first list: %w", err)
	}
	took = time.Since(began)
	if err := w.job.check(reply, 1); err != nil {
		return 0, 0, err
	}
	size, err = residentSize(p.cmd.Process.Pid)
	return took, size, err
}
