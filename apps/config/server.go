package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Kind says how a server is reached.
type Kind string

// The kinds.
const (
	Stdio   Kind = "stdio"   // a command whose standard input and output carry the messages
	HTTP    Kind = "http"    // the streamable HTTP transport
	SSE     Kind = "sse"     // the older transport with a separate event stream
	Builtin Kind = "builtin" // a server that comes with this program
)

// A Server is one entry of the file. Which fields are set depends on Kind.
type Server struct {
	Name string
	Kind Kind
	// Disabled entries are kept so that they can be shown. Their values are
	// as written, with no variable put in.
	Disabled bool

	Command string
	Args    []string
	Env     Secrets
	// Cwd is absolute; empty if not said.
	Cwd string

	URL     string
	Headers Secrets

	// Prefix stands before the names of the server's tools. It is made of the
	// name unless the file says otherwise; empty means none.
	Prefix string
	// Timeout bounds one call; 0 if not said.
	Timeout time.Duration
	// Tools says which tools to show.
	Tools Filter

	// Line and Column are where the entry begins in the file.
	Line, Column int
}

// A Filter chooses tools by their names. The patterns are those of path.Match.
type Filter struct {
	// Allow shows only what matches one of the patterns; empty shows all.
	Allow []string
	// Deny hides what matches one of the patterns, whatever Allow says.
	Deny []string
}

// String describes the server without arguments, values of variables and
// headers, user and query of the URL: each of them may be a secret.
func (s Server) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Name, s.Kind)
	switch s.Kind {
	case Stdio, Builtin:
		fmt.Fprintf(&b, " %s", s.Command)
		if n := len(s.Args); n > 0 {
			fmt.Fprintf(&b, ", %d arguments", n)
		}
	default:
		fmt.Fprintf(&b, " %s", publicURL(s.URL))
	}
	if len(s.Env) > 0 {
		fmt.Fprintf(&b, ", env %s", s.Env)
	}
	if len(s.Headers) > 0 {
		fmt.Fprintf(&b, ", headers %s", s.Headers)
	}
	if s.Disabled {
		b.WriteString(", disabled")
	}
	return b.String()
}

// GoString is String, so that no format prints a secret.
func (s Server) GoString() string { return s.String() }

// LogValue is String, so that no log has a secret.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

// publicURL is what of a URL may be shown: not the user, not the query.
func publicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(invalid url)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Secrets are named values that are never printed: printing gives the names.
type Secrets map[string]string

// String gives the names, sorted.
func (s Secrets) String() string {
	return "[" + strings.Join(slices.Sorted(maps.Keys(s)), " ") + "]"
}

// GoString is String, so that no format prints a secret.
func (s Secrets) GoString() string { return s.String() }

// LogValue is String, so that no log has a secret.
func (s Secrets) LogValue() slog.Value { return slog.StringValue(s.String()) }
