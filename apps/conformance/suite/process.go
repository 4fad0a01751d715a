package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// goodbye is how long the server may take to end when it is told to.
const goodbye = 5 * time.Second

// A process is the server that is tested.
type process struct {
	cmd *exec.Cmd
	url string
	log strings.Builder
}

// startServer starts the server at a free port and waits until it listens.
func startServer(ctx context.Context, program string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, "-address", "localhost:0")}
	p.cmd.Stderr = &p.log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = goodbye
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", errors.Join(err, p.close()))
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

// close ends the server, which has to end well and in time.
func (p *process) close() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(goodbye, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	if !late.Stop() {
		return errors.New("the server did not end when it was told to")
	}
	if err != nil {
		return fmt.Errorf("the server ended badly: %w\n%s", err, tail(p.log.String()))
	}
	return nil
}
