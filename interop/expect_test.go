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
	gosdk  = "github.com/modelcontextprotocol/go-sdk"
	mcpgo  = "github.com/mark3labs/mcp-go"
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

// refused is what the report says when a client cannot be asked, however the
// server puts it.
const refused = "refused"

// everythingReport is what a client sees of a server that offers everything.
func everythingReport(revision string) report {
	r := report{
		"revision":                revision,
		"server":                  "everything: Call what you like.",
		"tools":                   "add ask blocks both count fail grow talk think visit wait waited where",
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
		"elicit":                  "Who are you? color name -> accept Ada green",
		"elicit URL":              "Sign in https://example.com/sign-in -> accept",
		"sample":                  "What is 1+1? 10 -> m says two",
		"roots":                   "file:///work",
		"two questions":           "Who are you? color name -> accept Ada green, file:///work",
		"log":                     "info interop: hello",
		"list changed":            "told and there",
		"ping":                    "ok",
	}
	if slices.Contains(legacy, revision) {
		r["not found"] = "error -32002"
	}
	if revision == r1 || revision == r2 {
		r["elicit"], r["two questions"] = refused, refused
	}
	if revision == r1 || revision == r2 || revision == r3 {
		r["elicit URL"] = refused
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

// A deviation is where a report differs from the expected one, and why. An empty
// field applies to all.
type deviation struct {
	client, server, carrier string
	revisions               []string
	step, seen              string
	// sometimes is set instead of seen when the difference depends on timing: it
	// tells which reports pass beside the expected one.
	sometimes func(got, want string) bool
	why       string
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
	got, want = maps.Clone(got), maps.Clone(want)
	var known, remarks []string // deviations that cost a step, and those that may
	for i := range deviations {
		d := &deviations[i]
		switch {
		case !d.applies(m) || want[d.step] == "":
		case d.sometimes != nil:
			if d.sometimes(got[d.step], want[d.step]) {
				got[d.step] = want[d.step]
			}
			remarks = append(remarks, d.why)
		case want[d.step] != d.seen:
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
	results.add(m, len(want)-len(wrong)-len(known), len(want), slices.Concat(known, remarks), strings.Join(wrong, ", "))
}
