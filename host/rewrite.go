package host

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ferrymcp/ferry/mcp"
)

// metaMember is the member that metadata travels in.
const metaMember = "_meta"

// errNotObject tells that parameters are not an object.
var errNotObject = errors.New("params are not a JSON object")

// A member is one member of an object, as it is written.
type member struct{ key, value json.RawMessage }

// name returns the member's name.
func (m member) name() string {
	var name string
	if json.Unmarshal(m.key, &name) != nil {
		return ""
	}
	return name
}

// own drops from an object's metadata what belongs to the connection it came
// on. A stateless server is told for whom a request is made: it may need what
// that client can do. The others have been told who the host is.
func own(stateless bool) func(member) (json.RawMessage, bool) {
	return func(m member) (json.RawMessage, bool) {
		switch m.name() {
		case mcp.MetaProgressToken, mcp.MetaProtocolVersion:
			return nil, false
		case mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel:
			return m.value, stateless
		}
		return m.value, true
	}
}

// rewrite returns params with another value for the member, which is added if it
// is not there, and without foreign metadata. A nil value changes nothing
// else. Everything that is not concerned keeps its bytes.
func rewrite(params json.RawMessage, name string, value json.RawMessage, stateless bool) (json.RawMessage, error) {
	if len(params) == 0 || string(params) == "null" {
		params = json.RawMessage(`{}`)
	}
	found := value == nil
	out, err := edit(params, func(m member) (json.RawMessage, bool) {
		switch n := m.name(); {
		case n == name && value != nil:
			found = true
			return value, true
		case n == metaMember && string(m.value) != "null":
			meta, err := edit(m.value, own(stateless))
			if err != nil {
				return m.value, true // the server will say what is wrong
			}
			return meta, string(meta) != "{}"
		}
		return m.value, true
	})
	if err != nil || found {
		return out, err
	}
	return put(out, name, value), nil
}

// put adds a member to an object that was made by edit.
func put(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	out := object[:len(object)-1]
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(append(out, quote(name)...), ':')
	return append(append(out, value...), '}')
}

// edit copies an object; change says for each member what becomes of it.
func edit(object json.RawMessage, change func(member) (json.RawMessage, bool)) (json.RawMessage, error) {
	s := scanner{in: object}
	if !s.next('{') {
		return nil, errNotObject
	}
	out := make(json.RawMessage, 0, len(object)+64)
	out = append(out, '{')
	for !s.next('}') {
		if s.count > 0 && !s.next(',') {
			return nil, errNotObject
		}
		s.count++
		m, ok := s.member()
		if !ok {
			return nil, errNotObject
		}
		value, keep := change(m)
		if !keep {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, m.key...), ':')
		out = append(out, value...)
	}
	if s.space(); s.at != len(s.in) {
		return nil, errNotObject
	}
	return append(out, '}'), nil
}

// quote writes a name that has nothing to escape, or a text that may have.
func quote(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(strconv.Quote(text))
	}
	return raw
}

// A scanner finds the members of an object. It does not check what is inside
// of values: whoever writes the message does.
type scanner struct {
	in    []byte
	at    int
	count int
}

func (s *scanner) space() {
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next skips the character if it comes next.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.at < len(s.in) && s.in[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) member() (m member, ok bool) {
	s.space()
	start := s.at
	if s.at >= len(s.in) || s.in[s.at] != '"' || !s.text() {
		return m, false
	}
	m.key = s.in[start:s.at]
	if !s.next(':') {
		return m, false
	}
	s.space()
	start = s.at
	if !s.value() {
		return m, false
	}
	m.value = s.in[start:s.at]
	return m, true
}

// text skips a string.
func (s *scanner) text() bool {
	for s.at++; s.at < len(s.in); s.at++ {
		switch s.in[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		}
	}
	return false
}

// value skips one value, which is not empty.
func (s *scanner) value() bool {
	start, depth := s.at, 0
	for s.at < len(s.in) {
		switch c := s.in[s.at]; c {
		case '"':
			if !s.text() {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return s.at > start
			}
			depth--
			s.at++
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.at > start
			}
			s.at++
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return true
		}
	}
	return false
}
