package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/mcp"
)

// maxNames is how wide a column of names may be; longer names stick out.
const maxNames = 40

// A listing shows lists to people.
type listing struct {
	out    *console
	long   bool
	indent string
}

// A row is one thing that is listed.
type row struct {
	flags   string // of a tool, in a long listing
	name    string
	about   string
	details [][3]string // of a long listing: name, type and what it is
}

// decode reads the elements of a list and makes rows of them.
func decode[T any](list []json.RawMessage, toRow func(T) row) ([]row, error) {
	rows := make([]row, len(list))
	for i, raw := range list {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		rows[i] = toRow(v)
	}
	return rows, nil
}

func (l *listing) tools(list []json.RawMessage) error {
	rows, err := decode(list, func(t mcp.Tool) row {
		return row{flags: toolFlags(t.Annotations), name: t.Name, about: either(t.Description, t.Title), details: toolDetails(t)}
	})
	l.show(rows)
	return err
}

func (l *listing) prompts(list []json.RawMessage) error {
	rows, err := decode(list, func(prompt mcp.Prompt) row {
		r := row{name: prompt.Name, about: either(prompt.Description, prompt.Title)}
		for _, a := range prompt.Arguments {
			r.details = append(r.details, [3]string{optionally(a.Name, a.Required), "string", firstLine(a.Description)})
		}
		return r
	})
	l.show(rows)
	return err
}

func (l *listing) resources(list []json.RawMessage) error {
	rows, err := decode(list, func(res mcp.Resource) row {
		r := row{name: res.URI, about: either(res.Description, either(res.Title, res.Name))}
		if res.MIMEType != "" {
			r.details = append(r.details, [3]string{"type", res.MIMEType})
		}
		if res.Size != nil {
			r.details = append(r.details, [3]string{"size", size(*res.Size)})
		}
		return r
	})
	l.show(rows)
	return err
}

func (l *listing) templates(list []json.RawMessage) error {
	rows, err := decode(list, func(t mcp.ResourceTemplate) row {
		r := row{name: t.URITemplate, about: either(t.Description, either(t.Title, t.Name))}
		if t.MIMEType != "" {
			r.details = append(r.details, [3]string{"type", t.MIMEType})
		}
		return r
	})
	l.show(rows)
	return err
}

func either(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// optionally puts a name in brackets if it may be left out.
func optionally(name string, required bool) string {
	if required {
		return name
	}
	return "[" + name + "]"
}

// toolFlags are four letters about what a tool does, in the manner of ls.
func toolFlags(a *mcp.ToolAnnotations) string {
	if a == nil {
		return "----"
	}
	letter := func(set bool, letter string) string {
		if set {
			return letter
		}
		return "-"
	}
	first := "w"
	if a.ReadOnlyHint {
		first = "r"
	}
	destroys := !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
	open := a.OpenWorldHint == nil || *a.OpenWorldHint
	return first + letter(destroys, "d") + letter(a.IdempotentHint, "i") + letter(open, "o")
}

// toolDetails describe the arguments of a tool, those it needs first.
func toolDetails(t mcp.Tool) [][3]string {
	s := parseSchema(t.InputSchema)
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var needed, others [][3]string
	for _, m := range s.Properties {
		property := m.schema.follow(s)
		about := firstLine(either(m.schema.Description, property.Description))
		if len(property.Enum) > 0 {
			about = strings.TrimSpace(about + " (one of " + property.choices() + ")")
		}
		if len(property.Default) > 0 {
			about = strings.TrimSpace(about + " (default " + string(property.Default) + ")")
		}
		line := [3]string{optionally(m.name, required[m.name]), m.schema.kind(s), about}
		if required[m.name] {
			needed = append(needed, line)
		} else {
			others = append(others, line)
		}
	}
	return append(needed, others...)
}

func (l *listing) show(rows []row) {
	if l.long {
		for i, r := range rows {
			if i > 0 {
				l.out.line(plain, "")
			}
			l.showLong(r)
		}
		return
	}
	column := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r.name); n <= maxNames {
			column = max(column, n)
		}
	}
	for _, r := range rows {
		l.entry([]string{r.name}, []int{column}, firstLine(r.about), bold)
	}
}

func (l *listing) showLong(r row) {
	head := r.name
	if r.flags != "" {
		head = r.flags + "  " + r.name
	}
	l.out.write([]byte(l.indent + l.out.paint(bold, l.out.inline(head)) + "\n"))
	for line := range strings.Lines(strings.TrimSpace(r.about)) {
		for _, part := range wrap(strings.TrimRight(line, " \r\n"), l.room(len(l.indent)+4)) {
			l.out.line(plain, l.indent+"    "+part)
		}
	}
	var widths [2]int
	for _, d := range r.details {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(d[i]))
		}
	}
	inner := &listing{out: l.out, indent: l.indent + "    "}
	for _, d := range r.details {
		inner.entry(d[:2], widths[:], d[2], plain)
	}
}

// room is the width left beside what is there already; 0 is no limit.
func (l *listing) room(taken int) int {
	if l.out.width == 0 {
		return 0
	}
	return max(20, l.out.width-taken)
}

// entry shows columns and a text beside them, wrapped to the terminal.
func (l *listing) entry(columns []string, widths []int, text string, s style) {
	var head strings.Builder
	head.WriteString(l.indent)
	for i, c := range columns {
		if i > 0 {
			head.WriteString("  ")
		}
		head.WriteString(pad(l.out.inline(c), widths[i]))
	}
	// The width of the head as it is meant, were a long name not to stick out.
	taken := len(l.indent) + 2
	for _, w := range widths {
		taken += w + 2
	}
	taken -= 2
	if text == "" {
		l.out.line(s, strings.TrimRight(head.String(), " "))
		return
	}
	lines := wrap(text, l.room(taken))
	if l.out.terminal && utf8.RuneCountInString(head.String())+2 > taken {
		l.out.line(s, head.String())
	} else {
		l.out.write([]byte(l.out.paint(s, head.String()) + "  " + l.out.clean(lines[0]) + "\n"))
		lines = lines[1:]
	}
	for _, line := range lines {
		l.out.line(plain, strings.Repeat(" ", taken)+line)
	}
}
