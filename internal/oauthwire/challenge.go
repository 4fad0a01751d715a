package oauthwire

import (
	"strings"

	"github.com/ferrymcp/ferry/internal/httpwire"
)

// The authentication schemes of access tokens.
const (
	SchemeBearer = "Bearer" // RFC 6750
	SchemeDPoP   = "DPoP"   // RFC 9449
)

// The parameters of challenges that somebody acts on.
const (
	ParamResourceMetadata = "resource_metadata" // RFC 9728, section 5.1
	ParamError            = "error"
	ParamErrorDescription = "error_description"
	ParamScope            = "scope"
	ParamRealm            = "realm"
	ParamAlgorithms       = "algs" // RFC 9449, section 7.1
)

// A Challenge says how to authenticate (RFC 9110, section 11.3): with the Scheme,
// and a Token68 or parameters.
type Challenge struct {
	Scheme  string
	Token68 string
	Params  []Param
}

// A Param is a parameter of a challenge.
type Param struct{ Name, Value string }

// Is reports whether c is of a scheme, whose case does not matter.
func (c Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Param returns the value of a parameter, whose case does not matter, or "".
func (c Challenge) Param(name string) string {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return p.Value
		}
	}
	return ""
}

// Find returns the first challenge of a scheme.
func Find(challenges []Challenge, scheme string) (Challenge, bool) {
	for _, c := range challenges {
		if c.Is(scheme) {
			return c, true
		}
	}
	return Challenge{}, false
}

// String returns c as a value of WWW-Authenticate. Values are quoted; characters
// that headers do not have are left out, and names must be tokens.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString(c.Scheme)
	if c.Token68 != "" {
		return b.String() + " " + c.Token68
	}
	for i, p := range c.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + p.Name + `="`)
		for j := range len(p.Value) {
			switch ch := p.Value[j]; {
			case ch == '"' || ch == '\\':
				b.WriteByte('\\')
				b.WriteByte(ch)
			case ch == '\t' || ch >= ' ' && ch != 0x7f:
				b.WriteByte(ch)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}

// ParseChallenges reads the values of the WWW-Authenticate headers of one answer,
// each of which may hold several challenges. Of a value that breaks the grammar the
// challenges before the mistake count, and of the one that has it the parameters
// before it: servers make mistakes that no challenge should be lost for. Of a
// parameter that is there twice the first one counts.
func ParseChallenges(values []string) []Challenge {
	var out []Challenge
	for _, value := range values {
		p := challengeParser{rest: value}
		out = append(out, p.list()...)
	}
	return out
}

// maxChallenges is how many challenges, and how many parameters of one, are read.
const maxChallenges = 32

type challengeParser struct{ rest string }

// list reads challenges separated by commas. A name after a comma is a parameter if
// an equal sign follows, and otherwise the scheme of the next challenge.
func (p *challengeParser) list() []Challenge {
	var out []Challenge
	for len(out) < maxChallenges {
		p.skip(" \t,")
		scheme := p.token()
		if scheme == "" {
			return out
		}
		c := Challenge{Scheme: scheme}
		ok := p.rest == "" || strings.IndexByte(" \t,", p.rest[0]) >= 0
		if ok && !strings.HasPrefix(p.rest, ",") {
			p.skip(" \t")
			if c.Token68 = p.token68(); c.Token68 == "" {
				c.Params, ok = p.params()
			}
		}
		if ok || len(c.Params) > 0 {
			out = append(out, c)
		}
		if !ok {
			return out
		}
	}
	return out
}

// params reads parameters until the list ends or the next challenge begins. It
// reports false for what is neither.
func (p *challengeParser) params() (params []Param, ok bool) {
	for {
		p.skip(" \t,")
		before := p.rest
		name := p.token()
		if name == "" {
			return params, p.rest == ""
		}
		p.skip(" \t")
		if !strings.HasPrefix(p.rest, "=") {
			p.rest = before
			return params, true
		}
		p.rest = p.rest[1:]
		p.skip(" \t")
		value, valid := p.value()
		if !valid || len(params) == maxChallenges {
			return params, false
		}
		if (Challenge{Params: params}).Param(name) == "" {
			params = append(params, Param{name, value})
		}
		p.skip(" \t")
		if p.rest != "" && p.rest[0] != ',' {
			return params, false
		}
	}
}

// value reads a token or a quoted string.
func (p *challengeParser) value() (value string, ok bool) {
	if !strings.HasPrefix(p.rest, `"`) {
		value = p.token()
		return value, value != ""
	}
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '"':
			p.rest = p.rest[i+1:]
			return b.String(), true
		case c == '\\':
			if i++; i == len(p.rest) {
				return "", false
			}
			c = p.rest[i]
		}
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

// token68 reads a token68, which is one only if the challenge ends after it.
func (p *challengeParser) token68() string {
	n := 0
	for n < len(p.rest) && token68Byte(p.rest[n]) {
		n++
	}
	chars := n
	for n < len(p.rest) && p.rest[n] == '=' {
		n++
	}
	after := strings.TrimLeft(p.rest[n:], " \t")
	// "a=b" is a parameter, and "Basic Digest" is not in the grammar.
	if chars == 0 || after != "" && after[0] != ',' {
		return ""
	}
	text := p.rest[:n]
	p.rest = after
	return text
}

func (p *challengeParser) token() string {
	n := 0
	for n < len(p.rest) && httpwire.ValidToken(p.rest[n:n+1]) {
		n++
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return text
}

func (p *challengeParser) skip(chars string) { p.rest = strings.TrimLeft(p.rest, chars) }

// ValidToken68 reports whether s is made of the characters that credentials in an
// Authorization header have (RFC 6750, section 2.1).
func ValidToken68(s string) bool {
	chars := strings.TrimRight(s, "=")
	for i := range len(chars) {
		if !token68Byte(chars[i]) {
			return false
		}
	}
	return chars != ""
}

func token68Byte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~+/", c) >= 0
}
