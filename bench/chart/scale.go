package chart

import (
	"fmt"
	"math"
	"slices"
)

// A scale places values on an axis by their logarithms.
type scale struct {
	low, high float64 // logarithms of the ends, to base 10
	from, to  float64 // pixels
}

// newScale makes a scale that holds the values, which are positive, and ends at
// round numbers beyond them.
func newScale(values []float64, from, to float64) scale {
	if len(values) == 0 {
		values = []float64{1, 10}
	}
	low, high := down(slices.Min(values)), up(slices.Max(values))
	if high/low < 8 { // what differs little must not look as if it differed much
		middle := math.Sqrt(low * high)
		low, high = down(middle/3), up(middle*3)
	}
	return scale{low: math.Log10(low), high: math.Log10(high), from: from, to: to}
}

// steps are the round numbers within a decade.
var steps = []float64{1, 2, 5, 10}

// down is the greatest round number that is not above v.
func down(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	i := len(steps) - 1
	for i > 0 && steps[i]*decade > v*1.0001 {
		i--
	}
	return steps[i] * decade
}

// up is the least round number that is not below v.
func up(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	i := 0
	for i < len(steps)-1 && steps[i]*decade < v*0.9999 {
		i++
	}
	return steps[i] * decade
}

func (s scale) place(v float64) float64 {
	return s.from + (math.Log10(v)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// A tick is a line across the chart, with a text if it is an important one.
type tick struct {
	value float64
	text  string
}

func (t tick) class() string {
	if t.text == "" {
		return "fine"
	}
	return "grid"
}

// ticks are the round numbers on the scale: each decade has a text, and if there
// are few decades, so have those between.
func (s scale) ticks() []tick {
	var out []tick
	few := s.high-s.low < 2.5
	for decade := math.Floor(s.low); decade <= s.high+0.001; decade++ {
		for _, step := range steps[:3] {
			v := step * math.Pow(10, decade)
			if at := math.Log10(v); at < s.low-0.001 || at > s.high+0.001 {
				continue
			}
			t := tick{value: v}
			if step == 1 || few {
				t.text = short(v)
			}
			out = append(out, t)
		}
	}
	return out
}

// short writes a round number with a letter for thousands and millions.
func short(v float64) string {
	switch {
	case v >= 0.9995e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 0.9995e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
