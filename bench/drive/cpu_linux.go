package main

import (
	"fmt"
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
