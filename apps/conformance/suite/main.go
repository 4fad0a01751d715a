// Command suite runs the official conformance suite against the server and the
// client beside it, as strictly as can be: no failure, no warning, no client that
// exits with an error, no time-out. What each scenario checked is compared with a
// table, so that a scenario that stops testing anything is noticed; the suite
// itself calls a skipped check a success. scripts/conformance.sh installs and
// builds what this needs.
//
//	go run ./conformance/suite -repeat 20
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	var r runner
	flag.StringVar(&r.home, "home", "conformance", "`folder` with node_modules and the table of expected results")
	flag.StringVar(&r.bin, "bin", "../bin/conformance", "`folder` with the built server and client")
	flag.StringVar(&r.page, "page", "../docs/conformance.md", "`file` that shows the results")
	flag.StringVar(&r.only, "only", "", "run only the sets and scenarios whose name has this `text`")
	flag.BoolVar(&r.required, "required", false, "run only what the suite requires, and compare that")
	flag.IntVar(&r.repeat, "repeat", 1, "run everything this many `times`")
	flag.IntVar(&r.workers, "workers", 2, "clients that run at the same time")
	flag.BoolVar(&r.update, "update", false, "write the table and the page")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errRed says that something is not as it should be; what, has been printed.
var errRed = errors.New("conformance: not as expected")

// A runner runs all sets, as often as asked, against one server process.
type runner struct {
	home, bin, page string
	only            string
	required        bool
	repeat, workers int
	update          bool

	suite    *suite
	expected table
}

func (r *runner) run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if r.suite, err = openSuite(ctx, r.home, scratch); err != nil {
		return err
	}
	if r.expected, err = readTable(r.tableFile()); err != nil {
		return err
	}
	bin, err := filepath.Abs(r.bin)
	if err != nil {
		return err
	}
	srv, err := startServer(ctx, filepath.Join(bin, "server"))
	if err != nil {
		return err
	}
	red := 0
	var took []time.Duration
	for range r.repeat {
		start := time.Now()
		results, err := r.round(ctx, srv.url, bin)
		if err != nil {
			return errors.Join(err, srv.close())
		}
		took = append(took, time.Since(start).Round(time.Second))
		if err := r.judge(results); err != nil {
			red++
			fmt.Println(err)
		}
	}
	if err := srv.close(); err != nil {
		return err
	}
	slices.Sort(took)
	fmt.Printf("%d of %d runs as expected, %v to %v each\n", r.repeat-red, r.repeat, took[0], took[len(took)-1])
	if red > 0 {
		return errRed
	}
	return nil
}

// round runs every set once, against the server at a URL and the programs in bin.
func (r *runner) round(ctx context.Context, url, bin string) ([]result, error) {
	var results []result
	for _, set := range r.suite.serverSets() {
		if !r.wants(set.name, "") || r.required && r.suite.required[set.name] == nil {
			continue
		}
		got, err := r.suite.testServer(ctx, set, url, r.expected.failing(set))
		if err != nil {
			return nil, err
		}
		results = append(results, got...)
	}
	if r.wants(authorizationSet, "") && !r.required {
		got, err := r.suite.testAuthorization(ctx, filepath.Join(bin, "authserver"))
		if err != nil {
			return nil, err
		}
		results = append(results, got...)
	}
	runs := slices.DeleteFunc(r.suite.clientRuns(), func(run clientRun) bool {
		return !r.wants(run.set, run.scenario) || r.required && !r.suite.required[run.set][run.scenario]
	})
	got, err := r.suite.testClient(ctx, runs, filepath.Join(bin, "client"), r.workers)
	if err != nil {
		return nil, err
	}
	results = append(results, got...)
	slices.SortStableFunc(results, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Scenario, b.Scenario))
	})
	return results, nil
}

// judge compares the results with what is expected, or makes them so.
func (r *runner) judge(results []result) error {
	sums := summarize(results, r.suite.required)
	fmt.Print(sums)
	if r.only != "" {
		for _, got := range results {
			fmt.Print(got.details())
		}
		return nil
	}
	if r.required {
		return r.expected.only(r.suite.required).compare(onlyRequired(results, r.suite.required))
	}
	if r.update {
		// The verdicts on whole sets were about the table as it was.
		results = slices.DeleteFunc(results, func(got result) bool { return got.Scenario == wholeSet })
		r.expected = r.expected.updated(results)
		if err := r.expected.write(r.tableFile()); err != nil {
			return err
		}
	}
	return errors.Join(
		r.expected.compare(results),
		showPage(r.page, page(r.suite.version, sums, r.expected), r.update),
	)
}

func (r *runner) tableFile() string { return filepath.Join(r.home, "expected.tsv") }

// wants reports whether a set, or a scenario of it, is to run.
func (r *runner) wants(set, scenario string) bool {
	return r.only == "" || strings.Contains(set+": "+scenario, r.only)
}
