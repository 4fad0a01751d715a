package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/tailscale/hujson"
)

// maxName bounds a server's name: it becomes part of the names of its tools.
const maxName = 128

var (
	// toolPart is what may stand in a tool's name, so in prefix and separator.
	toolPart = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,64}$`)
	// notToolPart is what a name loses when it becomes a prefix.
	notToolPart = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	// headerName is a token of HTTP.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// servers reads the object of entries.
func (r *reader) servers(v hujson.Value) []Server {
	var list []Server
	for _, m := range r.members(v, "", "the list of servers") {
		if why := badName(m.name); why != "" {
			r.fail("", m.at, "the server name %q %s", m.name, why)
			continue
		}
		e := &entry{reader: r, at: m.at, server: Server{Name: m.name}}
		e.members = r.members(m.value, m.name, "the entry")
		list = append(list, e.read())
	}
	return list
}

// badName says what is wrong with a server's name; empty if nothing is.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("is over %d bytes", maxName)
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space"
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return "holds a character that cannot be printed"
	}
	return ""
}

// An entry is a server while it is read.
type entry struct {
	*reader
	at      int // where the entry begins
	members []member
	server  Server
	kind    string // what "type" says
	prefix  bool   // whether the prefix was said
}

// read reads the members of an entry and checks that they go together.
func (e *entry) read() Server {
	e.server.Line, e.server.Column = e.position(e.at)
	for _, m := range e.members {
		// Disabled entries are not expanded: nobody needs their variables.
		if m.name == "disabled" {
			e.server.Disabled = e.flag(m.value, e.server.Name, `"disabled"`)
		}
	}
	for _, m := range e.members {
		e.member(m)
	}
	e.check()
	e.choosePrefix()
	return e.server
}

// member reads one member.
func (e *entry) member(m member) {
	s, what := &e.server, fmt.Sprintf("%q", m.name)
	switch m.name {
	case "disabled":
	case "type":
		e.kind = e.text(m.value, s.Name, what)
	case "command":
		s.Command = e.value(m.value, what)
	case "args":
		s.Args = e.values(m.value, what)
	case "env":
		s.Env = e.env(m.value)
	case "cwd":
		s.Cwd = e.value(m.value, what)
	case "url":
		s.URL = e.value(m.value, what)
		e.checkURL(m.value.StartOffset)
	case "headers":
		s.Headers = e.headers(m.value)
	default:
		if !e.option(m) {
			e.warn(m.at, "server %q: unknown member %q is ignored", s.Name, m.name)
		}
	}
}

// option reads a member that entries of every kind share, and reports whether
// it is one.
func (e *entry) option(m member) bool {
	s, what := &e.server, fmt.Sprintf("%q", m.name)
	switch m.name {
	case "prefix":
		s.Prefix, e.prefix = e.text(m.value, s.Name, what), true
		if !toolPart.MatchString(s.Prefix) {
			e.fail(s.Name, m.value.StartOffset, `"prefix" may hold up to 64 letters, digits, "_", "-" and "."; "" means none`)
		}
	case "timeout":
		s.Timeout = e.timeout(m.value)
	case "tools":
		s.Tools = e.filter(m.value)
	default:
		return false
	}
	return true
}

// value reads a string and puts variables in.
func (e *entry) value(v hujson.Value, what string) string {
	raw := e.text(v, e.server.Name, what)
	if e.server.Disabled {
		return raw
	}
	s, err := e.expand(raw)
	if err != nil {
		e.failWith(e.server.Name, v.StartOffset, what, err)
		return ""
	}
	if strings.ContainsRune(s, 0) {
		e.fail(e.server.Name, v.StartOffset, "%s holds a zero byte", what)
		return ""
	}
	return s
}

// values reads an array of strings and puts variables in.
func (e *entry) values(v hujson.Value, what string) []string {
	var list []string
	for i, item := range e.texts(v, e.server.Name, what) {
		list = append(list, e.value(item, fmt.Sprintf("%s[%d]", what, i)))
	}
	return list
}

// env reads the variables of a command. Numbers and booleans, which people
// write for ports and switches, are taken as written.
func (e *entry) env(v hujson.Value) Secrets {
	vars := Secrets{}
	for _, m := range e.reader.members(v, e.server.Name, `"env"`) {
		what := fmt.Sprintf("env %q", m.name)
		if m.name == "" || strings.ContainsAny(m.name, "=\x00") {
			e.fail(e.server.Name, m.at, "%s is not a name for a variable", what)
			continue
		}
		switch m.value.Value.Kind() {
		case 'n':
			e.warn(m.at, "server %q: %s is null and ignored", e.server.Name, what)
		case '0', 't', 'f':
			vars[m.name] = string(m.value.Value.(hujson.Literal))
		default:
			vars[m.name] = e.value(m.value, what)
		}
	}
	return vars
}

// headers reads the headers that go with every request.
func (e *entry) headers(v hujson.Value) Secrets {
	headers := Secrets{}
	for _, m := range e.reader.members(v, e.server.Name, `"headers"`) {
		what := fmt.Sprintf("header %q", m.name)
		if !headerName.MatchString(m.name) {
			e.fail(e.server.Name, m.at, "%s is not a name for a header", what)
			continue
		}
		value := e.value(m.value, what)
		if strings.ContainsFunc(value, unicode.IsControl) {
			e.fail(e.server.Name, m.value.StartOffset, "%s holds a control character, such as a line end", what)
			continue
		}
		headers[m.name] = value
	}
	return headers
}

// timeout reads a duration. Other programs write a number of milliseconds.
func (e *entry) timeout(v hujson.Value) time.Duration {
	const want = `"timeout" must be a duration over zero such as "30s"`
	var d time.Duration
	switch v.Value.Kind() {
	case '"':
		var err error
		if d, err = time.ParseDuration(v.Value.(hujson.Literal).String()); err != nil {
			e.fail(e.server.Name, v.StartOffset, want)
			return 0
		}
	case '0':
		ms := v.Value.(hujson.Literal).Float()
		if ms > 0 && ms < 1e12 {
			d = time.Duration(ms * float64(time.Millisecond))
			e.warn(v.StartOffset, `server %q: "timeout" without a unit is taken for milliseconds: write %q`, e.server.Name, d.String())
		}
	}
	if d <= 0 {
		e.fail(e.server.Name, v.StartOffset, want)
		return 0
	}
	return d
}

// filter reads which tools to show: an object, or only the names to allow.
func (e *entry) filter(v hujson.Value) Filter {
	var f Filter
	if v.Value.Kind() == '[' {
		f.Allow = e.patterns(v, `"tools"`)
		return f
	}
	for _, m := range e.reader.members(v, e.server.Name, `"tools"`) {
		switch m.name {
		case "allow":
			f.Allow = e.patterns(m.value, `"allow"`)
		case "deny":
			f.Deny = e.patterns(m.value, `"deny"`)
		default:
			e.warn(m.at, `server %q: unknown member %q of "tools" is ignored`, e.server.Name, m.name)
		}
	}
	return f
}

// patterns reads an array of patterns for names.
func (e *entry) patterns(v hujson.Value, what string) []string {
	var list []string
	for i, item := range e.texts(v, e.server.Name, what) {
		pattern := e.text(item, e.server.Name, fmt.Sprintf("%s[%d]", what, i))
		if _, err := path.Match(pattern, ""); err != nil {
			e.fail(e.server.Name, item.StartOffset, "%s[%d]: %q is not a valid pattern", what, i, pattern)
			continue
		}
		list = append(list, pattern)
	}
	return list
}

// checkURL checks the address of a server. The address itself is not shown:
// a variable may have put a key into it.
func (e *entry) checkURL(at int) {
	if e.server.URL == "" || e.server.Disabled {
		return
	}
	u, err := url.Parse(e.server.URL)
	switch {
	case err != nil:
		reason := err
		if parse, ok := errors.AsType[*url.Error](err); ok {
			reason = parse.Err
		}
		e.fail(e.server.Name, at, `"url" is not a valid address (its text is not shown): %s`, firstWords(reason))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		e.fail(e.server.Name, at, `"url" must begin with http:// or https:// and name a host`)
	}
}

// firstWords gives an error's text up to what it quotes.
func firstWords(err error) string {
	text, _, _ := strings.Cut(err.Error(), `"`)
	return strings.TrimSpace(text)
}

// check decides the kind and whether the members go with it.
func (e *entry) check() {
	s := &e.server
	if why := e.conflict(); why != "" {
		e.fail(s.Name, e.at, "%s", why)
		return
	}
	ignored := []string{"args", "env", "cwd"}
	switch s.Kind = kinds[e.kind]; {
	case s.Kind == "" && e.has("url"):
		s.Kind = HTTP
	case s.Kind == "":
		s.Kind = Stdio
	}
	if s.Kind == Stdio {
		ignored = []string{"headers"}
		e.checkCommand()
	}
	for _, name := range ignored {
		if e.has(name) {
			e.warn(e.at, "server %q: %q is ignored in a server of type %q", s.Name, name, s.Kind)
		}
	}
}

// conflict says what does not go together; empty if all does.
func (e *entry) conflict() string {
	command, address := e.has("command"), e.has("url")
	kind, ok := kinds[e.kind]
	switch {
	case command && address:
		return `both "command" and "url": a server is one of them`
	case !ok:
		return fmt.Sprintf(`"type" is %q: known are "stdio", "http", "streamable-http" and "sse"`, e.kind)
	case !command && !address:
		return `neither "command" nor "url": write the program to start or the address to call`
	case kind == Stdio && !command:
		return `"type" is "stdio", but there is no "command"`
	case kind != Stdio && kind != "" && !address:
		return fmt.Sprintf(`"type" is %q, but there is no "url"`, e.kind)
	}
	return ""
}

// kinds are the values of "type".
var kinds = map[string]Kind{
	"": "", "stdio": Stdio, "http": HTTP, "streamable-http": HTTP, "streamableHttp": HTTP, "sse": SSE,
}

// checkCommand checks what starts a program, and makes its folder absolute.
func (e *entry) checkCommand() {
	s := &e.server
	if s.Disabled {
		return
	}
	if s.Command == "" && !e.failed() {
		e.fail(s.Name, e.at, `"command" is empty`)
	}
	if s.Cwd != "" && !filepath.IsAbs(s.Cwd) {
		s.Cwd = filepath.Join(e.dir, s.Cwd)
	}
}

// failed reports whether this entry has an error already: one is enough where
// another follows from it.
func (e *entry) failed() bool {
	for _, err := range e.errs {
		if known, ok := errors.AsType[*Error](err); ok && known.Server == e.server.Name {
			return true
		}
	}
	return false
}

// has reports whether the entry has a member.
func (e *entry) has(name string) bool {
	for _, m := range e.members {
		if m.name == name {
			return true
		}
	}
	return false
}

// choosePrefix makes a prefix of the name if the entry says none.
func (e *entry) choosePrefix() {
	if e.prefix {
		return
	}
	prefix := notToolPart.ReplaceAllString(e.server.Name, "_")
	e.server.Prefix = strings.Trim(prefix[:min(len(prefix), 64)], "_")
	if e.server.Prefix == "" {
		e.fail(e.server.Name, e.at, `no prefix can be made of the name: give one with "prefix"`)
	}
}
