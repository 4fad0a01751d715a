package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/bench/chart"
)

// TestSVG looks for what readers need, and that it is well-formed.
func TestSVG(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		chart chart.Chart
		want  []string
		not   []string
	}{
		{
			"curves",
			chart.Chart{Title: "Cost <of> payloads", X: "bytes", Y: "µs", Curves: []chart.Curve{
				{Name: "A & B", Points: []chart.Point{{X: 100, Y: 5}, {X: 1e6, Y: 700}}},
				{Name: "floor", Style: chart.Reference, Points: []chart.Point{{X: 1e6, Y: 7000}, {X: 100, Y: 9}}},
			}},
			[]string{"Cost &lt;of&gt; payloads", "A &amp; B", ">floor<", ">bytes<", ">100<", ">10 k<", ">1 M<", "prefers-color-scheme:dark"},
			[]string{"NaN", "Inf"},
		},
		{"empty", chart.Chart{Title: "nothing"}, []string{">nothing<", ">1<", ">10<"}, []string{"NaN", "polyline"}},
		{
			"no place on the axes",
			chart.Chart{Curves: []chart.Curve{{Name: "odd", Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: -1}, {X: math.NaN(), Y: 1}}}}},
			nil,
			[]string{"NaN", "odd", "polyline"},
		},
		{
			"one value",
			chart.Chart{Curves: []chart.Curve{{Name: "flat", Points: []chart.Point{{X: 10, Y: 20}, {X: 1000, Y: 21}}}}},
			[]string{">20<", ">100<", ">flat<"},
			[]string{"NaN"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := string(test.chart.SVG())
			for d := xml.NewDecoder(strings.NewReader(got)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("not XML: %v\n%s", err, got)
				}
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q in\n%s", not, got)
				}
			}
		})
	}
}
