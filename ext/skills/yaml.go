package skills

import (
	"errors"
	"fmt"
	"strings"
)

// The bounds of what ParseFrontmatter reads.
const (
	maxYAML  = 1 << 20
	maxDepth = 64
)

// ParseFrontmatter reads a mapping in the part of YAML 1.2 that people write at
// the head of documents: block and flow mappings and sequences, plain, quoted
// and block scalars, comments, and the types of the core schema. Whatever it
// would have to guess about is an error: anchors, aliases, tags, merge keys,
// complex keys, keys given twice, several documents, tabs as indentation. Numbers
// are int64 or float64. Options take another parser for the rest of YAML.
func ParseFrontmatter(yaml []byte) (map[string]any, error) {
	if len(yaml) > maxYAML {
		return nil, fmt.Errorf("yaml: more than %d bytes", maxYAML)
	}
	p := &yamlParser{}
	for i, text := range strings.Split(strings.TrimSuffix(string(yaml), "\n"), "\n") {
		text = strings.TrimSuffix(text, "\r")
		content := strings.TrimLeft(text, " ")
		p.lines = append(p.lines, yamlLine{number: i + 1, indent: len(text) - len(content), text: content})
	}
	v, err := p.block(0)
	if err == nil && p.next() {
		err = errors.New("it stands less or more to the right than what it belongs to")
	}
	if err != nil {
		return nil, fmt.Errorf("yaml: line %d: %w", p.line().number, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("yaml: not a mapping")
	}
	return m, nil
}

// A yamlParser reads the lines of a document from pos on.
type yamlParser struct {
	lines []yamlLine
	pos   int
	depth int
}

// A yamlLine is a line without the spaces in front.
type yamlLine struct {
	number, indent int
	text           string
}

func (l yamlLine) blank() bool { return strings.TrimRight(l.text, " \t") == "" }

// line returns the line that is read, or the last one.
func (p *yamlParser) line() yamlLine { return p.lines[min(p.pos, len(p.lines)-1)] }

// next goes to the next line that says something, and reports false at the end.
func (p *yamlParser) next() bool {
	for ; p.pos < len(p.lines); p.pos++ {
		if l := p.lines[p.pos]; !l.blank() && l.text[0] != '#' {
			return true
		}
	}
	return false
}

// block reads a collection or scalar whose lines are indented by least or more.
func (p *yamlParser) block(least int) (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errTooDeep
	}
	defer func() { p.depth-- }()
	if !p.next() || p.line().indent < least {
		return nil, nil
	}
	l := p.line()
	switch {
	case isItem(l.text):
		return p.sequence(l.indent)
	case isEntry(l.text):
		return p.mapping(l.indent)
	}
	p.pos++
	return p.inline(l.text, least-1)
}

var errTooDeep = fmt.Errorf("more than %d levels", maxDepth)

// isItem reports whether a line is an item of a sequence.
func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

func (p *yamlParser) sequence(indent int) (any, error) {
	items := []any{}
	for p.next() && p.line().indent == indent && isItem(p.line().text) {
		rest := strings.TrimLeft(p.line().text[1:], " ")
		var item any
		var err error
		if rest == "" || rest[0] == '#' {
			p.pos++
			item, err = p.block(indent + 1)
		} else if isItem(rest) || isEntry(rest) {
			// A collection that begins behind the dash: as if on a line of its own.
			l := &p.lines[p.pos]
			l.indent, l.text = indent+len(l.text)-len(rest), rest
			item, err = p.block(l.indent)
		} else {
			p.pos++
			item, err = p.inline(rest, indent)
		}
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, p.aligned(indent)
}

func (p *yamlParser) mapping(indent int) (any, error) {
	m := map[string]any{}
	for p.next() && p.line().indent == indent {
		key, rest, err := cutKey(p.line().text)
		if err != nil {
			return nil, err
		}
		if _, ok := m[key]; ok {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		p.pos++
		if m[key], err = p.value(rest, indent); err != nil {
			return nil, err
		}
	}
	return m, p.aligned(indent)
}

// aligned complains about a line that belongs to a collection but stands too far
// to the right.
func (p *yamlParser) aligned(indent int) error {
	if p.next() && p.line().indent > indent {
		return errors.New("it stands too far to the right")
	}
	return nil
}

// value reads what stands behind the colon of an entry, or below it.
func (p *yamlParser) value(rest string, indent int) (any, error) {
	if rest != "" && rest[0] != '#' {
		return p.inline(rest, indent)
	}
	if p.next() && p.line().indent == indent && isItem(p.line().text) {
		return p.sequence(indent) // needs no indentation below a key
	}
	return p.block(indent + 1)
}

// isEntry reports whether a line begins with a key.
func isEntry(text string) bool {
	_, _, err := cutKey(text)
	return err == nil
}

var errNoKey = errors.New("it is not a key with a colon")

// cutKey splits an entry of a mapping into its key and what is behind the colon.
func cutKey(text string) (key, rest string, err error) {
	switch {
	case text[0] == '"' || text[0] == '\'':
		q := quotedText{}
		if done, err := q.add(text); err != nil || !done {
			return "", "", errNoKey
		}
		key, rest = q.text.String(), strings.TrimLeft(q.rest, " ")
		if !strings.HasPrefix(rest, ":") || len(rest) > 1 && rest[1] != ' ' {
			return "", "", errNoKey
		}
		return key, strings.TrimLeft(rest[1:], " "), nil
	case strings.ContainsRune("[]{},|>#\t", rune(text[0])):
		return "", "", errNoKey
	}
	plain := uncomment(text)
	i := strings.Index(plain+" ", ": ")
	if i <= 0 {
		return "", "", errNoKey
	}
	key = strings.TrimRight(plain[:i], " ")
	if err := checkPlain(key); err != nil {
		return "", "", err
	}
	if key == "<<" {
		return "", "", errors.New("merge keys are not supported")
	}
	return key, strings.TrimLeft(text[i+1:], " \t"), nil
}

// uncomment returns a text without the comment at its end.
func uncomment(text string) string {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
		}
	}
	return strings.TrimRight(text, " \t")
}
