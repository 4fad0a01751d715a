// Command drive measures servers and clients. It starts each of the programs in
// turn, sends it requests as raw bytes over pipes or HTTP connections, or answers
// those of a client in the same way, checks every reply, and compares the
// processor time that the process needed with that of the floor, a program
// without an SDK. Programs take turns within a round, so that what disturbs the
// machine disturbs all of them; ratios are taken within rounds, and tables show
// medians.
//
//	go run ./drive -quick
//	go run ./drive -run 'http modern' -programs server,floor -profile /tmp/p
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// The programs that others are compared with, or compared.
const (
	floorName = "floor"
	oursName  = "server"
)

// programTitle is what readers call a program.
func programTitle(name string) string {
	switch name {
	case oursName:
		return "Ferry"
	case "gosdk":
		return "go-sdk"
	case "mcpgo":
		return "mcp-go"
	}
	return name
}

func main() {
	if err := mainErr(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	settings
	rounds   int
	programs []string
	run      *regexp.Regexp
	allocs   bool
	asJSON   bool
}

func parse() (*options, error) {
	quick := flag.Bool("quick", false, "three short rounds: enough to see differences of a third")
	rounds := flag.Int("rounds", 5, "how often each program is run with each workload")
	duration := flag.Duration("time", time.Second, "how long a run is measured")
	warmUp := flag.Duration("warm", 300*time.Millisecond, "how long a run warms up before")
	programs := flag.String("programs", "server,gosdk,mcpgo,floor", "the programs to run, in this order")
	run := flag.String("run", "", "only workloads whose name matches this pattern")
	o := &options{}
	flag.BoolVar(&o.allocs, "allocs", false, "count allocations too, in a round of their own")
	flag.StringVar(&o.profileDir, "profile", "", "write CPU profiles to this directory")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON lines")
	flag.Parse()
	o.rounds, o.duration, o.warmUp = *rounds, *duration, *warmUp
	if *quick {
		o.rounds, o.duration, o.warmUp = 3, 200*time.Millisecond, 100*time.Millisecond
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
	if _, err := raiseLimits(); err != nil {
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
			results = append(results, o.rounded(w, paths).results()...)
		}
	}
	if o.asJSON {
		return writeLines(os.Stdout, results)
	}
	return writeText(os.Stdout, results)
}

// rounded runs a workload on all programs, round by round. A program that
// fails is left out of the following rounds.
func (o *options) rounded(w *workload, paths map[string]string) *series {
	s := &series{
		w: w, programs: o.programs,
		samples: map[string][][]sample{}, counted: map[string]sample{}, failed: map[string]error{},
	}
	measure := w.measure
	if measure == nil {
		measure = (*settings).load
	}
	for round := range o.rounds {
		for i := range o.programs {
			name := o.programs[(i+round)%len(o.programs)] // nobody is always the first
			if s.failed[name] != nil {
				continue
			}
			fmt.Fprintf(os.Stderr, "\r%-28s %d/%d %-8s", w.name, round+1, o.rounds, name)
			got, err := measure(&o.settings, w, paths[w.program(name)])
			if err != nil {
				s.failed[name] = err
				continue
			}
			s.samples[name] = append(s.samples[name], got)
		}
	}
	if o.allocs && w.measure == nil {
		o.count(s, paths)
	}
	fmt.Fprintf(os.Stderr, "\r%60s\r", "")
	return s
}

// count counts the allocations of all programs.
func (o *options) count(s *series, paths map[string]string) {
	counting := settings{duration: 150 * time.Millisecond, warmUp: 50 * time.Millisecond, counting: true}
	for _, name := range o.programs {
		if s.failed[name] != nil {
			continue
		}
		got, err := counting.load(s.w, paths[s.w.program(name)])
		if err != nil {
			s.failed[name] = err
			continue
		}
		s.counted[name] = got[0]
	}
}
