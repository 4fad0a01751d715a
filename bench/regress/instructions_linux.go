package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// instructions are those that the program runs outside the kernel for one
// request on a path, 0 where the system does not count them. The start of the
// program falls out of the difference between few requests and many.
func instructions(ctx context.Context, program, path string) (float64, error) {
	const few, many = 500, 2500
	var counts [2]uint64
	for i, runs := range []int{few, many} {
		n, err := counted(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS,
			exec.CommandContext(ctx, program, "-path", path, "-runs", strconv.Itoa(runs)))
		if errors.Is(err, errNotCounted) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("count the instructions of %s: %w", path, err)
		}
		counts[i] = n
	}
	return float64(counts[1]-counts[0]) / (many - few), nil
}

// errNotCounted means that the kernel, or the machine it runs on, does not count
// this, or not for us.
var errNotCounted = errors.New("the system does not count this")

// counted runs the command and returns what the kernel has counted in it and all
// its threads.
func counted(kind uint32, event uint64, cmd *exec.Cmd) (uint64, error) {
	// The counter belongs to this thread, and what is started from it inherits
	// the counter, which begins to count when the program has taken its place.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := unix.PerfEventAttr{
		Type: kind, Config: event, Size: unix.PERF_ATTR_SIZE_VER5,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EACCES),
		errors.Is(err, unix.EPERM), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return 0, errNotCounted
	case err != nil:
		return 0, fmt.Errorf("open a counter: %w", err)
	}
	counter := os.NewFile(uintptr(fd), "counter")
	defer counter.Close()
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, text)
	}
	var value [8]byte
	if _, err := unix.Read(fd, value[:]); err != nil {
		return 0, fmt.Errorf("read a counter: %w", err)
	}
	return binary.NativeEndian.Uint64(value[:]), nil
}
