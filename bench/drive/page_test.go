package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func results(w *workload, costs map[string][]float64, failed map[string]error) []record {
	s := &series{w: w, programs: []string{oursName, "mcpgo", floorName}, samples: map[string][][]sample{}, failed: failed}
	for program, rounds := range costs {
		for _, c := range rounds {
			s.samples[program] = append(s.samples[program], []sample{{Cost: c, Rate: 1000}})
		}
	}
	var out []record
	for _, r := range s.results() {
		out = append(out, record{Result: &r})
	}
	return out
}

// TestPage makes a page of a few results and looks for what they come to.
func TestPage(t *testing.T) {
	t.Parallel()
	p := page{t.TempDir()}
	records := []record{{Machine: &machine{Date: "2001-02-03", Processor: "abacus", Cores: 10, Peers: []string{"mcp-go v9"}}}}
	costs := map[string][]float64{oursName: {4, 9, 6}, "mcpgo": {40, 60, 50}, floorName: {8, 10, 10}}
	records = append(records, results(&workload{name: "reached", rows: wants(0.9, 0.5)}, costs, nil)...)
	records = append(records, results(&workload{name: "missed", rows: wants(0.5, 0.4)}, costs, nil)...)
	records = append(records, results(&workload{name: "aimed", rows: wants(0.9, 0.6)}, costs, nil)...)
	delete(costs, "mcpgo")
	broken := map[string]error{"mcpgo": errors.New("it | stopped\nanswering")}
	records = append(records, results(&workload{name: "broken"}, costs, broken)...)
	if err := p.save(resultsFile, records); err != nil {
		t.Fatal(err)
	}
	points := []record{
		{Point: &point{File: "lists", Program: oursName, X: 10, Y: 5}},
		{Point: &point{File: "lists", Program: "mcpgo", X: 10, Error: "too many"}},
	}
	if err := p.save(curvesFile, points); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is the same from the same results
		if err := p.render(); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(p.dir, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| processor | abacus, 10 cores", "| others | mcp-go v9 |",
		"| reached | µs CPU / request | 10.0 | 6.00 | **0.60** | 0.90 | 0.50 | ✓ | – | 5.00 |",
		"| missed | µs CPU / request | 10.0 | 6.00 | **0.60** | 0.50 | 0.40 | ✗ 20 % over | – | 5.00 |",
		"| 0.90 | 0.60 | ✓ aim |",
		"| – | – |  | – | failed |", `it \| stopped answering`,
		"![Lists of tools over stdio](benchmarks/lists.svg)", "- not measured: mcp-go at 10.0: too many",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if svg, err := os.ReadFile(p.file("lists.svg")); err != nil || !strings.Contains(string(svg), ">Ferry<") {
		t.Errorf("the picture: %v\n%s", err, svg)
	}
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"10ms": 0.01, "1.5s": 1.5, "512.50kB": 512.5 * 1024, "64B": 64, "2MB": 2 << 20} {
		if got, ok := amount(text); !ok || got != want {
			t.Errorf("amount(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "runtime.mallocgc", "bytes:", "12", "kB"} {
		if got, ok := amount(text); ok {
			t.Errorf("amount(%q) = %v, want none", text, got)
		}
	}
}

// TestSpread reads stacks as pprof prints them.
func TestSpread(t *testing.T) {
	t.Parallel()
	const traces = `File: server
Type: cpu
Duration: 2s, Total samples = 100ms
-----------+-------------------------------------------------------
      50ms   internal/runtime/syscall.Syscall6
             syscall.write
             github.com/ferrymcp/ferry/transport.write
-----------+-------------------------------------------------------
      30ms   runtime.memmove
             github.com/ferrymcp/ferry/jsonrpc.Decode (inline)
             main.main
-----------+-------------------------------------------------------
      10ms   runtime.scanobject
             runtime.gcBgMarkWorker
-----------+-------------------------------------------------------
      10ms   runtime.memmove
`
	got := spread([]byte(traces), 20)
	want := map[string]float64{"system calls": 10, "JSON, schemas": 6, "collector": 2, "rest": 2}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, cost := range want {
		if diff := got[name] - cost; diff > 0.001 || diff < -0.001 {
			t.Errorf("%s: %v µs, want %v", name, got[name], cost)
		}
	}
}
