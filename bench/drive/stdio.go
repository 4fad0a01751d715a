package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// ownTools is how many tools the servers have by themselves.
const ownTools = 4

// A run is a workload in progress on one process.
type run struct {
	w        *workload
	p        *process
	warmUp   time.Duration
	duration time.Duration
	begin    func() error // called when warm
	end      func() error // called at the end, while the process still runs
	progress progressFault
}

// A tally is what was counted after the warm-up.
type tally struct {
	replies   int
	took      time.Duration
	latencies []time.Duration
}

// stdio keeps depth requests outstanding.
func (r *run) stdio() (tally, error) {
	s := &stdioDrive{
		run: r, in: bufio.NewReaderSize(r.p.out, 256<<10),
		expected: make([]int, r.w.depth), sent: make([]time.Time, r.w.depth),
	}
	s.out = &pump{w: r.p.in}
	s.out.wake.L = &s.out.mu
	if s.w.depth*(s.w.job.size+512) > 32<<10 {
		// The pipe cannot hold all that is outstanding: whoever writes may
		// have to wait, and must not be the one who reads.
		s.out.apart = true
		s.out.wg.Go(s.out.run)
		defer s.out.close()
	}
	if !s.w.job.modern {
		if err := s.handshake(); err != nil {
			return tally{}, err
		}
	}
	return s.loop()
}

type stdioDrive struct {
	*run
	in       *bufio.Reader
	out      *pump
	long     []byte
	expected []int // by slot: the id is the slot plus a multiple of depth
	sent     []time.Time
	batch    []byte
	count    progressCount
}

func (s *stdioDrive) handshake() error {
	if err := s.out.write(append(initialize(0), '\n')); err != nil {
		return err
	}
	reply, err := s.line()
	if err != nil {
		return fmt.Errorf("read the reply to initialize: %w", err)
	}
	if !bytes.Contains(reply, []byte(revisions.Legacy)) {
		return fmt.Errorf("unexpected reply to initialize: %.300s", reply)
	}
	return s.out.write([]byte(initialized + "\n"))
}

// line returns the next line, which is valid until the next call.
func (s *stdioDrive) line() ([]byte, error) {
	s.long = s.long[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		if err == nil && len(s.long) == 0 {
			return part, nil
		}
		s.long = append(s.long, part...)
		if err != bufio.ErrBufferFull {
			return s.long, err
		}
	}
}

func (s *stdioDrive) ask(slot, id int) {
	s.expected[slot] = id
	s.count.token = id
	s.batch = append(s.w.job.request(s.batch, id), '\n')
	s.sent[slot] = time.Now()
}

func (s *stdioDrive) loop() (tally, error) {
	depth := s.w.depth
	for slot := range depth {
		s.ask(slot, depth+slot)
	}
	if err := s.flush(); err != nil {
		return tally{}, err
	}
	var t tally
	start := time.Now()
	warm := false
	for {
		reply, err := s.line()
		if err != nil {
			return t, fmt.Errorf("read a reply: %w", err)
		}
		id, ok := replyID(reply)
		if !ok {
			s.count.notification(reply)
			if err := s.flushWhenIdle(); err != nil { // one that came late
				return t, err
			}
			continue
		}
		slot := id % depth
		if s.expected[slot] != id {
			return t, fmt.Errorf("reply to %d, which was not asked: %.200s", id, reply)
		}
		if err := s.w.job.check(reply, id); err != nil {
			return t, err
		}
		s.count.result(s.w.job.n)
		now := time.Now()
		if warm {
			t.replies++
			t.latencies = append(t.latencies, now.Sub(s.sent[slot]))
			if t.took = now.Sub(start); t.took >= s.duration {
				s.progress = s.count.fault
				return t, s.end()
			}
		} else if now.Sub(start) >= s.warmUp {
			if err := s.begin(); err != nil {
				return t, err
			}
			warm, start = true, time.Now()
		}
		s.ask(slot, id+depth)
		if err := s.flushWhenIdle(); err != nil {
			return t, err
		}
	}
}

// flushWhenIdle sends the next requests once the replies that are there have
// been read, as a busy host would.
func (s *stdioDrive) flushWhenIdle() error {
	if len(s.batch) == 0 {
		return nil
	}
	if n := s.in.Buffered(); n > 0 {
		if next, _ := s.in.Peek(n); bytes.IndexByte(next, '\n') >= 0 {
			return nil
		}
	}
	return s.flush()
}

func (s *stdioDrive) flush() error {
	err := s.out.write(s.batch)
	s.batch = s.batch[:0]
	return err
}

// A pump writes to a pipe, in a goroutine of its own if it is apart.
type pump struct {
	w     io.Writer
	apart bool
	wg    sync.WaitGroup

	mu     sync.Mutex
	wake   sync.Cond
	queue  []byte
	err    error
	closed bool
}

func (p *pump) write(data []byte) error {
	if !p.apart {
		_, err := p.w.Write(data)
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, data...)
	p.wake.Signal()
	return p.err
}

func (p *pump) run() {
	var spare []byte
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.queue) == 0 && !p.closed {
			p.wake.Wait()
		}
		if p.closed {
			return
		}
		data := p.queue
		p.queue = spare[:0]
		p.mu.Unlock()
		_, err := p.w.Write(data)
		p.mu.Lock()
		spare = data
		if err != nil {
			p.err = err
			return
		}
	}
}

// close ends the goroutine. The pipe must be closed or read meanwhile.
func (p *pump) close() {
	p.mu.Lock()
	p.closed = true
	p.wake.Signal()
	p.mu.Unlock()
	if c, ok := p.w.(io.Closer); ok {
		_ = c.Close()
	}
	p.wg.Wait()
}
