// Package chart draws curves as SVG: both axes are logarithmic, because what is
// shown spans decades, and a curve's slope then says how a cost grows. A picture
// carries the colours for light and for dark pages. It knows nothing of what the
// curves mean.
package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
)

// A Chart is curves over the same axes.
type Chart struct {
	Title  string
	X, Y   string // what the axes show, with its unit
	Curves []Curve
}

// A Curve is drawn through its points, in order of X. Those that are not positive
// have no place on the axes and are left out.
type Curve struct {
	Name   string
	Style  Style
	Points []Point
}

// A Point is one measurement.
type Point struct{ X, Y float64 }

// A Style is how a curve looks. Each has a colour and a mark of its own, so that
// curves can be told apart without colours.
type Style int

// The styles, the most conspicuous first.
const (
	First Style = iota
	Second
	Third
	Reference // a dashed grey line to compare with
)

// The picture and the part of it that holds the curves, in pixels.
const (
	width, height = 760, 420
	left, right   = 72, 620
	top, bottom   = 56, 360
)

// SVG draws the chart. One without points has axes only.
func (c *Chart) SVG() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">`+"\n",
		width, height, html.EscapeString(c.Title))
	writeStyle(&b)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d" rx="8"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="30">%s</text>`+"\n", 20, html.EscapeString(c.Title))
	x := newScale(c.values(func(p Point) float64 { return p.X }), left, right)
	y := newScale(c.values(func(p Point) float64 { return p.Y }), bottom, top)
	c.drawAxes(&b, x, y)
	ends := make([]label, 0, len(c.Curves))
	for _, curve := range c.Curves {
		if end, ok := curve.draw(&b, x, y); ok {
			ends = append(ends, end)
		}
	}
	drawNames(&b, ends)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (c *Chart) values(of func(Point) float64) []float64 {
	var out []float64
	for _, curve := range c.Curves {
		for _, p := range curve.drawable() {
			out = append(out, of(p))
		}
	}
	return out
}

func (c *Chart) drawAxes(b *bytes.Buffer, x, y scale) {
	for _, t := range x.ticks() {
		at := x.place(t.value)
		fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", t.class(), at, top, at, bottom)
		if t.text != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, bottom+20, t.text)
		}
	}
	for _, t := range y.ticks() {
		at := y.place(t.value)
		fmt.Fprintf(b, `<line class="%s" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`+"\n", t.class(), left, at, right, at)
		if t.text != "" {
			fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, at+4, t.text)
		}
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", left, bottom, right, bottom)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+right)/2, bottom+44, html.EscapeString(c.X))
	fmt.Fprintf(b, `<text transform="translate(20 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		(top+bottom)/2, html.EscapeString(c.Y))
}

// drawable are the points that have a place on the axes, in order.
func (c *Curve) drawable() []Point {
	points := slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool {
		return !(p.X > 0 && p.Y > 0) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0)
	})
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	return points
}

// draw draws the curve and returns where its name belongs; false if there is
// nothing to draw.
func (c *Curve) draw(b *bytes.Buffer, x, y scale) (label, bool) {
	points := c.drawable()
	if len(points) == 0 {
		return label{}, false
	}
	fmt.Fprintf(b, `<polyline class="curve s%d" points="`, c.Style)
	for i, p := range points {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(b, "%.1f,%.1f", x.place(p.X), y.place(p.Y))
	}
	b.WriteString("\"/>\n")
	for _, p := range points {
		c.Style.mark(b, x.place(p.X), y.place(p.Y))
	}
	last := points[len(points)-1]
	return label{c.Name, c.Style, y.place(last.Y)}, true
}

// A label is the name of a curve, which stands beside its end.
type label struct {
	name  string
	style Style
	y     float64
}

// drawNames writes the names in the order of the ends of the curves, as near to
// them as there is room.
func drawNames(b *bytes.Buffer, labels []label) {
	const apart = 20
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(labels); i++ {
		labels[i].y = max(labels[i].y, labels[i-1].y+apart)
	}
	for i := len(labels) - 1; i >= 0; i-- {
		lowest := float64(bottom - apart*(len(labels)-1-i))
		labels[i].y = min(labels[i].y, lowest)
	}
	for _, l := range labels {
		fmt.Fprintf(b, `<line class="curve s%d" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`+"\n", l.style, right+14, l.y, right+38, l.y)
		l.style.mark(b, right+26, l.y)
		fmt.Fprintf(b, `<text class="name" x="%d" y="%.1f">%s</text>`+"\n", right+46, l.y+4, html.EscapeString(l.name))
	}
}
