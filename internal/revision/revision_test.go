package revision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/internal/revision"
)

func TestNames(t *testing.T) {
	t.Parallel()
	if got, want := revision.Names(), []string{r5, r4, r3, r2, r1}; !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
	all := revision.All()
	all[0] = nil
	if revision.All()[0] == nil {
		t.Error("All returns the package's own slice")
	}
	if revision.Newest().Name() != r5 || revision.NewestLegacy().Name() != r4 || revision.Implied().Name() != r2 {
		t.Errorf("newest %s, newest legacy %s, implied %s", revision.Newest(), revision.NewestLegacy(), revision.Implied())
	}
}

func TestParseAndNegotiate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		offered string
		known   bool
		answer  string
	}{
		{r1, true, r1},
		{r2, true, r2},
		{r3, true, r3},
		{r4, true, r4},
		{r5, true, r4}, // it has no initialize, so it cannot be agreed on
		{"2024-10-07", false, r4},
		{"2099-01-01", false, r4},
		{"", false, r4},
		{r4 + " ", false, r4},
		{"latest", false, r4},
	}
	for _, tt := range tests {
		if r, ok := revision.Parse(tt.offered); ok != tt.known || ok && (r.Name() != tt.offered || r.String() != tt.offered) {
			t.Errorf("Parse(%q) = %v, %v", tt.offered, r, ok)
		}
		if got := revision.Negotiate(tt.offered).Name(); got != tt.answer {
			t.Errorf("Negotiate(%q) = %s, want %s", tt.offered, got, tt.answer)
		}
	}
}

// The table of methods: who may send each in the revisions, oldest first.
// C is the client, S the server, B both, - nobody.
const methods = `
initialize                                C C C C -
notifications/initialized                 C C C C -
ping                                      B B B B -
server/discover                           - - - - C
subscriptions/listen                      - - - - C
notifications/subscriptions/acknowledged  - - - - S
notifications/cancelled                   B B B B B
notifications/progress                    B B B B S
logging/setLevel                          C C C C -
notifications/message                     S S S S S
resources/subscribe                       C C C C -
resources/unsubscribe                     C C C C -
notifications/resources/updated           S S S S S
notifications/resources/list_changed      S S S S S
notifications/tools/list_changed          S S S S S
notifications/prompts/list_changed        S S S S S
sampling/createMessage                    S S S S -
roots/list                                S S S S -
elicitation/create                        - - S S -
notifications/roots/list_changed          C C C C -
notifications/elicitation/complete        - - - S -
tasks/get                                 - - - B -
tasks/result                              - - - B -
tasks/list                                - - - B -
tasks/cancel                              - - - B -
notifications/tasks/status                - - - B -
tools/list                                C C C C C
tools/call                                C C C C C
prompts/list                              C C C C C
prompts/get                               C C C C C
resources/list                            C C C C C
resources/templates/list                  C C C C C
resources/read                            C C C C C
completion/complete                       C C C C C
tasks/update                              - - - - -
sampling/complete                         - - - - -
Initialize                                - - - - -
`

func TestDefines(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(methods)) {
		fields := strings.Fields(line)
		for i, r := range revision.All() {
			from := fields[i+1]
			client, server := from == "C" || from == "B", from == "S" || from == "B"
			if got := r.Defines(fields[0]); got != client {
				t.Errorf("%s: Defines(%q) = %v, want %v", r, fields[0], got, client)
			}
			if got := r.DefinesServer(fields[0]); got != server {
				t.Errorf("%s: DefinesServer(%q) = %v, want %v", r, fields[0], got, server)
			}
		}
	}
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		feature revision.Feature
		has     string // one letter a revision, oldest first
	}{
		{"batches", revision.Batches, "-x---"},
		{"version header", revision.VersionHeader, "--xxx"},
		{"server requests", revision.ServerRequests, "xxxx-"},
		{"not found code", revision.NotFoundCode, "xxxx-"},
		{"object output", revision.ObjectOutput, "--xxx"},
		{"any output", revision.AnyOutput, "----x"},
		{"resumable streams", revision.ResumableStreams, "-xxx-"},
		{"polled streams", revision.PolledStreams, "---x-"},
		{"elicitation", revision.Elicitation, "--xxx"},
		{"URL elicitation", revision.URLElicitation, "---xx"},
		{"core tasks", revision.CoreTasks, "---x-"},
		{"several at once", revision.Elicitation | revision.CoreTasks, "---x-"},
	}
	for _, tt := range tests {
		for i, r := range revision.All() {
			if got, want := r.Has(tt.feature), tt.has[i] == 'x'; got != want {
				t.Errorf("%s has %s: %v, want %v", r, tt.name, got, want)
			}
		}
	}
	for i, r := range revision.All() {
		if r.Modern() != (i == 4) {
			t.Errorf("%s: Modern() = %v", r, r.Modern())
		}
	}
}
