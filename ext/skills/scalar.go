package skills

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// inline reads a value that begins within a line. What belongs to it on the lines
// below is indented by more than indent.
func (p *yamlParser) inline(text string, indent int) (any, error) {
	switch text[0] {
	case '"', '\'':
		return p.quoted(text, indent)
	case '[', '{':
		return p.flow(text, indent)
	case '|', '>':
		return p.blockScalar(text, indent)
	}
	plain, err := p.plain(text, indent)
	if err != nil {
		return nil, err
	}
	return resolve(plain)
}

// continuation returns the next line if it belongs to a scalar that is indented
// by more than indent, and how many blank lines are in between.
func (p *yamlParser) continuation(indent int) (text string, blank int, ok bool) {
	for i := p.pos; i < len(p.lines); i++ {
		l := p.lines[i]
		if l.blank() {
			blank++
			continue
		}
		if l.indent <= indent {
			break
		}
		p.pos = i + 1
		return strings.Trim(l.text, " \t"), blank, true
	}
	return "", 0, false
}

// plain reads a text without quotes, whose lines are folded into one.
func (p *yamlParser) plain(text string, indent int) (string, error) {
	var b strings.Builder
	for blank := 0; ; {
		plain := uncomment(text)
		if err := checkPlain(plain); b.Len() == 0 && err != nil {
			return "", err
		}
		if strings.Contains(plain+" ", ": ") {
			return "", errors.New("there is a colon in a text without quotes")
		}
		fold(&b, blank)
		b.WriteString(plain)
		if len(plain) < len(strings.TrimRight(text, " \t")) {
			return b.String(), nil // a comment ends it
		}
		at := p.pos
		var more bool
		if text, blank, more = p.continuation(indent); !more {
			return b.String(), nil
		}
		if text[0] == '#' {
			p.pos = at
			return b.String(), nil
		}
	}
}

// fold puts what a line break becomes behind a text, if there is one.
func fold(b *strings.Builder, blank int) {
	switch {
	case blank > 0:
		b.WriteString(strings.Repeat("\n", blank))
	case b.Len() > 0:
		b.WriteByte(' ')
	}
}

// checkPlain says why a text needs quotes.
func checkPlain(text string) error {
	if text == "" {
		return nil
	}
	c := text[0]
	if strings.IndexByte("\t&*!%@`,]}|>\"'[{#", c) >= 0 {
		return fmt.Errorf("a text that begins with %q needs quotes", c)
	}
	if (c == '-' || c == '?' || c == ':') && (len(text) == 1 || text[1] == ' ') {
		return fmt.Errorf("%q cannot begin a text without quotes", c)
	}
	return nil
}

var (
	yamlInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	yamlRadix = regexp.MustCompile(`^(0o[0-7]+|0x[0-9a-fA-F]+)$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	yamlOther = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// resolve gives a plain text its type, as the core schema does.
func resolve(text string) (any, error) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	}
	switch {
	case yamlInt.MatchString(text):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	case yamlRadix.MatchString(text):
		n, err := strconv.ParseInt(text, 0, 64)
		return n, err
	case yamlOther.MatchString(text):
		return nil, fmt.Errorf("JSON has no %s", text)
	}
	if yamlFloat.MatchString(text) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s is too large", text)
		}
		return f, nil
	}
	return text, nil
}

// quoted reads a text in quotes, which may go on for several lines.
func (p *yamlParser) quoted(text string, indent int) (any, error) {
	q := quotedText{}
	done, err := q.add(text)
	for err == nil && !done {
		line, blank, ok := p.continuation(indent)
		if !ok {
			return nil, errors.New("the quotes are not closed")
		}
		q.fold(blank)
		done, err = q.add(line)
	}
	if err != nil {
		return nil, err
	}
	if rest := strings.TrimLeft(q.rest, " \t"); rest != "" && (rest[0] != '#' || len(rest) == len(q.rest)) {
		return nil, fmt.Errorf("there is %q behind the quotes", rest)
	}
	return q.text.String(), nil
}

// A quotedText is a text in quotes as it is read line by line.
type quotedText struct {
	quote   byte // 0 before the first line
	text    strings.Builder
	rest    string // what stands behind the closing quote
	escaped bool   // the line ended in a backslash: nothing stands for the break
}

// fold adds what the line break became that has been passed.
func (q *quotedText) fold(blank int) {
	if blank > 0 {
		q.text.WriteString(strings.Repeat("\n", blank))
	} else if !q.escaped {
		q.text.WriteByte(' ')
	}
	q.escaped = false
}

// add reads a line, the first one with its quote, and reports whether the closing
// quote was there.
func (q *quotedText) add(line string) (done bool, err error) {
	if q.quote == 0 {
		q.quote, line = line[0], line[1:]
	}
	line = strings.TrimRight(line, "\t")
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' && q.quote == c && strings.HasPrefix(line[i+1:], "'"):
			q.text.WriteByte(c)
			i++
		case c == q.quote:
			q.rest = line[i+1:]
			return true, nil
		case c == '\\' && q.quote == '"':
			n, err := q.escape(line[i+1:])
			if err != nil {
				return false, err
			}
			i += n
		default:
			q.text.WriteByte(c)
		}
	}
	return false, nil
}

// escapes are the characters behind a backslash that stand for one character.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`,
	'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads what follows a backslash and returns how long that is.
func (q *quotedText) escape(rest string) (int, error) {
	if rest == "" {
		q.escaped = true
		return 0, nil
	}
	if s, ok := escapes[rest[0]]; ok {
		q.text.WriteString(s)
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[0]]
	if digits == 0 || len(rest) <= digits {
		return 0, fmt.Errorf("there is no escape \\%.1s", rest)
	}
	n, err := strconv.ParseUint(rest[1:1+digits], 16, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, fmt.Errorf("\\%s is not a character", rest[:1+digits])
	}
	q.text.WriteRune(rune(n))
	return 1 + digits, nil
}

// blockScalar reads the lines below | or >, which keep their breaks or lose them.
func (p *yamlParser) blockScalar(header string, indent int) (any, error) {
	style, chomp, width := header[0], byte(0), 0
	for _, c := range []byte(uncomment(header)[1:]) {
		switch {
		case (c == '-' || c == '+') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && width == 0:
			width = max(indent, 0) + int(c-'0')
		default:
			return nil, fmt.Errorf("%q is not the beginning of a text", header)
		}
	}
	var lines []string
	for ; p.pos < len(p.lines); p.pos++ {
		l := p.lines[p.pos]
		if strings.Trim(l.text, " ") == "" {
			if width == 0 {
				lines = append(lines, "")
			} else {
				lines = append(lines, strings.Repeat(" ", max(0, l.indent-width)))
			}
			continue
		}
		if width == 0 {
			width = max(l.indent, 1)
		}
		if l.indent <= indent || l.indent < width {
			break
		}
		lines = append(lines, strings.Repeat(" ", l.indent-width)+l.text)
	}
	return assemble(lines, style == '>', chomp), nil
}

// assemble makes a text of the lines of a block scalar.
func assemble(lines []string, folded bool, chomp byte) string {
	var b strings.Builder
	blank, before, any := 0, "", false
	for _, line := range lines {
		if line == "" {
			blank++
			continue
		}
		switch {
		case !any:
			b.WriteString(strings.Repeat("\n", blank))
		case !folded || indented(before) || indented(line):
			b.WriteString(strings.Repeat("\n", blank+1))
		default:
			fold(&b, blank)
		}
		b.WriteString(line)
		blank, before, any = 0, line, true
	}
	if chomp != '-' && any {
		b.WriteByte('\n')
	}
	if chomp == '+' {
		b.WriteString(strings.Repeat("\n", blank))
	}
	return b.String()
}

// indented reports whether a line keeps the breaks around it.
func indented(line string) bool { return line[0] == ' ' || line[0] == '\t' }
