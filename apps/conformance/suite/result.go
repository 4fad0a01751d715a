package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// wholeSet is the name of a result about a set and not about one scenario.
const wholeSet = "(set)"

// A result is what the suite found out in one scenario.
type result struct {
	Set, Scenario string
	Passed        int
	Skipped       int
	Failed        int      // failures, and warnings that nobody looks at otherwise
	Problems      []string // what failed and how
}

// clean reports whether everything was checked and passed. The suite calls a
// skipped check a success, and a scenario that checks nothing too.
func (r result) clean() bool { return r.Failed == 0 && r.Skipped == 0 && r.Passed > 0 }

// details shows what failed.
func (r result) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %d passed, %d skipped, %d failed\n", r.Set, r.Scenario, r.Passed, r.Skipped, r.Failed)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(p, "\n", "\n\t"))
	}
	return b.String()
}

// count adds the checks of a file that the suite wrote.
func (r *result) count(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var checks []struct {
		ID      string          `json:"id"`
		Status  string          `json:"status"`
		Error   string          `json:"errorMessage"`
		Details json.RawMessage `json:"details"`
	}
	if err := json.Unmarshal(data, &checks); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			r.Passed++
		case "SKIPPED":
			r.Skipped++
		case "INFO":
		default: // FAILURE, WARNING, and whatever else there may be
			r.Failed++
			r.Problems = append(r.Problems, fmt.Sprintf("%s %s: %s %.600s", c.Status, c.ID, c.Error, c.Details))
		}
	}
	return nil
}

// stamp is the length of what the suite puts behind the name of a scenario.
const stamp = len("-0000-00-00T00-00-00-000Z")

// readResults reads what a run against a server left in a folder, in folders of its
// own with a prefix.
func readResults(folder, prefix, set string) ([]result, error) {
	var results []result
	files, err := filepath.Glob(filepath.Join(folder, prefix+"*", "checks.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if len(name) <= stamp {
			return nil, fmt.Errorf("%s is not named after a scenario", file)
		}
		got := result{Set: set, Scenario: strings.TrimPrefix(name[:len(name)-stamp], prefix)}
		if err := got.count(file); err != nil {
			return nil, err
		}
		results = append(results, got)
	}
	if len(results) == 0 {
		return nil, errors.New("the suite has written no results")
	}
	return results, nil
}

// readClientResult reads what the run of one scenario left in a folder.
func readClientResult(folder string, run clientRun) (result, error) {
	got := result{Set: run.set, Scenario: run.scenario}
	found := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		found++
		return got.count(path)
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("the suite has written %d results", found)
	}
	return got, err
}
