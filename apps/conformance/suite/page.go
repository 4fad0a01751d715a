package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// A summary counts the results of a set.
type summary struct {
	set                        string
	scenarios, clean, partly   int // partly: something was skipped, nothing failed
	failing                    int
	passed, failed, notChecked int // checks
	required, requiredPassed   int
}

type summaries []summary

// summarize counts results, which are ordered by set.
func summarize(results []result, required map[string]map[string]bool) summaries {
	var sums summaries
	for _, r := range results {
		if len(sums) == 0 || sums[len(sums)-1].set != r.Set {
			sums = append(sums, summary{set: r.Set, required: len(required[r.Set])})
		}
		if r.Scenario == wholeSet {
			continue
		}
		s := &sums[len(sums)-1]
		s.scenarios++
		s.passed, s.failed, s.notChecked = s.passed+r.Passed, s.failed+r.Failed, s.notChecked+r.Skipped
		switch {
		case r.Failed > 0:
			s.failing++
		case !r.clean():
			s.partly++
		default:
			s.clean++
		}
		if r.Failed == 0 && r.Passed > 0 && required[r.Set][r.Scenario] {
			s.requiredPassed++
		}
	}
	return sums
}

// String returns the summaries as a table in Markdown.
func (sums summaries) String() string {
	var b strings.Builder
	b.WriteString("| set | required | scenarios | clean | partly checked | failing | checks passed | skipped | failed |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range sums {
		required := ""
		if s.required > 0 {
			required = fmt.Sprintf("%d of %d", s.requiredPassed, s.required)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d |\n", s.set, required,
			s.scenarios, s.clean, s.partly, s.failing, s.passed, s.notChecked, s.failed)
	}
	return b.String()
}

const introduction = `# The official conformance suite

These are the results of ` + "`@modelcontextprotocol/conformance@%s`" + `, run by ` + "`make conformance`" + ` against the server and
the client in ` + "`apps/conformance`" + `: one server process at one URL for clients of all revisions, and one program as the client.

A set with a revision is what the suite requires and reports for it; "server all" is every scenario it has for servers. Of the
required ones those count that checked something and failed in nothing.
Clients play every scenario at every revision it is made for, one by one, so that their exit codes count. A warning counts as
failed. A scenario is clean when something was checked, nothing was skipped and nothing failed; what is not stands below with
the reason. ` + "`apps/conformance/expected.tsv`" + ` holds the numbers of each scenario; a run that differs in one of them fails.

`

// page returns the page that shows results.
func page(version string, sums summaries, t table) string {
	var b strings.Builder
	fmt.Fprintf(&b, introduction, version)
	b.WriteString(sums.String())
	b.WriteString("\n## Not clean\n\n")
	n := 0
	for _, r := range t {
		if !r.clean() {
			n++
			fmt.Fprintf(&b, "- %s: `%s`: %s\n", r.Set, r.Scenario, r.reason)
		}
	}
	if n == 0 {
		b.WriteString("Nothing.\n")
	}
	return b.String()
}

// showPage compares a page with its file, or writes it.
func showPage(file, text string, update bool) error {
	if update {
		return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // part of the repository
	}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if string(data) != text {
		return fmt.Errorf("%s does not show these results; -update writes it", file)
	}
	return nil
}
