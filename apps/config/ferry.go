package config

import (
	"cmp"
	"fmt"
	"net"

	"github.com/tailscale/hujson"
)

// ferry reads what only this program knows.
func (r *reader) ferry(v hujson.Value) Ferry {
	var f Ferry
	for _, m := range r.members(v, "", `"ferry"`) {
		switch m.name {
		case "separator":
			f.Separator = r.text(m.value, "", `"separator"`)
			if len(f.Separator) > 8 || !toolPart.MatchString(f.Separator) {
				r.fail("", m.value.StartOffset, `"separator" may hold up to 8 letters, digits, "_", "-" and "."`)
			}
		case "listen", "address":
			f.Listen = r.listen(m, f.Listen)
		case "builtins":
			f.Builtins = r.builtins(m.value)
		default:
			r.warn(m.at, `unknown member %q of "ferry" is ignored`, m.name)
		}
	}
	return f
}

// listen reads the address to serve on.
func (r *reader) listen(m member, before string) string {
	at := m.value.StartOffset
	if before != "" {
		r.fail("", m.at, `"listen" and "address" mean the same: write one`)
	}
	raw := r.text(m.value, "", fmt.Sprintf("%q", m.name))
	address, err := r.expand(raw)
	if err != nil {
		r.failWith("", at, fmt.Sprintf("%q", m.name), err)
		return raw
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		r.fail("", at, `%q must be host:port, such as "127.0.0.1:8080" or ":8080"`, m.name)
	}
	return address
}

// builtins reads the servers that come with this program: a name, or an
// object with the members server, name, args, env and those of every entry.
func (r *reader) builtins(v hujson.Value) []Server {
	var list []Server
	names := map[string]bool{}
	for _, item := range r.texts(v, "", `"builtins"`) {
		e := &entry{reader: r, at: item.StartOffset, server: Server{Kind: Builtin}}
		if item.Value.Kind() == '"' {
			e.server.Command = r.text(item, "", `"builtins"`)
			e.server.Name = e.server.Command
		} else {
			e.members = r.members(item, "", `an entry of "builtins"`)
		}
		e.builtin()
		if name := e.server.Name; names[name] && name != "" {
			r.fail("", e.at, `the name %q comes twice in "builtins": give one of them another "name"`, name)
		}
		names[e.server.Name] = true
		list = append(list, e.server)
	}
	return list
}

// builtin reads one entry that comes with this program.
func (e *entry) builtin() {
	s := &e.server
	s.Line, s.Column = e.position(e.at)
	// The names first, so that messages about the rest can say them.
	for _, m := range e.members {
		switch m.name {
		case "server":
			s.Command = e.text(m.value, "", `"server"`)
		case "name":
			s.Name = e.text(m.value, "", `"name"`)
		case "disabled":
			s.Disabled = e.flag(m.value, "", `"disabled"`)
		}
	}
	s.Name = cmp.Or(s.Name, s.Command)
	if s.Command == "" {
		e.fail(s.Name, e.at, `an entry of "builtins" must name its "server"`)
		return
	}
	if why := badName(s.Name); why != "" {
		e.fail("", e.at, "the server name %q %s", s.Name, why)
		return
	}
	for _, m := range e.members {
		switch m.name {
		case "server", "name", "disabled":
		case "args":
			s.Args = e.values(m.value, `"args"`)
		case "env":
			s.Env = e.env(m.value)
		default:
			if !e.option(m) {
				e.warn(m.at, "builtin %q: unknown member %q is ignored", s.Name, m.name)
			}
		}
	}
	e.choosePrefix()
}
