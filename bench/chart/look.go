package chart

import (
	"bytes"
	"fmt"
)

// A palette is the colours for pages of one kind.
type palette struct {
	page, ink, soft, grid, fine string
	styles                      [4]string
}

var (
	light = palette{
		page: "#ffffff", ink: "#1f2328", soft: "#59636e", grid: "#dfe4e8", fine: "#f1f3f5",
		styles: [...]string{"#0969da", "#bc4c00", "#8250df", "#6e7781"},
	}
	dark = palette{
		page: "#0d1117", ink: "#e6edf3", soft: "#9198a1", grid: "#2d343d", fine: "#1b2129",
		styles: [...]string{"#58a6ff", "#f0883e", "#bc8cff", "#9198a1"},
	}
)

// rules are the colours as style rules. They are spelled out, because not all
// that show pictures know variables.
func (p palette) rules(b *bytes.Buffer) {
	fmt.Fprintf(b, ".page{fill:%s}text{fill:%s}.title,.name{fill:%s}.grid{stroke:%s}.fine{stroke:%s}.axis{stroke:%s}\n",
		p.page, p.soft, p.ink, p.grid, p.fine, p.soft)
	for i, colour := range p.styles {
		fmt.Fprintf(b, ".s%d{stroke:%s}.m%d{fill:%s}", i, colour, i, colour)
	}
	b.WriteByte('\n')
}

// writeStyle writes how everything looks: light, and dark where that is wished.
func writeStyle(b *bytes.Buffer) {
	b.WriteString("<style>\nsvg{font:13px system-ui,-apple-system,'Segoe UI',sans-serif}.title{font-size:16px;font-weight:600}\n" +
		".curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.s0.curve{stroke-width:3}.s3.curve{stroke-dasharray:5 5}\n")
	light.rules(b)
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	dark.rules(b)
	b.WriteString("}\n</style>\n")
}

// mark draws the mark of a style.
func (s Style) mark(b *bytes.Buffer, x, y float64) {
	switch s {
	case First:
		fmt.Fprintf(b, `<circle class="m0" cx="%.1f" cy="%.1f" r="4"/>`, x, y)
	case Second:
		fmt.Fprintf(b, `<rect class="m1" x="%.1f" y="%.1f" width="7" height="7"/>`, x-3.5, y-3.5)
	case Third:
		fmt.Fprintf(b, `<path class="m2" d="M%.1f %.1fl4.5 8h-9z"/>`, x, y-5)
	default:
		fmt.Fprintf(b, `<circle class="m3" cx="%.1f" cy="%.1f" r="2.5"/>`, x, y)
	}
	b.WriteByte('\n')
}
