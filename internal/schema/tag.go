package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	tagWord   = regexp.MustCompile(`^[A-Za-z]+=`)
	tagMember = regexp.MustCompile(`(^|,)(description|title|enum|minimum|maximum|exclusiveMinimum|exclusiveMaximum|` +
		`minLength|maxLength|minItems|maxItems|pattern|format|default|titles)=`)
)

// annotate adds what the jsonschema tag of a field says about it.
func annotate(s object, tag, path string) (object, error) {
	if tag == "" {
		return s, nil
	}
	if !tagWord.MatchString(tag) {
		return s.with("description", tag), nil
	}
	marks := tagMember.FindAllStringSubmatchIndex(tag, -1)
	if len(marks) == 0 || marks[0][0] != 0 {
		return nil, fmt.Errorf("%s: jsonschema tag starts with an unknown word %q", path, tagWord.FindString(tag))
	}
	for i, m := range marks {
		end := len(tag)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		var err error
		if s, err = s.constrain(tag[m[4]:m[5]], tag[m[1]:end]); err != nil {
			return nil, fmt.Errorf("%s: jsonschema tag: %w", path, err)
		}
	}
	return s, nil
}

// constrain returns s with one more keyword. What does not bind a list itself
// binds its items.
func (s object) constrain(keyword, text string) (object, error) {
	if s.typeName() == "array" && !ofLists[keyword] {
		for i, m := range s {
			if items, ok := m.value.(object); ok && m.name == "items" {
				items, err := items.constrain(keyword, text)
				s[i].value = items
				return s, err
			}
		}
	}
	want, have := wantedType(keyword), s.typeName()
	if want != "" && have != want && !(want == "number" && have == "integer") {
		return s, fmt.Errorf("%s needs a %s", keyword, want)
	}
	v, err := argument(keyword, text, have)
	return s.with(keyword, v), err
}

var ofLists = map[string]bool{"description": true, "title": true, "default": true, "minItems": true, "maxItems": true}

// argument reads the value of a keyword for a schema of the given type.
func argument(keyword, text, typ string) (any, error) {
	switch keyword {
	case "description", "title", "format":
		return text, nil
	case "default":
		return literal(text, typ)
	case "enum":
		var list []json.RawMessage
		for t := range strings.SplitSeq(text, "|") {
			v, err := literal(t, typ)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case titles:
		return titleList(text), nil
	case "pattern":
		_, err := newPattern(text)
		return text, err
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return literal(text, "number")
	}
	if _, err := strconv.ParseUint(text, 10, 31); err != nil {
		return nil, fmt.Errorf("%s must be a whole number, got %q", keyword, text)
	}
	return json.RawMessage(text), nil
}

func wantedType(keyword string) string {
	switch keyword {
	case "minLength", "maxLength", "pattern", "format":
		return "string"
	case "minItems", "maxItems":
		return "array"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return "number"
	}
	return ""
}

// literal reads a value of the tag: text for strings, JSON for all else.
func literal(text, typ string) (json.RawMessage, error) {
	if typ == "string" {
		return json.Marshal(text)
	}
	var v any // a number may be too large for it
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("%q is not a JSON value", text)
	}
	if f, err := strconv.ParseFloat(text, 64); (typ == "number" || typ == "integer") && (err != nil || typ == "integer" && f != float64(int64(f))) {
		return nil, fmt.Errorf("%q is not of type %s", text, typ)
	}
	return json.RawMessage(text), nil
}

// with returns a copy of s in which the member has the value.
func (s object) with(name string, value any) object {
	s = append(object{}, s...)
	for i := range s {
		if s[i].name == name {
			s[i].value = value
			return s
		}
	}
	return append(s, member{name, value})
}

func (s object) typeName() string {
	for _, m := range s {
		if t, ok := m.value.(string); ok && m.name == "type" {
			return t
		}
	}
	return ""
}
