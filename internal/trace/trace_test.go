package trace_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/trace"
)

func TestLists(t *testing.T) {
	t.Parallel()
	all, err := trace.All()
	if err != nil {
		t.Fatal(err)
	}
	levels := []string{"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"}
	roles := []string{"server", "client", "both", "host", "authserver"}
	seen := map[string]bool{}
	for _, r := range all {
		if seen[r.ID] {
			t.Errorf("%s: twice in the list", r.ID)
		}
		seen[r.ID] = true
		if !trace.Known(r.ID) || !slices.Contains(levels, r.Level) || !slices.Contains(roles, r.Role) ||
			len(r.Revisions) == 0 || !slices.IsSorted(r.Revisions) || r.Area == "" || r.Text == "" {
			t.Errorf("%s: got %+v, want all of it", r.ID, r)
		}
	}
	if len(all) < 1000 {
		t.Errorf("got %d requirements, want all of them", len(all))
	}
	reasons, err := trace.Untestable()
	if err != nil {
		t.Fatal(err)
	}
	for id, reason := range reasons {
		if !seen[id] || reason == "" {
			t.Errorf("untestable %s: got reason %q, known: %t", id, reason, seen[id])
		}
	}
}

func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "id", "PING", "PING-REPLY ", "ping-reply"} {
		if trace.Known(id) {
			t.Errorf("%q is known, want it not to be", id)
		}
	}
}

// TestClaims runs the test below in a process of its own, with recording on.
func TestClaims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClaimant$")
	cmd.Env = append(os.Environ(), trace.DirEnv+"="+dir, claimantEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `proves "NO-SUCH-ID": no such requirement`) {
		t.Errorf("got %v, %s, want a test that fails for an unknown id", err, out)
	}
	claims, err := trace.Claims(dir)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := []trace.Claim{
		{ID: "PING-RESPOND", Package: here, Test: "TestClaimant/passes"},
		{ID: "CANCEL-RACE", Package: here, Test: "TestClaimant/passes"},
		{ID: "PING-RESPOND", Package: here, Test: "TestClaimant/skips", Skipped: true},
	}
	if !slices.Equal(claims, want) {
		t.Errorf("got %+v, want %+v", claims, want)
	}
}

const claimantEnv = "FERRY_TRACE_CLAIMANT"

func TestClaimant(t *testing.T) {
	if os.Getenv(claimantEnv) == "" {
		t.Skip("it is run by TestClaims")
	}
	t.Run("passes", func(t *testing.T) { trace.Proves(t, "PING-RESPOND", "CANCEL-RACE") })
	t.Run("fails", func(t *testing.T) {
		trace.Proves(t, "PING-RESPOND")
		t.Run("below", func(t *testing.T) { t.Error("wrong") })
	})
	t.Run("skips", func(t *testing.T) {
		trace.Proves(t, "PING-RESPOND")
		t.Skip("nothing to test with")
	})
	t.Run("names nothing", func(t *testing.T) { trace.Proves(t, "PING-RESPOND", "NO-SUCH-ID") })
}
