package transport

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A guard has the kernel kill the whole group when this process dies, however
// it dies. The parent-death signal reaches only the direct child. For the
// others there is a pipe whose reading end the group inherits, set up to
// send SIGKILL to the group when something happens to it; nothing does until
// its only writing end, ours, is closed.
//
// A process is missed if it left the group, or if all that are left of
// the group have closed the inherited descriptor and the direct child, too,
// had done so.
type guard struct {
	r, w *os.File
}

func (g *guard) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	r, w, err := os.Pipe()
	if err != nil {
		return // the parent-death signal remains
	}
	g.r, g.w = r, w
	cmd.ExtraFiles = []*os.File{r}
}

// started arms the guard for the group of cmd and lets go of our reading end.
func (g *guard) started(cmd *exec.Cmd) {
	if g.r == nil {
		return
	}
	if cmd.Process != nil {
		fd := g.r.Fd()
		_, err := unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGKILL))
		if err == nil {
			_, err = unix.FcntlInt(fd, unix.F_SETOWN, -cmd.Process.Pid)
		}
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETFL, unix.O_ASYNC)
		}
	}
	_ = g.r.Close()
	g.r = nil
}

// release is called when the group has ended: closing the pipe kills.
func (g *guard) release() { _ = g.w.Close() }

// awaitExit returns when the process has exited, without reaping it.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
