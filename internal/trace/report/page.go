package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/trace"
)

// A count is how many requirements of some kind there are, by what is known of
// them.
type count struct{ proven, untestable, open int }

func (c count) String() string {
	if c == (count{}) {
		return ""
	}
	return fmt.Sprintf("%d / %d / %d", c.proven, c.untestable, c.open)
}

func (j *joined) add(c *count, id string) {
	switch {
	case j.proven(id):
		c.proven++
	case j.untestable[id] != "":
		c.untestable++
	default:
		c.open++
	}
}

// count counts the requirements that want picks.
func (j *joined) count(want func(trace.Requirement) bool) count {
	var c count
	for _, r := range j.all {
		if want(r) {
			j.add(&c, r.ID)
		}
	}
	return c
}

// keyword is the strength of a requirement without its sign.
func keyword(level string) string { return strings.TrimSuffix(level, " NOT") }

func (j *joined) summary() string {
	all := j.count(func(trace.Requirement) bool { return true })
	must := j.count(func(r trace.Requirement) bool { return keyword(r.Level) == "MUST" })
	return fmt.Sprintf("requirements: %d proven, %d not testable, %d open; of the MUST: %d, %d, %d",
		all.proven, all.untestable, all.open, must.proven, must.untestable, must.open)
}

// page is docs/requirements.md.
func (j *joined) page() string {
	var text strings.Builder
	text.WriteString(`# Requirements

What the specification demands, and which of it the tests of this repository prove. ` + "`make trace`" + ` writes this page: a test
that passes proves the requirements it names with ` + "`mcptest.Proves`" + `. The sentences are in
[requirements.tsv](../internal/trace/requirements.tsv); those that a test of ours cannot prove, such as duties of a user
interface, are in [untestable.tsv](../internal/trace/untestable.tsv) with the reason. CI fails when a proof is lost.

Every cell says how many are **proven / not testable / open**.

`)
	j.levels(&text)
	j.revisions(&text)
	j.open(&text)
	j.tests(&text)
	return text.String()
}

// levels writes the totals by strength and role.
func (j *joined) levels(text *strings.Builder) {
	roles := []string{"server", "client", "both", "host", "authserver"}
	text.WriteString("## Totals\n\n| level | " + strings.Join(roles, " | ") + " | all |\n|---|" + strings.Repeat("---|", len(roles)+1) + "\n")
	for _, level := range []string{"MUST", "SHOULD", "MAY", "all"} {
		at := func(r trace.Requirement) bool { return level == "all" || keyword(r.Level) == level }
		fmt.Fprintf(text, "| %s |", level)
		for _, role := range roles {
			fmt.Fprintf(text, " %s |", j.count(func(r trace.Requirement) bool { return at(r) && r.Role == role }))
		}
		fmt.Fprintf(text, " %s |\n", j.count(at))
	}
}

// revisions writes a row for each area with a column for each revision.
func (j *joined) revisions(text *strings.Builder) {
	var areas, revisions []string
	for _, r := range j.all {
		areas = append(areas, r.Area)
		revisions = append(revisions, r.Revisions...)
	}
	slices.Sort(areas)
	slices.Sort(revisions)
	areas, revisions = slices.Compact(areas), slices.Compact(revisions)
	text.WriteString("\n## By area and revision\n\n| area | " + strings.Join(revisions, " | ") + " |\n|---|" +
		strings.Repeat("---|", len(revisions)) + "\n")
	for _, area := range append(areas, "all") {
		fmt.Fprintf(text, "| %s |", area)
		for _, revision := range revisions {
			fmt.Fprintf(text, " %s |", j.count(func(r trace.Requirement) bool {
				return (area == "all" || r.Area == area) && slices.Contains(r.Revisions, revision)
			}))
		}
		text.WriteString("\n")
	}
}

// open lists the ids that are open, the strongest first.
func (j *joined) open(text *strings.Builder) {
	text.WriteString("\n## Open\n")
	for _, level := range []string{"MUST", "SHOULD", "MAY"} {
		byArea := map[string][]string{}
		var areas []string
		for _, r := range j.all {
			if keyword(r.Level) != level || j.proven(r.ID) || j.untestable[r.ID] != "" {
				continue
			}
			if byArea[r.Area] == nil {
				areas = append(areas, r.Area)
			}
			byArea[r.Area] = append(byArea[r.Area], r.ID)
		}
		slices.Sort(areas)
		fmt.Fprintf(text, "\n### %s\n\n", level)
		if len(areas) == 0 {
			text.WriteString("None.\n")
		}
		for _, area := range areas {
			fmt.Fprintf(text, "- **%s** (%d): %s\n", area, len(byArea[area]), strings.Join(byArea[area], ", "))
		}
	}
}

// tests lists what proves each requirement.
func (j *joined) tests(text *strings.Builder) {
	text.WriteString("\n## Proofs\n\n<details><summary>The tests that prove each requirement</summary>\n\n| id | tests |\n|---|---|\n")
	for _, r := range j.all {
		if tests := slices.Sorted(slices.Values(j.proofs[r.ID])); len(tests) > 0 {
			fmt.Fprintf(text, "| %s | %s |\n", r.ID, strings.Join(tests, ", "))
		}
	}
	text.WriteString("\n</details>\n")
}
