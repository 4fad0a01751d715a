//go:build !linux

package main

import (
	"runtime"
	"time"
)

// cpuTime is not measured here: the tables show throughput and latency alone.
func cpuTime(int) (time.Duration, error) { return 0, nil }

// residentSize is not measured here.
func residentSize(int) (int64, error) { return 0, nil }

// raiseLimits leaves the limits alone, and guesses the usual one.
func raiseLimits() (int, error) { return 1024, nil }

// systemNames names the processor and the system.
func systemNames() (processor, system string) { return runtime.GOARCH, runtime.GOOS }
