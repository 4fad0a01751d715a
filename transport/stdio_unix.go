//go:build unix

package transport

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// takeStdio moves descriptors 0 and 1 away and puts harmless ones in their place.
func takeStdio() (io.ReadCloser, io.WriteCloser, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	in, err := replaceFD(0, int(null.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("take standard input: %w", err)
	}
	r, err := newPollReader(in)
	if err != nil {
		return nil, nil, err
	}
	stray := 2
	if _, err := unix.FcntlInt(2, unix.F_GETFD, 0); err != nil {
		stray = int(null.Fd()) // started without standard error
	}
	out, err := replaceFD(1, stray)
	if err != nil {
		return nil, nil, fmt.Errorf("take standard output: %w", err)
	}
	os.Stdout = os.Stderr
	// A pipe that does not block lets Close end a Write and has deadlines. The
	// mode belongs to the open file, not to the descriptor, so it must not be
	// one that standard error or, as with a terminal, other programs share.
	if streamOf(out) && !sameFile(out, 2) {
		if err := unix.SetNonblock(out, true); err != nil {
			return nil, nil, fmt.Errorf("take standard output: %w", err)
		}
	}
	return r, os.NewFile(uintptr(out), "stdout"), nil
}

// replaceFD makes fd refer to what by refers to, and returns a descriptor,
// not inherited by children, for what fd was.
func replaceFD(fd, by int) (int, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return 0, err
	}
	if err := dupOnto(by, fd); err != nil {
		_ = unix.Close(moved)
		return 0, err
	}
	return moved, nil
}

func streamOf(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return false
	}
	kind := uint32(st.Mode) & unix.S_IFMT //nolint:unconvert // 16 bits on some systems
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	if unix.Fstat(a, &x) != nil || unix.Fstat(b, &y) != nil {
		return false
	}
	return x.Dev == y.Dev && x.Ino == y.Ino
}

// A pollReader reads a descriptor of any kind, terminals too, without changing
// its mode, and can be closed while it waits.
type pollReader struct {
	fd int
	// wake becomes readable when stop is closed.
	wake, stop *os.File
	once       sync.Once
	mu         sync.Mutex // held while fd is in use
	closed     bool
}

func newPollReader(fd int) (*pollReader, error) {
	wake, stop, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pollReader{fd: fd, wake: wake, stop: stop}, nil
}

func (p *pollReader) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed {
		fds := []unix.PollFd{
			{Fd: int32(p.fd), Events: unix.POLLIN},
			{Fd: int32(p.wake.Fd()), Events: unix.POLLIN},
		}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return 0, os.NewSyscallError("poll", err)
		}
		if fds[1].Revents != 0 {
			break
		}
		n, err := unix.Read(p.fd, b)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
	return 0, os.ErrClosed
}

func (p *pollReader) Close() error {
	var err error
	p.once.Do(func() {
		_ = p.stop.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closed = true
		_ = p.wake.Close()
		err = unix.Close(p.fd)
	})
	return err
}
