package interop_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What the packages are called in the table.
const (
	ferry  = "ferry"
	first  = "@modelcontextprotocol/sdk"
	second = "@modelcontextprotocol/client"
	twin   = "@modelcontextprotocol/server"
)

// Revisions by name; tests may spell them out.
const (
	r1 = "2024-11-05"
	r2 = "2025-03-26"
	r3 = "2025-06-18"
	r4 = "2025-11-25"
	r5 = "2026-07-28"
)

var (
	legacy = []string{r1, r2, r3, r4}
	all    = []string{r1, r2, r3, r4, r5}
)

// everythingReport is what a client sees of a server that offers everything.
func everythingReport(revision string) report {
	r := report{
		"revision":                revision,
		"server":                  "everything: Call what you like.",
		"tools":                   "add blocks count fail grow talk wait waited",
		"schema":                  "a b -> sum",
		"call":                    `{"sum":3} {"sum":3}`,
		"tool error":              "tool error: the disk is full",
		"wrong arguments":         "tool error",
		"unknown tool":            "error -32602",
		"content":                 "plain, image image/png 3, audio audio/wav 2, link note:1, resource note:1 first",
		"progress":                "1/3 step 1, 2/3 step 2, 3/3 step 3, counted",
		"cancel":                  "given up, cancelled",
		"resources":               "note:1",
		"templates":               "letter:{name}",
		"read":                    "text/plain first",
		"read template":           "application/octet-stream to Ada",
		"not found":               "error -32602",
		"prompts":                 "travel(city!)",
		"prompt":                  "user: Plan a trip to Rome",
		"prompt without argument": "error -32602",
		"complete":                "Berlin Bern",
		"log":                     "info interop: hello",
		"list changed":            "told and there",
		"ping":                    "ok",
	}
	if slices.Contains(legacy, revision) {
		r["not found"] = "error -32002"
	}
	return r
}

// downgraded is everythingReport for our server, which puts what a revision does
// not have yet in the revision's own terms. The servers of others send it as it is.
func downgraded(revision string) report {
	r := everythingReport(revision)
	if revision == r1 || revision == r2 {
		r["schema"] = "a b ->"
		r["call"] = `null {"sum":3}`
		r["content"] = "plain, image image/png 3, audio audio/wav 2, one: note:1, resource note:1 first"
	}
	if revision == r1 {
		r["progress"] = "1/3, 2/3, 3/3, counted"
		r["content"] = "plain, image image/png 3, resource audio:inline , one: note:1, resource note:1 first"
	}
	return r
}

// A deviation is where a report may differ from the expected one, and why. An
// empty field applies to all.
type deviation struct {
	client, server, carrier string
	revisions               []string
	step, seen              string
	why                     string
}

func (d *deviation) applies(m meeting) bool {
	return (d.client == "" || d.client == m.client) && (d.server == "" || d.server == m.server) &&
		(d.carrier == "" || d.carrier == m.carrier) && (d.revisions == nil || slices.Contains(d.revisions, m.revision))
}

// A meeting is one client talking to one server.
type meeting struct {
	client, server, carrier string
	asked                   string // what the client was told to speak
	revision                string // what it should come to
}

// judge compares a report with the expected one and notes the result.
func judge(t *testing.T, m meeting, got, want report) {
	t.Helper()
	want = maps.Clone(want)
	var known []string
	for i := range deviations {
		if d := &deviations[i]; d.applies(m) && want[d.step] != "" && want[d.step] != d.seen {
			want[d.step] = d.seen
			known = append(known, d.why)
		}
	}
	var wrong []string
	for _, step := range slices.Sorted(maps.Keys(want)) {
		if got[step] != want[step] {
			wrong = append(wrong, step)
			t.Errorf("%s:\n got %s\nwant %s", step, got[step], want[step])
		}
	}
	for _, step := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[step]; !ok {
			t.Errorf("%s: nobody expected a report: %s", step, got[step])
		}
	}
	results.add(m, len(want)-len(wrong)-len(known), len(want), known, strings.Join(wrong, ", "))
}
