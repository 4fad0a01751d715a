package main

import (
	"testing"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// TestRegistrationIsCheap counts what it takes to register a tool of a type that
// has been seen before: the schemas are shared, and not read before they are used.
func TestRegistrationIsCheap(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	register := func(n int) func() {
		return func() {
			addTyped(server.New(mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil), n)
		}
	}
	register(10)() // all types
	got := (testing.AllocsPerRun(20, register(1010)) - testing.AllocsPerRun(20, register(10))) / 1000
	if t.Logf("%v allocations for each tool", got); got > 35 {
		t.Errorf("%v allocations for each tool, want at most 35", got)
	}
}

func BenchmarkRegister(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		addTyped(server.New(mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil), 1000)
	}
}
