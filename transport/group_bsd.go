//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package transport

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// A guard does nothing here: there is no signal that comes with a parent's
// death. Servers see the end of their standard input.
type guard struct{}

func (guard) prepare(*exec.Cmd) {}
func (guard) started(*exec.Cmd) {}
func (guard) release()          {}

// awaitExit returns when the process has exited, without reaping it.
func awaitExit(cmd *exec.Cmd) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, cmd.Process.Pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{change}
	for {
		n, err := unix.Kevent(kq, changes, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR || n > 0 {
			return // an error means that there is no such process any more
		}
	}
}
