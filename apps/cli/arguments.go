package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// maxValue bounds a value that is read from a file.
const maxValue = 64 << 20

// An argument is one key=value or key:=json of the command line.
type argument struct {
	key, value string
	json       bool
}

// parseArguments reads arguments, and the files that their values name.
func (p *program) parseArguments(args []string) ([]argument, error) {
	var list []argument
	for _, text := range args {
		key, value, found := strings.Cut(text, "=")
		key, isJSON := strings.CutSuffix(key, ":")
		if !found || key == "" {
			return nil, usagef("%q: an argument must have the form key=value or key:=json", text)
		}
		value, err := p.value(value)
		if err != nil {
			return nil, usagef("argument %s: %w", key, err)
		}
		if isJSON && !json.Valid([]byte(value)) {
			return nil, usagef("argument %s: %q is not JSON; for a text write %s=...", key, value, key)
		}
		list = append(list, argument{key, value, isJSON})
	}
	return list, nil
}

// value reads what follows the equals sign: @FILE is the content of a file, @-
// that of standard input, and @@ begins a text with an @.
func (p *program) value(text string) (string, error) {
	name, found := strings.CutPrefix(text, "@")
	switch {
	case !found:
		return text, nil
	case strings.HasPrefix(name, "@"):
		return name, nil
	case name == "-":
		return p.standardInput()
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w (a text that begins with @ is written @@)", err)
	}
	defer f.Close()
	return readAll(f)
}

func (p *program) standardInput() (string, error) { return readAll(p.stdin) }

func readAll(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxValue+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxValue:
		return "", fmt.Errorf("more than %s", size(maxValue))
	}
	return string(b), nil
}

// An object is a JSON object in the order in which it is written.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *object) set(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// MarshalJSON writes the object.
func (o *object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), o.values[name]...)
	}
	return append(out, '}'), nil
}

// base reads --args: JSON, @FILE, or - for standard input.
func (p *program) base(text string) (*object, error) {
	o := new(object)
	if text == "" {
		return o, nil
	}
	var err error
	switch {
	case text == "-":
		text, err = p.standardInput()
	case strings.HasPrefix(text, "@"):
		text, err = p.value(text)
	}
	if err != nil {
		return nil, usagef("--args: %w", err)
	}
	var read map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &read); err != nil || read == nil {
		return nil, usagef("--args must be a JSON object, got %q", firstLine(text))
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		o.set(name, read[name])
	}
	return o, nil
}

// toolArguments makes the arguments of a call from those of the command line.
// What --args gave is sent as it is; the rest is checked for mistakes that can
// be explained better here than by the server.
func toolArguments(tool string, s *schema, base *object, args []argument) (json.RawMessage, error) {
	checked := len(base.names) == 0
	given := map[string][]argument{}
	for _, a := range args {
		given[a.key] = append(given[a.key], a)
	}
	for _, a := range args {
		same := given[a.key]
		if same == nil {
			continue // has been dealt with
		}
		delete(given, a.key)
		value, err := toolArgument(tool, s, same)
		if err != nil {
			return nil, err
		}
		base.set(a.key, value)
	}
	for _, name := range s.Required {
		if _, ok := base.values[name]; !ok && checked {
			return nil, missing(tool, name, s)
		}
	}
	return base.MarshalJSON()
}

// missing tells which argument a tool needs.
func missing(tool, name string, s *schema) error {
	property := s.property(name)
	if property == nil {
		property = new(schema)
	}
	text := fmt.Sprintf("%s needs the argument %s (%s)", tool, name, property.kind(s))
	if about := firstLine(property.Description); about != "" {
		text += ": " + about
	}
	return &usageError{err: errors.New(text)}
}

// toolArgument makes the value of one argument, which may be given more than
// once if it is a list.
func toolArgument(tool string, s *schema, same []argument) (json.RawMessage, error) {
	key := same[0].key
	property := s.property(key)
	if property == nil {
		if s.closed() {
			unknown := usagef("%s has no argument %q", tool, key)
			unknown.hint = suggest("arguments", key, propertyNames(s))
			return nil, unknown
		}
		property = new(schema)
	}
	types := property.types(s)
	isList := slices.Contains(types, "array") && !slices.Contains(types, "string")
	if isList && !same[0].json && (len(same) > 1 || !strings.HasPrefix(strings.TrimSpace(same[0].value), "[")) {
		return listArgument(s, property, same)
	}
	if len(same) > 1 {
		return nil, usagef("argument %s: given %d times, but it is no list", key, len(same))
	}
	if same[0].json {
		return json.RawMessage(same[0].value), nil
	}
	value, err := property.convert(s, same[0].value)
	if err != nil {
		return nil, usagef("argument %s: %w", key, err)
	}
	return value, nil
}

// listArgument makes a list of arguments with the same name.
func listArgument(root, property *schema, same []argument) (json.RawMessage, error) {
	items := property.follow(root).Items
	if items == nil {
		items = new(schema)
	}
	list := make([]json.RawMessage, 0, len(same))
	for _, a := range same {
		value := json.RawMessage(a.value)
		if !a.json {
			var err error
			if value, err = items.convert(root, a.value); err != nil {
				return nil, usagef("argument %s: an element: %w", a.key, err)
			}
		}
		list = append(list, value)
	}
	return json.Marshal(list)
}

func propertyNames(s *schema) []string {
	names := make([]string, len(s.Properties))
	for i, m := range s.Properties {
		names[i] = m.name
	}
	return names
}

// promptArguments makes the arguments of a prompt, which are all texts.
func promptArguments(prompt mcp.Prompt, args []argument) (map[string]string, error) {
	values := map[string]string{}
	var names []string
	for _, a := range prompt.Arguments {
		names = append(names, a.Name)
	}
	for _, a := range args {
		if !slices.Contains(names, a.key) {
			unknown := usagef("prompt %s has no argument %q", prompt.Name, a.key)
			unknown.hint = suggest("arguments", a.key, names)
			return nil, unknown
		}
		if _, again := values[a.key]; again {
			return nil, usagef("argument %s: given twice", a.key)
		}
		values[a.key] = a.text()
	}
	for _, a := range prompt.Arguments {
		if _, ok := values[a.Name]; a.Required && !ok {
			text := fmt.Sprintf("prompt %s needs the argument %s", prompt.Name, a.Name)
			if about := firstLine(a.Description); about != "" {
				text += ": " + about
			}
			return nil, &usageError{err: errors.New(text)}
		}
	}
	return values, nil
}

// text is the argument as a text: a JSON string is what it says.
func (a argument) text() string {
	var s string
	if a.json && json.Unmarshal([]byte(a.value), &s) == nil {
		return s
	}
	return a.value
}
