package interop_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// results are what the tests of a run have found.
var results table

const document = "../docs/interop.md"

// A table gathers results; tests add to it concurrently.
type table struct {
	mu   sync.Mutex
	rows []row
}

type row struct {
	meeting
	passed, steps int
	known         []string // why some of the steps passed with a deviation
	wrong         string
}

func (tb *table) add(m meeting, passed, steps int, known []string, wrong string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.rows = append(tb.rows, row{m, passed, steps, known, wrong})
}

// check compares the document with the results, or writes it.
func (tb *table) check(write bool) error {
	if len(tb.rows) == 0 {
		return nil // all tests were skipped
	}
	text, err := tb.markdown()
	if err != nil {
		return err
	}
	if write {
		if err := os.MkdirAll(filepath.Dir(document), 0o755); err != nil {
			return err
		}
		return os.WriteFile(document, []byte(text), 0o644)
	}
	if old, err := os.ReadFile(document); err != nil || string(old) != text {
		return errors.New("docs/interop.md does not show the results of this run; write it with scripts/interop.sh -update")
	}
	return nil
}

func (tb *table) markdown() (string, error) {
	versions, err := packageVersions()
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(tb.rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(section(a.meeting), section(b.meeting)), cmp.Compare(a.client, b.client), cmp.Compare(a.server, b.server),
			cmp.Compare(a.carrier, b.carrier), cmp.Compare(a.asked, b.asked), cmp.Compare(a.revision, b.revision),
		)
	})
	var text strings.Builder
	text.WriteString(preface)
	for _, v := range versions {
		fmt.Fprintf(&text, "- `%s`\n", v)
	}
	var notes []string
	current := -1
	for _, r := range tb.rows {
		if s := section(r.meeting); s != current {
			current = s
			fmt.Fprintf(&text, "\n## %s\n\n| client | server | over | asked for | speaks | steps | notes |\n|---|---|---|---|---|---|---|\n", sections[s])
		}
		var marks []string
		for _, why := range r.known {
			if !slices.Contains(notes, why) {
				notes = append(notes, why)
			}
			if mark := fmt.Sprint(slices.Index(notes, why) + 1); !slices.Contains(marks, mark) {
				marks = append(marks, mark)
			}
		}
		if r.wrong != "" {
			marks = append(marks, "wrong: "+r.wrong)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %d of %d | %s |\n", short(r.client), short(r.server), r.carrier, r.asked, r.revision,
			r.passed, r.steps, strings.Join(marks, ", "))
	}
	if len(notes) > 0 {
		text.WriteString("\n## Notes\n\n")
	}
	for i, note := range notes {
		fmt.Fprintf(&text, "%d. %s\n", i+1, note)
	}
	return text.String(), nil
}

const preface = `# Tested with other implementations

Each line of the tables is one client connected to one server, both of them real programs, going through the features step by
step; what each step has to show is in ` + "`interop/`" + `. A whole run of ` + "`scripts/interop.sh`" + ` compares this page with its results, and
writes it with ` + "`-update`" + `.

The others are these packages from npm and Go modules, at these versions:

`

var sections = []string{
	"Clients of others, our server", "Our client, servers of others", "Our client, servers that people use", "Through the gateway",
	"Across bridges of others",
}

// section tells in which table a meeting belongs.
func section(m meeting) int {
	switch {
	case strings.HasPrefix(m.server, gateway):
		return 3
	case strings.HasPrefix(m.server, behind):
		return 4
	case m.server == ferry:
		return 0
	case slices.Contains([]string{first, twin, gosdk, mcpgo}, m.server):
		return 1
	default:
		return 2
	}
}

const gateway = "ferry up"

// short is the last part of a name.
func short(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// packageVersions returns the packages that package.json and go.mod ask for, as
// name@version.
func packageVersions() ([]string, error) {
	data, err := os.ReadFile("package.json")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	var list []string
	for name, version := range manifest.Dependencies {
		if name != "zod" {
			list = append(list, name+"@"+version)
		}
	}
	if data, err = os.ReadFile("go.mod"); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		for _, module := range []string{gosdk, mcpgo} {
			if version, ok := strings.CutPrefix(strings.TrimSpace(line), module+" "); ok {
				list = append(list, module+"@"+version)
			}
		}
	}
	slices.Sort(list)
	return list, nil
}
