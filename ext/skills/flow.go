package skills

import (
	"errors"
	"fmt"
	"strings"
)

// flow reads a collection in brackets or braces.
func (p *yamlParser) flow(text string, indent int) (any, error) {
	f := &flowParser{text: text, more: func() (string, bool) {
		line, _, ok := p.continuation(indent)
		return line, ok
	}}
	v, err := f.value(0)
	if err != nil {
		return nil, err
	}
	if rest := f.text[f.pos:]; uncomment(" "+rest) != "" {
		return nil, fmt.Errorf("there is %q behind the bracket", rest)
	}
	return v, nil
}

// A flowParser reads a text that gets longer by a line where it ends too early.
type flowParser struct {
	text string
	pos  int
	more func() (line string, ok bool)
}

var errOpen = errors.New("a bracket is not closed")

// peek skips spaces, breaks and comments and returns the next character.
func (f *flowParser) peek() (byte, error) {
	for {
		for f.pos < len(f.text) && (f.text[f.pos] == ' ' || f.text[f.pos] == '\t') {
			f.pos++
		}
		if f.pos < len(f.text) && (f.text[f.pos] != '#' || f.pos > 0 && f.text[f.pos-1] != ' ' && f.text[f.pos-1] != '\t') {
			return f.text[f.pos], nil
		}
		line, ok := f.more()
		if !ok {
			return 0, errOpen
		}
		f.text, f.pos = " "+line, 0
	}
}

func (f *flowParser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	c, err := f.peek()
	if err != nil {
		return nil, err
	}
	switch c {
	case '[':
		return f.sequence(depth)
	case '{':
		return f.mapping(depth)
	case '"', '\'':
		return f.quoted()
	}
	text, err := f.plain()
	if err != nil {
		return nil, err
	}
	return resolve(text)
}

func (f *flowParser) sequence(depth int) (any, error) {
	f.pos++
	items := []any{}
	for {
		c, err := f.peek()
		if err != nil {
			return nil, err
		}
		if c == ']' {
			f.pos++
			return items, nil
		}
		item, err := f.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if err := f.separator(']'); err != nil {
			return nil, err
		}
	}
}

func (f *flowParser) mapping(depth int) (any, error) {
	f.pos++
	m := map[string]any{}
	for {
		c, err := f.peek()
		if err != nil {
			return nil, err
		}
		if c == '}' {
			f.pos++
			return m, nil
		}
		key, err := f.key(c)
		if err != nil {
			return nil, err
		}
		if _, ok := m[key]; ok {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		if m[key], err = f.entryValue(depth); err != nil {
			return nil, err
		}
		if err := f.separator('}'); err != nil {
			return nil, err
		}
	}
}

func (f *flowParser) key(c byte) (string, error) {
	if c != '"' && c != '\'' {
		key, err := f.plain()
		if err == nil && (key == "" || key == "<<") {
			err = errors.New("a key is missing, or one for merging")
		}
		return key, err
	}
	key, err := f.quoted()
	if err != nil {
		return "", err
	}
	return key.(string), nil
}

// entryValue reads what follows a key: a colon and a value, or nothing.
func (f *flowParser) entryValue(depth int) (any, error) {
	c, err := f.peek()
	if err != nil || c != ':' {
		return nil, err
	}
	f.pos++
	if c, err = f.peek(); err != nil || c == ',' || c == '}' {
		return nil, err
	}
	return f.value(depth + 1)
}

// separator reads the comma behind an element, unless the collection ends.
func (f *flowParser) separator(end byte) error {
	c, err := f.peek()
	switch {
	case err != nil:
		return err
	case c == ',':
		f.pos++
	case c != end:
		return fmt.Errorf("there is %q where a comma should be", c)
	}
	return nil
}

func (f *flowParser) quoted() (any, error) {
	q := quotedText{}
	for {
		done, err := q.add(f.text[f.pos:])
		if err != nil {
			return nil, err
		}
		if done {
			f.pos = len(f.text) - len(q.rest)
			return q.text.String(), nil
		}
		line, ok := f.more()
		if !ok {
			return nil, errOpen
		}
		q.fold(0)
		f.text, f.pos = line, 0
	}
}

// plain reads a text without quotes up to an indicator; it ends with the line.
func (f *flowParser) plain() (string, error) {
	start := f.pos
	for f.pos < len(f.text) {
		c := f.text[f.pos]
		if strings.IndexByte(",[]{}", c) >= 0 || c == '#' && f.text[f.pos-1] == ' ' {
			break
		}
		if c == ':' && (f.pos+1 == len(f.text) || strings.IndexByte(" ,]}", f.text[f.pos+1]) >= 0) {
			break
		}
		f.pos++
	}
	text := strings.TrimRight(f.text[start:f.pos], " \t")
	if text == "" {
		return "", errors.New("a value is missing")
	}
	return text, checkPlain(text)
}
