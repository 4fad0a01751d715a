//go:build unix

package transport

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A nowWriter writes what a stream takes without waiting. It is not safe for
// concurrent use.
type nowWriter struct {
	raw  syscall.RawConn
	step func(fd uintptr) bool // bound once: a closure for each write would be allocated

	rest []byte
	n    int
	err  error
}

// newNowWriter returns nil for anything but files and pipes: what else has a
// descriptor may do more in Write than write to it. The file must be in the mode
// that does not block, which is so when it has deadlines.
func newNowWriter(w io.Writer) *nowWriter {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	n := &nowWriter{raw: raw}
	n.step = n.once
	return n
}

// write writes as much of data as the stream takes now, and returns how much.
func (w *nowWriter) write(data []byte) (int, error) {
	w.rest, w.n, w.err = data, 0, nil
	err := w.raw.Write(w.step)
	w.rest = nil
	if err != nil {
		return w.n, err
	}
	return w.n, w.err
}

// once makes the system call. It always returns true: false would wait.
func (w *nowWriter) once(fd uintptr) bool {
	for len(w.rest) > 0 {
		n, err := unix.Write(int(fd), w.rest)
		if n > 0 {
			w.n += n
			w.rest = w.rest[n:]
			continue
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil && err != unix.EAGAIN {
			w.err = os.NewSyscallError("write", err)
		}
		return true
	}
	return true
}
