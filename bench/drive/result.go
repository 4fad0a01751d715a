package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A result is the medians of one figure of one program.
type result struct {
	Workload string  `json:"workload"`
	Program  string  `json:"program"`
	Unit     string  `json:"unit"`
	Must     float64 `json:"must,omitempty"`
	Aim      float64 `json:"aim,omitempty"`
	Most     float64 `json:"most,omitempty"`
	sample
	// Ratio is the median of the ratios to the floor, each within its round.
	Ratio  float64 `json:"ratio,omitempty"`
	Rounds int     `json:"rounds"`
	Error  string  `json:"error,omitempty"`
}

// A series is what was measured of one workload: by program, then by round, then
// by row.
type series struct {
	w        *workload
	programs []string
	samples  map[string][][]sample
	// counted are the samples of the runs that counted allocations.
	counted map[string]sample
	failed  map[string]error
}

// results takes the medians.
func (s *series) results() []result {
	var out []result
	for i := range max(1, len(s.w.rows)) {
		for _, name := range s.programs {
			out = append(out, s.result(i, name))
		}
	}
	return out
}

func (s *series) result(i int, program string) result {
	all, row := s.samples[program], s.w.row(i)
	r := result{
		Workload: row.name, Program: program, Unit: row.unit, Rounds: len(all),
		Must: row.must, Aim: row.aim, Most: row.most,
	}
	if err := s.failed[program]; err != nil {
		r.Error = err.Error()
	}
	column := func(value func(sample) float64) float64 {
		var values []float64
		for _, round := range all {
			values = append(values, value(round[i]))
		}
		return median(values)
	}
	r.Cost = column(func(s sample) float64 { return s.Cost })
	r.Rate = column(func(s sample) float64 { return s.Rate })
	r.P50 = column(func(s sample) float64 { return s.P50 })
	r.P99 = column(func(s sample) float64 { return s.P99 })
	if i == 0 {
		r.Objects, r.Bytes = s.counted[program].Objects, s.counted[program].Bytes
	}
	var ratios []float64
	for n, round := range all {
		r.Faults.Late += round[i].Faults.Late
		r.Faults.Lost += round[i].Faults.Lost
		r.Faults.Order += round[i].Faults.Order
		if floor := s.samples[s.w.reference()]; n < len(floor) && floor[n][i].Cost > 0 {
			ratios = append(ratios, round[i].Cost/floor[n][i].Cost)
		}
	}
	r.Ratio = median(ratios)
	return r
}

// remarks say what was wrong.
func (r *result) remarks() string {
	var parts []string
	if r.Error != "" {
		parts = append(parts, r.Error)
	}
	for _, f := range []struct {
		n    int
		what string
	}{{r.Faults.Late, "after the result"}, {r.Faults.Lost, "lost"}, {r.Faults.Order, "out of order"}} {
		if f.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", f.n, f.what))
		}
	}
	return strings.ReplaceAll(strings.Join(parts, ", "), "\n", " ")
}

// verdict compares a result with what is wanted of it; "" if nothing is.
func (r *result) verdict() string {
	gap := func(got, want float64) string { return fmt.Sprintf("✗ %.0f %% over", 100*(got/want-1)) }
	switch {
	case r.Rounds == 0:
		return ""
	case r.Most > 0 && r.Cost > r.Most:
		return gap(r.Cost, r.Most)
	case r.Most > 0:
		return "✓"
	case r.Must == 0 || r.Ratio == 0:
		return ""
	case r.Ratio > r.Must:
		return gap(r.Ratio, r.Must)
	case r.Aim > 0 && r.Ratio <= r.Aim:
		return "✓ aim"
	}
	return "✓"
}

// number shows three digits, or - for nothing.
func number(v float64) string {
	switch {
	case v == 0:
		return "–"
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	case v < 10_000:
		return fmt.Sprintf("%.0f", v)
	case v < 999_500:
		return fmt.Sprintf("%.0f k", v/1e3)
	}
	return fmt.Sprintf("%.1f M", v/1e6)
}

// cells are those of a result after its workload and unit.
func (r *result) cells() []string {
	return []string{
		programTitle(r.Program), number(r.Cost), number(r.Ratio), number(r.Rate),
		number(r.P50), number(r.P99), number(r.Objects), number(r.Bytes), r.remarks(),
	}
}

var columns = []string{"program", "median", "× floor", "per second", "p50 µs", "p99 µs", "allocs", "bytes", "remarks"}

func writeText(w io.Writer, records []record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tunit\t"+strings.Join(columns, "\t")+"\twanted")
	for _, line := range records {
		if p := line.Point; p != nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.File, number(p.X), programTitle(p.Program), number(p.Y), oneLine(p.Error))
		}
		r := line.Result
		if r == nil {
			continue
		}
		wanted := ""
		if r.Program == oursName {
			wanted = r.verdict()
		}
		fmt.Fprintln(t, r.Workload+"\t"+r.Unit+"\t"+strings.Join(r.cells(), "\t")+"\t"+wanted)
	}
	return t.Flush()
}

// writeLines writes one JSON value a line.
func writeLines[T any](w io.Writer, values []T) error {
	enc := json.NewEncoder(w)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
