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
	"slices"
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
	sweeps   bool
	limit    int // of open files
	page     string
}

func parse() (*options, error) {
	quick := flag.Bool("quick", false, "two short rounds: enough to see differences of a third")
	rounds := flag.Int("rounds", 5, "how often each program is run with each workload")
	duration := flag.Duration("time", time.Second, "how long a run is measured")
	warmUp := flag.Duration("warm", 300*time.Millisecond, "how long a run warms up before")
	programs := flag.String("programs", "server,gosdk,mcpgo,floor", "the programs to run, in this order")
	run := flag.String("run", "", "only workloads whose name matches this pattern")
	o := &options{settings: settings{paths: map[string]string{}}}
	flag.BoolVar(&o.allocs, "allocs", false, "count allocations too, in a round of their own")
	flag.StringVar(&o.profileDir, "profile", "", "write CPU profiles to this directory")
	flag.BoolVar(&o.asJSON, "json", false, "print JSON lines")
	flag.BoolVar(&o.sweeps, "sweeps", false, "measure the curves instead of the table")
	flag.StringVar(&o.page, "page", "", "write what was measured to this folder, and the page about it; without a pattern for workloads")
	flag.Parse()
	o.rounds, o.duration, o.warmUp = *rounds, *duration, *warmUp
	if *quick {
		o.rounds, o.duration, o.warmUp = 2, 150*time.Millisecond, 50*time.Millisecond
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
	if o.limit, err = raiseLimits(); err != nil {
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
	file, measure := resultsFile, o.table
	if o.sweeps {
		file, measure = curvesFile, o.curves
	}
	records, err := measure(dir)
	if err != nil {
		return err
	}
	if o.page != "" && !o.sweeps {
		more, err := o.profiles(dir)
		if err != nil {
			return err
		}
		records = append(records, more...)
	}
	m, err := o.machine()
	if err != nil {
		return err
	}
	records = append([]record{{Machine: m}}, records...)
	if o.page == "" {
		return o.print(records)
	}
	p := page{o.page}
	if err := p.save(file, records); err != nil {
		return err
	}
	return p.render()
}

func (o *options) print(records []record) error {
	if o.asJSON {
		return writeLines(os.Stdout, records)
	}
	return writeText(os.Stdout, records)
}

// table measures all workloads.
func (o *options) table(dir string) ([]record, error) {
	var out []record
	for _, w := range slices.Concat(workloads(), costs()) {
		if !o.run.MatchString(w.name) {
			continue
		}
		programs := o.programs
		if w.programs != nil {
			programs = w.programs
		}
		if err := o.build(dir, w, programs); err != nil {
			return nil, err
		}
		for _, r := range o.rounded(w, programs).results() {
			out = append(out, record{Result: &r})
		}
	}
	return out, nil
}

// curves measures all sweeps.
func (o *options) curves(dir string) ([]record, error) {
	var out []record
	for _, s := range sweeps(o.limit) {
		if !o.run.MatchString(s.name) {
			continue
		}
		began := time.Now()
		points, err := o.sweep(dir, &s)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", s.name, time.Since(began).Seconds())
		for _, p := range points {
			out = append(out, record{Point: &p})
		}
	}
	return out, nil
}

// rounded runs a workload on all programs, round by round. A program that
// fails is left out of the following rounds.
func (o *options) rounded(w *workload, programs []string) *series {
	s := &series{
		w: w, programs: programs,
		samples: map[string][][]sample{}, counted: map[string]sample{}, failed: map[string]error{},
	}
	measure := w.measure
	if measure == nil {
		measure = (*settings).load
	}
	for round := range o.rounds {
		for i := range programs {
			name := programs[(i+round)%len(programs)] // nobody is always the first
			if s.failed[name] != nil {
				continue
			}
			tell("%-28s %d/%d %-8s", w.name, round+1, o.rounds, name)
			got, err := measure(&o.settings, w, name)
			if err != nil {
				s.failed[name] = err
				continue
			}
			s.samples[name] = append(s.samples[name], got)
		}
	}
	if o.allocs && w.measure == nil {
		o.count(s)
	}
	tell("")
	return s
}

// count counts the allocations of all programs.
func (o *options) count(s *series) {
	counting := settings{duration: 150 * time.Millisecond, warmUp: 50 * time.Millisecond, counting: true, paths: o.paths}
	for _, name := range s.programs {
		if s.failed[name] != nil {
			continue
		}
		got, err := counting.load(s.w, name)
		if err != nil {
			s.failed[name] = err
			continue
		}
		s.counted[name] = got[0]
	}
}

// tell shows on a terminal what is being done, in the place of what was shown.
func tell(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r%-60s\r", fmt.Sprintf(format, args...))
	}
}
