package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/trace"
)

func sample() *joined {
	return &joined{
		all: []trace.Requirement{
			{ID: "PING-RESPOND", Level: "MUST", Role: "both", Revisions: []string{"1", "2"}, Area: "ping"},
			{ID: "PING-PERIODIC", Level: "SHOULD", Role: "both", Revisions: []string{"1"}, Area: "ping"},
			{ID: "PING-REMOVED", Level: "MUST NOT", Role: "both", Revisions: []string{"2"}, Area: "ping"},
			{ID: "CANCEL-UI", Level: "SHOULD", Role: "host", Revisions: []string{"1", "2"}, Area: "cancellation"},
		},
		untestable: map[string]string{"CANCEL-UI": "a duty of applications"},
		proofs:     map[string][]string{"PING-RESPOND": {"server.TestPing"}},
		skipped:    map[string]bool{},
		before:     []string{"PING-RESPOND"},
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*joined)
		want   string // in the error; empty for none
	}{
		{"nothing", func(*joined) {}, ""},
		{"a proof", func(j *joined) { j.before = append(j.before, "PING-PERIODIC") }, "PING-PERIODIC"},
		{"a proof that was skipped", func(j *joined) {
			j.before = append(j.before, "PING-PERIODIC")
			j.skipped["PING-PERIODIC"] = true
		}, ""},
		{"a requirement", func(j *joined) { j.before = append(j.before, "NO-SUCH-ID") }, ""},
	} {
		j := sample()
		test.change(j)
		err := j.lost()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	j := sample()
	if got, want := j.table(), "PING-RESPOND\n"; got != want {
		t.Errorf("table: got %q, want %q", got, want)
	}
	if got, want := j.summary(), "requirements: 1 proven, 1 not testable, 2 open; of the MUST: 1, 0, 1"; got != want {
		t.Errorf("summary: got %q, want %q", got, want)
	}
	lines := strings.Split(j.page(), "\n")
	for _, want := range []string{
		"| MUST |  |  | 1 / 0 / 1 |  |  | 1 / 0 / 1 |",
		"| SHOULD |  |  | 0 / 0 / 1 | 0 / 1 / 0 |  | 0 / 1 / 1 |",
		"| ping | 1 / 0 / 1 | 1 / 0 / 1 |",
		"| cancellation | 0 / 1 / 0 | 0 / 1 / 0 |",
		"- **ping** (1): PING-REMOVED",
		"| PING-RESPOND | server.TestPing |",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the page has no line %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	j.skipped["PING-REMOVED"] = true
	j.before = append(j.before, "PING-REMOVED")
	if got, want := j.table(), "PING-REMOVED\nPING-RESPOND\n"; got != want {
		t.Errorf("table with a skipped test: got %q, want %q", got, want)
	}
}
