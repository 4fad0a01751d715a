// Command report joins what the tests proved with the list of requirements.
//
//	report DIR            writes internal/trace/proven.tsv and docs/requirements.md
//	report -check DIR     writes nothing; fails when a proof was lost
//
// DIR is where the tests recorded their claims (FERRY_TRACE). Run it at the root
// of the repository, with `make trace`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/trace"
)

const (
	provenFile = "internal/trace/proven.tsv"
	pageFile   = "docs/requirements.md"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail when a proof was lost")
	flag.Parse()
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	if dir == "" {
		return errors.New("name the folder that the tests recorded into")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	result, err := join(dir, root)
	if err != nil {
		return err
	}
	if err := result.lost(); err != nil {
		return err
	}
	fmt.Println(result.summary())
	if check {
		return nil
	}
	if err := os.WriteFile(provenFile, []byte(result.table()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(result.page()), 0o600)
}

// A joined list is the requirements with what is known of each.
type joined struct {
	all        []trace.Requirement
	untestable map[string]string
	proofs     map[string][]string // the tests that prove an id
	skipped    map[string]bool     // ids whose tests were skipped this time
	before     []string            // the ids that were proven before
}

func join(dir, root string) (*joined, error) {
	j := &joined{proofs: map[string][]string{}, skipped: map[string]bool{}}
	var err error
	if j.all, err = trace.All(); err != nil {
		return nil, err
	}
	if j.untestable, err = trace.Untestable(); err != nil {
		return nil, err
	}
	claims, err := trace.Claims(dir)
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		if c.Skipped {
			j.skipped[c.ID] = true
			continue
		}
		// A proof is named by its test, not by each of the subtests.
		name, _, _ := strings.Cut(c.Test, "/")
		name = strings.TrimPrefix(strings.TrimPrefix(c.Package, root), "/") + "." + name
		if !slices.Contains(j.proofs[c.ID], name) {
			j.proofs[c.ID] = append(j.proofs[c.ID], name)
		}
	}
	kept, err := os.ReadFile(provenFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(kept)) {
		if id, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); id != "" {
			j.before = append(j.before, id)
		}
	}
	return j, nil
}

// lost says which ids were proven before and are not any more. Those whose tests
// were skipped, for want of something this machine lacks, are not lost.
func (j *joined) lost() error {
	var lost []string
	for _, id := range j.before {
		if len(j.proofs[id]) == 0 && !j.skipped[id] && trace.Known(id) {
			lost = append(lost, id)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("no test proves these any more; mend the test, or take them out of %s and say why:\n  %s",
		provenFile, strings.Join(lost, "\n  "))
}

// proven reports whether a requirement is proven, now or by a test that was only
// skipped this time.
func (j *joined) proven(id string) bool {
	return len(j.proofs[id]) > 0 || j.skipped[id] && slices.Contains(j.before, id)
}

// table is the new content of the kept file.
func (j *joined) table() string {
	var text strings.Builder
	ids := make([]string, 0, len(j.all))
	for _, r := range j.all {
		if j.proven(r.ID) {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		fmt.Fprintln(&text, id)
	}
	return text.String()
}
