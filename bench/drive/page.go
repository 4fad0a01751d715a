package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// A record is a line of the files of results: one of its fields is set.
type record struct {
	Machine *machine `json:"machine,omitempty"`
	Result  *result  `json:"result,omitempty"`
	Profile *profile `json:"profile,omitempty"`
	Point   *point   `json:"point,omitempty"`
}

// A page is the folder of the documentation that holds benchmarks.md, with what
// it is made of in the folder benchmarks: results, curves, and their pictures.
type page struct{ dir string }

// The files of results.
const (
	resultsFile = "results.jsonl"
	curvesFile  = "curves.jsonl"
)

func (p page) file(name string) string { return filepath.Join(p.dir, "benchmarks", name) }

// save replaces a file of results.
func (p page) save(name string, records []record) error {
	var b bytes.Buffer
	if err := writeLines(&b, records); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.file(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p.file(name), b.Bytes(), 0o644)
}

// load reads a file of results; there may be none.
func (p page) load(name string) ([]record, error) {
	f, err := os.Open(p.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []record
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var r record
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		out = append(out, r)
	}
	return out, nil
}

//go:embed benchmarks.md.tmpl
var pageText string

// render makes the page and its pictures of the files of results.
func (p page) render() error {
	results, err := p.load(resultsFile)
	if err != nil {
		return err
	}
	curves, err := p.load(curvesFile)
	if err != nil {
		return err
	}
	v := &view{}
	for _, r := range results {
		v.add(r)
	}
	v.Machine = v.last
	for _, r := range curves {
		v.add(r)
	}
	v.CurvesMachine = v.last
	if v.Charts, err = p.draw(v.points); err != nil {
		return err
	}
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "benchmarks.md"), b.Bytes(), 0o644)
}

// draw writes the pictures that there are points for.
func (p page) draw(points []point) ([]picture, error) {
	var out []picture
	measured := map[string]bool{}
	for _, pt := range points {
		measured[pt.File] = true
	}
	for _, s := range sweeps(1 << 20) {
		for _, f := range s.charts {
			if !measured[f.file] {
				continue
			}
			pic := picture{Title: f.title, File: "benchmarks/" + f.file + ".svg"}
			for _, pt := range points {
				if pt.File == f.file && pt.Error != "" {
					pic.Gaps = append(pic.Gaps, fmt.Sprintf("%s at %s: %s", programTitle(pt.Program), number(pt.X), oneLine(pt.Error)))
				}
			}
			if err := os.WriteFile(p.file(f.file+".svg"), f.draw(s.x, points), 0o644); err != nil {
				return nil, err
			}
			out = append(out, pic)
		}
	}
	return out, nil
}

// A picture is a chart on the page.
type picture struct {
	Title, File string
	Gaps        []string // what could not be measured
}

// A view is what the template shows.
type view struct {
	Machine, CurvesMachine *machine
	Charts                 []picture
	last                   *machine
	results                []result
	profiles               []profile
	points                 []point
}

func (v *view) add(r record) {
	switch {
	case r.Machine != nil:
		v.last = r.Machine
	case r.Result != nil:
		v.results = append(v.results, *r.Result)
	case r.Profile != nil:
		v.profiles = append(v.profiles, *r.Profile)
	case r.Point != nil:
		v.points = append(v.points, *r.Point)
	}
}

// rows yields the results by workload, each by program.
func (v *view) rows(yield func(workload string, by map[string]*result) bool) {
	for i := 0; i < len(v.results); {
		by := map[string]*result{}
		first := i
		for ; i < len(v.results) && v.results[i].Workload == v.results[first].Workload; i++ {
			by[v.results[i].Program] = &v.results[i]
		}
		if !yield(v.results[first].Workload, by) {
			return
		}
	}
}

// Targets is the table of what is wanted and what is so.
func (v *view) Targets() string {
	var b strings.Builder
	for name, by := range v.rows {
		ours, floor := by[oursName], by[floorName]
		if ours == nil || floor == nil {
			continue
		}
		wanted := []string{number(ours.Must), number(ours.Aim)}
		if ours.Most > 0 {
			wanted = []string{"≤ " + number(ours.Most), "–"}
		}
		writeRow(&b, name, ours.Unit, number(floor.Cost), number(ours.Cost), "**"+number(ours.Ratio)+"**",
			wanted[0], wanted[1], ours.verdict(), by["gosdk"].factor(), by["mcpgo"].factor())
	}
	return b.String()
}

// factor is the ratio to the floor, with a sign where there were errors.
func (r *result) factor() string {
	switch {
	case r == nil:
		return "–"
	case r.Rounds == 0:
		return "failed"
	case r.remarks() != "":
		return number(r.Ratio) + " ⚠"
	}
	return number(r.Ratio)
}

// Rates is the table of throughput, latency and allocations.
func (v *view) Rates() string {
	var b strings.Builder
	for name, by := range v.rows {
		for _, program := range []string{oursName, "gosdk", "mcpgo", floorName} {
			if r := by[program]; r != nil && (r.Rate > 0 || r.Error != "") && by[floorName] != nil {
				writeRow(&b, append([]string{name}, r.cells()...)...)
			}
		}
	}
	return b.String()
}

// Gateway is the table of requests that go through the gateway.
func (v *view) Gateway() string {
	var b strings.Builder
	for name, by := range v.rows {
		way, straight := by[gateway], by[direct]
		if way == nil || straight == nil {
			continue
		}
		writeRow(&b, strings.TrimPrefix(name, "gateway "), number(straight.Cost), number(way.Cost),
			number(straight.P50), number(way.P50), number(straight.Rate), number(way.Rate), way.remarks())
	}
	return b.String()
}

// Alone is the table of what only Ferry was measured at.
func (v *view) Alone() string {
	var b strings.Builder
	for name, by := range v.rows {
		if r := by[oursName]; r != nil && by[floorName] == nil {
			writeRow(&b, name, r.Unit, number(r.Cost), number(r.Rate), number(r.P50), number(r.P99), r.remarks())
		}
	}
	return b.String()
}

// Times is the table of where the processor time goes; "" if it is not known.
func (v *view) Times() string { return v.spread("µs CPU", false) }

// Memory is the table of who allocates; "" if it is not known.
func (v *view) Memory() string { return v.spread("bytes", true) }

// spread is a table of profiles, with its head.
func (v *view) spread(unit string, memory bool) string {
	var rows []profile
	used := map[string]bool{}
	for _, p := range v.profiles {
		if p.Memory == memory {
			rows = append(rows, p)
			for name := range p.Parts {
				used[name] = true
			}
		}
	}
	if len(rows) == 0 {
		return ""
	}
	names := slices.DeleteFunc(partNames(), func(name string) bool { return !used[name] })
	var b strings.Builder
	writeRow(&b, append([]string{"workload", "program", unit}, names...)...)
	writeRow(&b, append([]string{"---", "---", "---:"}, slices.Repeat([]string{"---:"}, len(names))...)...)
	for _, p := range rows {
		cells := []string{p.Workload, programTitle(p.Program), number(p.Cost)}
		for _, name := range names {
			cells = append(cells, number(p.Parts[name]))
		}
		writeRow(&b, cells...)
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 160 {
		s = s[:160] + "…"
	}
	return s
}
