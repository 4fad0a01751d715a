package main

import (
	"errors"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCounted counts with a counter that kernels have of themselves: the time on
// the processor, of a program and what it starts.
func TestCounted(t *testing.T) {
	t.Parallel()
	const work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	n, err := counted(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK, exec.CommandContext(t.Context(), "sh", "-c", work))
	if errors.Is(err, errNotCounted) {
		t.Skip(err)
	}
	if err != nil || n == 0 {
		t.Errorf("counted %d ns, %v", n, err)
	}
	if _, err := counted(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK, exec.CommandContext(t.Context(), "sh", "-c", "echo no; exit 3")); err == nil {
		t.Error("a command that fails is counted")
	}
}
