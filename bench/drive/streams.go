package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/ferrymcp/ferry/bench/program"
)

// streamRows are the figures of many open streams: those of sessions, or of
// subscriptions.
func streamRows(what string, must, aim float64) []row {
	return []row{
		{name: what + " stream, memory", unit: "KB after GC", must: must, aim: aim},
		{name: what + " stream, goroutines", unit: "goroutines", most: 2.05},
		{name: what + " stream, opening", unit: "µs CPU / stream", must: 1.5, aim: 1.2},
		{name: what + " stream, list changed", unit: "µs CPU / stream", must: 1.1, aim: 0.9},
		{name: what + " stream, all told", unit: "ms"},
		{name: what + " stream, open after its end", unit: "of 1000", most: 0.5},
		{name: what + " stream, kept after its end", unit: "KB of heap"},
	}
}

// changes is how often the list is changed; even, so that it ends as it began.
const changes = 6

// openStreams opens the streams of the workload, changes the list of tools a few
// times and ends the streams, and measures each.
func (s *settings) openStreams(w *workload, program string) ([]sample, error) {
	p, err := start(s.path(w, program), append(w.args(""), control...), 2)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	watchdog := time.AfterFunc(120*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	poker, err := connect(p.address, w)
	if err != nil {
		return nil, err
	}
	defer poker.Close()
	for i := range 2 { // so that what is made once is there
		if err := poker.ask(i + 1); err != nil {
			return nil, err
		}
	}
	before, err := p.holds()
	if err != nil {
		return nil, err
	}
	cpu, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	all, err := openStreams(p.address, w)
	if err != nil {
		return nil, err
	}
	defer all.close()
	opened, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	during, err := p.holds()
	if err != nil {
		return nil, err
	}
	told, each, err := all.change(p, poker)
	if err != nil {
		return nil, err
	}
	open := all.end(poker)
	after, err := p.settled(before.Goroutines)
	n := float64(w.streams)
	return []sample{
		{Cost: float64(during.size-before.size) / 1024 / n},
		{Cost: float64(during.Goroutines-before.Goroutines) / n},
		{Cost: micros(opened-cpu) / n},
		{Cost: each / n},
		{Cost: told},
		{Cost: float64(open)},
		{Cost: (float64(after.Heap) - float64(before.Heap)) / 1024 / n},
	}, err
}

// A holding is what a process holds after a collection of garbage.
type holding struct {
	program.Counts
	size int64 // resident bytes
}

func (p *process) holds() (h holding, err error) {
	if h.Counts, err = p.counts(true); err != nil {
		return h, err
	}
	h.size, err = residentSize(p.cmd.Process.Pid)
	return h, err
}

// settled is what the process holds when it has no more goroutines than before,
// or does not come to that within a second.
func (p *process) settled(goroutines int) (h holding, err error) {
	for range 20 {
		if h, err = p.holds(); err != nil || h.Goroutines <= goroutines {
			return h, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return h, nil
}

// streams are requests whose answers stay open.
type streams struct {
	w     *workload
	conns []*httpConn
}

// openStreams opens as many as the workload says: those of sessions, or
// subscriptions.
func openStreams(address string, w *workload) (*streams, error) {
	all := &streams{w: w}
	for i := range w.streams {
		c, err := openStream(address, w, i)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("open stream %d: %w", i+1, err)
		}
		all.conns = append(all.conns, c)
	}
	return all, nil
}

func openStream(address string, w *workload, i int) (*httpConn, error) {
	var d net.Dialer
	if i >= 10_000 { // a source address has 28,000 ports
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i/10_000))}
	}
	conn, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &httpConn{Conn: conn, in: bufio.NewReaderSize(conn, 1024), job: &w.job}
	if w.job.modern {
		listen := job{method: "subscriptions/listen", modern: true}
		listen.prepare()
		c.job = &listen
	}
	if err := errors.Join(c.SetDeadline(time.Now().Add(patience)), c.openStream(w, i+1)); err != nil {
		c.Close()
		return nil, err
	}
	c.out, c.message, c.body, c.reply = nil, nil, nil, nil // small is what many of them need
	return c, nil
}

func (c *httpConn) openStream(w *workload, id int) error {
	if err := c.open(w.session); err != nil {
		return err
	}
	var err error
	if w.job.modern {
		err = c.send(c.job.request(nil, id))
	} else {
		_, err = fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n"+
			"Mcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n", c.RemoteAddr(), revisions.Legacy, c.session)
	}
	if err != nil {
		return err
	}
	h, err := c.readHeader()
	if err != nil {
		return fmt.Errorf("read the head of a stream: %w", err)
	}
	if h.status != 200 || !h.events {
		return fmt.Errorf("status %d instead of a stream", h.status)
	}
	if w.job.modern {
		return c.awaitLine("notifications/subscriptions/acknowledged")
	}
	return nil
}

// awaitLine reads a stream up to a line with the text in it.
func (c *httpConn) awaitLine(text string) error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return fmt.Errorf("wait for %s: %w", text, err)
		}
		if bytes.Contains(line, []byte(text)) {
			return nil
		}
	}
}

// ends tells whether a stream ends before its deadline.
func (c *httpConn) ends() bool {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
		if string(line) == "0\r\n" { // the last chunk
			return true
		}
	}
}

// ask makes one call and checks its reply.
func (c *httpConn) ask(id int) error {
	reply, err := c.call(id)
	if err != nil {
		return err
	}
	return c.job.check(reply, id)
}

// change changes the list and waits until all streams have been told, a few
// times. It returns the medians of how many milliseconds that took, and how many
// microseconds of processor time.
func (all *streams) change(p *process, poker *httpConn) (ms, us float64, err error) {
	var waits, costs []float64
	for i := range changes {
		cpu, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		began := time.Now()
		until := began.Add(patience + time.Duration(len(all.conns))*time.Millisecond)
		if err := poker.ask(i + 10); err != nil {
			return 0, 0, err
		}
		for n, c := range all.conns {
			if err := errors.Join(c.SetDeadline(until), c.awaitLine("notifications/tools/list_changed")); err != nil {
				return 0, 0, fmt.Errorf("stream %d, change %d: %w", n+1, i+1, err)
			}
		}
		waits = append(waits, time.Since(began).Seconds()*1000)
		spent, err := cpuTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		costs = append(costs, micros(spent-cpu))
	}
	return median(waits), median(costs), nil
}

// end ends the streams as clients do, which delete their sessions or hang up, and
// returns how many the server leaves open after their sessions.
func (all *streams) end(poker *httpConn) int {
	defer all.close()
	if !all.w.session {
		return 0
	}
	open := 0
	for _, c := range all.conns {
		fmt.Fprintf(poker, "DELETE /mcp HTTP/1.1\r\nHost: %s\r\nMcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n",
			poker.RemoteAddr(), revisions.Legacy, c.session)
		h, err := poker.readHeader()
		if err != nil {
			break
		}
		_, _ = io.Copy(io.Discard, h.body(poker.in))
	}
	until := time.Now().Add(time.Second)
	for _, c := range all.conns {
		if err := c.SetDeadline(until); err != nil || !c.ends() {
			open++
		}
	}
	return open
}

func (all *streams) close() {
	for _, c := range all.conns {
		c.Close()
	}
}
