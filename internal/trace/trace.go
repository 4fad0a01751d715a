// Package trace ties tests to the requirements of the protocol. It holds the
// list of requirements, the list of those that no test of ours can prove, and
// the recorder behind mcptest.Proves; the program in report joins what was
// recorded into docs/requirements.md. It is for tests only.
//
// A claim covers a requirement in all the revisions it applies to: a test makes
// it when it would fail if the requirement were broken in any of them, or when
// they share the code that it tests.
package trace

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// DirEnv names the folder that [Proves] records into; nothing is recorded when
// it is not set.
const DirEnv = "FERRY_TRACE"

//go:embed requirements.tsv
var requirements string

//go:embed untestable.tsv
var untestable string

// A Requirement is one duty, permission or advice of the specification.
type Requirement struct {
	ID        string   // such as "PING-REPLY"
	Level     string   // MUST, MUST NOT, SHOULD, SHOULD NOT or MAY
	Role      string   // whose it is: server, client, both, host or authserver
	Revisions []string // the revisions it applies to, oldest first
	Area      string   // such as "lifecycle"
	Text      string   // what is required, one sentence
}

// All returns the requirements in the order of the list: by area, then by id.
func All() ([]Requirement, error) {
	var all []Requirement
	err := rows(requirements, 6, func(row []string) {
		all = append(all, Requirement{row[0], row[1], row[2], strings.Split(row[3], ","), row[4], row[5]})
	})
	return all, err
}

// Untestable returns the reasons why requirements cannot be proven by tests of
// this repository, by id.
func Untestable() (map[string]string, error) {
	reasons := map[string]string{}
	err := rows(untestable, 2, func(row []string) { reasons[row[0]] = row[1] })
	return reasons, err
}

// Known reports whether there is a requirement with that id.
func Known(id string) bool {
	return id != "" && strings.Contains(requirements, "\n"+id+"\t")
}

// rows calls yield with every row of a table but the first, which names its
// columns.
func rows(table string, columns int, yield func([]string)) error {
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		row := strings.Split(line, "\t")
		if len(row) != columns {
			return fmt.Errorf("read line %d of the table: got %d columns, want %d", i+1, len(row), columns)
		}
		if i > 0 {
			yield(row)
		}
	}
	return nil
}

// Proves marks that the test, if it passes, proves the requirements with these
// ids. It fails the test at once when an id is unknown.
func Proves(t testing.TB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if !Known(id) {
			t.Fatalf("proves %q: no such requirement in internal/trace/requirements.tsv", id)
		}
	}
	dir := os.Getenv(DirEnv)
	if dir == "" {
		return
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if err := record(dir, Claim{Test: t.Name(), Skipped: t.Skipped()}, ids); err != nil {
			t.Errorf("record what the test proves: %v", err)
		}
	})
}

// A Claim is what one test says of one requirement.
type Claim struct {
	ID      string
	Package string // the folder of the test, absolute
	Test    string // its name
	Skipped bool   // it did not run, so it proves nothing this time
}

// record appends a claim for each id to the file of this process.
func record(dir string, c Claim, ids []string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	f, err := root.OpenFile(strconv.Itoa(os.Getpid())+".tsv", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%t\n", id, folder, c.Test, c.Skipped)
	}
	if _, err := f.WriteString(text.String()); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// Claims reads what was recorded in a folder.
func Claims(dir string) ([]Claim, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil {
		return nil, err
	}
	var claims []Claim
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		err = rows("id\tpackage\ttest\tskipped\n"+string(text), 4, func(row []string) {
			claims = append(claims, Claim{row[0], row[1], row[2], row[3] == "true"})
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return claims, nil
}
