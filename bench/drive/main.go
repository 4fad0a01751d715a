// Command drive measures servers and clients. It starts each of the programs in
// turn, sends it requests as raw bytes over pipes or HTTP connections, or answers
// those of a client in the same way, checks what comes, and compares the processor time that the process needed for each with
// that of the floor, a program without an SDK. Programs take turns within a
// round, so that what disturbs the machine disturbs all of them; ratios are
// taken within rounds, and tables show medians.
//
//	go run ./drive -quick
//	go run ./drive -run 'http modern' -programs server,floor -profile /tmp/p
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

// floorName is the program that the others are compared with.
const floorName = "floor"

func main() {
	if err := mainErr(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	settings
	rounds         int
	programs       []string
	run            *regexp.Regexp
	asJSON, asMark bool
}

func parse() (*options, error) {
	quick := flag.Bool("quick", false, "three short rounds: enough to see differences of a third")
	rounds := flag.Int("rounds", 5, "how often each program is run with each workload")
	duration := flag.Duration("time", time.Second, "how long a run is measured")
	warmUp := flag.Duration("warm", 300*time.Millisecond, "how long a run warms up before")
	programs := flag.String("programs", "server,gosdk,mcpgo,floor", "the programs to run, in this order")
	run := flag.String("run", "", "only workloads whose name matches this pattern")
	o := &options{}
	flag.BoolVar(&o.allocs, "allocs", false, "count allocations too")
	flag.StringVar(&o.profileDir, "profile", "", "write CPU profiles to this directory")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON")
	flag.BoolVar(&o.asMark, "md", false, "print a Markdown table")
	flag.Parse()
	o.rounds, o.duration, o.warmUp = *rounds, *duration, *warmUp
	if *quick {
		o.rounds, o.duration, o.warmUp = 3, 300*time.Millisecond, 150*time.Millisecond
	}
	o.programs = strings.Split(*programs, ",")
	var err error
	o.run, err = regexp.Compile(*run)
	return o, err
}

func mainErr() error {
	o, err := parse()
	if err != nil {
		return err
	}
	if o.profileDir != "" {
		if err := os.MkdirAll(o.profileDir, 0o755); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var results []result
	paths := map[string]string{}
	for _, w := range workloads() {
		if o.run.MatchString(w.name) {
			if err := build(dir, w, o.programs, paths); err != nil {
				return err
			}
			results = append(results, o.rounded(w, paths)...)
		}
	}
	return o.print(os.Stdout, results)
}

// rounded runs a workload on all programs, round by round. A program that
// fails is left out of the following rounds.
func (o *options) rounded(w *workload, paths map[string]string) []result {
	samples := map[string][]sample{}
	failed := map[string]error{}
	for round := range o.rounds {
		for _, name := range o.programs {
			if failed[name] != nil {
				continue
			}
			fmt.Fprintf(os.Stderr, "\r%-28s %d/%d %-8s", w.name, round+1, o.rounds, name)
			s, err := o.measure(name, paths[w.program(name)], w)
			if err != nil {
				failed[name] = err
				continue
			}
			samples[name] = append(samples[name], s)
		}
	}
	fmt.Fprintf(os.Stderr, "\r%60s\r", "")
	return summarise(w, o.programs, samples, failed)
}

func (o *options) print(w io.Writer, results []result) error {
	switch {
	case o.asJSON:
		return writeJSON(w, results)
	case o.asMark:
		return writeMarkdown(w, results)
	}
	return writeText(w, results)
}
