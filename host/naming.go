package host

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// hashLength is how many characters of a hash tell names apart.
const hashLength = 8

// A namer gives names to the tools, or the prompts, of one server.
type namer struct {
	*catalogBuilder
	what  string
	up    *upstream
	taken map[string]route // by the name shown, of all servers
	own   map[string]bool  // the server's own names
}

func (b *catalogBuilder) namer(what string, u *upstream, taken map[string]route) *namer {
	return &namer{catalogBuilder: b, what: what, up: u, taken: taken, own: map[string]bool{}}
}

// take returns the name under which to show one of the server's names, and
// takes it. It reports false when there is none.
func (n *namer) take(original string) (string, bool) {
	if original == "" || n.own[original] {
		n.warn(n.up, "%s %q has no name of its own and is left out", n.what, original)
		return "", false
	}
	n.own[original] = true
	for i, name := range n.candidates(original) {
		if _, ok := n.taken[name]; ok {
			continue
		}
		n.taken[name] = route{up: n.up, original: original}
		if i > 0 {
			holder := n.taken[n.candidates(original)[0]]
			n.warn(n.up, "%s %q is shown as %q: server %q has the name already", n.what, original, name, holder.up.conf.Name)
		}
		return name, true
	}
	n.warn(n.up, "%s %q has no name that is not taken and is left out", n.what, original)
	return "", false
}

// candidates returns the names to try, the best first.
func (n *namer) candidates(original string) []string {
	sep := n.opts.Separator
	name := clean(original)
	plain := name
	if n.up.prefix != "" {
		plain = clean(n.up.prefix + sep + name)
	}
	hash := n.hash(original)
	names := []string{n.fit(plain, hash)}
	if n.up.prefix == "" {
		names = append(names, n.fit(clean(n.up.conf.Name+sep+name), hash))
	}
	return append(names, n.cut(plain, hash))
}

// fit shortens a name that is too long.
func (n *namer) fit(name, hash string) string {
	if len(name) <= n.opts.MaxName {
		return name
	}
	return n.cut(name, hash)
}

// cut puts the hash behind as much of a name as there is room for.
func (n *namer) cut(name, hash string) string {
	room := n.opts.MaxName - 1 - len(hash)
	return name[:min(len(name), room)] + "_" + hash
}

// hash is of what does not change: not of the prefix, nor of other servers.
func (n *namer) hash(original string) string {
	sum := sha256.Sum256([]byte(n.up.conf.Name + "\x00" + original))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// clean replaces what names must not contain.
func clean(name string) string {
	if len(name) <= mcp.MaxToolName && mcp.ValidateToolName(name) == nil {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && mcp.ValidateToolName(string(r)) == nil {
			return r
		}
		return '_'
	}, name)
}
