package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time that a process has spent on processors. The clock of
// another process counts nanoseconds; /proc counts hundredths of a second.
func cpuTime(pid int) (time.Duration, error) {
	var ts unix.Timespec
	clock := int32(^uint32(pid)<<3 | 2)
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("read the clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// residentSize is how many bytes of memory a process holds, counted page by page:
// the sum in /proc/PID/statm is off by as much as a few hundred KiB.
func residentSize(pid int) (int64, error) {
	name := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nRss:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("read %s: no Rss in it", name)
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10, err
}

// raiseLimits allows as many open files as the system lets this user have, for
// the driver and for what it starts, and returns how many.
func raiseLimits() (int, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("raise the limit of open files: %w", err)
	}
	return int(l.Cur), nil
}

// systemNames names the processor and the system.
func systemNames() (processor, system string) {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			processor = strings.TrimSpace(value)
			break
		}
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		release, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), "-")
		system = "Linux " + release
	}
	return processor, system
}
