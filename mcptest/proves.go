package mcptest

import (
	"testing"

	"github.com/ferrymcp/ferry/internal/trace"
)

// Proves marks that the test, if it passes, proves requirements of the protocol,
// by their ids in internal/trace/requirements.tsv, in every revision that they
// apply to. It fails the test at once when an id is unknown.
//
// It costs nothing unless the environment variable FERRY_TRACE names a folder:
// then the test's claims are recorded there when it has ended, for `make trace`.
// A test that fails or is skipped proves nothing.
func Proves(t testing.TB, ids ...string) {
	t.Helper()
	trace.Proves(t, ids...)
}
