package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A row says what a scenario is expected to check.
type row struct {
	result

	reason string // why it is not clean; a row that is has none
}

// A table holds the expected results of all sets, in the order of the file.
type table []row

const header = "set\tscenario\tpassed\tskipped\tfailed\treason"

// readTable reads a table; a file that does not exist is an empty one.
func readTable(file string) (table, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("read %s: the first line is not %q", file, header)
	}
	var t table
	for i, line := range lines[1:] {
		r, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("read %s: line %d: %w", file, i+2, err)
		}
		t = append(t, r)
	}
	return t, nil
}

func parseRow(line string) (row, error) {
	cells := strings.Split(line, "\t")
	if len(cells) != strings.Count(header, "\t")+1 {
		return row{}, fmt.Errorf("%d cells", len(cells))
	}
	r := row{result: result{Set: cells[0], Scenario: cells[1]}, reason: cells[5]}
	for i, n := range []*int{&r.Passed, &r.Skipped, &r.Failed} {
		var err error
		if *n, err = strconv.Atoi(cells[2+i]); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

func (t table) write(file string) error {
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, r := range t {
		fmt.Fprintf(&b, "%s\t%s\t%d\t%d\t%d\t%s\n", r.Set, r.Scenario, r.Passed, r.Skipped, r.Failed, r.reason)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644) //nolint:gosec // part of the repository
}

func (t table) find(set, scenario string) (row, bool) {
	i := slices.IndexFunc(t, func(r row) bool { return r.Set == set && r.Scenario == scenario })
	if i < 0 {
		return row{}, false
	}
	return t[i], true
}

// failing returns the scenarios of a set that are expected to fail.
func (t table) failing(set serverSet) []string {
	var names []string
	for _, r := range t {
		if r.Set == set.name && r.Failed > 0 {
			names = append(names, r.Scenario)
		}
	}
	return names
}

// updated returns the table of the results. Reasons stay; what has none and needs
// one is still wrong.
func (t table) updated(results []result) table {
	var next table
	for _, got := range results {
		if got.Scenario == wholeSet {
			continue
		}
		r := row{result: got}
		if old, ok := t.find(got.Set, got.Scenario); ok && !got.clean() {
			r.reason = old.reason
		}
		next = append(next, r)
	}
	return next
}

// compare says where the results are not as expected.
func (t table) compare(results []result) error {
	var wrong []error
	seen := map[string]bool{}
	for _, got := range results {
		seen[got.Set+"\t"+got.Scenario] = true
		want, ok := t.find(got.Set, got.Scenario)
		switch {
		case !got.clean() && want.reason == "":
			wrong = append(wrong, fmt.Errorf("%s\tnot clean, and the table does not say why", got.details()))
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s: %s: not in the table; -update adds it", got.Set, got.Scenario))
		case got.Passed != want.Passed || got.Skipped != want.Skipped || got.Failed != want.Failed:
			wrong = append(wrong, fmt.Errorf("%s\twant %d passed, %d skipped, %d failed: -update, if that is right",
				got.details(), want.Passed, want.Skipped, want.Failed))
		case got.clean() && want.reason != "":
			wrong = append(wrong, fmt.Errorf("%s: %s: is clean, but the table says why it is not", got.Set, got.Scenario))
		}
	}
	for _, want := range t {
		if !seen[want.Set+"\t"+want.Scenario] {
			wrong = append(wrong, fmt.Errorf("%s: %s: in the table, but the suite did not run it", want.Set, want.Scenario))
		}
	}
	return errors.Join(wrong...)
}

// only returns the rows of scenarios that are required.
func (t table) only(required map[string]map[string]bool) table {
	return slices.DeleteFunc(slices.Clone(t), func(r row) bool { return !required[r.Set][r.Scenario] })
}

// onlyRequired returns the results of scenarios that are required, and those of
// whole sets.
func onlyRequired(results []result, required map[string]map[string]bool) []result {
	return slices.DeleteFunc(slices.Clone(results), func(r result) bool {
		return r.Scenario != wholeSet && !required[r.Set][r.Scenario]
	})
}
