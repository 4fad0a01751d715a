package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A result is the medians of one program for one workload.
type result struct {
	Workload string `json:"workload"`
	Program  string `json:"program"`
	Unit     string `json:"unit"`
	sample
	// Ratio is the median of the ratios to the floor, each within its round.
	Ratio  float64 `json:"ratio,omitempty"`
	Rounds int     `json:"rounds"`
	Error  string  `json:"error,omitempty"`
}

// summarise takes the samples of a workload, by program and then by round.
func summarise(w *workload, programs []string, samples map[string][]sample, failed map[string]error) []result {
	var out []result
	for _, name := range programs {
		all := samples[name]
		r := result{Workload: w.name, Program: name, Unit: w.unit(), Rounds: len(all)}
		if err := failed[name]; err != nil {
			r.Error = err.Error()
		}
		column := func(value func(sample) float64) float64 {
			var values []float64
			for _, s := range all {
				values = append(values, value(s))
			}
			return median(values)
		}
		r.CPU = column(func(s sample) float64 { return s.CPU })
		r.Rate = column(func(s sample) float64 { return s.Rate })
		r.P50 = column(func(s sample) float64 { return s.P50 })
		r.P99 = column(func(s sample) float64 { return s.P99 })
		r.Objects = column(func(s sample) float64 { return s.Objects })
		r.Bytes = column(func(s sample) float64 { return s.Bytes })
		var ratios []float64
		for i, s := range all {
			r.Faults.Late += s.Faults.Late
			r.Faults.Lost += s.Faults.Lost
			r.Faults.Order += s.Faults.Order
			if floor := samples[floorName]; i < len(floor) && floor[i].CPU > 0 {
				ratios = append(ratios, s.CPU/floor[i].CPU)
			}
		}
		r.Ratio = median(ratios)
		out = append(out, r)
	}
	return out
}

var columns = []string{"workload", "program", "CPU µs", "× floor", "per second", "p50 µs", "p99 µs", "allocs", "bytes", "remarks"}

func (r *result) cells() []string {
	number := func(v float64) string {
		switch {
		case v == 0:
			return "-"
		case v < 100:
			return fmt.Sprintf("%.2f", v)
		}
		return fmt.Sprintf("%.0f", v)
	}
	return []string{
		r.Workload, r.Program, number(r.CPU), number(r.Ratio), number(r.Rate),
		number(r.P50), number(r.P99), number(r.Objects), number(r.Bytes), r.remarks(),
	}
}

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

func writeText(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, r := range results {
		fmt.Fprintln(t, strings.Join(r.cells(), "\t"))
	}
	return t.Flush()
}

func writeMarkdown(w io.Writer, results []result) error {
	align := "|---|---|" + strings.Repeat("---:|", len(columns)-3) + "---|"
	if _, err := fmt.Fprintf(w, "| %s |\n%s\n", strings.Join(columns, " | "), align); err != nil {
		return err
	}
	for _, r := range results {
		cells := r.cells()
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, results []result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(results)
}
