package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/ferrymcp/ferry/bench/chart"
)

// A sweep is a workload at several sizes.
type sweep struct {
	name   string
	x      string // what grows, with its unit
	sizes  []int
	rounds int // 0 for those asked for
	// without is a program that is not measured, because it would never end.
	without string
	at      func(size int) *workload
	charts  []figure
}

// A figure is a chart of one row of the sweep's workloads.
type figure struct {
	file  string
	title string
	y     string
	row   int
}

// A point is a measured place on a curve.
type point struct {
	File    string  `json:"file"`
	Program string  `json:"program"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Error   string  `json:"error,omitempty"`
}

// cost is the axis of most charts.
const cost = "µs CPU / request"

// sweep measures a sweep. A program that has failed is not tried with more.
func (o *options) sweep(dir string, s *sweep) ([]point, error) {
	var out []point
	programs := slices.DeleteFunc(slices.Clone(o.programs), func(name string) bool { return name == s.without })
	for _, size := range s.sizes {
		w := s.at(size)
		w.name = fmt.Sprintf("%s %d", s.name, size)
		w.job.prepare()
		if err := o.build(dir, w, programs); err != nil {
			return nil, err
		}
		at := *o
		if s.rounds > 0 {
			at.rounds = min(s.rounds, o.rounds)
		}
		got := at.rounded(w, programs)
		for _, c := range s.charts {
			for _, name := range programs {
				r := got.result(c.row, name)
				out = append(out, point{File: c.file, Program: name, X: float64(size), Y: r.Cost, Error: r.Error})
				if r.Error != "" {
					fmt.Fprintf(os.Stderr, "%s, %s: %s\n", w.name, name, r.Error)
				}
			}
		}
		programs = slices.DeleteFunc(programs, func(name string) bool { return got.failed[name] != nil })
	}
	return out, nil
}

// draw makes the chart of a figure.
func (f *figure) draw(x string, points []point) []byte {
	c := chart.Chart{Title: f.title, X: x, Y: f.y}
	styles := map[string]chart.Style{oursName: chart.First, "gosdk": chart.Second, "mcpgo": chart.Third, floorName: chart.Reference}
	for _, program := range []string{floorName, "mcpgo", "gosdk", oursName} { // ours is drawn over the others
		curve := chart.Curve{Name: programTitle(program), Style: styles[program]}
		for _, p := range points {
			if p.File == f.file && p.Program == program && p.Error == "" {
				curve.Points = append(curve.Points, chart.Point{X: p.X, Y: p.Y})
			}
		}
		c.Curves = append(c.Curves, curve)
	}
	return c.SVG()
}
