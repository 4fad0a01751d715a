package skills

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
)

// A FrontmatterParser turns the text between the two lines of dashes at the head
// of a SKILL.md, which is YAML, into JSON values.
type FrontmatterParser func(yaml []byte) (map[string]any, error)

// frontmatter returns the head of a SKILL.md, as a parser reads it.
func frontmatter(markdown []byte, parse FrontmatterParser) (map[string]any, error) {
	head, err := cutFrontmatter(markdown)
	if err != nil {
		return nil, err
	}
	if parse == nil {
		parse = ParseFrontmatter
	}
	return parse(head)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// cutFrontmatter returns what stands between the lines of dashes.
func cutFrontmatter(markdown []byte) ([]byte, error) {
	rest := bytes.TrimPrefix(markdown, byteOrderMark)
	first := true
	var head []byte
	for line := range bytes.Lines(rest) {
		isFence := string(bytes.TrimRight(line, " \t\r\n")) == "---"
		switch {
		case first && !isFence:
			return nil, errors.New("it does not begin with a line of three dashes")
		case first:
			first = false
		case isFence:
			return head, nil
		default:
			head = append(head, line...)
		}
	}
	return nil, errors.New("its frontmatter does not end in a line of three dashes")
}

// sameFrontmatter compares a head with that of an entry, field by field, and says
// where they differ. Numbers are compared by value.
func sameFrontmatter(got, want map[string]any) error {
	for key, value := range want {
		other, ok := got[key]
		if !ok || !reflect.DeepEqual(plain(other), plain(value)) {
			return fmt.Errorf("%q in its frontmatter is not as listed", key)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			return fmt.Errorf("%q in its frontmatter is not listed", key)
		}
	}
	return nil
}

// plain makes all numbers of a value the same type.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[key] = plain(value)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, value := range v {
			s[i] = plain(value)
		}
		return s
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	case r.CanFloat():
		return r.Float()
	}
	return v
}
