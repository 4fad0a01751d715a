// Package archtest holds the rules of the repository as checks on its source:
// who may import whom, how long a file or function may be, which calls need a
// reason. Its test applies them to every module, so a change that breaks a rule
// fails `go test` and not a review.
//
// The checks read syntax, not types, so the whole repository takes about a
// second. The rules are data, in rules_test.go; what may break one, with the
// reason, is in exceptions_test.go. The package is for this repository's tests
// and nothing imports it.
package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// A Finding is one place where the source breaks a rule.
type Finding struct {
	Check string // the rule: "imports", "file length", …
	Where string // what breaks it, in the form an Exception names it
	Text  string // what is wrong and what to do, with the position where there is one
}

// String returns the finding as a line for a test's output.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Check, f.Where, f.Text)
}

// An Exception lets one place break one rule.
type Exception struct {
	What  string // the Check of the finding
	Where string // the Where of the finding
	Why   string // the reason, for the reader; required
}

// Except returns the findings that no exception covers, and one more finding for
// each exception that covers none or gives no reason: a list of exceptions only
// stays honest if it cannot outlive its causes.
func Except(findings []Finding, exceptions []Exception) []Finding {
	used := make([]bool, len(exceptions))
	left := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		i := slices.IndexFunc(exceptions, func(e Exception) bool {
			return e.What == f.Check && e.Where == f.Where
		})
		if i < 0 {
			return false
		}
		used[i] = true
		return true
	})
	for i, e := range exceptions {
		where := e.What + " of " + e.Where
		if !used[i] {
			left = append(left, Finding{"exceptions", where, "no longer needed, remove it"})
		}
		if strings.TrimSpace(e.Why) == "" {
			left = append(left, Finding{"exceptions", where, "has no reason"})
		}
	}
	return left
}
