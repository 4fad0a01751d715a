package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	// killTime bounds the wait for a process that was killed.
	killTime = 200 * time.Millisecond
	// settleTime bounds how long the pipes of a process that has exited are
	// read, which a descendant that got away may hold open for ever.
	settleTime = 250 * time.Millisecond
	stderrTail = 8 << 10
)

// A child is a running server: a process, the group it leads, and our ends of
// its three pipes.
type child struct {
	cmd    *exec.Cmd
	group  group
	grace  time.Duration
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	sink   io.Writer // or nil

	// owned counts the goroutine that starts the process and waits for it,
	// and the one that reads stderr.
	owned   sync.WaitGroup
	exited  chan struct{} // closed when the process is reaped
	drained chan struct{} // closed when stderr has ended

	stopping sync.Once
	stopErr  error

	mu   sync.Mutex
	tail []byte // of stderr
}

func startChild(c *Command) (*child, error) {
	p := &child{
		cmd:     c.command(),
		grace:   c.grace(),
		sink:    c.Stderr,
		exited:  make(chan struct{}),
		drained: make(chan struct{}),
	}
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err != nil {
		p.closePipes()
		return nil, err
	}
	started := make(chan error, 1)
	p.owned.Go(func() { p.run(started) })
	if err := <-started; err != nil {
		p.closePipes()
		p.owned.Wait()
		return nil, err
	}
	p.owned.Go(p.readStderr)
	return p, nil
}

// pipes makes the three pipes and returns the ends that the process gets.
func (p *child) pipes() (theirs []*os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.cmd.Stdin, theirs = w, r, append(theirs, r)
	if r, w, err = os.Pipe(); err != nil {
		return theirs, err
	}
	p.stdout, p.cmd.Stdout, theirs = r, w, append(theirs, w)
	if r, w, err = os.Pipe(); err != nil {
		return theirs, err
	}
	p.stderr, p.cmd.Stderr, theirs = r, w, append(theirs, w)
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// closePipes closes our ends; those not made are nil, whose Close is harmless.
func (p *child) closePipes() { closeAll([]*os.File{p.stdin, p.stdout, p.stderr}) }

// run starts the process and waits for it, on one thread: Linux sends the
// signal that comes with the parent's death when the thread that started the
// child ends, so the thread has to last as long as the child does. It would
// be blocked in waiting anyway.
func (p *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.group.start(p.cmd); err != nil {
		started <- err
		return
	}
	started <- nil
	p.group.wait(p.cmd)
	limit := time.Now().Add(settleTime)
	_ = p.stdout.SetReadDeadline(limit)
	_ = p.stderr.SetReadDeadline(limit)
	close(p.exited)
}

// readStderr passes standard error on, line by line; a line that is longer
// than the buffer in pieces.
func (p *child) readStderr() {
	defer close(p.drained)
	br := bufio.NewReaderSize(p.stderr, stderrTail)
	for {
		line, err := br.ReadSlice('\n')
		if len(line) > 0 {
			p.mu.Lock()
			p.tail = append(p.tail, line...)
			if extra := len(p.tail) - stderrTail; extra > 0 {
				p.tail = append(p.tail[:0], p.tail[extra:]...)
			}
			p.mu.Unlock()
			if p.sink != nil {
				_, _ = p.sink.Write(line) // a failing log does not stop the server
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// stop ends the process and all of its group.
func (p *child) stop() error {
	p.stopping.Do(func() { p.stopErr = p.end() })
	return p.stopErr
}

func (p *child) end() error {
	_ = p.stdin.Close()
	if !within(p.exited, p.grace) {
		p.group.terminate()
		if !within(p.exited, p.grace) {
			p.group.kill()
			if !within(p.exited, killTime) {
				_ = p.stderr.Close()
				return fmt.Errorf("process %d does not end", p.cmd.Process.Pid)
			}
		}
	}
	within(p.drained, settleTime)
	_ = p.stderr.Close()
	if within(p.drained, settleTime) {
		p.owned.Wait()
	}
	return nil
}

// ended says why standard output ended.
func (p *child) ended(err error) error {
	if errors.Is(err, os.ErrClosed) || !within(p.exited, settleTime) {
		return err
	}
	within(p.drained, settleTime)
	p.mu.Lock()
	defer p.mu.Unlock()
	return &ExitError{State: p.cmd.ProcessState, Stderr: string(p.tail)}
}

// within waits for done, for a limited time, and reports whether it came.
func within(done <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// childIn is the write side of the connection: closing it stops the child,
// while standard output can still be read.
type childIn struct{ *child }

func (c childIn) Write(b []byte) (int, error)        { return c.stdin.Write(b) }
func (c childIn) SetWriteDeadline(t time.Time) error { return c.stdin.SetWriteDeadline(t) }
func (c childIn) Close() error                       { return c.stop() }

// childOut is the read side.
type childOut struct{ *child }

func (c childOut) Read(b []byte) (int, error) {
	n, err := c.stdout.Read(b)
	if err != nil {
		err = c.ended(err)
	}
	return n, err
}

func (c childOut) Close() error { return c.stdout.Close() }
