// Package httpwire holds what MCP over HTTP writes on the wire besides JSON:
// the header names, the encoding of header values, content negotiation and
// server-sent events. It knows nothing of methods, sessions or revisions; the
// HTTP server and the HTTP client decide with it what to send and accept.
package httpwire

// The header names, in the canonical form that http.Header uses as keys.
const (
	HeaderSessionID       = "Mcp-Session-Id"
	HeaderProtocolVersion = "Mcp-Protocol-Version"
	HeaderMethod          = "Mcp-Method"
	HeaderName            = "Mcp-Name"
	HeaderLastEventID     = "Last-Event-Id"
	// HeaderParamPrefix begins the header that repeats a tool argument.
	HeaderParamPrefix = "Mcp-Param-"
	// HeaderAccelBuffering with the value "no" asks proxies not to hold back events.
	HeaderAccelBuffering = "X-Accel-Buffering"
)

// ValidSessionID reports whether id may be a session id: one or more visible
// ASCII characters.
func ValidSessionID(id string) bool {
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7e {
			return false
		}
	}
	return id != ""
}

// ValidToken reports whether s is a token of RFC 9110, section 5.6.2. What
// follows HeaderParamPrefix in a header name must be one.
func ValidToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	switch c {
	case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~':
		return true
	}
	return false
}
