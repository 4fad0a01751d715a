package main

import (
	"fmt"
	"io"
	"time"
)

// slowClients is how many clients do not read what they are told.
const slowClients = 20

// unreadChanges measures what a server holds for clients that do not read while
// its list of tools changes n times.
func unreadChanges(n int) *workload {
	return &workload{
		name: fmt.Sprintf("%d unread changes", n), http: true, session: true, streams: slowClients,
		job: job{method: toolsCall, tool: "poke"}, rows: []row{{unit: "MB after GC"}},
		measure: func(s *settings, w *workload, program string) ([]sample, error) {
			return s.slow(w, program, func(p *process) error {
				all, err := openStreams(p.address, w)
				if err != nil {
					return err
				}
				p.atEnd(all.close)
				poker, err := connect(p.address, w)
				if err != nil {
					return err
				}
				p.atEnd(func() { poker.Close() })
				for i := range n {
					if err := poker.ask(i + 1); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// unreadProgress measures what a server holds for a client that makes calls and
// reads nothing, while each tells of its progress n times.
func unreadProgress(n int) *workload {
	return &workload{
		name: fmt.Sprintf("%d unread steps", n), http: true, session: true,
		job: job{method: toolsCall, tool: "progress", n: n}, rows: []row{{unit: "MB after GC"}},
		measure: func(s *settings, w *workload, program string) ([]sample, error) {
			return s.slow(w, program, func(p *process) error {
				for i := range slowClients {
					c, err := connect(p.address, w)
					if err != nil {
						return err
					}
					p.atEnd(func() { c.Close() })
					if err := c.send(w.job.request(nil, i+1)); err != nil {
						return err
					}
				}
				time.Sleep(500 * time.Millisecond) // the server says what it can
				return nil
			})
		},
	}
}

// slow measures by how much a server has grown after something was done to it.
func (s *settings) slow(w *workload, program string, do func(*process) error) ([]sample, error) {
	p, err := start(s.path(w, program), append(w.args(""), control...), 2)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	watchdog := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	before, err := p.holds()
	if err != nil {
		return nil, err
	}
	if err := do(p); err != nil && err != io.EOF {
		return nil, err
	}
	after, err := p.holds()
	return []sample{{Cost: float64(after.size-before.size) / 1e6}}, err
}
