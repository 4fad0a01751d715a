package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A Deny forbids packages to depend on another, however indirectly.
type Deny struct {
	Packages []string // folders of the root module
	Import   string   // the import path they must not reach
	Why      string
}

// Reach checks what packages depend on, through all modules and the standard
// library, as the go command sees it for each of the systems. A package of the
// list that is no longer there is a finding, so that a rename cannot lift a ban.
func Reach(ctx context.Context, t *Tree, denies []Deny, systems []string) ([]Finding, error) {
	var out []Finding
	for _, system := range systems {
		graph, err := t.graph(ctx, system, denies)
		if err != nil {
			return nil, err
		}
		for _, d := range denies {
			for _, folder := range d.Packages {
				chain := shortest(graph, t.Module+"/"+folder, d.Import)
				if chain == nil {
					continue
				}
				out = append(out, Finding{
					"reach", folder + " -> " + d.Import,
					fmt.Sprintf("through %s on %s; %s", strings.Join(chain, " -> "), system, d.Why),
				})
			}
		}
	}
	for _, d := range denies {
		for _, folder := range d.Packages {
			if t.Package(folder) == nil {
				out = append(out, Finding{"reach", folder, "is on the list of bans on " + d.Import + " but does not exist"})
			}
		}
	}
	return out, nil
}

// graph asks the go command for the imports of the listed packages that exist
// and of all they depend on.
func (t *Tree) graph(ctx context.Context, system string, denies []Deny) (map[string][]string, error) {
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Imports"}
	for _, d := range denies {
		for _, folder := range d.Packages {
			if t.Package(folder) != nil {
				args = append(args, "./"+folder)
			}
		}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.Dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOWORK=off", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	graph := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return graph, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		graph[p.ImportPath] = p.Imports
	}
}

// shortest returns the shortest chain of imports from one package to another,
// nil if there is none.
func shortest(graph map[string][]string, from, to string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			var chain []string
			for ; at != ""; at = before[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range graph[at] {
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}
