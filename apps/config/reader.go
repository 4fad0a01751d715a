package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const (
	// maxDepth bounds nesting before the recursive parser sees the file.
	maxDepth = 64
	// maxErrors is how many errors one file is given: more do not help.
	maxErrors = 20
)

// A reader goes through one file and collects what is wrong with it, so that a
// person can correct everything at once.
type reader struct {
	file     string
	dir      string
	lookup   func(string) (string, bool)
	data     []byte
	warnings []Warning
	errs     []error
}

// config reads the whole file. The result counts only if r.errs is empty.
func (r *reader) config(data []byte) *Config {
	root, ok := r.parse(data)
	if !ok {
		return nil
	}
	cfg := &Config{Path: r.file, Dir: r.dir}
	var standard, code *member
	for _, m := range r.members(root, "", "the file") {
		switch m.name {
		case "mcpServers":
			standard = &m
		case "servers":
			code = &m
		case "ferry":
			cfg.Ferry = r.ferry(m.value)
		case "inputs":
			r.warn(m.at, "inputs are ignored, nobody is there to be asked: use ${env:NAME} where an input is used")
		case "$schema":
		default:
			r.warn(m.at, "unknown member %q is ignored", m.name)
		}
	}
	switch {
	case standard != nil && code != nil:
		r.warn(code.at, `"servers" is ignored because there is "mcpServers"`)
		fallthrough
	case standard != nil:
		cfg.Servers = r.servers(standard.value)
	case code != nil:
		cfg.Servers = r.servers(code.value)
	case len(cfg.Ferry.Builtins) == 0:
		r.warn(root.StartOffset, `no server: there is neither "mcpServers" nor "servers"`)
	}
	r.prefixes(cfg)
	return cfg
}

// prefixes warns of servers whose names will run into each other.
func (r *reader) prefixes(cfg *Config) {
	seen := map[string]string{}
	for _, list := range [][]Server{cfg.Servers, cfg.Ferry.Builtins} {
		for _, s := range list {
			if s.Disabled || s.Prefix == "" {
				continue
			}
			if first, ok := seen[s.Prefix]; ok {
				r.warnings = append(r.warnings, Warning{r.file, s.Line, s.Column, fmt.Sprintf(
					"servers %q and %q have the same prefix %q: where names are the same the first wins", first, s.Name, s.Prefix)})
				continue
			}
			seen[s.Prefix] = s.Name
		}
	}
}

// parse makes a tree of the file. A mark at the beginning, which Windows
// editors leave, is skipped; a comment may end the file without a line end.
func (r *reader) parse(data []byte) (hujson.Value, bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxFile {
		r.fail("", 0, "the file is over %d bytes", maxFile)
		return hujson.Value{}, false
	}
	r.data = append(bytes.Clone(data), '\n')
	if at, ok := firstInvalid(r.data); ok {
		r.fail("", at, "not valid UTF-8")
		return hujson.Value{}, false
	}
	if at, ok := tooDeep(r.data); ok {
		r.fail("", at, "nested deeper than %d", maxDepth)
		return hujson.Value{}, false
	}
	if len(bytes.TrimSpace(r.data)) == 0 {
		r.fail("", 0, `the file is empty: write {"mcpServers": {}}`)
		return hujson.Value{}, false
	}
	root, err := hujson.Parse(r.data)
	if err != nil {
		r.syntax(err)
		return hujson.Value{}, false
	}
	return root, true
}

// syntax reports a parser's error. Its place is part of its text; a literal
// that it quotes is left out, since it may be a secret.
func (r *reader) syntax(err error) {
	e := &Error{File: r.file, Line: 1, Column: 1, Message: err.Error()}
	if _, scanErr := fmt.Sscanf(e.Message, "hujson: line %d, column %d:", &e.Line, &e.Column); scanErr == nil {
		_, e.Message, _ = strings.Cut(e.Message, ": ")
		_, e.Message, _ = strings.Cut(e.Message, ": ")
	}
	if strings.HasPrefix(e.Message, "invalid literal") {
		e.Message = `not a valid JSON value: in a string, a backslash is written \\, and only \n, \t and the like stand for something else`
	}
	r.add(e)
}

// firstInvalid finds the first byte that is not part of UTF-8.
func firstInvalid(data []byte) (int, bool) {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i, true
		}
		i += n
	}
	return 0, false
}

// tooDeep finds where nesting passes the limit, ignoring strings and comments.
func tooDeep(data []byte) (int, bool) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '/':
			i = skipComment(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// skipString returns where the string that begins at i ends.
func skipString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment returns where the comment that begins at i ends; i if none does.
func skipComment(data []byte, i int) int {
	end := "\n"
	switch {
	case bytes.HasPrefix(data[i:], []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(data[i:], []byte("//")):
		return i
	}
	n := bytes.Index(data[i+2:], []byte(end))
	if n < 0 {
		return len(data)
	}
	return i + 2 + n + len(end) - 1
}

// position turns an offset into a line and a column, both from 1.
func (r *reader) position(at int) (line, column int) {
	before := r.data[:min(at, len(r.data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// warn adds a warning about what is at an offset.
func (r *reader) warn(at int, format string, args ...any) {
	line, column := r.position(at)
	r.warnings = append(r.warnings, Warning{r.file, line, column, fmt.Sprintf(format, args...)})
}

// fail adds an error about what is at an offset.
func (r *reader) fail(server string, at int, format string, args ...any) {
	line, column := r.position(at)
	r.add(&Error{File: r.file, Line: line, Column: column, Server: server, Message: fmt.Sprintf(format, args...)})
}

// failWith adds an error that expanding a value gave.
func (r *reader) failWith(server string, at int, what string, err error) {
	line, column := r.position(at)
	e := &Error{File: r.file, Line: line, Column: column, Server: server, Message: what + ": " + err.Error()}
	if missing, ok := errors.AsType[*missingError](err); ok {
		e.Variable = missing.name
	}
	r.add(e)
}

// add keeps an error, if there are not too many yet.
func (r *reader) add(e *Error) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, e)
	}
}

// A member is one name and value of an object.
type member struct {
	name  string
	at    int
	value hujson.Value
}

// members gives the members of an object in order. A value of another kind and
// a name that comes twice are errors: the second would silently replace the first.
func (r *reader) members(v hujson.Value, server, what string) []member {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fail(server, v.StartOffset, "%s must be an object, not %s", what, kindOf(v))
		return nil
	}
	list := make([]member, 0, len(object.Members))
	seen := make(map[string]bool, len(object.Members))
	for _, m := range object.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if seen[name] {
			r.fail(server, m.Name.StartOffset, "%q comes twice in %s", name, what)
			continue
		}
		seen[name] = true
		list = append(list, member{name, m.Name.StartOffset, m.Value})
	}
	return list
}

// text reads a string.
func (r *reader) text(v hujson.Value, server, what string) string {
	if v.Value.Kind() != '"' {
		r.fail(server, v.StartOffset, "%s must be a string, not %s", what, kindOf(v))
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// texts reads an array of strings.
func (r *reader) texts(v hujson.Value, server, what string) []hujson.Value {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		r.fail(server, v.StartOffset, "%s must be an array of strings, not %s", what, kindOf(v))
		return nil
	}
	return array.Elements
}

// flag reads a boolean.
func (r *reader) flag(v hujson.Value, server, what string) bool {
	if k := v.Value.Kind(); k != 't' && k != 'f' {
		r.fail(server, v.StartOffset, "%s must be true or false, not %s", what, kindOf(v))
		return false
	}
	return v.Value.(hujson.Literal).Bool()
}

// kindOf names what a value is, without showing it.
func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
