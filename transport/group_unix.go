//go:build unix

package transport

import (
	"os/exec"
	"sync"
	"syscall"
)

// A group is the process group that a child leads.
type group struct {
	guard guard

	mu sync.Mutex
	// pid is also the number of the group. It is only good for signals as long
	// as the leader is not reaped; after that the number may be given anew.
	pid int
}

func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.guard.prepare(cmd)
	err := cmd.Start()
	g.guard.started(cmd)
	if err != nil {
		g.guard.release()
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid = cmd.Process.Pid
	return nil
}

// wait waits for the leader, kills what it leaves behind and reaps it. Its
// result is in cmd.ProcessState.
func (g *group) wait(cmd *exec.Cmd) {
	awaitExit(cmd)
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
	_ = cmd.Wait() // the streams are files, so it waits for nothing else
	g.pid = 0
	g.guard.release()
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid != 0 {
		_ = syscall.Kill(-g.pid, sig) // a group that is gone needs no signal
	}
}
