//go:build unix

package repo

import (
	"os"
	"os/exec"
	"syscall"
)

// lead gives a process a group of its own, which ends with it.
func lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// reap ends what a process has left behind in its group.
func reap(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nothing
	}
}

// nowhere is a file without contents, and a folder without files.
const nowhere = "/dev/null"

// mine reports whether a file belongs to the user of this process.
func mine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
