package mcptest

import (
	"testing"

	"github.com/ferrymcp/ferry/transport"
)

// Watch has see look at every message of every grid. It must be called before
// any test runs.
func Watch(see func(t *testing.T, revision string) func(transport.Frame)) { watch = see }
