package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	expected := table{
		{result: result{Set: "s", Scenario: "good", Passed: 2}},
		{result: result{Set: "s", Scenario: "bad", Passed: 1, Failed: 1}, reason: "not built yet"},
		{result: result{Set: "s", Scenario: "idle", Skipped: 1}, reason: "always skipped"},
	}
	good := []result{
		{Set: "s", Scenario: "good", Passed: 2},
		{Set: "s", Scenario: "bad", Passed: 1, Failed: 1},
		{Set: "s", Scenario: "idle", Skipped: 1},
	}
	if err := expected.compare(good); err != nil {
		t.Errorf("compare with the same: %v", err)
	}
	with := func(i int, r result) []result {
		changed := append([]result(nil), good...)
		changed[i] = r
		return changed
	}
	for name, c := range map[string]struct {
		results []result
		want    string
	}{
		"failure":    {with(0, result{Set: "s", Scenario: "good", Passed: 1, Failed: 1, Problems: []string{"WARNING x"}}), "WARNING x"},
		"fewer":      {with(0, result{Set: "s", Scenario: "good", Passed: 1}), "want 2 passed"},
		"nothing":    {with(0, result{Set: "s", Scenario: "good"}), "not clean"},
		"skipped":    {with(0, result{Set: "s", Scenario: "good", Passed: 2, Skipped: 1}), "not clean"},
		"repaired":   {with(1, result{Set: "s", Scenario: "bad", Passed: 2}), "want 1 passed, 0 skipped, 1 failed"},
		"new":        {append(good, result{Set: "s", Scenario: "new", Passed: 1}), "not in the table"},
		"gone":       {good[:2], "the suite did not run it"},
		"other exit": {append(good, result{Set: "s", Scenario: wholeSet, Failed: 1}), "not clean"},
	} {
		if err := expected.compare(c.results); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: compare = %v, want %q", name, err, c.want)
		}
	}
}

// TestUpdated updates a table: a reason stays as long as it is needed, and a
// failure without one stays an error.
func TestUpdated(t *testing.T) {
	t.Parallel()
	old := table{
		{result: result{Set: "s", Scenario: "a", Failed: 1}, reason: "because"},
		{result: result{Set: "s", Scenario: "b", Failed: 1}, reason: "because"},
	}
	results := []result{
		{Set: "s", Scenario: "a", Failed: 2},
		{Set: "s", Scenario: "b", Passed: 1},
		{Set: "s", Scenario: "c", Failed: 1},
		{Set: "s", Scenario: wholeSet, Failed: 1},
	}
	next := old.updated(results)
	file := filepath.Join(t.TempDir(), "expected.tsv")
	if err := next.write(file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := header + "\ns\ta\t0\t0\t2\tbecause\ns\tb\t1\t0\t0\t\ns\tc\t0\t0\t1\t\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	again, err := readTable(file)
	if err != nil {
		t.Fatal(err)
	}
	err = again.compare(results[:3])
	if err == nil || strings.Count(err.Error(), "\n\n") > 1 || !strings.Contains(err.Error(), "s: c:") {
		t.Errorf("compare after the update = %v, want an error about c alone", err)
	}
	for _, text := range []string{"", "x\n", header + "\na\tb\n", header + "\na\tb\tx\t0\t0\t\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readTable(file); err == nil {
			t.Errorf("readTable of %q = %v, want an error", text, got)
		}
	}
}

// TestReadResults reads what the suite writes: only successes pass.
func TestReadResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "server-tools-list-2026-11-21T16-14-30-643Z")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	checks := `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"},{"id":"c","status":"SKIPPED"},
		{"id":"d","status":"WARNING","errorMessage":"hm"},{"id":"e","status":"FAILURE"},{"id":"f","status":"NEW"}]`
	if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(checks), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readResults(dir, "server-", "s")
	want := []result{{
		Set: "s", Scenario: "tools-list", Passed: 1, Skipped: 1, Failed: 3,
		Problems: []string{"WARNING d: hm ", "FAILURE e:  ", "NEW f:  "},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("results, error %v (-want +got):\n%s", err, diff)
	}
	if got, err := readResults(t.TempDir(), "server-", "s"); err == nil {
		t.Errorf("results of nothing = %v, want an error", got)
	}
}
