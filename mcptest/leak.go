package mcptest

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakPatience is how long goroutines get to end after the tests have.
const leakPatience = 3 * time.Second

// Main runs the tests of a package, and fails when goroutines of this module
// are still running afterwards. Call it from TestMain:
//
//	func TestMain(m *testing.M) { mcptest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	if leaked := leaks(); code == 0 && leaked != "" {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n\n%s\n", leaked)
		code = 1
	}
	os.Exit(code)
}

// NoLeaks fails the test when goroutines of this module are still running after
// it. It must not be used in parallel tests, whose goroutines cannot be told
// apart.
func NoLeaks(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if leaked := leaks(); leaked != "" {
			t.Errorf("goroutines left after the test:\n\n%s", leaked)
		}
	})
}

// leaks returns the stacks of the goroutines that do not end.
func leaks() string {
	deadline := time.Now().Add(leakPatience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		stacks := ownStacks()
		if stacks == "" || time.Now().After(deadline) {
			return stacks
		}
		<-tick.C
	}
}

// ownStacks returns the stacks of goroutines that run code of this module,
// except those of tests and of this package.
func ownStacks() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var own []string
	for stack := range bytes.SplitSeq(buf, []byte("\n\n")) {
		text := string(stack)
		if strings.Contains(text, "github.com/ferrymcp/ferry/") &&
			!strings.Contains(text, "testing.tRunner") &&
			!strings.Contains(text, "mcptest.ownStacks") {
			own = append(own, text)
		}
	}
	return strings.Join(own, "\n\n")
}
