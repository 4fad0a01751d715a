package archtest_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/archtest"
)

// TestRepository applies the rules to this repository.
func TestRepository(t *testing.T) {
	t.Parallel()
	findings := check(t, "../..", rules{imports, denies, systems, budget, revisions, revisionHome})
	for _, f := range archtest.Except(findings, exceptions) {
		t.Error(f)
	}
}

// TestChecksFail shows that each check can fail: testdata/bad is a repository of
// two modules that breaks every rule, beside code that only looks as if it did.
func TestChecksFail(t *testing.T) {
	t.Parallel()
	r := rules{
		imports: []archtest.Rule{
			{Package: "low", Layer: 0},
			{Package: "high", Layer: 1, Below: 1},
			{Package: "internal/hidden", Layer: 0},
			{Package: "app/...", Layer: 2, Public: true, Below: 3},
		},
		denies: []archtest.Deny{
			{Packages: []string{"low", "gone"}, Import: "net/textproto", Why: "low is low"},
		},
		systems:      []string{"linux", "windows"},
		budget:       archtest.Budget{FileLines: 60, FunctionLines: 8, Complexity: 4, Names: map[string]int{"low": 2}, OtherNames: 9},
		revisions:    []string{"2001-02-03"},
		revisionHome: "internal/hidden",
	}
	want := []string{
		"complexity: high.Thing.Branchy: cyclomatic 9, budget 4 (high/high.go:27)",
		"doc comment: high.Thing.Branchy: does not start with the name (high/high.go:27)",
		"doc comment: high.Undocumented: has none (high/high.go:12)",
		"doc comment: low.Bare: has none (low/low.go:13)",
		"doc comment: low: the package has none",
		"exported names: low: 3 names, budget 2",
		"file length: low/long_test.go: 61 lines, budget 60",
		"function length: high.Thing.Branchy: 20 lines, budget 8 (high/high.go:27)",
		"go statement: low.Start: start it with wg.Go and wait for it (low/low.go:19)",
		"imports: app -> internal/hidden: app/main.go must not import it (layer 2)",
		"imports: low -> high: low/low.go must not import it (layer 0)",
		"imports: unplaced: has no rule, place it in a layer",
		"reach: gone: is on the list of bans on net/textproto but does not exist",
		"reach: low -> net/textproto: through example.test/bad/low -> example.test/bad/high -> net/textproto on linux; low is low",
		"reach: low -> net/textproto: through example.test/bad/low -> example.test/bad/high -> net/textproto on windows; low is low",
		"revision literal: app/main.go: \"2001-02-03\" belongs in internal/hidden (app/main.go:14)",
		"root context: low.Start: take the context of the caller, not context.Background (low/low.go:18)",
		"root context: low/low.go: take the context of the caller, not context.TODO (low/low.go:24)",
		"sleep: low.TestSleeps: wait for the event, or test under synctest (low/low_test.go:11)",
		"unsafe: unplaced/unplaced.go: must not import it",
	}
	var got []string
	for _, f := range check(t, "testdata/bad", r) {
		got = append(got, f.String())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings in testdata/bad (-want +got):\n%s", diff)
	}
}

func TestExcept(t *testing.T) {
	t.Parallel()
	findings := []archtest.Finding{{"sleep", "a.F", "x"}, {"sleep", "b.F", "x"}}
	left := archtest.Except(findings, []archtest.Exception{
		{"sleep", "a.F", "a reason"},
		{"sleep", "c.F", "a reason"},
		{"go statement", "b.F", ""},
	})
	var got []string
	for _, f := range left {
		got = append(got, f.String())
	}
	want := []string{
		"sleep: b.F: x",
		"exceptions: sleep of c.F: no longer needed, remove it",
		"exceptions: go statement of b.F: no longer needed, remove it",
		"exceptions: go statement of b.F: has no reason",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadFails(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"testdata/nosuch", "testdata/broken"} {
		if tree, err := archtest.Load(dir); err == nil {
			t.Errorf("Load(%q) = %d packages, want an error", dir, len(tree.Packages))
		}
	}
}

type rules struct {
	imports      []archtest.Rule
	denies       []archtest.Deny
	systems      []string
	budget       archtest.Budget
	revisions    []string
	revisionHome string
}

func check(t *testing.T, dir string, r rules) []archtest.Finding {
	t.Helper()
	tree, err := archtest.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	reached, err := archtest.Reach(t.Context(), tree, r.denies, r.systems)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(
		archtest.Imports(tree, r.imports),
		reached,
		archtest.Sizes(tree, r.budget),
		archtest.Names(tree, r.budget),
		archtest.Docs(tree),
		archtest.Revisions(tree, r.revisions, r.revisionHome),
		archtest.Unsafe(tree),
		archtest.Goroutines(tree),
		archtest.Contexts(tree),
		archtest.Sleeps(tree),
	)
}
