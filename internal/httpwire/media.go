package httpwire

import (
	"errors"
	"mime"
	"strconv"
	"strings"
)

// The media types of MCP over HTTP.
const (
	TypeJSON = "application/json"
	TypeSSE  = "text/event-stream"
)

// AcceptBoth is the Accept value of a POST, which must list both types.
const AcceptBoth = TypeJSON + ", " + TypeSSE

// IsJSON reports whether a Content-Type is that of a JSON body in UTF-8.
func IsJSON(contentType string) bool {
	if contentType == TypeJSON {
		return true
	}
	mediaType, params, ok := parseType(contentType)
	charset, named := params["charset"]
	return ok && mediaType == TypeJSON && (!named || strings.EqualFold(charset, "utf-8"))
}

// IsSSE reports whether a Content-Type is that of server-sent events, which are
// always UTF-8.
func IsSSE(contentType string) bool {
	switch contentType {
	case TypeSSE:
		return true
	case TypeJSON:
		return false
	}
	mediaType, _, ok := parseType(contentType)
	return ok && mediaType == TypeSSE
}

func parseType(contentType string) (mediaType string, params map[string]string, ok bool) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	// A malformed parameter does not make the type unknown.
	return mediaType, params, err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)
}

// Accepts reports whether the Accept header with the given values lets the
// answer have a media type. Of several ranges that match, the most specific one
// counts. Without a header everything is accepted.
func Accepts(values []string, mediaType string) bool {
	if len(values) == 0 {
		return true
	}
	best, accepted := none, false
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(item, ";")
			if how := match(strings.TrimSpace(name), mediaType); how > best {
				best, accepted = how, !refused(params)
			} else if how == best && how != none {
				accepted = accepted || !refused(params)
			}
		}
	}
	return accepted
}

// How specifically a media range matches a type.
const (
	none = iota
	anyType
	anySubtype
	exact
)

func match(mediaRange, mediaType string) int {
	major, _, _ := strings.Cut(mediaType, "/")
	switch {
	case strings.EqualFold(mediaRange, mediaType):
		return exact
	case mediaRange == "*/*":
		return anyType
	case len(mediaRange) == len(major)+2 && strings.HasSuffix(mediaRange, "/*") && strings.EqualFold(mediaRange[:len(major)], major):
		return anySubtype
	}
	return none
}

// refused reports whether the parameters of a media range have a weight of zero.
func refused(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q <= 0
		}
	}
	return false
}
